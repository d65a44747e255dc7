// NCCL, loaded at run time.
#include "calibrate/measure/cuda_collectives.h"

#include <fmt/format.h>
#include <nccl.h>

#include <algorithm>
#include <chrono>

#include "calibrate/profile/names.h"
#include "kernels/cuda/device.h"

namespace calibrate::measure {

namespace cuda = kernels::cuda;
using profile::CollectiveKind;

namespace {

constexpr std::size_t bytes_least = 256, bytes_most = std::size_t{1} << 30;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct Functions {
  cuda::Library library{"NCCL", {"libnccl.so.2", "libnccl.so", "/usr/local/cuda/lib64/libnccl.so"}};
  decltype(ncclGetVersion)* version = nullptr;
  decltype(ncclGetErrorString)* error = nullptr;
  decltype(ncclCommInitAll)* create = nullptr;
  decltype(ncclCommDestroy)* destroy = nullptr;
  decltype(ncclGroupStart)* begin = nullptr;
  decltype(ncclGroupEnd)* end = nullptr;
  decltype(ncclAllReduce)* all_reduce = nullptr;
  decltype(ncclAllGather)* all_gather = nullptr;
  decltype(ncclReduceScatter)* reduce_scatter = nullptr;
  decltype(ncclBroadcast)* broadcast = nullptr;
  decltype(ncclSend)* send = nullptr;
  decltype(ncclRecv)* receive = nullptr;

  Functions() {
    library.find(version, "ncclGetVersion");
    library.find(error, "ncclGetErrorString");
    library.find(create, "ncclCommInitAll");
    library.find(destroy, "ncclCommDestroy");
    library.find(begin, "ncclGroupStart");
    library.find(end, "ncclGroupEnd");
    library.find(all_reduce, "ncclAllReduce");
    library.find(all_gather, "ncclAllGather");
    library.find(reduce_scatter, "ncclReduceScatter");
    library.find(broadcast, "ncclBroadcast");
    library.find(send, "ncclSend");
    library.find(receive, "ncclRecv");
  }
  void check(ncclResult_t status, const char* what) const {
    if (status == ncclSuccess) return;
    throw cuda::DeviceError{fmt::format("{}: NCCL says '{}'", what, error(status)), "",
                            "NCCL_DEBUG=INFO says more"};
  }
};

struct Rank {
  std::unique_ptr<cuda::Buffer> in, out;
  std::unique_ptr<cuda::Stream> stream;
};

// The communicators of the first so many devices.
struct Group {
  std::vector<ncclComm_t> members;
};

}  // namespace

struct NcclCollectives::State {
  struct Case {
    CollectiveKind kind;
    std::size_t group, bytes;
  };
  Functions nccl;
  std::vector<Rank> ranks;
  std::vector<Group> groups;
  std::vector<Case> plan;
  std::vector<profile::MeasuredCase> cases;

