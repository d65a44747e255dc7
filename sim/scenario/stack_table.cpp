// The format of software stacks.
#include "sim/scenario/tables.h"

namespace sim::scenario {

using dnn::SoftwareStack;

namespace {

Section<SoftwareStack>& add_overlap(Section<SoftwareStack>& table) {
  return table
      .defaulted("overlaps_gradient_reduction", flag(), &SoftwareStack::overlaps_gradient_reduction,
                 "true", "data-parallel reduction behind the backward pass")
      .defaulted("overlaps_parameter_gather", flag(), &SoftwareStack::overlaps_parameter_gather,
                 "false", "all-gather of parameters behind the next forward pass")
      .defaulted("overlaps_tensor", flag(), &SoftwareStack::overlaps_tensor, "false",
                 "tensor-parallel communication behind the weight gradient")
      .optional("splits_tensor_products", flag(), &SoftwareStack::splits_tensor_products,
                "with sequence parallelism products run in as many pieces as tensor ranks; what "
                "one piece gathers or scatters moves beside the next (user buffers); no unless "
                "written")
      .optional("overlaps_shared_experts", flag(), &SoftwareStack::overlaps_shared_experts,
                "exchange of routed rows behind the shared experts")
      .defaulted("pipeline_blocks", flag(), &SoftwareStack::pipeline_blocks, "false",
                 "a stage waits for its own sends and receives")
      .defaulted(
          "pipeline_scatters", flag(), &SoftwareStack::pipeline_scatters, "false",
          "without sequence parallelism each tensor rank sends a share of what all hold, and "
          "the receivers gather it")
      .optional("balances_stages", flag(), &SoftwareStack::balances_stages,
                "unless the plan lists layers, stages get equal shares of the multiply-adds of "
                "layers and head; equal numbers of layers unless written")
      .defaulted("pipeline_overhead", duration(), &SoftwareStack::pipeline_overhead, "0 s",
                 "host and kernel time of a point-to-point operation")
      .defaulted("bucket", size(), &SoftwareStack::bucket, "0 B", "gradient bytes reduced at once")
      .defaulted("prefetch_layers", small_count(0, 1000), &SoftwareStack::prefetch_layers, "1",
                 "gathers in flight ahead, with zero-3");
}

Section<SoftwareStack>& add_memory(Section<SoftwareStack>& table) {
  return table
      .defaulted("vocabulary_multiple", small_count(1, 1'000'000),
                 &SoftwareStack::vocabulary_multiple, "128",
                 "vocabulary is padded to a multiple of this times tensor")
      .defaulted("reserve", size(), &SoftwareStack::reserve, "0 B",
                 "memory of context, NCCL buffers and workspaces")
      .defaulted("fragmentation", share(), &SoftwareStack::fragmentation, "0 %",
                 "share of the peak lost by the allocator")
      .defaulted("optimizer_bytes_per_parameter", number(0, 10'000),
                 &SoftwareStack::optimizer_bytes_per_parameter, "34", "moved per local parameter")
      .defaulted("optimizer_overhead", duration(), &SoftwareStack::optimizer_overhead, "0 s",
                 "fixed time of a step: gradient norm, scalars, launches")
      .defaulted("error", share(), &SoftwareStack::error, "0 %",
                 "one standard deviation of what whole runs with it differ from their prediction, "
                 "beside the errors of kernels and links");
}

}  // namespace

Section<SoftwareStack> stack_table() {
  using Attention = SoftwareStack::Attention;
  Section<SoftwareStack> table("how a framework turns a layer into kernels, and what it overlaps");
  table
      .optional("name", text(), &SoftwareStack::name, "short name; that of the file unless written")
      .required("version", text(), &SoftwareStack::version, "of the framework")
      .required("source", text(), &SoftwareStack::source, "where the facts are from")
      .defaulted("attention",
                 word<Attention>("attention", {{"unfused", Attention::unfused},
                                               {"flash2", Attention::flash2},
                                               {"flash3", Attention::flash3},
                                               {"cudnn", Attention::cudnn},
                                               {"triton", Attention::triton}}),
                 &SoftwareStack::attention, "flash2", "kernel family of attention")
      .defaulted("fused_pointwise", flag(), &SoftwareStack::fused_pointwise, "true",
                 "one pass over memory per group of point-wise operators")
      .defaulted("pointwise_traffic", number(0, 100), &SoftwareStack::pointwise_traffic, "1",
                 "bytes of point-wise operators against the fused ideal")
      .defaulted("logit_bytes", number(0, 1000), &SoftwareStack::logit_bytes, "18",
                 "bytes moved per logit by the loss and its gradient")
      .defaulted("host_per_operator", duration(), &SoftwareStack::host_per_operator, "0 s",
                 "host time to launch one kernel")
      .defaulted("host_per_layer", duration(), &SoftwareStack::host_per_layer, "0 s",
                 "fixed host time per layer and direction")
      .defaulted("host_run_ahead", small_count(1), &SoftwareStack::host_run_ahead, "1024",
                 "launches the host may be ahead of the device")
      .defaulted("gradient_fp32", flag(), &SoftwareStack::gradient_fp32, "true",
                 "gradients are accumulated and reduced in fp32")
      .defaulted("fused_gradient_accumulation", flag(), &SoftwareStack::fused_gradient_accumulation,
                 "true", "the weight-gradient product adds into the gradient buffer");
  add_overlap(table);
  add_memory(table);
  return table;
}

}  // namespace sim::scenario
