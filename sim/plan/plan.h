// How a job is cut over its ranks: degrees, schedule, sharding.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/dnn/operators.h"

namespace sim::plan {

enum class Dimension { tensor, context, data, pipeline };
const char* name(Dimension dimension);

enum class ScheduleKind { gpipe, one_f_one_b, interleaved };
enum class Sharding { none, zero1, zero2, zero3 };

struct Plan {
  int tensor = 1;
  bool sequence_parallel = true;
  int context = 1;
  int stages = 1;
  ScheduleKind schedule = ScheduleKind::one_f_one_b;
  int virtual_stages = 1;
  std::vector<int> layers;  // of stages x virtual_stages parts, in model order; empty: even
  int data = 1;
  Sharding sharding = Sharding::none;
  dnn::Recompute recompute = dnn::Recompute::none;
  std::array<Dimension, 4> order = {Dimension::tensor, Dimension::context, Dimension::data,
                                    Dimension::pipeline};  // innermost first
  std::int64_t sequence = 0;
  std::int64_t global_batch = 0;  // sequences per iteration
  std::int64_t micro_batch = 1;

  int ranks() const { return tensor * context * stages * data; }
  // Micro-batches per iteration and replica. REQUIRES: divisible, checked by problems().
  int micro_batches() const { return static_cast<int>(global_batch / (micro_batch * data)); }
};

// What makes the plan impossible for this dnn and number of devices; empty if nothing. `field` is
// the scenario's path of the value to blame ("plan.tensor"), `other_field` the second place or
// empty.
struct Problem {
  std::string field, other_field, message, why, hint;
};
std::vector<Problem> problems(const Plan& plan, const dnn::Transformer& dnn, int devices);

// Layers of each virtual stage, in model order: virtual stage v of stage s is index v * stages + s.
// Even: the remainder goes to the earlier ones.
std::vector<int> layers_per_virtual_stage(const Plan& plan, int layers);

}  // namespace sim::plan
