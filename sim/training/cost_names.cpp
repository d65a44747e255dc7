// Words of a dnn's operators in those of profiles, collectives and results.
#include "sim/training/cost_names.h"

#include "sim/base/invariant.h"

namespace sim::training {

namespace profile = calibrate::profile;

profile::Layout layout_of(dnn::GemmLayout layout) {
  switch (layout) {
    case dnn::GemmLayout::forward:
      return profile::Layout::forward;
    case dnn::GemmLayout::input_gradient:
      return profile::Layout::input_gradient;
    case dnn::GemmLayout::weight_gradient:
      return profile::Layout::weight_gradient;
  }
  bug("unknown gemm layout");
}

profile::AttentionKernel kernel_of(dnn::SoftwareStack::Attention attention) {
  using Attention = dnn::SoftwareStack::Attention;
  switch (attention) {
    case Attention::flash2:
      return profile::AttentionKernel::flash2;
    case Attention::flash3:
      return profile::AttentionKernel::flash3;
    case Attention::cudnn:
      return profile::AttentionKernel::cudnn;
    case Attention::triton:
      return profile::AttentionKernel::triton;
    case Attention::unfused:
      break;
  }
  bug("an unfused attention has no kernel");
}

collective::Operation operation_of(dnn::Collective collective) {
  switch (collective) {
    case dnn::Collective::all_reduce:
      return collective::Operation::all_reduce;
    case dnn::Collective::all_gather:
      return collective::Operation::all_gather;
    case dnn::Collective::reduce_scatter:
      return collective::Operation::reduce_scatter;
    case dnn::Collective::all_to_all:
    case dnn::Collective::dispatch:
    case dnn::Collective::combine:
      return collective::Operation::all_to_all;
    case dnn::Collective::send_receive:
      return collective::Operation::send_receive;
    case dnn::Collective::none:
      break;
  }
  bug("a collective operator without a collective");
}

Category exposed(dnn::RankGroup group) {
  switch (group) {
    case dnn::RankGroup::tensor:
      return Category::exposed_tensor;
    case dnn::RankGroup::context:
      return Category::exposed_context;
    case dnn::RankGroup::expert:
    case dnn::RankGroup::expert_tensor:
      return Category::exposed_expert;
  }
  bug("unknown rank group");
}

}  // namespace sim::training
