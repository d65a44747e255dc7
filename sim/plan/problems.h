// Inside of plan: what problems() is made of.
#pragma once

#include <vector>

#include "sim/plan/plan.h"

namespace sim::plan {

// Of a plan whose replicas are alike.
std::vector<Problem> problems_of_alike(const Plan& plan, const dnn::Transformer& dnn, int devices);

}  // namespace sim::plan
