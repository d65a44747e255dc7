// Reading what an input stream holds.
#pragma once

#include <cstddef>
#include <istream>
#include <limits>
#include <string>

namespace sim {

// Block by block, since what a pipe or a device holds is not known before. Stops after the block in
// which `most` bytes are passed; the stream's bad() says whether reading failed.
std::string read_stream(std::istream& stream,
                        std::size_t most = std::numeric_limits<std::size_t>::max());

}  // namespace sim
