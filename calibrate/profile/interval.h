// Half-widths of the 80 % interval by class of a size (FLOPs, bytes), from held-out residuals.
#pragma once

#include <cstddef>
#include <vector>

namespace calibrate::profile {

struct Interval {
  std::vector<double> bounds;       // upper ends of all classes but the last, ascending
  std::vector<double> half_widths;  // relative, [class]

  double at(double size) const {
    std::size_t index = 0;
    while (index < bounds.size() && size >= bounds[index]) ++index;
    return half_widths[index];
  }
  bool is_consistent() const { return half_widths.size() == bounds.size() + 1; }
};

}  // namespace calibrate::profile
