// Reading config.json: families by hand, refusals by name, and input that is broken.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <random>

#include "tests/sim/scenario/hugging_face_reading.h"

namespace sim::scenario {
namespace {

using Reading = HuggingFaceReading;

const std::string llama_text = R"({
  "architectures": ["LlamaForCausalLM"],
  "attention_bias": false,
  "bos_token_id": 1,
  "hidden_act": "silu",
  "hidden_size": 4096,
  "intermediate_size": 11008,
  "max_position_embeddings": 4096,
  "model_type": "llama",
  "num_attention_heads": 32,
  "num_hidden_layers": 32,
  "num_key_value_heads": 32,
  "rms_norm_eps": 1e-05,
  "rope_scaling": {"factor": 8.0, "rope_type": "llama3"},
  "tie_word_embeddings": false,
  "torch_dtype": "float16",
  "use_cache": true,
  "vocab_size": 32000
}
)";

std::string replaced(std::string text, const std::string& what, const std::string& with) {
  const std::size_t at = text.find(what);
  REQUIRE(at != std::string::npos);
  return text.replace(at, what.size(), with);
}

// Another key in front of the others.
std::string with(const std::string& entry) { return replaced(llama_text, "{", "{" + entry + ","); }

// Folder of the collected files: named by MAQUETTE_DATA, else beside the source tree.
std::optional<std::filesystem::path> config_folder() {
  const char* named = std::getenv("MAQUETTE_DATA");
  const std::filesystem::path data =
      named != nullptr ? std::filesystem::path(named)
                       : std::filesystem::path(MAQUETTE_SOURCE).parent_path() / "shared/data";
  const std::filesystem::path folder = data / "files/hf-config";
  return std::filesystem::is_directory(folder) ? std::optional(folder) : std::nullopt;
}

}  // namespace

TEST_CASE("Hugging Face: Llama-2-7B") {
  const Reading reading = read_config(llama_text);
  REQUIRE(reading.dnn);
  CHECK(reading.text.empty());
  CHECK(dnn::total_parameters(*reading.dnn) == 6'738'415'616);
  CHECK(reading.dnn->name == "some-dnn");  // the folder of a bare config.json
  CHECK(read_config_as("Llama-2-7b.config.json", llama_text).dnn->name == "Llama-2-7b");
}

// Each as its own config.json has it; totals as published.
TEST_CASE("Hugging Face: one of each family") {
  const auto total = [](const std::string& text) {
    const Reading reading = read_config(text);
    CAPTURE(reading.text);
    REQUIRE(reading.dnn);
    return dnn::total_parameters(*reading.dnn);
  };
  CHECK(total(R"({"model_type": "gpt2", "n_embd": 768, "n_head": 12, "n_layer": 12,
                  "n_positions": 1024, "n_ctx": 1024, "vocab_size": 50257,
                  "activation_function": "gelu_new", "resid_pdrop": 0.1})") == 124'439'808);
  CHECK(total(R"({"architectures": ["OPTForCausalLM"], "hidden_size": 1024, "ffn_dim": 4096,
                  "num_hidden_layers": 24, "num_attention_heads": 16, "vocab_size": 50272,
                  "max_position_embeddings": 2048, "word_embed_proj_dim": 512,
                  "do_layer_norm_before": false, "layerdrop": 0.0})") == 331'196'416);
  CHECK(total(R"({"model_type": "bloom", "n_embed": 14336, "n_layer": 70,
                  "num_attention_heads": 112, "vocab_size": 250880, "seq_length": 2048,
                  "skip_bias_add": true, "n_inner": null})") == 176'247'271'424);
  CHECK(total(R"({"model_type": "gemma", "hidden_size": 3072, "intermediate_size": 24576,
                  "num_hidden_layers": 28, "num_attention_heads": 16, "num_key_value_heads": 16,
                  "head_dim": 256, "vocab_size": 256000, "hidden_act": "gelu"})") == 8'537'680'896);
  CHECK(total(R"({"model_type": "gemma2", "hidden_size": 3584, "intermediate_size": 14336,
                  "num_hidden_layers": 42, "num_attention_heads": 16, "num_key_value_heads": 8,
                  "head_dim": 256, "vocab_size": 256000, "attn_logit_softcapping": 50.0,
                  "hidden_activation": "gelu_pytorch_tanh"})") == 9'241'705'984);
  CHECK(total(R"({"model_type": "gemma3_text", "hidden_size": 1152, "intermediate_size": 6912,
                  "num_hidden_layers": 26, "num_attention_heads": 4, "num_key_value_heads": 1,
                  "head_dim": 256, "vocab_size": 262144, "sliding_window": 512,
                  "sliding_window_pattern": 6})") == 999'885'952);
  CHECK(total(R"({"model_type": "mistral", "hidden_size": 4096, "intermediate_size": 14336,
                  "num_hidden_layers": 32, "num_attention_heads": 32, "num_key_value_heads": 8,
                  "vocab_size": 32000, "sliding_window": 4096})") == 7'241'732'096);
  CHECK(total(R"({"model_type": "qwen2", "hidden_size": 3584, "intermediate_size": 18944,
                  "num_hidden_layers": 28, "num_attention_heads": 28, "num_key_value_heads": 4,
                  "vocab_size": 152064, "sliding_window": 131072,
                  "use_sliding_window": false})") == 7'615'616'512);
}

TEST_CASE("Hugging Face: what OPT and GPT-2 mean by their keys") {
  const Reading opt = read_config(R"({"model_type": "opt", "hidden_size": 64, "ffn_dim": 256,
      "num_hidden_layers": 2, "num_attention_heads": 4, "vocab_size": 100, "dropout": 0.0,
      "max_position_embeddings": 32, "activation_function": "relu"})");
  REQUIRE(opt.dnn);
  CHECK(opt.dnn->positions == 34);
  CHECK(opt.dnn->activation == dnn::Activation::relu);
  CHECK(opt.dnn->dropout == 0);
  const Reading gpt = read_config(R"({"model_type": "gpt2", "n_embd": 64, "n_head": 4, "n_layer": 2,
      "n_positions": 32, "vocab_size": 100, "n_inner": 128})");
  REQUIRE(gpt.dnn);
  CHECK(gpt.dnn->ffn == 128);
  CHECK(gpt.dnn->dropout == 0.1);
  CHECK(gpt.dnn->tied_embedding);
}

