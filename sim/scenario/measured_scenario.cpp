// Turns a measured row into a scenario: what the row states is taken, what it lacks is assumed and
// said.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <regex>
#include <span>

#include "sim/plan/schedule.h"
#include "sim/scenario/measured.h"

namespace sim::scenario {

namespace {

struct Known {
  const char* part;  // of the lower-case name
  const char* value;
};

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

// What the text holds of these is taken out of it.
std::optional<std::string> take(std::string& text, std::span<const Known> known) {
  text = lower(text);
  for (const Known& k : known) {
    const std::size_t found = text.find(k.part);
    if (found == std::string::npos) continue;
    text.erase(found, std::string_view(k.part).size());
    return k.value;
  }
  return std::nullopt;
}

std::optional<std::string> look_up(std::string text, std::span<const Known> known) {
  return take(text, known);
}

constexpr Known hosts[] = {{"h200", "hgx-h200"}, {"h100 96gb hbm2e 500w", "grand-teton-h100"},
                           {"h100", "hgx-h100"}, {"a100", "dgx-a100"},
                           {"b200", "hgx-b200"}, {"mi300x", "mi300x"}};
constexpr Known stacks[] = {{"megatron-lm 2022", "megatron-lm-2022"},
                            {"zero bubble", "megatron-lm-2022"},
                            {"megatron-deepspeed", "megatron-deepspeed"},
                            {"torchtitan", "torchtitan"},
                            {"nanotron", "nanotron"},
                            {"internevo", "internevo"},
                            {"foundry", "fsdp"},
                            {"composer", "fsdp"},
                            {"megatron-lm", "megatron-core"}};

// "4 x 100Gb RoCE per node": that many NICs of that rate, whatever is usual for the host type.
std::string with_nics(const std::string& host, const std::string& network) {
  static const std::regex pattern(R"((\d+) x (\d+) ?Gb)");
  std::smatch found;
  if (!std::regex_search(network, found, pattern)) return host;
  return fmt::format("{{base: {}, nics: {}, nic: {} Gbit/s}}", host, found[1].str(),
                     found[2].str());
}

class Writer {
 public:
  Writer(const MeasuredRow& row, const MeasuredFile& file) : row_(row), file_(file) {}

  MeasuredScenario write();

 private:
  double need(const char* key) {
    const auto value = row_.number(key);
    if (!value && result_.impossible.empty()) {
      result_.impossible = fmt::format("the row has no {}", key);
    }
    return value.value_or(1);
  }
  double assume(const char* key, double otherwise, const std::string& why) {
    if (const auto value = row_.number(key)) return *value;
    result_.assumed.push_back(fmt::format("{} = {} ({})", key, otherwise, why));
    return otherwise;
  }
  // Words, or what few rows lack: said only where the row does not.
  std::string usual(const char* key, const std::string& otherwise) {
    if (const auto value = row_.text(key)) return *value;
    result_.assumed.push_back(fmt::format("{}: {}", key, otherwise));
    return otherwise;
  }
  std::string framework_of() const {
    return row_.text("framework").value_or(file_.framework.empty() ? file_.title : file_.framework);
  }
  bool is_nanotron() const { return lower(framework_of()).find("nanotron") != std::string::npos; }
  void say(const std::string& line) { result_.text += line + "\n"; }
  void refuse(const std::string& why) {
    if (result_.impossible.empty()) result_.impossible = why;
  }
  void cluster();
  void dnn();
  void experts(const std::string& moe);
  void stack();
  void training();
  void plan();
  void pipeline();
  void sharding();

