// Comparisons of numbers and fields: "plan.tensor * plan.pipeline.stages <= 16".
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace sim::scenario {

// Numbers, fields and what is done to them, in postfix order.
struct ExpressionStep {
  char operation = '#';  // '#' a number, '@' a field, or one of + - * / %
  double number = 0;
  std::string field;
};
using Expression = std::vector<ExpressionStep>;

struct Comparison {
  std::string text;
  Expression left, right;
  std::string relation;  // <= >= == != < >
};

// Where the text stops being one, and what would have been right.
struct ExpressionError {
  std::size_t at = 0;
  std::string message;
};
// Sums and products of numbers, fields and parentheses, compared once. % is the remainder.
std::variant<Comparison, ExpressionError> parse_comparison(const std::string& text);

// Whether it holds; nothing where a field has no number, or a divisor is zero.
std::optional<bool> holds(const Comparison& comparison,
                          const std::function<std::optional<double>(const std::string&)>& field);

}  // namespace sim::scenario
