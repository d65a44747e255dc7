// The points of a study's grid.
#include <fmt/format.h>

#include <algorithm>

#include "sim/scenario/study.h"
#include "sim/scenario/study_axes.h"

namespace sim::scenario {

const Value* at_path(const Value& root, const std::string& path) {
  if (path.empty()) return &root;
  const std::size_t dot = std::min(path.find('.'), path.size());
  const std::string key = path.substr(0, dot);
  const std::string rest = dot < path.size() ? path.substr(dot + 1) : "";
  if (const Value* found = root.find(path)) return found;
  if (root.kind == Value::Kind::list) {
    const auto index = number_text(key);
    if (!index || index->number < 0 || index->number >= static_cast<double>(root.items.size())) {
      return nullptr;
    }
    return at_path(root.items[static_cast<std::size_t>(index->number)], rest);
  }
  const Value* inner = root.find(key);
  return inner ? at_path(*inner, rest) : nullptr;
}

namespace {

class Walker {
 public:
  Walker(const Study& study, const Value& base, Diagnostics& diagnostics)
      : study_(study), base_(base), diagnostics_(diagnostics) {}

  std::optional<Grid> walk() {
    for (const Axis& axis : study_.axes) {
      for (const std::string& path : axis.paths) {
        if (std::count(set_.begin(), set_.end(), path) > 0) {
          diagnostics_.error(axis.place, fmt::format("two axes of {}", path));
        }
      }
      for (const auto& [path, values] : axis.when) require(path, axis.place);
      set_.insert(set_.end(), axis.paths.begin(), axis.paths.end());
    }
    for (const Filter& filter : study_.filters) {
      for (const Expression* side : {&filter.comparison.left, &filter.comparison.right}) {
        for (const ExpressionStep& step : *side) {
          if (step.operation == '@') require(step.field, filter.place);
        }
      }
    }
    if (diagnostics_.has_errors()) return std::nullopt;
    enter(0);
    if (diagnostics_.has_errors()) return std::nullopt;
    return std::move(grid_);
  }

 private:
  void require(const std::string& path, const Place& place) {
    if (std::count(set_.begin(), set_.end(), path) > 0 || at_path(base_, path)) return;
    diagnostics_.error(
        place, fmt::format("no axis so far and not the base scenario says '{}'", path),
        "what is left to a default cannot be asked for", "write it in the base scenario");
  }
  std::optional<std::string> text_at(const std::string& path) const {
    for (std::size_t i = 0; i < now_.overrides.size(); ++i) {
      if (now_.overrides[i].path == path) return now_.shown[i];
    }
    const Value* found = at_path(base_, path);
    if (!found || found->kind != Value::Kind::text) return std::nullopt;
    return found->text;
  }
  bool is_there(const Axis& axis) const {
    return std::all_of(axis.when.begin(), axis.when.end(), [&](const auto& condition) {
      const auto text = text_at(condition.first);
      return text && std::count(condition.second.begin(), condition.second.end(), *text) > 0;
    });
  }
  void enter(std::size_t index) {
    if (diagnostics_.has_errors()) return;
    if (index == study_.axes.size()) return arrive();
    const Axis& axis = study_.axes[index];
    if (!is_there(axis)) return enter(index + 1);
    for (std::size_t v = 0; v < axis.values.size(); ++v) {
      const std::size_t before = now_.overrides.size();
      for (std::size_t p = 0; p < axis.paths.size(); ++p) {
        now_.overrides.push_back({axis.paths[p], axis.values[v][p]});
        now_.shown.push_back(axis.shown[v][p]);
      }
      enter(index + 1);
      now_.overrides.resize(before);
      now_.shown.resize(before);
    }
  }
  void arrive() {
    for (const Filter& filter : study_.filters) {
      const auto field = [&](const std::string& path) -> std::optional<double> {
        const auto text = text_at(path);
        const auto number = text ? number_text(*text) : std::nullopt;
        if (!number || !number->unit.empty()) return std::nullopt;
        return number->number;
      };
      const auto is_met = holds(filter.comparison, field);
      if (!is_met) {
        diagnostics_.error(
            filter.place,
            fmt::format("'{}' has no answer for every point of the grid", filter.comparison.text),
            "a field in it has no plain number there, or something is divided by 0");
        return;
      }
      if (!*is_met) {
        ++grid_.filtered;
        return;
      }
    }
    grid_.candidates.push_back(now_);
    if (grid_.candidates.size() <= candidates_max) return;
    diagnostics_.error({study_.file.generic_string(), 0, 0, 1},
                       fmt::format("more than {} candidates", candidates_max));
  }

  const Study& study_;
  const Value& base_;
  Diagnostics& diagnostics_;
  std::vector<std::string> set_;  // paths that axes set
  Candidate now_;
  Grid grid_;
};

}  // namespace

std::optional<Grid> grid(const Study& study, const Value& base, Diagnostics& diagnostics) {
  return Walker(study, base, diagnostics).walk();
}

}  // namespace sim::scenario
