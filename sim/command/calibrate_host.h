// maquette calibrate, in the program that can measure.
#pragma once

#include <string>
#include <vector>

namespace sim::command {

int calibrate_here(const std::vector<std::string>& arguments);

}  // namespace sim::command
