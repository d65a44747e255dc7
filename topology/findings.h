// Collects what is wrong with a description.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "topology/cluster.h"

namespace topology {

class Findings {
 public:
  using Subject = Finding::Subject;

  // Where the next findings point to.
  void about(Subject subject, std::size_t index = 0) {
    subject_ = subject;
    index_ = static_cast<int>(index);
  }
  void error(std::string message, std::string why = "", std::string hint = "") {
    list_.push_back({true, subject_, index_, std::move(message), std::move(why), std::move(hint)});
  }
  void warning(std::string message, std::string why = "", std::string hint = "") {
    list_.push_back({false, subject_, index_, std::move(message), std::move(why), std::move(hint)});
  }
  // Errors unless the value is as named; `what` is the key.
  void check_positive(std::string_view what, double value, std::string_view unit_hint);
  void check_not_negative(std::string_view what, double value);
  void check_count(std::string_view what, std::int64_t value, std::int64_t least,
                   std::int64_t most);

  bool has_errors() const;
  std::vector<Finding> take() { return std::move(list_); }

 private:
  Subject subject_ = Subject::cluster;
  int index_ = 0;
  std::vector<Finding> list_;
};

// Adds what is wrong with host groups and their fabric, or with an arbitrary graph.
void find_in_hosts(const Description& description, Findings& findings);
void find_in_graph(const Graph& graph, Findings& findings);

}  // namespace topology
