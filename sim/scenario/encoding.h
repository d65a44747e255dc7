// UTF-8: where a text stops being it, and columns in characters.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace sim::scenario {

// Offset of the first byte that is not UTF-8, or is a control character other than tab and line
// end.
std::optional<std::size_t> first_unreadable(std::string_view text);

// At most `characters` of valid UTF-8, in one line: for messages.
std::string shown(std::string_view text, std::size_t characters = 60);

// Characters in valid UTF-8.
std::size_t character_count(std::string_view text);

}  // namespace sim::scenario