  const MeasuredRow& row_;
  const MeasuredFile& file_;
  MeasuredScenario result_;
};

void Writer::cluster() {
  const std::string gpu = row_.text("gpu").value_or("");
  std::string rest = gpu;
  const auto host = take(rest, hosts);
  if (!host) refuse(fmt::format("no host type is known for the device '{}'", gpu));
  const auto is_left = [&](const char* other) { return rest.find(other) != std::string::npos; };
  if (host && (is_left("pcie") || is_left("hbm2e") || is_left("500w"))) {
    result_.assumed.push_back(fmt::format("device: '{}' is as those of {}", gpu, *host));
  }
  const double devices = need("num_gpus");
  const double per_host = assume("gpus_per_node", 8, "usual");
  const double count = std::ceil(devices / per_host);
  say("cluster:");
  say(fmt::format("  hosts: [{{name: h, count: {:.0f}, type: {}}}]", count,
                  with_nics(host.value_or("?"), row_.text("inter_node").value_or(""))));
  if (count > 1) {
    result_.assumed.push_back("fabric: one switch at the NICs' rate");
    say("  fabric: {kind: one-switch, link: 400 Gbit/s, latency: 1 us}");
  }
}

void Writer::dnn() {
  const double hidden = need("hidden"), heads = need("heads");
  const auto stated = row_.number("kv_heads");
  if (!stated) result_.assumed.emplace_back("kv_heads: as many as heads");
  const double kv_heads = stated.value_or(heads);
  const std::string model = lower(row_.text("model").value_or(""));
  // llm-foundry's: as GPT, without dropout; that makes the parameters which its rows state.
  const bool is_mpt = model.starts_with("mpt");
  const bool is_llama =
      !is_mpt && (model.find("llama") != std::string::npos || row_.number("kv_heads") ||
                  row_.text("moe") || model.find("internlm") != std::string::npos || is_nanotron());
  const auto of_size = file_.ffn.find(row_.number("params_b").value_or(-1));
  const double ffn =
      of_size != file_.ffn.end() && !row_.number("ffn")
          ? of_size->second
          : assume("ffn", is_llama ? std::ceil(hidden * 8 / 3 / 256) * 256 : 4 * hidden,
                   is_llama ? "8/3 hidden" : "4 hidden");
  const double vocabulary = assume("vocab", is_llama ? 32000 : 51200, "usual");
  say("dnn:");
  say(fmt::format("  layers: {:.0f}\n  hidden: {:.0f}\n  heads: {:.0f}\n  kv_heads: {:.0f}",
                  need("layers"), hidden, heads, kv_heads));
  say(fmt::format("  ffn: {:.0f}\n  vocabulary: {:.0f}", ffn, vocabulary));
  if (is_llama) {
    say("  position: rotary\n  norm: rms-norm\n  activation: silu\n  gated: true");
    bool is_tied = row_.text("tie_emb") == "True";
    if (!row_.text("tie_emb") && is_nanotron() && hidden < 4096) {
      is_tied = true;
      result_.assumed.push_back("tied embedding, as the small ones of that sweep have");
    }
    if (is_tied) say("  tied_embedding: true");
    if (const auto moe = row_.text("moe")) experts(*moe);
    return;
  }
  say(fmt::format("  positions: {:.0f}", need("seq_len")));
  say("  position: learned\n  norm: layer-norm\n  activation: gelu\n  gated: false\n"
      "  attention_bias: true\n  output_bias: true\n  mlp_bias: true\n  tied_embedding: true");
  if (!is_mpt) say("  dropout: 0.1");
}

// "mla; 160 experts top6 + shared 3072, moe_ffn 1536, dense_layers 1": sizes of latent attention
// are DeepSeek's, the same in V2 and V3. Source: config.json of deepseek-ai/DeepSeek-V2 and V3.
void Writer::experts(const std::string& moe) {
  static const std::regex pattern(R"((\d+) experts top(\d+).*moe_ffn (\d+))");
  static const std::regex shared(R"(shared (\d+))"), first(R"(dense_layers (\d+))");
  std::smatch sizes;
  if (!std::regex_search(moe, sizes, pattern)) return refuse("experts that are not understood");
  const auto number = [&](const std::regex& what) {
    std::smatch found;
    return std::regex_search(moe, found, what) ? found[1].str() : std::string("0");
  };
  say(fmt::format(
      "  experts: {{count: {}, per_token: {}, ffn: {}, shared_ffn: {}, dense_first: {}{}}}",
      sizes[1].str(), sizes[2].str(), sizes[3].str(), number(shared), number(first),
      lower(row_.text("model").value_or("")).find("v3") == std::string::npos
          ? ""
          : ", router: sigmoid, router_bias: true"));
  if (moe.find("mla") == std::string::npos) return;
  result_.assumed.push_back("latent attention of DeepSeek's sizes");
  say("  head_size: 192");
  say("  latent_attention: {query_rank: 1536, key_value_rank: 512, rotary_size: 64, value_size: "
      "128}");
}

void Writer::stack() {
  const std::string framework = framework_of();
  auto name = look_up(framework, stacks);
  if (!name && row_.text("tp_mode")) name = "nanotron";
  if (!name) {
    refuse(fmt::format("no software stack is known for '{}'", framework));
    return;
  }
  const bool is_eager = lower(row_.text("compile").value_or("")) == "false";
  if (name == "torchtitan" && is_eager) name = "torchtitan-eager";
  // Products in pieces with the exchange of others beside them.
  if (lower(row_.text("async_tp").value_or("")) == "true") {
    name = fmt::format("{{base: {}, splits_tensor_products: true}}", *name);
  }
  say(fmt::format("stack: {}", *name));
}

void Writer::training() {
  std::string precision = lower(usual("precision", "bf16"));
  if (precision.find('8') != std::string::npos) refuse("8-bit training rows are not read yet");
  precision = precision.find("fp16") != std::string::npos ? "fp16" : "bf16";
  say(
      fmt::format("training: {{sequence: {:.0f}, global_batch: {:.0f}, micro_batch: {:.0f}, "
                  "precision: {}}}",
                  need("seq_len"), need("gbs"), need("mbs"), precision));
}

// Virtual stages of equal size; the zero-bubble runs leave one layer less to the first and the
// last.
void Writer::pipeline() {
  const int stages = static_cast<int>(need("pp"));
  const bool is_plain = stages == 1 && !row_.text("schedule");
  const std::string schedule = is_plain ? "1f1b" : lower(usual("schedule", "1f1b"));
  const auto& known = plan::all_schedules();
  const auto named = std::find_if(known.begin(), known.end(), [&](const auto& one) {
    return schedule == one.name && one.virtual_stages > 0;
  });
  if (named == known.end() && schedule != "1f1b-i") {
    refuse(fmt::format("the schedule '{}' is not known", schedule));
  }
  const bool is_named = named != known.end() && schedule != "1f1b";
  const int virtual_stages =
      is_named ? named->virtual_stages
               : static_cast<int>(stages == 1 ? 1 : assume("vp", 1, "one part a stage"));
  if (stages == 1) return;
  std::string text =
      fmt::format("  pipeline: {{stages: {}, schedule: {}, virtual_stages: {}", stages,
                  is_named             ? named->name
                  : virtual_stages > 1 ? "interleaved-1f1b"
                                       : "1f1b",
                  virtual_stages);
  const int parts = stages * virtual_stages;
  const int layers = static_cast<int>(need("layers"));
  if (layers % parts != 0 && (layers + 2) % parts == 0) {
    std::vector<int> each(static_cast<std::size_t>(parts), (layers + 2) / parts);
    --each.front();
    --each.back();
    text += fmt::format(", layers: [{}]", fmt::join(each, ", "));
    result_.assumed.push_back("the first and the last virtual stage hold one layer less");
  }
  say(text + "}");
}

void Writer::sharding() {
  const std::string name = lower(row_.text("sharding").value_or(""));
  // Megatron-core is started with a distributed optimizer, as its own scripts do.
  const bool is_stated = row_.number("zero") || !name.empty();
  const bool is_megatron_core = look_up(framework_of(), stacks) == "megatron-core";
  int zero = static_cast<int>(row_.number("zero").value_or(is_megatron_core && !is_stated ? 1 : 0));
  if (!is_stated) {
    result_.assumed.push_back(zero == 1 ? "zero-1, a distributed optimizer" : "sharding: none");
  }
  if (name.find("fsdp") != std::string::npos || name.find("full_shard") != std::string::npos)
    zero = 3;
  const char* const words[] = {"none", "zero-1", "zero-2", "zero-3"};
  std::string text = fmt::format("  data: {{sharding: {}, degree: {:.0f}",
                                 words[std::clamp(zero, 0, 3)], need("dp"));
  // "8 ranks per node": of the ranks that hold the same parameters, so many share a copy.
  static const std::regex pattern(R"((\d+) ranks)");
  std::smatch found;
  if (zero > 0 && std::regex_search(name, found, pattern)) {
    const double ranks = std::stod(found[1]);
    if (ranks < need("dp")) text += fmt::format(", shard_degree: {:.0f}", ranks);
  }
  say(text + "}");
}

void Writer::plan() {
  say("plan:");
  say(fmt::format("  tensor: {:.0f}", need("tp")));
  if (row_.text("sp")) {
    say(fmt::format("  sequence_parallel: {}", *row_.text("sp")));
  } else if (row_.number("tp").value_or(1) > 1) {
    result_.assumed.emplace_back("sp: sequence parallelism beside tensor parallelism");
  }
  say(fmt::format("  context: {:.0f}", assume("cp", 1, "no context parallelism")));
  if (const auto experts = row_.number("ep")) {
    say(fmt::format("  expert: {{degree: {:.0f}}}", *experts));
  }
  pipeline();
  sharding();
  const std::string recompute = lower(usual("recompute", "none"));
  const bool is_full = recompute.find("full") != std::string::npos;
  const bool is_selective = recompute.find("selective") != std::string::npos;
  const bool is_per_operator = recompute.find("per-op") != std::string::npos;
  const char* const partly = is_per_operator ? "alternate" : "selective";
  say(fmt::format("  recompute: {}", is_full ? "full" : is_selective ? partly : "none"));
}

MeasuredScenario Writer::write() {
  say("maquette: 1");
  say(fmt::format("name: \"{}\"", row_.text("id").value_or("row")));
  cluster();
  dnn();
  stack();
  training();
  plan();
  return std::move(result_);
}

}  // namespace

MeasuredScenario scenario_of(const MeasuredRow& row, const MeasuredFile& file) {
  return Writer(row, file).write();
}

}  // namespace sim::scenario
