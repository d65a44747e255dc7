// maquette profile import, in the program that can fit.
#pragma once

#include <string>
#include <vector>

namespace sim::command {

int import_profile(const std::vector<std::string>& arguments);

}  // namespace sim::command
