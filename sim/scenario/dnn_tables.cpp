// The format of dnns: by name or file, by times, or written out.
#include "sim/scenario/hugging_face.h"
#include "sim/scenario/resolve.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using dnn::Activation;
using dnn::AttentionSpan;
using dnn::Experts;
using dnn::LatentAttention;
using dnn::Norm;
using dnn::Position;
using dnn::Router;
using dnn::Transformer;

constexpr std::int64_t width_max = 100'000'000;

// What follows from other fields unless it is written.
void complete(Reader& reader, const Value& section, const std::string& path, Transformer& dnn) {
  if (section.find("kv_heads") == nullptr) dnn.kv_heads = dnn.heads;
  if (section.find("head_size") == nullptr) {
    if (dnn.hidden % dnn.heads != 0) {
      reader.error(joined_path(path, "hidden"), reader.place(joined_path(path, "hidden")),
                   fmt::format("hidden {} is not a multiple of {} heads", dnn.hidden, dnn.heads),
                   "head_size is hidden / heads unless written", "write head_size");
      return;
    }
    dnn.head_size = dnn.hidden / dnn.heads;
  }
  if (dnn.heads % dnn.kv_heads != 0) {
    reader.error(joined_path(path, "kv_heads"), reader.place(joined_path(path, "kv_heads")),
                 fmt::format("{} heads are not a multiple of {} kv_heads", dnn.heads, dnn.kv_heads),
                 "a group of query heads shares one key and value head", "");
  }
  if (dnn.position == Position::learned && dnn.positions == 0) {
    report_missing(reader, section, path, "positions", "rows of the learned position embedding");
  }
  if (dnn.span != AttentionSpan::full && dnn.window == 0) {
    report_missing(reader, section, path, "window", "tokens of a window or chunk");
  }
  if (dnn.is_latent() && dnn.head_size <= dnn.latent.rotary_size) {
    reader.error(joined_path(path, "head_size"), reader.place(joined_path(path, "head_size")),
                 fmt::format("head_size {} leaves nothing beside the {} that have positions",
                             dnn.head_size, dnn.latent.rotary_size),
                 "a head's query and key have a part with positions and one without", "");
  }
}

