// The transformers and software stacks that come with the program.
#include <doctest/doctest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "sim/scenario/catalog.h"

namespace sim::scenario {
namespace {

const std::filesystem::path catalog = std::filesystem::path(MAQUETTE_SOURCE) / "scenarios/catalog";

struct Entry {
  const char* name;
  std::int64_t parameters;
};

// Published, to the last parameter, for all that are on Hugging Face; GPT-3 and the larger OPT as
// 12 h^2 + 13 h a layer and their tables give it. Qwen3-0.6B and 1.7B are published with their tied
// table counted twice.
constexpr Entry entries[] = {
    {"bloom-176b", 176'247'271'424},
    {"bloom-560m", 559'214'592},
    {"bloom-7b1", 7'069'016'064},
    {"deepseek-v2", 235'741'434'880},
    {"deepseek-v2-lite", 15'706'484'224},
    {"deepseek-v3", 682'636'487'424},
    {"gemma-2-27b", 27'227'128'320},
    {"gemma-2-2b", 2'614'341'888},
    {"gemma-2-9b", 9'241'705'984},
    {"gemma-2b", 2'506'172'416},
    {"gemma-7b", 8'537'680'896},
    {"gpt-oss-120b", 116'829'156'672},
    {"gpt-oss-20b", 20'914'757'184},
    {"gpt2", 124'439'808},
    {"gpt2-large", 774'030'080},
    {"gpt2-medium", 354'823'168},
    {"gpt2-xl", 1'557'611'200},
    {"gpt3-13b", 12'853'386'240},
    {"gpt3-175b", 174'604'259'328},
    {"gpt3-6.7b", 6'658'404'352},
    {"llama-2-13b", 13'015'864'320},
    {"llama-2-70b", 68'976'648'192},
    {"llama-2-7b", 6'738'415'616},
    {"llama-3.1-405b", 405'853'388'800},
    {"llama-3.1-70b", 70'553'706'496},
    {"llama-3.1-8b", 8'030'261'248},
    {"llama-3.2-1b", 1'235'814'400},
    {"llama-3.2-3b", 3'212'749'824},
    {"llama-4-maverick", 400'711'848'960},
    {"llama-4-scout", 107'769'861'120},
    {"megatron-175b", 174'615'846'912},
    {"megatron-1t", 1'008'038'758'400},
    {"megatron-22b", 22'074'273'792},
    {"megatron-530b", 529'600'819'200},
    {"mistral-7b", 7'241'732'096},
    {"mixtral-8x22b", 140'620'634'112},
    {"mixtral-8x7b", 46'702'792'704},
    {"opt-1.3b", 1'315'758'080},
    {"opt-125m", 125'239'296},
    {"opt-13b", 12'853'473'280},
    {"opt-175b", 174'604'468'224},
    {"opt-2.7b", 2'651'596'800},
    {"opt-30b", 29'974'540'288},
    {"opt-350m", 331'196'416},
    {"opt-6.7b", 6'658'473'984},
    {"opt-66b", 65'719'701'504},
    {"qwen2-0.5b", 494'032'768},
    {"qwen2-1.5b", 1'543'714'304},
    {"qwen2-72b", 72'706'203'648},
    {"qwen2-7b", 7'615'616'512},
    {"qwen2.5-14b", 14'770'033'664},
    {"qwen2.5-32b", 32'763'876'352},
    {"qwen3-0.6b", 596'049'920},
    {"qwen3-1.7b", 1'720'574'976},
    {"qwen3-14b", 14'768'307'200},
    {"qwen3-235b-a22b", 235'093'634'560},
    {"qwen3-30b-a3b", 30'532'122'624},
    {"qwen3-32b", 32'762'123'264},
    {"qwen3-4b", 4'022'468'096},
    {"qwen3-8b", 8'190'735'360},
};

}  // namespace

TEST_CASE("catalog: transformers have their published number of parameters") {
  std::vector<std::string> known;
  for (const Entry& entry : entries) {
    CAPTURE(entry.name);
    known.emplace_back(entry.name);
    Diagnostics diagnostics;
    const auto dnn = read_dnn(entry.name, catalog, diagnostics);
    CAPTURE(diagnostics.text());
    REQUIRE(dnn);
    CHECK(diagnostics.sorted().empty());
    CHECK(dnn->name == entry.name);
    CHECK(dnn::total_parameters(*dnn) == entry.parameters);
  }
  CHECK(catalog_names(catalog, "dnns") == known);
}

// A token of Mixtral 8x7B meets 2 of 8 experts of 3 * 4096 * 14336 in each of 32 layers: 6 * 32 *
// 176,160,768 = 33,822,867,456 fewer than there are. The publishers say 12.9, 39, 3.3, 22, 2.4
// (which leaves out the input table of 209,715,200), 21, 37, 17, 17, 5.1 and 3.6 billion (which
// leave out the input table of 579,133,440).
TEST_CASE("catalog: parameters that a token meets") {
  constexpr Entry active[] = {{"mixtral-8x7b", 46'702'792'704 - 33'822'867'456},
                              {"mixtral-8x22b", 39'152'031'744},
                              {"qwen3-30b-a3b", 3'353'032'704},
                              {"qwen3-235b-a22b", 22'190'763'520},
                              {"deepseek-v2-lite", 2'451'435'008 + 209'715'200},
                              {"deepseek-v2", 21'375'800'320},
                              {"deepseek-v3", 37'552'297'472},
                              {"llama-4-scout", 17'172'894'720},
                              {"llama-4-maverick", 17'184'691'200},
                              {"gpt-oss-120b", 5'132'849'472 + 579'133'440},
                              {"gpt-oss-20b", 3'608'307'264 + 579'133'440}};
  for (const Entry& entry : active) {
    CAPTURE(entry.name);
    Diagnostics diagnostics;
    const auto dnn = read_dnn(entry.name, catalog, diagnostics);
    REQUIRE(dnn);
    CHECK(dnn::active_parameters(*dnn) == entry.parameters);
  }
}

// A learned position has rows; nothing else has.
TEST_CASE("catalog: positions, heads and dropout fit together") {
  for (const std::string& name : catalog_names(catalog, "dnns")) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const auto dnn = read_dnn(name, catalog, diagnostics);
    REQUIRE(dnn);
    CHECK((dnn->positions > 0) == (dnn->position == dnn::Position::learned));
    CHECK(dnn->heads % dnn->kv_heads == 0);
    CHECK((dnn->dropout == 0 || dnn->norm == dnn::Norm::layer_norm));
  }
}

TEST_CASE("catalog: every stack is read and says where it is from") {
  const std::vector<std::string> names = catalog_names(catalog, "stacks");
  CHECK(names.size() == 9);
  for (const std::string& name : names) {
    CAPTURE(name);
    Diagnostics diagnostics;
    const auto stack = read_stack(name, catalog, diagnostics);
    CAPTURE(diagnostics.text());
    REQUIRE(stack);
    CHECK(diagnostics.sorted().empty());
    CHECK(stack->name == name);
    CHECK(!stack->version.empty());
    CHECK(stack->source.find("ssumed") != std::string::npos);
  }
}

// Nothing that is not in the operators themselves.
TEST_CASE("catalog: the ideal stack has no overheads") {
  Diagnostics diagnostics;
  const auto ideal = read_stack("ideal", catalog, diagnostics);
  REQUIRE(ideal);
  for (const Seconds overhead : {ideal->host_per_operator, ideal->host_per_layer,
                                 ideal->pipeline_overhead, ideal->optimizer_overhead}) {
    CHECK(overhead.value() == 0);
  }
  CHECK(ideal->reserve.value() == 0);
  CHECK(ideal->fragmentation == 0);
  CHECK(ideal->pointwise_traffic == 1);
  CHECK(ideal->vocabulary_multiple == 1);
}

}  // namespace sim::scenario
