// Resources that cannot saturate couple nothing and need not be shared.
#pragma once

#include "sim/network/system.h"

namespace sim::training {

// Takes out of all footprints the resources that cannot saturate: the largest uses of all streams
// together stay within the lowest capacity over time. Changes no rate. Observed and reserved
// resources stay.
void drop_never_binding(network::System& system);

}  // namespace sim::training
