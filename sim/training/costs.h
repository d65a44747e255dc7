// Operators with their durations on one type of device, from its profile.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/training/job.h"
#include "sim/training/result.h"

namespace sim::training {

// One operator, or one collective of the tensor group, ready for the engine.
struct CostedOperator {
  std::string name;
  Category category = Category::compute;
  Picoseconds work = 0;
  std::int64_t multiprocessors = 0;  // share held at rate one
  std::int64_t memory_rate = 0;      // bytes/s
  Picoseconds host = 0;              // launches
  int kernels = 1;
  // For a collective: what, and its size. `work` is zero.
  std::optional<collective::Operation> collective;
  Bytes size;
  bool is_weight_gradient = false;
  bool is_overlapped = false;  // runs beside the operators after it, up to the next collective
  double flops = 0;
  enum class Family { gemm, attention, memory, none };
  Family family = Family::none;
  double relative_p90 = 0;
};

struct UnitCosts {  // a layer, the embedding, the head
  std::vector<CostedOperator> forward, backward;
  // The backward pass in two: all but the weight gradients, and these.
  std::vector<CostedOperator> backward_input, backward_weight;
  double gradient_bytes = 0;   // of one tensor rank, as reduced
  double parameter_bytes = 0;  // as gathered
};

struct JobCosts {
  UnitCosts layer, embedding, head;
  Bytes boundary;  // one micro-batch's activation between stages, as each tensor rank sends it
  Bytes gathered;  // what the receiving tensor group gathers of it; 0: nothing
  std::vector<std::string> extrapolated;
};

JobCosts job_costs(const Job& job, const calibrate::profile::Profile& profile);

// The optimizer over so many parameters of one rank, as one operator.
CostedOperator optimizer_cost(const Job& job, const calibrate::profile::Profile& profile,
                              double parameters);

dnn::Shard shard_of(const Job& job);

// What device memory gives to a long stream; the capacity that `memory_rate` shares are held of.
BytesPerSecond memory_capacity(const calibrate::profile::Profile& profile);

}  // namespace sim::training
