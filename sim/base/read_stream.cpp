// Block by block.
#include "sim/base/read_stream.h"

#include <array>

namespace sim {

std::string read_stream(std::istream& stream, std::size_t most) {
  std::string text;
  std::array<char, 65536> block;
  while (stream && text.size() <= most) {
    stream.read(block.data(), block.size());
    text.append(block.data(), static_cast<std::size_t>(stream.gcount()));
  }
  return text;
}

}  // namespace sim
