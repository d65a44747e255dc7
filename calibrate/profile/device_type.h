// Datasheet facts of a device type. A profile, where there is one, says what it really delivers.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "sim/base/quantity.h"

namespace calibrate::profile {

using sim::Bytes;
using sim::BytesPerSecond;
using sim::FlopsPerSecond;
using sim::Seconds;

enum class Precision { fp32, tf32, fp16, bf16, fp8 };

struct DeviceType {
  std::string name;       // "h100-sxm"
  std::string full_name;  // "NVIDIA H100 SXM5 80 GB"
  std::string source;
  std::map<Precision, FlopsPerSecond> peak;  // dense
  Bytes memory;
  BytesPerSecond memory_rate;
  int multiprocessors = 0;
  Bytes l2;
  double power_watts = 0;
  std::string
      profile;  // file of the fitted profile, relative to the catalog; empty: datasheet only
  // An ideal device for hand-derived scenarios: operators take exactly roofline time, no overhead.
  bool is_ideal = false;
};

}  // namespace calibrate::profile
