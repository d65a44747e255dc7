// Inside of plan: sizes what a stage's ranks hold.
#pragma once

#include <cstddef>
#include <numeric>
#include <vector>

#include "sim/plan/memory.h"

namespace sim::plan {

class Sizer {
 public:
  Sizer(const Plan& plan, const dnn::Transformer& dnn, const dnn::SoftwareStack& stack,
        const Schedule& schedule, int stage);
  // Another one of the same plan.
  void set_stage(int stage);
  MemoryBreakdown run() const;
  std::vector<HeldActivations> held_activations() const;

 private:
  // A layer, the embedding or the head: what is gathered and reduced as one.
  struct Unit {
    double parameters = 0;
    double experts = 0;       // parameters of routed experts, which other ranks hold too
    std::size_t holding = 0;  // in holdings_
  };
  using Units = std::vector<Unit>;  // in model order
  struct Layer {                    // of one kind and strategy
    std::size_t holding = 0;
    dnn::ShardParameters parameters;
    dnn::ActivationBytes activations;
    Bytes operands;  // of weight gradients
  };

  bool is_first(int virtual_stage) const { return schedule_.part(stage_, virtual_stage) == 0; }
  bool is_last(int virtual_stage) const {
    return schedule_.part(stage_, virtual_stage) == schedule_.parts() - 1;
  }
  Layer layer(const dnn::Transformer& dnn, dnn::Shard shard, const dnn::LayerKind& kind,
              const LayerStrategy& strategy) const;
  void make_layers(const dnn::Transformer& dnn, const dnn::Shard& shard);
  int sharers(const Unit& unit) const { return holdings_[unit.holding].sharers; }
  Sharding sharding(const Unit& unit) const { return holdings_[unit.holding].sharding; }
  // f(layer) of each, in model order; modules of multi-token prediction come last.
  template <class F>
  void each_layer(int virtual_stage, F f) const {
    const auto part = static_cast<std::size_t>(schedule_.part(stage_, virtual_stage));
    const int first = std::accumulate(layers_.begin(), layers_.begin() + static_cast<int>(part), 0);
    for (int l = first; l < first + layers_[part]; ++l) {
      f(kinds_[kind_of_[static_cast<std::size_t>(l)]]);
    }
  }
  double transient() const;
  Units units(int virtual_stage) const;
  // What a pass of a virtual stage keeps, until its backward pass or its weight gradient.
  double kept(int virtual_stage) const;
  // Of that, what goes to the host, and the most that does of one layer.
  double moved(int virtual_stage) const;
  double largest_moved() const;
  double kept_for_weights(int virtual_stage) const;
  struct Activations {
    double on_device = 0, on_host = 0;
  };
  Activations activations_peak() const;
  // Parameters that come from other ranks, of a unit that is sharded so.
  double gathered(const Unit& unit, Sharding by) const;
  double gathered_parameters() const;
  double unreduced_gradients() const;
  double temporaries() const;

  const Plan& plan_;
  const dnn::SoftwareStack& stack_;
  int stage_;
  const Schedule& schedule_;
  struct Held {
    Sharding sharding = Sharding::none;
    int sharers = 1;  // ranks that share one copy of parameters
  };
  std::vector<Held> holdings_;  // as holdings()
  int expert_sharers_;
  double gradient_bytes_;
  std::vector<Layer> kinds_;          // the first as the plan says
  std::vector<std::size_t> kind_of_;  // [layer]
  Layer prediction_;                  // a module's layer
  int prediction_modules_;
  double head_;  // parameters of the last stage beside its layers
  Bytes head_operands_;
  std::vector<int> layers_;
};

}  // namespace sim::plan