Section<Experts> experts_table() {
  Section<Experts> table("a mixture of experts in place of the feed-forward block");
  table.required("count", small_count(1, 100'000), &Experts::count, "routed experts of a layer")
      .required("per_token", small_count(1, 100'000), &Experts::per_token,
                "routed experts that a token is sent to")
      .required("ffn", count(1, width_max), &Experts::ffn, "inner width of one expert")
      .optional("shared_ffn", count(0, width_max), &Experts::shared_ffn,
                "inner width of all shared experts together, which every token passes; 0: none")
      .optional("dense_first", small_count(0, 100'000), &Experts::dense_first,
                "layers at the beginning that keep the dense block")
      .optional("period", small_count(1, 100'000), &Experts::period,
                "of the others every n-th layer has experts")
      .optional(
          "router",
          word<Router>("router", {{"softmax", Router::softmax}, {"sigmoid", Router::sigmoid}}),
          &Experts::router, "what turns scores into weights; softmax unless written")
      .optional("router_bias", flag(), &Experts::router_bias, "a number added to every score")
      .optional("capacity_factor", number(0, 1000), &Experts::capacity_factor,
                "rows of an expert: its even share times this; 0: as many as are sent")
      .check([](Reader& reader, const Value&, const std::string& path, Experts& experts) {
        if (experts.per_token <= experts.count) return;
        const std::string at = joined_path(path, "per_token");
        reader.error(
            at, reader.place(at),
            fmt::format("a token is sent to {} of {} experts", experts.per_token, experts.count),
            "", "");
      });
  return table;
}

Section<LatentAttention> latent_table() {
  Section<LatentAttention> table("multi-head latent attention");
  table
      .optional("query_rank", count(0, width_max), &LatentAttention::query_rank,
                "width that queries are projected down to; 0: they are not")
      .required("key_value_rank", count(1, width_max), &LatentAttention::key_value_rank,
                "width that keys and values are projected down to")
      .required("rotary_size", count(1, width_max), &LatentAttention::rotary_size,
                "part of head_size that has positions")
      .required("value_size", count(1, width_max), &LatentAttention::value_size,
                "width of a head's value");
  return table;
}

Section<Transformer>& add_variants(Section<Transformer>& table) {
  return table
      .optional("query_key_gain", flag(), &Transformer::query_key_gain,
                "the norm of query and key has gains; true unless written")
      .optional("attention_sinks", flag(), &Transformer::attention_sinks,
                "a score of its own for every head")
      .optional("experts", experts_table().kind(), &Transformer::experts,
                "a mixture of experts in place of the feed-forward block")
      .optional("latent_attention", latent_table().kind(), &Transformer::latent,
                "multi-head latent attention")
      .optional("span",
                word<AttentionSpan>("span", {{"full", AttentionSpan::full},
                                             {"sliding", AttentionSpan::sliding},
                                             {"chunked", AttentionSpan::chunked}}),
                &Transformer::span,
                "keys that a token sees: all, the last of a window, those of its chunk")
      .optional("window", count(1, width_max), &Transformer::window, "tokens of a window or chunk")
      .optional("full_period", small_count(0, 100'000), &Transformer::full_period,
                "every n-th layer sees everything; 0: none")
      .optional("prediction_modules", small_count(0, 1000), &Transformer::prediction_modules,
                "further tokens that are predicted, with a layer each");
}

std::optional<AnyDnn> read_file(Reader& reader, const Value& value, const std::string& path) {
  const Value& file = *value.find("file");
  const std::string file_path = joined_path(path, "file");
  reader.add_place(file_path, file.place());
  for (const Entry& entry : value.entries) {
    if (entry.key != "file") report_unknown_key(reader, entry, path, {"file"});
  }
  if (file.kind != Value::Kind::text) {
    report_shape(reader, file, file_path, "the name of a file");
    return std::nullopt;
  }
  const bool is_json = std::filesystem::path(file.text).extension() == ".json";
  if (!is_json) {
    return catalog_kind("dnns", "dnn", transformer_table(), Naming::text).read(reader, file, path);
  }
  const auto found = reader.file_named(file);
  if (!found) {
    reader.error(file_path, file.place(), fmt::format("no file '{}' for {}", file.text, file_path),
                 "paths are relative to the file that names them, then to the catalog", "");
    return std::nullopt;
  }
  const auto dnn = read_hugging_face(*found, reader.diagnostics());
  if (!dnn) {
    reader.mark_bad(file_path);
    return std::nullopt;
  }
  return *dnn;
}

}  // namespace

Section<Transformer> transformer_table() {
  const auto width = [](std::int64_t least) { return count(least, width_max); };
  Section<Transformer> table("a transformer by its sizes");
  table.optional("name", text(), &Transformer::name, "short name; that of the file unless written")
      .optional(
          "full_name", text(), [](Transformer&, const std::string&) {}, "long name")
      .optional(
          "source", text(), [](Transformer&, const std::string&) {}, "where the figures are from")
      .required("layers", small_count(1, 100'000), &Transformer::layers, "transformer blocks")
      .required("hidden", width(1), &Transformer::hidden, "width of the residual stream")
      .required("heads", small_count(1, 100'000), &Transformer::heads, "query heads")
      .optional("kv_heads", small_count(1, 100'000), &Transformer::kv_heads,
                "key and value heads; as many as heads unless written")
      .optional("head_size", width(1), &Transformer::head_size,
                "width of one head; hidden / heads unless written")
      .required("ffn", width(1), &Transformer::ffn, "inner width of the feed-forward block")
      .required("vocabulary", width(1), &Transformer::vocabulary, "tokens, unpadded")
      .defaulted("positions", width(0), &Transformer::positions, "0",
                 "rows of a learned position embedding")
      .defaulted("position",
                 word<Position>("position", {{"rotary", Position::rotary},
                                             {"learned", Position::learned},
                                             {"alibi", Position::alibi},
                                             {"none", Position::none}}),
                 &Transformer::position, "rotary", "how positions enter")
      .defaulted(
          "norm",
          word<Norm>("norm", {{"rms-norm", Norm::rms_norm}, {"layer-norm", Norm::layer_norm}}),
          &Transformer::norm, "rms-norm", "kind of norm")
      .defaulted("activation",
                 word<Activation>("activation", {{"silu", Activation::silu},
                                                 {"gelu", Activation::gelu},
                                                 {"relu", Activation::relu}}),
                 &Transformer::activation, "silu", "of the feed-forward block")
      .defaulted("gated", flag(), &Transformer::gated, "true",
                 "two input projections, as in SwiGLU and GeGLU")
      .defaulted("attention_bias", flag(), &Transformer::attention_bias, "false",
                 "bias on query, key and value")
      .defaulted("output_bias", flag(), &Transformer::output_bias, "false",
                 "bias on the attention's output projection")
      .defaulted("mlp_bias", flag(), &Transformer::mlp_bias, "false",
                 "bias in the feed-forward block")
      .defaulted("head_bias", flag(), &Transformer::head_bias, "false", "bias on the output head")
      .defaulted("tied_embedding", flag(), &Transformer::tied_embedding, "false",
                 "the head shares the input embedding")
      .defaulted("query_key_norm", flag(), &Transformer::query_key_norm, "false",
                 "a norm of head_size on query and key")
      .defaulted("embedding_norm", flag(), &Transformer::embedding_norm, "false",
                 "a norm after the embedding")
      .defaulted("sandwich_norm", flag(), &Transformer::sandwich_norm, "false",
                 "norms after attention and feed-forward block too")
      .defaulted("final_norm", flag(), &Transformer::final_norm, "true", "a norm before the head")
      .defaulted("causal", flag(), &Transformer::causal, "true",
                 "a token sees only those before it")
      .defaulted("dropout", number(0, 0.99), &Transformer::dropout, "0",
                 "probability; 0: no dropout kernels")
      .optional("embedding_size", width(1), &Transformer::embedding_size,
                "width of a narrower embedding; hidden unless written");
  add_variants(table).check(complete);
  return table;
}

Section<TimedDnn> timed_table() {
  Section<TimedDnn> table("a dnn by its times instead of its shapes");
  table.required("layers", small_count(1, 100'000), &TimedDnn::layers, "layers")
      .required("forward", duration(), &TimedDnn::forward, "of one layer and micro-batch")
      .required("backward", duration(), &TimedDnn::backward, "of one layer and micro-batch")
      .defaulted("backward_weight", duration(), &TimedDnn::backward_weight, "0 s",
                 "of the backward pass, what the gradients of the weights take")
      .defaulted("embedding_forward", duration(), &TimedDnn::embedding_forward, "0 s",
                 "before the first layer")
      .defaulted("embedding_backward", duration(), &TimedDnn::embedding_backward, "0 s",
                 "after the first layer's backward pass")
      .defaulted("head_forward", duration(), &TimedDnn::head_forward, "0 s", "after the last layer")
      .defaulted("head_backward", duration(), &TimedDnn::head_backward, "0 s",
                 "before the last layer's backward pass")
      .defaulted("head_backward_weight", duration(), &TimedDnn::head_backward_weight, "0 s",
                 "of the head's backward pass, what the gradients of the weights take")
      .defaulted("boundary", size(), &TimedDnn::boundary, "0 B",
                 "sent from stage to stage, each direction, per micro-batch")
      .defaulted("parameters", size(), &TimedDnn::parameters, "0 B",
                 "gradient bytes of one layer, reduced over data ranks")
      .optional("activations", size(), &TimedDnn::activations,
                "kept of one layer and micro-batch until its backward pass; none unless written");
  return table;
}

Kind<AnyDnn> dnn_kind() {
  const auto written = catalog_kind("dnns", "dnn", transformer_table(), Naming::text_or_name);
  const auto timed = timed_table().kind();
  const auto schema = [written, timed] {
    return fmt::format(
        "{{\"anyOf\":[{{\"type\":\"object\",\"properties\":{{\"file\":{{\"description\":\"a "
        "config.json of Hugging Face, or a file of the "
        "fields\",\"type\":\"string\"}}}},\"required\":["
        "\"file\"],\"additionalProperties\":false}},{{\"type\":\"object\",\"properties\":{{"
        "\"timed\":"
        "{}}},\"required\":[\"timed\"],\"additionalProperties\":false}},{}]}}",
        timed.schema(), written.schema());
  };
  return {schema,
          [written, timed](Reader& reader, const Value& value,
                           const std::string& path) -> std::optional<AnyDnn> {
            if (value.kind == Value::Kind::map && value.find("file") != nullptr) {
              return read_file(reader, value, path);
            }
            const Value* times = value.kind == Value::Kind::map ? value.find("timed") : nullptr;
            if (times != nullptr) {
              for (const Entry& entry : value.entries) {
                if (entry.key != "timed") report_unknown_key(reader, entry, path, {"timed"});
              }
              const std::string timed_path = joined_path(path, "timed");
              reader.add_place(timed_path, times->place());
              const auto dnn = timed.read(reader, *times, timed_path);
              return dnn ? std::optional<AnyDnn>(*dnn) : std::nullopt;
            }
            return written.read(reader, value, path);
          }};
}

}  // namespace sim::scenario
