// JSON as text: quoting, and laying out a compact document for people.
#pragma once

#include <string>
#include <string_view>

namespace sim::scenario {

std::string json_quoted(std::string_view text);
// REQUIRES: `compact` is JSON without space outside of strings.
std::string json_indented(std::string_view compact);

}  // namespace sim::scenario
