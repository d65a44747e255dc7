// Parallel aggregated trees: all-gather and reduce-scatter in ceil(log2 n) steps.
#pragma once

#include "sim/collective/steps.h"

namespace sim::collective {

// Offsets between ranks from the largest power of two down to 1: with offset d every rank sends d
// ranks on what it holds from ranks whole multiples of 2 d behind it, its own included, unless the
// target is that far round already. So each of the n - 1 other parts arrives once, in the step of
// the lowest bit of its offset, and most bytes go to near ranks. A reduce-scatter is the reverse.
// Worked: n = 6, offsets 4, 2, 1 carry 1, 1, 3 parts of the buffer's 6.
// Source: Jeaugey, PAT: a new algorithm for all-gather and reduce-scatter operations at scale,
// arXiv 2506.20252, 2025.
Traffic pat(Operation operation, int ranks, Bytes size);
Steps pat_steps(Operation operation, int ranks);

}  // namespace sim::collective
