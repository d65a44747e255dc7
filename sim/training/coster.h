// Inside of costs: asks a profile for operators.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "sim/training/costs.h"

namespace sim::training {

class Coster {
 public:
  Coster(const Job& job, const calibrate::profile::Profile& profile, PackedLengths lengths = {})
      : job_(job),
        profile_(profile),
        memory_capacity_(memory_capacity(profile)),
        lengths_(std::move(lengths)) {}

  std::vector<CostedOperator> cost(const std::vector<dnn::Operator>& operators) {
    std::vector<CostedOperator> result;
    for (const dnn::Operator& o : operators) result.push_back(cost(o));
    return result;
  }
  CostedOperator cost(const dnn::Operator& o);
  std::vector<std::string> extrapolated;

 private:
  calibrate::profile::Answer answer(const dnn::Operator& o, CostedOperator& costed) const;
  calibrate::profile::Answer attention(const dnn::Operator& o, double length) const;
  std::int64_t memory_rate(const dnn::Operator& o, const calibrate::profile::Answer& answer) const;
  void add_packed(const dnn::Operator& o, CostedOperator& costed) const;

  const Job& job_;
  const calibrate::profile::Profile& profile_;
  BytesPerSecond memory_capacity_;
  const PackedLengths lengths_;
};

// An operator that takes so long, on all of the device.
CostedOperator timed(std::string name, Seconds duration);

}  // namespace sim::training