  void add_cases();
  void launch(const Case& one, int rank);
  void wait() const {
    for (std::size_t i = 0; i < ranks.size(); ++i) {
      cuda::use_device(static_cast<int>(i));
      ranks[i].stream->wait();
    }
  }
};

// Sizes in whole floats for each rank.
void NcclCollectives::State::add_cases() {
  using enum CollectiveKind;
  for (std::size_t group = 0; group < groups.size(); ++group) {
    const std::size_t count = groups[group].members.size(), unit = count * sizeof(float);
    for (const CollectiveKind kind :
         {all_reduce, all_gather, reduce_scatter, all_to_all, broadcast, send_receive}) {
      for (std::size_t wanted = bytes_least; wanted <= bytes_most; wanted *= 4) {
        const std::size_t bytes = std::max(wanted / unit, std::size_t{1}) * unit;
        plan.push_back({kind, group, bytes});
        cases.push_back({"collective",
                         profile::name(kind),
                         {static_cast<double>(count), static_cast<double>(bytes)},
                         {}});
      }
    }
  }
}

// The part of one rank; REQUIRES: inside a group call.
void NcclCollectives::State::launch(const Case& one, int rank) {
  using enum CollectiveKind;
  const Group& group = groups[one.group];
  const auto index = static_cast<std::size_t>(rank);
  const ncclComm_t member = group.members[index];
  const int count = static_cast<int>(group.members.size());
  const std::size_t all = one.bytes / sizeof(float), part = all / static_cast<std::size_t>(count);
  auto* in = ranks[index].in->as<float>();
  auto* out = ranks[index].out->as<float>();
  const cudaStream_t stream = ranks[index].stream->get();
  switch (one.kind) {
    case all_reduce:
      return nccl.check(nccl.all_reduce(in, out, all, ncclFloat, ncclSum, member, stream),
                        "all-reduce");
    case all_gather:
      return nccl.check(nccl.all_gather(in, out, part, ncclFloat, member, stream), "all-gather");
    case reduce_scatter:
      return nccl.check(nccl.reduce_scatter(in, out, part, ncclFloat, ncclSum, member, stream),
                        "reduce-scatter");
    case broadcast:
      return nccl.check(nccl.broadcast(in, out, all, ncclFloat, 0, member, stream), "broadcast");
    case all_to_all:
      for (int other = 0; other < count; ++other) {
        const std::size_t at = static_cast<std::size_t>(other) * part;
        nccl.check(nccl.send(in + at, part, ncclFloat, other, member, stream), "send");
        nccl.check(nccl.receive(out + at, part, ncclFloat, other, member, stream), "receive");
      }
      return;
    case send_receive:
      nccl.check(nccl.send(in, all, ncclFloat, (rank + 1) % count, member, stream), "send");
      nccl.check(nccl.receive(out, all, ncclFloat, (rank + count - 1) % count, member, stream),
                 "receive");
      return;
  }
}

NcclCollectives::NcclCollectives(int devices) : state_(std::make_unique<State>()) {
  for (int device = 0; device < devices; ++device) {
    cuda::use_device(device);
    state_->ranks.push_back({std::make_unique<cuda::Buffer>(bytes_most),
                             std::make_unique<cuda::Buffer>(bytes_most),
                             std::make_unique<cuda::Stream>()});
    cuda::check(cudaMemset(state_->ranks.back().in->as(), 0, bytes_most), "clearing memory");
  }
  for (int count = 2; count <= devices;
       count = count < devices ? std::min(2 * count, devices) : devices + 1) {
    Group group;
    group.members.resize(static_cast<std::size_t>(count));
    state_->nccl.check(state_->nccl.create(group.members.data(), count, nullptr),
                       "creating a communicator");
    state_->groups.push_back(std::move(group));
  }
  state_->add_cases();
}

NcclCollectives::~NcclCollectives() {
  for (const Group& group : state_->groups) {
    for (const ncclComm_t member : group.members) state_->nccl.destroy(member);
  }
}

const std::vector<profile::MeasuredCase>& NcclCollectives::cases() const { return state_->cases; }

double NcclCollectives::run(std::size_t which, std::size_t executions) {
  const State::Case& one = state_->plan.at(which);
  const int count = static_cast<int>(state_->groups[one.group].members.size());
  state_->wait();
  const double start = now();
  for (std::size_t i = 0; i < executions; ++i) {
    state_->nccl.check(state_->nccl.begin(), "a collective");
    for (int rank = 0; rank < count; ++rank) state_->launch(one, rank);
    state_->nccl.check(state_->nccl.end(), "a collective");
  }
  state_->wait();
  return now() - start;
}

std::string NcclCollectives::version() const {
  int number = 0;
  state_->nccl.check(state_->nccl.version(&number), "asking for the version");
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

int NcclCollectives::wrong_ranks() {
  constexpr std::size_t count = 1024;
  const std::size_t group = state_->groups.size() - 1;
  const int ranks = static_cast<int>(state_->ranks.size());
  float wanted = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    cuda::use_device(rank);
    const std::vector<float> own(count, static_cast<float>(rank + 1));
    wanted += own.front();
    cuda::check(cudaMemcpy(state_->ranks[static_cast<std::size_t>(rank)].in->as(), own.data(),
                           count * sizeof(float), cudaMemcpyHostToDevice),
                "a copy");
  }
  state_->nccl.check(state_->nccl.begin(), "a collective");
  for (int rank = 0; rank < ranks; ++rank) {
    state_->launch({CollectiveKind::all_reduce, group, count * sizeof(float)}, rank);
  }
  state_->nccl.check(state_->nccl.end(), "a collective");
  state_->wait();
  int wrong = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<float> got(count);
    cuda::use_device(rank);
    cuda::check(cudaMemcpy(got.data(), state_->ranks[static_cast<std::size_t>(rank)].out->as(),
                           count * sizeof(float), cudaMemcpyDeviceToHost),
                "a copy");
    const bool is_right =
        std::all_of(got.begin(), got.end(), [&](float one) { return one == wanted; });
    wrong += is_right ? 0 : 1;
  }
  return wrong;
}

}  // namespace calibrate::measure
