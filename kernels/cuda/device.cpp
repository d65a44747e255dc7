// A GPU through the CUDA runtime, which loads the driver when it is first called.
#include "kernels/cuda/device.h"

#include <fmt/format.h>

#include <array>

namespace kernels::cuda {

namespace {

void free_memory(void* memory) { cudaFree(memory); }
void free_host(void* memory) { cudaFreeHost(memory); }
void destroy_stream(cudaStream_t stream) { cudaStreamDestroy(stream); }
void destroy_graph(cudaGraphExec_t graph) { cudaGraphExecDestroy(graph); }
void destroy_event(cudaEvent_t event) { cudaEventDestroy(event); }

using Event = std::unique_ptr<CUevent_st, void (*)(cudaEvent_t)>;

Event new_event() {
  cudaEvent_t event = nullptr;
  check(cudaEventCreate(&event), "creating an event");
  return {event, destroy_event};
}

}  // namespace

void check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  throw DeviceError{
      fmt::format("{} failed: {} ({})", what, cudaGetErrorString(status), cudaGetErrorName(status)),
      "", "look at nvidia-smi; another program may hold the memory"};
}

int device_count() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return count;
  int driver = 0;
  cudaDriverGetVersion(&driver);
  const std::string missing =
      driver == 0 ? "no NVIDIA driver is installed (libcuda.so.1)"
      : status == cudaErrorInsufficientDriver
          ? fmt::format("the driver is for CUDA {}.{}, older than {}.{}", driver / 1000,
                        driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10)
          : "the driver finds no device";
  throw DeviceError{"no GPU can be measured here: " + missing,
                    "kernels and collectives are timed on the devices of this machine",
                    "maquette calibrate --host --minutes 2 -o my-host.h5 measures the CPU"};
}

DeviceFacts device_facts(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "asking for the device");
  std::array<char, 32> bus{};
  check(cudaDeviceGetPCIBusId(bus.data(), static_cast<int>(bus.size()), device), "its place");
  DeviceFacts facts;
  facts.name = properties.name;
  facts.bus = bus.data();
  facts.major = properties.major;
  facts.minor = properties.minor;
  facts.multiprocessors = properties.multiProcessorCount;
  facts.memory = properties.totalGlobalMem;
  facts.l2 = static_cast<std::size_t>(properties.l2CacheSize);
  check(cudaDriverGetVersion(&facts.driver), "asking for the driver");
  check(cudaRuntimeGetVersion(&facts.runtime), "asking for the runtime");
  return facts;
}

void use_device(int device) { check(cudaSetDevice(device), "choosing a device"); }

Buffer::Buffer(std::size_t bytes) : memory_(nullptr, free_memory), size_(bytes) {
  void* memory = nullptr;
  check(cudaMalloc(&memory, bytes), "taking memory of the device");
  memory_.reset(memory);
}

PinnedBuffer::PinnedBuffer(std::size_t bytes) : memory_(nullptr, free_host) {
  void* memory = nullptr;
  check(cudaMallocHost(&memory, bytes), "taking pinned memory of the host");
  memory_.reset(memory);
}

Stream::Stream() : stream_(nullptr, destroy_stream) {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "creating a stream");
  stream_.reset(stream);
}

void Stream::wait() const { check(cudaStreamSynchronize(get()), "a kernel"); }

double timed(const Stream& stream, const std::function<void()>& work) {
  const Event start = new_event(), end = new_event();
  check(cudaEventRecord(start.get(), stream.get()), "recording an event");
  work();
  check(cudaGetLastError(), "a launch");
  check(cudaEventRecord(end.get(), stream.get()), "recording an event");
  check(cudaEventSynchronize(end.get()), "a kernel");
  float milliseconds = 0;
  check(cudaEventElapsedTime(&milliseconds, start.get(), end.get()), "reading the clock");
  return 1e-3 * static_cast<double>(milliseconds);
}

Graph::Graph(const Stream& stream, const std::function<void()>& work)
    : graph_(nullptr, destroy_graph) {
  check(cudaStreamBeginCapture(stream.get(), cudaStreamCaptureModeThreadLocal), "recording");
  cudaGraph_t graph = nullptr;
  try {
    work();
  } catch (...) {
    cudaStreamEndCapture(stream.get(), &graph);
    if (graph != nullptr) cudaGraphDestroy(graph);
    throw;
  }
  check(cudaStreamEndCapture(stream.get(), &graph), "recording");
  cudaGraphExec_t executable = nullptr;
  const cudaError_t status = cudaGraphInstantiate(&executable, graph, 0);
  cudaGraphDestroy(graph);
  check(status, "making a graph");
  graph_.reset(executable);
}

void Graph::launch(const Stream& stream) const {
  check(cudaGraphLaunch(graph_.get(), stream.get()), "launching a graph");
}

}  // namespace kernels::cuda
