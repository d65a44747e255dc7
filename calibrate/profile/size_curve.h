// Duration of a collective against its size: monotone through measured points.
//
// Knots in log size and log time, made non-decreasing (isotonic), joined by monotone cubics
// (PCHIP). Below the first knot: constant. Above the last: the last slope, at most proportional.
// Source: Fritsch and Carlson, SIAM J. Numer. Anal. 17(2), 1980, 238-246.
#pragma once

#include <vector>

namespace calibrate::profile {

struct SizeCurve {
  std::vector<double> log_bytes, log_seconds, slopes;  // [knot], sizes ascending

  double seconds(double bytes) const;
  bool is_outside(double bytes) const;  // beyond twice the measured range
  bool is_consistent() const;
};

// Least-squares non-decreasing sequence (pool adjacent violators).
std::vector<double> isotonic(std::vector<double> values);
// Slopes of the monotone cubic at each knot. REQUIRES: x strictly ascending.
std::vector<double> monotone_slopes(const std::vector<double>& x, const std::vector<double>& y);
// REQUIRES: at least two sizes, strictly ascending, all values positive.
SizeCurve size_curve(const std::vector<double>& bytes, const std::vector<double>& seconds);

}  // namespace calibrate::profile
