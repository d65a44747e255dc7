// Appends operators to a list, with the counting rules that all of them share.
//
//   gemm          flops 2 m n k batch; bytes: A, B and C once; an fp32 accumulator is read and
//                 written (8 bytes an element) in place of C
//   grouped gemm  flops 2 m n k for the m rows of all groups; bytes: rows once, the matrix of every
//                 group once
//   pointwise     bytes: passes over the elements of a fused kernel, times stack.pointwise_traffic
//   linear        forward, or input gradient and weight gradient, with the collectives that tensor
//                 parallelism needs around them
#pragma once

#include <string>
#include <vector>

#include "sim/dnn/local_sizes.h"

namespace sim::dnn {

// A matrix of this rank. Column-parallel: its outputs are split over the tensor group, and its
// input is whole; row-parallel: the reverse.
struct Linear {
  std::string name;
  std::int64_t inputs = 0, outputs = 0;  // on this rank
  enum class Split { columns, rows, none };
  Split split = Split::none;
  bool has_bias = false;
  std::int64_t rows = 0;  // 0: the tokens of a gathered micro-batch
};

// The same matrix of every expert on this rank, each for its own rows.
struct GroupedLinear {
  std::string name;
  std::int64_t groups = 0, rows = 0;     // rows: of all groups together
  std::int64_t inputs = 0, outputs = 0;  // of one group, on this rank
  bool has_bias = false;
  double imbalance = 1;
};

struct Pointwise {
  std::string name;
  double elements = 0;
  double passes = 0;      // elements read and written, for each element, fused
  double mask_bytes = 0;  // of a dropout mask, for each element
  int fused_kernels = 1, eager_kernels = 1;
};

class OperatorList {
 public:
  OperatorList(const Transformer& dnn, const Shard& shard, const SoftwareStack& stack);

  void gemm(const std::string& name, std::int64_t m, std::int64_t n, std::int64_t k,
            GemmLayout layout, std::int64_t batch = 1);
  void pointwise(const Pointwise& work);
  // Bytes as given: traffic that no fusion of point-wise operators changes.
  void traffic(const std::string& name, double elements, double bytes, int kernels = 1);
  // Nothing when the group, the tensor group unless named, is one rank.
  // A product whose left operand is gathered, or whose result is scattered, over the tensor ranks:
  // one after the other, or piece by piece.
  void gathered_gemm(const std::string& name, const std::string& gather, std::int64_t m,
                     std::int64_t n, std::int64_t k, GemmLayout layout);
  void scattered_gemm(const std::string& name, const std::string& scatter, std::int64_t m,
                      std::int64_t n, std::int64_t k, GemmLayout layout);
  bool is_split(std::int64_t rows) const;
  void collective(const std::string& name, Collective kind, double bytes, int overlapped = 0);
  void collective(RankGroup group, const std::string& name, Collective kind, double bytes,
                  int overlapped = 0);

  void forward(const Linear& linear);
  void backward(const Linear& linear);
  void forward(const GroupedLinear& linear);
  void backward(const GroupedLinear& linear);

  void append(const std::vector<Operator>& operators, bool is_recompute = false);
  void push(Operator one) { operators_.push_back(std::move(one)); }
  std::vector<Operator> take() { return std::move(operators_); }

  const Transformer& dnn;
  const Shard& shard;
  const SoftwareStack& stack;
  const LocalSizes sizes;

 private:
  std::int64_t rows_of(const Linear& linear) const;
  void weight_gradient(const Linear& linear);
  void weight_gradient(const GroupedLinear& linear);
  // `o` carries the name of the linear and the bytes of its operands, and adds into `elements`
  // gradients. Whatever marks the gradient of a weight is set here.
  void push_weight_gradient(Operator o, double elements);

  std::vector<Operator> operators_;
};

}  // namespace sim::dnn
