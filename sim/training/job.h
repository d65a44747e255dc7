// What `sim/training` runs: a job on a cluster, with the timing models of its devices.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "calibrate/profile/profile.h"
#include "sim/base/diagnostics.h"
#include "sim/collective/collective.h"
#include "sim/dnn/stack.h"
#include "sim/dnn/transformer.h"
#include "sim/plan/plan.h"
#include "sim/training/pattern.h"
#include "topology/cluster.h"

namespace sim::training {

// A dnn given by its times instead of its shapes: for schedules and for measured passes.
struct TimedDnn {
  int layers = 1;
  Seconds forward, backward;  // of one layer and micro-batch
  Seconds backward_weight;    // of `backward`, what the weights' gradients take
  Seconds embedding_forward, embedding_backward, head_forward, head_backward, head_backward_weight;
  Bytes boundary;     // sent from stage to stage, each direction, per micro-batch
  Bytes parameters;   // gradient bytes of one layer (reduced over data ranks); 0: none
  Bytes activations;  // kept of one layer and micro-batch until its backward pass
};

// An operation of a program written by hand: collectives, flows and overlap on their own.
struct HandOperation {
  std::string name;
  std::vector<std::string> after;  // names; starts when all have ended
  struct Compute {
    std::string device;
    Seconds duration;            // alone
    double multiprocessors = 1;  // share held, 0..1
    double memory = 0;           // share of the device's memory rate
  };
  struct Transfer {
    std::string from, to;  // devices
    Bytes bytes;
  };
  struct Collective {
    collective::Operation operation = collective::Operation::all_reduce;
    std::vector<std::string> devices;  // names or patterns, in ring order
    Bytes bytes;                       // as nccl-tests counts
    collective::Forced forced;
    std::optional<double> multiprocessors;  // share reserved on each device; default: the profile's
  };
  std::variant<Compute, Transfer, Collective> what;
  Place place;
};

// A capacity that differs from the normal one for a while. That of a host is how fast it launches
// what its device runs.
struct Disturbance {
  enum class Kind { compute, memory, link, host };
  Kind kind = Kind::compute;
  std::int32_t index = 0;  // of the device, or of the link
  double factor = 1;       // of the normal capacity
  Seconds from;
  std::optional<Seconds> to = {};  // none: until the end
  Pattern pattern = {};            // between from and to
};

// Durations of compute operators vary: lognormal factors with mean 1.
struct Jitter {
  double device = 0;     // sigma of what all operators of a rank share
  double operation = 0;  // sigma of what each has for itself
  int replicas = 64;     // data-parallel replicas that have draws, where the others can be folded
  std::uint64_t seed = 1;

  bool is_on() const { return device > 0 || operation > 0; }
};

enum class Fidelity { segments, operators };

struct Job {
  std::string name;
  const topology::Cluster* cluster = nullptr;
  std::map<std::string, std::shared_ptr<const calibrate::profile::Profile>>
      profiles;  // by device type
  std::variant<std::monostate, dnn::Transformer, TimedDnn> dnn;
  dnn::SoftwareStack stack;
  calibrate::profile::Precision precision = calibrate::profile::Precision::bf16;
  plan::Plan plan;
  std::vector<HandOperation> operations;  // instead of dnn
  std::vector<Disturbance> disturbances;
  // How far disturbances that do not end are laid out; simulate() goes on to where the job ends.
  Picoseconds horizon = 10'000'000'000'000;
  Jitter jitter;  // of jobs with a dnn
  Fidelity fidelity = Fidelity::segments;
  // More are not simulated one by one: they would not fit into memory.
  std::int64_t ranks_max = 2'000'000;
  bool folds = true;  // ranks that provably do the same are run once
  bool skips = true;  // what provably repeats is not run again
  int iterations = 2;
};

// The timing models of a device. REQUIRES: its type has some.
inline const calibrate::profile::Profile& profile_of(const Job& job, topology::DeviceIndex device) {
  return *job.profiles.at(std::string(job.cluster->device(device).device_type));
}

}  // namespace sim::training
