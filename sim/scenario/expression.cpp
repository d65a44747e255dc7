// Recursive descent into postfix order.
#include "sim/scenario/expression.h"

#include <charconv>
#include <cmath>

namespace sim::scenario {
namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }

class Parser {
 public:
  explicit Parser(const std::string& text) : text_(text) {}

  std::variant<Comparison, ExpressionError> comparison() {
    Comparison result;
    result.text = text_;
    try {
      sum(result.left);
      result.relation = relation();
      sum(result.right);
      skip_spaces();
      if (at_ < text_.size()) fail("an operator or the end");
    } catch (const ExpressionError& error) {
      return error;
    }
    return result;
  }

 private:
  [[noreturn]] void fail(const std::string& wanted) const {
    throw ExpressionError{at_, "expected " + wanted};
  }
  void skip_spaces() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  char next() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  std::string relation() {
    skip_spaces();
    for (const char* known : {"<=", ">=", "==", "!=", "<", ">"}) {
      const std::string_view word = known;
      if (text_.compare(at_, word.size(), word) != 0) continue;
      at_ += word.size();
      return known;
    }
    fail("one of <= >= == != < >");
  }
  void sum(Expression& steps) {
    product(steps);
    for (char c = next(); c == '+' || c == '-'; c = next()) {
      ++at_;
      product(steps);
      steps.push_back({c, 0, ""});
    }
  }
  void product(Expression& steps) {
    operand(steps);
    for (char c = next(); c == '*' || c == '/' || c == '%'; c = next()) {
      ++at_;
      operand(steps);
      steps.push_back({c, 0, ""});
    }
  }
  void operand(Expression& steps) {
    const char c = next();
    if (c == '(') {
      constexpr int depth_max = 32;
      if (++depth_ > depth_max) fail("fewer parentheses inside each other");
      ++at_;
      sum(steps);
      if (next() != ')') fail("')'");
      ++at_;
      --depth_;
    } else if (is_digit(c)) {
      double number = 0;
      const auto end = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number).ptr;
      at_ = static_cast<std::size_t>(end - text_.data());
      steps.push_back({'#', number, ""});
    } else if (is_letter(c)) {
      const std::size_t begin = at_;
      while (at_ < text_.size() &&
             (is_letter(text_[at_]) || is_digit(text_[at_]) || text_[at_] == '.')) {
        ++at_;
      }
      steps.push_back({'@', 0, text_.substr(begin, at_ - begin)});
    } else {
      fail("a number, a field such as plan.tensor, or '('");
    }
  }

  const std::string& text_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

std::optional<double> applied(char operation, double a, double b) {
  switch (operation) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return b == 0 ? std::nullopt : std::optional(a / b);
    default:
      return b == 0 ? std::nullopt : std::optional(std::fmod(a, b));
  }
}

std::optional<double> value_of(
    const Expression& steps,
    const std::function<std::optional<double>(const std::string&)>& field) {
  std::vector<double> stack;
  for (const ExpressionStep& step : steps) {
    std::optional<double> value = step.number;
    if (step.operation == '@') {
      value = field(step.field);
    } else if (step.operation != '#') {
      const double b = stack.back();
      stack.pop_back();
      value = applied(step.operation, stack.back(), b);
      stack.pop_back();
    }
    if (!value) return std::nullopt;
    stack.push_back(*value);
  }
  return stack.back();
}

}  // namespace

std::variant<Comparison, ExpressionError> parse_comparison(const std::string& text) {
  return Parser(text).comparison();
}

std::optional<bool> holds(const Comparison& comparison,
                          const std::function<std::optional<double>(const std::string&)>& field) {
  const auto left = value_of(comparison.left, field);
  const auto right = value_of(comparison.right, field);
  if (!left || !right) return std::nullopt;
  if (comparison.relation == "<=") return *left <= *right;
  if (comparison.relation == ">=") return *left >= *right;
  if (comparison.relation == "==") return *left == *right;
  if (comparison.relation == "!=") return *left != *right;
  return comparison.relation == "<" ? *left < *right : *left > *right;
}

}  // namespace sim::scenario
