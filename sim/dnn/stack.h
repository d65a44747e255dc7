// A software stack: how a framework turns a layer into kernels and what it may overlap.
#pragma once

#include <string>

#include "sim/base/quantity.h"

namespace sim::dnn {

struct SoftwareStack {
  std::string name, version, source;
  enum class Attention { unfused, flash2, flash3, cudnn, triton };
  Attention attention = Attention::flash2;
  bool fused_pointwise = true;  // one pass over memory per group of point-wise operators
  double pointwise_traffic =
      1;  // bytes of point-wise operators against the fused ideal: 1 fused, 2-3 eager
  double logit_bytes = 18;    // bytes moved per logit by loss and its gradient: 18 fused, 40 eager
  Seconds host_per_operator;  // host time to launch one kernel, Python included
  Seconds host_per_layer;     // fixed host time per layer and direction
  int host_run_ahead = 1024;  // launches the host may be ahead of the device
  bool gradient_fp32 = true;  // gradients are accumulated and reduced in fp32
  bool fused_gradient_accumulation = true;  // weight-gradient gemm adds into the gradient buffer
  bool overlaps_gradient_reduction = true;  // data-parallel reduction behind the backward pass
  bool overlaps_parameter_gather = false;   // ZeRO-1 all-gather behind the next forward pass
  bool overlaps_tensor = false;             // gradient all-reduce/gather behind the weight gradient
  // With sequence parallelism: products in as many pieces as tensor ranks, exchange beside them.
  bool splits_tensor_products = false;
  bool overlaps_shared_experts = false;  // exchange of routed rows behind the shared experts
  bool pipeline_blocks = false;          // a stage waits for its own sends and receives
  // Without sequence parallelism: each tensor rank sends a share, and the receivers gather.
  bool pipeline_scatters = false;
  // Stages get equal shares of the multiply-adds, the head's among them; no: of the layers.
  bool balances_stages = false;
  Seconds pipeline_overhead;      // host and kernel time per point-to-point operation
  Bytes bucket;                   // gradient bucket, bytes of gradient
  int prefetch_layers = 1;        // FSDP: gathers in flight ahead
  int vocabulary_multiple = 128;  // vocabulary is padded to a multiple of this times tensor
  Bytes reserve;                  // context, NCCL buffers, workspaces
  double fragmentation = 0;       // share of the peak lost by the allocator
  double optimizer_bytes_per_parameter = 34;  // moved per local parameter
  Seconds optimizer_overhead;  // fixed time of a step: gradient norm, scalars, launches
  // One sigma, relative, of what whole runs differ from their prediction, kernels and links apart.
  double error = 0;
};

}  // namespace sim::dnn
