// The format of a pipeline schedule: by name, as a table of passes, or as a rule.
#include <charconv>
#include <sstream>

#include "sim/scenario/encoding.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using plan::Arrangement;
using plan::Pass;
using plan::ScheduleKind;
using plan::ScheduleTable;

// "F3", "B0.1": kind, micro-batch, virtual stage.
std::optional<Pass> pass_of(std::string_view text) {
  constexpr std::string_view kinds = "FBIW";
  constexpr Pass::Kind meanings[] = {Pass::Kind::forward, Pass::Kind::backward,
                                     Pass::Kind::backward_input, Pass::Kind::backward_weight};
  const std::size_t kind = text.empty() ? kinds.npos : kinds.find(text.front());
  if (kind == kinds.npos) return std::nullopt;
  Pass pass;
  pass.kind = meanings[kind];
  const char* const end = text.data() + text.size();
  const auto micro_batch = std::from_chars(text.data() + 1, end, pass.micro_batch);
  if (micro_batch.ec != std::errc()) return std::nullopt;
  if (micro_batch.ptr == end) return pass;
  if (*micro_batch.ptr != '.') return std::nullopt;
  const auto virtual_stage = std::from_chars(micro_batch.ptr + 1, end, pass.virtual_stage);
  if (virtual_stage.ec != std::errc() || virtual_stage.ptr != end) return std::nullopt;
  return pass;
}

// "F0 F1 B0", "F4&B2" for two that run together.
std::optional<std::vector<Pass>> row_of(Reader& reader, const Value& value,
                                        const std::string& path) {
  if (value.kind != Value::Kind::text) {
    report_shape(reader, value, path, "a row of passes, such as F0 F1 B0 B1");
    return std::nullopt;
  }
  std::vector<Pass> row;
  std::istringstream words(value.text);
  for (std::string word; words >> word;) {
    for (std::size_t from = 0; from <= word.size();) {
      const std::size_t to = std::min(word.find('&', from), word.size());
      const auto pass = pass_of(std::string_view(word).substr(from, to - from));
      if (!pass) {
        reader.error(path, value.place(), fmt::format("'{}' is not a pass", shown(word, 40)),
                     "F forward, B backward, I input gradient, W weight gradient, then the "
                     "micro-batch and, with several, .virtual stage",
                     "such as F0, B3.1, or F4&B2 for two that run together");
        return std::nullopt;
      }
      row.push_back(*pass);
      row.back().with_next = to < word.size();
      from = to + 1;
    }
  }
  return row;
}

Kind<std::vector<Pass>> row() {
  return {[] { return R"({"type":"string"})"; }, row_of};
}

Section<ScheduleTable> table_section() {
  Section<ScheduleTable> table("passes of each stage in their order");
  table
      .defaulted("arrangement",
                 word<Arrangement>("arrangement", {{"loop", Arrangement::loop},
                                                   {"zigzag", Arrangement::zigzag},
                                                   {"both-ways", Arrangement::both_ways}}),
                 &ScheduleTable::arrangement, "loop",
                 "where the parts of the dnn are: round the stages, to and fro, or two copies from "
                 "both ends")
      .required("passes", list(row(), 1), &ScheduleTable::passes, "a row a stage");
  return table;
}

Section<ScheduleTable> rule_section() {
  Section<ScheduleTable> table("1F1B with a warm-up and weight gradients of one's own");
  table
      .required("warm_up", list(small_count(0), 1), &ScheduleTable::warm_up,
                "forward passes before the pairs, of each stage")
      .optional("weight_delay", list(small_count(0), 1), &ScheduleTable::weight_delay,
                "backward passes by which weight gradients are later, of each stage");
  return table;
}

}  // namespace

Kind<ScheduleChoice> schedule_kind() {
  std::vector<Word<ScheduleKind>> words;
  for (const plan::ScheduleTraits& one : plan::all_schedules()) {
    if (one.kind != ScheduleKind::table) words.push_back({one.name, one.kind});
  }
  const auto named = word<ScheduleKind>("schedule", std::move(words));
  const auto table = table_section().kind();
  const auto rule = rule_section().kind();
  const auto schema = [named, table, rule] {
    return fmt::format(
        "{{\"anyOf\":[{},{{\"type\":\"object\",\"properties\":{{\"table\":{}}},\"required\":["
        "\"table\"],\"additionalProperties\":false}},{{\"type\":\"object\",\"properties\":{{"
        "\"rule\":{}}},\"required\":[\"rule\"],\"additionalProperties\":false}}]}}",
        named.schema(), table.schema(), rule.schema());
  };
  return {schema,
          [named, table, rule](Reader& reader, const Value& value,
                               const std::string& path) -> std::optional<ScheduleChoice> {
            if (value.kind != Value::Kind::map) {
              const auto kind = named.read(reader, value, path);
              return kind ? std::optional<ScheduleChoice>({*kind, {}}) : std::nullopt;
            }
            for (const auto& [key, section] : {std::pair("table", &table), {"rule", &rule}}) {
              const Value* inner = value.find(key);
              if (inner == nullptr) continue;
              for (const Entry& entry : value.entries) {
                if (entry.key != key) report_unknown_key(reader, entry, path, {key});
              }
              const std::string inner_path = joined_path(path, key);
              reader.add_place(inner_path, inner->place());
              const auto found = section->read(reader, *inner, inner_path);
              return found ? std::optional<ScheduleChoice>({ScheduleKind::table, *found})
                           : std::nullopt;
            }
            reader.error(path, value.name_place(),
                         fmt::format("{} has neither table nor rule", path), "",
                         "write the name of a schedule, a table, or a rule");
            return std::nullopt;
          }};
}

}  // namespace sim::scenario
