// A config.json of Hugging Face: typed access to its keys, and which of them were understood.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/base/diagnostics.h"
#include "sim/dnn/transformer.h"
#include "sim/scenario/tree.h"

namespace sim::scenario {

class HuggingFaceConfig {
 public:
  HuggingFaceConfig(const Value& root, Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  // The value of the first of the keys that is there and is not null; all of them are understood.
  const Value* find(std::initializer_list<const char*> keys);

  // Reports a missing or unfit value and returns 1, so that reading goes on to the next error.
  std::int64_t count(std::initializer_list<const char*> keys);
  std::optional<std::int64_t> optional_count(std::initializer_list<const char*> keys);
  std::int64_t whole(const char* key, std::int64_t otherwise);  // 0 is a number, too
  bool flag(const char* key, bool otherwise);
  double share(const char* key, double otherwise);
  dnn::Activation activation(std::initializer_list<const char*> keys, const char* otherwise);

  // The key may be there, and says nothing about sizes.
  void ignore(std::initializer_list<const char*> keys);
  // Refuses any other value than `wanted` ("false", "0", "true"); absent or null is fine.
  void require(const char* key, const char* wanted, const std::string& meaning);

  void error(const Value& value, std::string message, std::string why = "", std::string hint = "");
  void warning(const Value& value, std::string message, std::string why = "");
  // Every key that was neither asked for nor is known to be harmless, unless null, false or empty.
  void report_unknown_keys();
  bool has_errors() const { return has_errors_; }

 private:
  std::optional<std::int64_t> whole_number(const Value& value,
                                           std::initializer_list<const char*> keys,
                                           std::int64_t least = 1);

  const Value& root_;
  Diagnostics& diagnostics_;
  std::set<std::string> understood_;
  bool has_errors_ = false;
};

// Why a config cannot be read, by what it contains: experts, latent attention, an encoder, ...
// Nothing when none of the known signs is there, those aside that are `understood`.
struct Unsupported {
  const Value* value;
  std::string what;  // "a mixture of experts (num_local_experts: 8)"
};
std::optional<Unsupported> unsupported_feature(const Value& root,
                                               const std::vector<std::string>& understood);

}  // namespace sim::scenario
