// Which rows of a measured file are looked at.
#pragma once

#include <string>
#include <vector>

#include "sim/scenario/measured.h"

namespace sim::command {

// "num_gpus<=16,pp=1,framework=nanotron": all must hold. Numbers are compared as numbers; a row
// without the field keeps none.
class RowFilter {
 public:
  // Throws UsageError at what it cannot read. Empty: every row.
  explicit RowFilter(const std::string& text);
  bool accepts(const scenario::MeasuredRow& row) const;

 private:
  struct Condition {
    std::string field, comparison, value;
  };
  std::vector<Condition> conditions_;
};

}  // namespace sim::command
