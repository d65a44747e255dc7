// A GPU: what it is, its memory, its streams and its clock.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "kernels/cuda/library.h"

namespace kernels::cuda {

struct DeviceFacts {
  std::string name, bus;     // "NVIDIA H200", "0000:1b:00.0"
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0, l2 = 0;  // [byte]
  int driver = 0, runtime = 0;     // 13000 is CUDA 13.0
};

// Throws DeviceError when CUDA cannot be asked, or answers with none: says whether driver or device
// is missing.
int device_count();
DeviceFacts device_facts(int device);
void use_device(int device);

// Throws DeviceError with `what` was tried and CUDA's own words.
void check(cudaError_t status, const char* what);

// Memory of the device in use.
class Buffer {
 public:
  explicit Buffer(std::size_t bytes);
  std::size_t size() const { return size_; }
  template <class T = void>
  T* as() const {
    return static_cast<T*>(memory_.get());
  }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
  std::size_t size_;
};

// Memory of the host that the device reads and writes by itself.
class PinnedBuffer {
 public:
  explicit PinnedBuffer(std::size_t bytes);
  void* get() const { return memory_.get(); }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
};

class Stream {
 public:
  Stream();
  cudaStream_t get() const { return stream_.get(); }
  void wait() const;

 private:
  std::unique_ptr<CUstream_st, void (*)(cudaStream_t)> stream_;
};

// Seconds that `work`, which only launches on `stream`, takes on the device.
double timed(const Stream& stream, const std::function<void()>& work);

// Launches recorded once and replayed together, so that the host's launches do not bound them.
class Graph {
 public:
  // `work` launches on `stream` only.
  Graph(const Stream& stream, const std::function<void()>& work);
  void launch(const Stream& stream) const;

 private:
  std::unique_ptr<CUgraphExec_st, void (*)(cudaGraphExec_t)> graph_;
};

}  // namespace kernels::cuda
