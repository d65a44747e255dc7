// Libraries of a GPU that are loaded when they are first needed: a program that uses them starts on
// a machine that has none, and says what is missing only when asked to measure.
#pragma once

#include <string>
#include <vector>

namespace kernels::cuda {

// What a machine lacks, or what its driver or a library refused.
struct DeviceError {
  std::string message, why, hint;
};

class Library {
 public:
  // Loads the first of `files` that there is. Throws DeviceError, which names `what`.
  Library(const std::string& what, const std::vector<std::string>& files);

  // Throws DeviceError where the library is too old to have it.
  template <class Function>
  void find(Function*& function, const char* name) const {
    function = reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const char* name) const;

  std::string what_;
  void* handle_ = nullptr;  // never closed: CUDA libraries do not survive it
};

}  // namespace kernels::cuda
