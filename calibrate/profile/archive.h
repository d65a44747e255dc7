// One walk over the contents of a profile serves its writer and its reader.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "calibrate/profile/profile_data.h"

namespace calibrate::profile {

// Units as they stand in the file: "s", "byte", "byte/s", "FLOP/s", "FLOP", "1" for ratios and
// counts, "log(s)" and the like for logarithms.
class Archive {
 public:
  virtual ~Archive() = default;
  void enter(const std::string& group) { groups_.push_back(group); }
  void leave() { groups_.pop_back(); }
  virtual void number(const char* name, const char* units, double& value) = 0;
  virtual void numbers(const char* name, const char* units, std::vector<double>& values) = 0;
  virtual void text(const char* name, std::string& value) = 0;
  // The length of a list: writes `count`, or returns the one that stands in the file.
  virtual std::size_t length(std::size_t count) = 0;
  // A part at the end that not every file has: whether it is `wanted`, or stands in the file.
  virtual bool continues(bool wanted) = 0;
  // A word of an enumeration that `known` does not have: the reader throws, the writer never asks.
  [[noreturn]] virtual void unknown_word(const char* name, const std::string& word) = 0;

 protected:
  // "gemm/0/m/least" for "least" in the groups that were entered.
  std::string path(const char* name) const;

 private:
  std::vector<std::string> groups_;
};

// Visits every field of `data` in a fixed order.
void walk(Archive& archive, ProfileData& data);

}  // namespace calibrate::profile