TEST_CASE("Hugging Face: windows of all layers, and of all but every n-th") {
  const auto read = [](const std::string& type, const std::string& more) {
    const Reading reading = read_config(R"({"model_type": ")" + type + R"(", "hidden_size": 64,
      "intermediate_size": 128, "num_hidden_layers": 6, "num_attention_heads": 4,
      "vocab_size": 100, "sliding_window": 4096)" +
                                        more + "}");
    CAPTURE(reading.text);
    REQUIRE(reading.dnn);
    return *reading.dnn;
  };
  const auto windows = [](const dnn::Transformer& dnn) {
    std::string result;
    for (int layer = 0; layer < dnn.layers; ++layer) {
      result += dnn::layer_kind(dnn, layer).window == 4096 ? 'w' : '-';
    }
    return result;
  };
  CHECK(windows(read("mistral", "")) == "wwwwww");
  CHECK(windows(read("gemma2", "")) == "w-w-w-");
  CHECK(windows(read("gemma3_text", R"(, "sliding_window_pattern": 3)")) == "ww-ww-");
  CHECK(windows(read("gemma3_text", R"(, "layer_types": ["sliding_attention",
      "sliding_attention", "full_attention", "sliding_attention", "sliding_attention",
      "full_attention"])")) == "ww-ww-");
}

TEST_CASE("Hugging Face: windows of Qwen are said not to be modelled") {
  const Reading reading = read_config(R"({"model_type": "qwen2", "hidden_size": 64,
      "intermediate_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4,
      "vocab_size": 100, "sliding_window": 4096, "use_sliding_window": true})");
  REQUIRE(reading.dnn);
  REQUIRE(reading.list.size() == 1);
  CHECK(reading.list[0].severity == Severity::warning);
  CHECK(reading.list[0].message == "an attention window of 4096 is not modelled");
  CHECK(reading.list[0].place.line == 3);
}

