// A profile that remembers its answers.
#pragma once

#include <map>
#include <tuple>

#include "calibrate/profile/profile.h"

namespace calibrate::profile {

// Plans of one search ask for the same operators again and again. Grows with the questions that
// differ, some hundred bytes each. Not for several threads at once.
class RememberingProfile : public Profile {
 public:
  // `profile` must outlive it.
  explicit RememberingProfile(const Profile& profile) : profile_(profile) {}

  const DeviceType& device() const override { return profile_.device(); }
  Origin origin() const override { return profile_.origin(); }
  Answer gemm(const GemmQuestion& q) const override;
  Answer grouped_gemm(const GroupedGemmQuestion& q) const override;
  Answer attention(const AttentionQuestion& q) const override;
  Answer memory(const MemoryQuestion& q) const override;
  bool has_collective(const CollectiveQuestion& q) const override {
    return profile_.has_collective(q);
  }
  Answer collective(const CollectiveQuestion& q) const override { return profile_.collective(q); }
  NetworkConstants network() const override { return profile_.network(); }
  double level_error(const std::string& family) const override {
    return profile_.level_error(family);
  }
  std::vector<FitReport> reports() const override { return profile_.reports(); }
  std::vector<std::string> notes() const override { return profile_.notes(); }

 private:
  using Size = std::int64_t;
  const Profile& profile_;
  // By all that is asked, in the order of the question.
  mutable std::map<std::tuple<Size, Size, Size, Size, Precision, Layout, bool>, Answer> gemms_;
  mutable std::map<std::tuple<Size, Size, Size, Size, double, Precision, Layout, bool>, Answer>
      grouped_;
  mutable std::map<
      std::tuple<AttentionKernel, Size, Size, Size, Size, Size, Size, bool, bool, Precision, Size>,
      Answer>
      attentions_;
  mutable std::map<double, Answer> memories_;
};

}  // namespace calibrate::profile
