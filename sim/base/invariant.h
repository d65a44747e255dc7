// Conditions that only a bug of ours can break.
#pragma once

#include <source_location>
#include <string_view>

namespace sim {

// Prints the place and `what` with "this is a bug in maquette" and exits with 70 (EX_SOFTWARE).
[[noreturn]] void bug(std::string_view what,
                      std::source_location place = std::source_location::current());

inline void invariant(bool holds, std::string_view what,
                      std::source_location place = std::source_location::current()) {
  if (!holds) bug(what, place);
}

}  // namespace sim
