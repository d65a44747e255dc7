// Loading libraries of a GPU.
#include "kernels/cuda/library.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kernels::cuda {

Library::Library(const std::string& what, const std::vector<std::string>& files) : what_(what) {
  for (const std::string& file : files) {
    handle_ = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ != nullptr) return;
  }
  throw DeviceError{fmt::format("{} was not found", what),
                    fmt::format("looked for {}", fmt::join(files, ", ")),
                    "install it, or name its folder in LD_LIBRARY_PATH"};
}

void* Library::address(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    throw DeviceError{fmt::format("{} has no {}", what_, name), "it is too old", "install CUDA 12"};
  }
  return found;
}

}  // namespace kernels::cuda
