// What profiles, collectives and results call what an operator of a dnn says.
#pragma once

#include "calibrate/profile/profile.h"
#include "sim/collective/collective.h"
#include "sim/dnn/operators.h"
#include "sim/training/result.h"

namespace sim::training {

calibrate::profile::Layout layout_of(dnn::GemmLayout layout);
// REQUIRES: the attention is fused.
calibrate::profile::AttentionKernel kernel_of(dnn::SoftwareStack::Attention attention);
// REQUIRES: it is a collective.
collective::Operation operation_of(dnn::Collective collective);
// The time that a collective of these ranks is not hidden.
Category exposed(dnn::RankGroup group);

}  // namespace sim::training