TEST_CASE("Hugging Face: byte order mark, tabs, carriage returns") {
  std::string text = llama_text;
  std::string tabbed;
  for (const char c : text) tabbed += c == '\n' ? std::string("\r\n\t") : std::string(1, c);
  const Reading reading = read_config("\xef\xbb\xbf" + tabbed);
  CAPTURE(reading.text);
  REQUIRE(reading.dnn);
  CHECK(dnn::total_parameters(*reading.dnn) == 6'738'415'616);
}

TEST_CASE("Hugging Face: the whole message") {
  const Reading reading = read_config_as("a.json", with("\n  \"hidden_sizes\": 4096"));
  CHECK_FALSE(reading.dnn);
  const std::size_t at = reading.text.find("a.json:2:3: error: ");
  REQUIRE(at != std::string::npos);
  CHECK(reading.text.substr(at) ==
        "a.json:2:3: error: unknown key 'hidden_sizes'\n"
        "  \"hidden_sizes\": 4096,\n"
        "  ^~~~~~~~~~~~~~\n"
        "  why:  it may change what is computed\n"
        "  hint: if it does not, take it out of a copy of the file\n");
}

TEST_CASE("Hugging Face: what is refused, and where") {
  struct Case {
    std::string text, message;
    int line;
  };
  const Case cases[] = {
      {with("\n\"num_local_experts\": 8"),
       "model_type 'llama' is not supported: it has a mixture of experts (num_local_experts: 8)",
       10},
      {replaced(llama_text, "\"llama\"", "\"gpt_neox\""), "model_type 'gpt_neox' is not supported",
       9},
      {replaced(llama_text, "LlamaForCausalLM", "LlamaForSequenceClassification"),
       "architecture 'LlamaForSequenceClassification' is not supported", 2},
      {replaced(llama_text, "4096,\n  \"inter", "\"4096\",\n  \"inter"),
       "'4096' for hidden_size is not a whole number", 6},
      {replaced(llama_text, "11008", "0"),
       "intermediate_size is 0, but must be from 1 to 100000000", 7},
      {replaced(llama_text, "\"silu\"", "\"xielu\""), "unknown activation 'xielu' for hidden_act",
       5},
      {replaced(llama_text, "\"attention_bias\": false", "\"attention_bias\": 1"),
       "'1' for attention_bias is neither true nor false", 3},
      {replaced(llama_text, "\"num_key_value_heads\": 32", "\"num_key_value_heads\": 5"),
       "32 attention heads are not a multiple of 5 key and value heads", 12},
      {replaced(llama_text, "  \"vocab_size\": 32000\n", "  \"use\": null\n"),
       "missing key 'vocab_size'", 1},
      {replaced(llama_text, "4096,\n  \"inter", "4095,\n  \"inter"),
       "hidden size 4095 is not a multiple of 32 heads", 1},
      {with("\n\"layer_types\": [\"full_attention\", \"mamba\"]"),
       "a layer of type 'mamba' is not supported", 2},
      {with("\n\"partial_rotary_factor\": 0.5"), "'0.5' for partial_rotary_factor is not supported",
       2},
      {"[1, 2]", "the file is not a JSON object", 1},
      {"model_type: llama\n", "the file is not a JSON object", 1},
      {"", "the file is not a JSON object", 1},
      {"{}", "the file says neither model_type nor architectures", 1},
  };
  for (const Case& one : cases) {
    const Reading reading = read_config(one.text);
    CAPTURE(one.message);
    CAPTURE(reading.text);
    CHECK_FALSE(reading.dnn);
    REQUIRE(!reading.list.empty());
    CHECK(reading.list[0].severity == Severity::error);
    CHECK(reading.list[0].message == one.message);
    CHECK(reading.list[0].place.line == one.line);
  }
}

TEST_CASE("Hugging Face: all errors of a file at once") {
  std::string text = replaced(llama_text, "11008", "-3");
  text = replaced(text, "\"vocab_size\": 32000", "\"vocab_size\": 1e9");
  text = replaced(text, "{", "{\"window\": 7,");
  const Reading reading = read_config(text);
  CHECK_FALSE(reading.dnn);
  CHECK(reading.list.size() == 3);
}

TEST_CASE("Hugging Face: duplicate keys and a missing file are errors") {
  CHECK_FALSE(read_config(with("\"vocab_size\": 32000")).dnn);
  const Reading missing = read_config_file("no/such/config.json");
  CHECK_FALSE(missing.dnn);
  REQUIRE(missing.list.size() == 1);
  CHECK(missing.list[0].message.starts_with("cannot read 'no/such/config.json'"));
}

TEST_CASE("Hugging Face: unknown keys that are off do no harm") {
  CHECK(
      read_config(with("\"use_new_thing\": false, \"thing\": null, \"things\": [], \"n\": 0")).dnn);
  CHECK_FALSE(read_config(with("\"use_new_thing\": true")).dnn);
}

// The last brace closes the object: every shorter text is incomplete.
TEST_CASE("Hugging Face: every truncation is an error") {
  const std::size_t whole = llama_text.rfind('}') + 1;
  for (std::size_t length = 0; length < whole; ++length) {
    const Reading reading = read_config(llama_text.substr(0, length));
    CAPTURE(length);
    CHECK_FALSE(reading.dnn);
    CHECK(!reading.list.empty());
  }
  CHECK(read_config(llama_text.substr(0, whole)).dnn);
}

TEST_CASE("Hugging Face: random damage gives a dnn or an error, never both") {
  std::mt19937 random(7);
  int read_well = 0;
  for (int trial = 0; trial < 1500; ++trial) {
    std::string text = llama_text;
    const int count = 1 + static_cast<int>(random() % 4);
    for (int i = 0; i < count; ++i) {
      const std::size_t at = random() % text.size();
      if (random() % 3 == 0) {
        text.erase(at, 1 + random() % 5);
      } else {
        text[at] = static_cast<char>(random() % 3 == 0 ? random() % 256
                                                       : "{}[]\",:0-e\n#&*!"[random() % 15]);
      }
    }
    CAPTURE(trial);
    const Reading reading = read_config(text);
    CHECK(reading.dnn.has_value() !=
          std::any_of(reading.list.begin(), reading.list.end(),
                      [](const Diagnostic& one) { return one.severity == Severity::error; }));
    read_well += reading.dnn.has_value();
  }
  CHECK(read_well > 0);
  CHECK(read_well < 750);
}

TEST_CASE("Hugging Face: deep and wide input is refused in time") {
  CHECK_FALSE(read_config("{\"a\": " + std::string(100'000, '[')).dnn);
  std::string deep = "{\"a\": " + std::string(1000, '[') + std::string(1000, ']') + "}";
  CHECK_FALSE(read_config(deep).dnn);
}

TEST_CASE("Hugging Face: files as people have them") {
  const auto folder = config_folder();
  if (!folder) {
    MESSAGE("skipped: no collected files (set MAQUETTE_DATA)");
    return;
  }
  struct Known {
    const char* file;
    std::int64_t parameters;
  };
  const Known known[] = {{"Qwen__Qwen3-8B.config.json", 8'190'735'360},
                         {"Qwen__Qwen3-235B-A22B.config.json", 235'093'634'560},
                         {"Qwen__Qwen3-30B-A3B.config.json", 30'532'122'624},
                         {"deepseek-ai__DeepSeek-V3.config.json", 682'636'487'424},
                         {"mistralai__Mixtral-8x22B-v0.1.config.json", 140'620'634'112},
                         {"mistralai__Mixtral-8x7B-v0.1.config.json", 46'702'792'704},
                         {"moonshotai__Kimi-K2-Instruct.config.json", 1'026'408'232'448},
                         {"meta-llama__Meta-Llama-3.1-70B.config.json", 70'553'706'496},
                         {"meta-llama__Meta-Llama-3.1-8B.config.json", 8'030'261'248},
                         {"neusight-gpt2_large.json", 774'030'080},
                         {"neusight-gpt2_xl.json", 1'557'611'200},
                         {"neusight-opt_13.json", 1'315'758'080}};
  int refused = 0;
  for (const std::filesystem::directory_entry& entry :
       std::filesystem::directory_iterator(*folder)) {
    const std::string name = entry.path().filename().string();
    CAPTURE(name);
    const Reading reading = read_config_file(entry.path());
    CAPTURE(reading.text);
    const auto* found = std::find_if(std::begin(known), std::end(known),
                                     [&](const Known& one) { return name == one.file; });
    if (found != std::end(known)) {
      REQUIRE(reading.dnn);
      CHECK(dnn::total_parameters(*reading.dnn) == found->parameters);
      continue;
    }
    ++refused;
    CHECK_FALSE(reading.dnn);
    REQUIRE(reading.list.size() == 1);
    CHECK(reading.list[0].message.find(" is not supported: it has ") != std::string::npos);
    CHECK(!reading.list[0].why.empty());
    CHECK(reading.list[0].hint.starts_with("supported model_type: "));
  }
  CHECK(refused >= 12);
}

}  // namespace sim::scenario
