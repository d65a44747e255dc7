// Reports a bug of ours and stops.
#include "sim/base/invariant.h"

#include <cstdio>
#include <cstdlib>

namespace sim {

void bug(std::string_view what, std::source_location place) {
  std::fprintf(stderr, "%s:%u: this is a bug in maquette: %.*s\n", place.file_name(),
               static_cast<unsigned>(place.line()), static_cast<int>(what.size()), what.data());
  std::fflush(nullptr);
  std::_Exit(70);
}

}  // namespace sim
