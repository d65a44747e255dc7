// The JSON Schema: well-formed, complete, and never stricter than the reader.
#include <cmath>
#include <functional>
#include <random>
#include <regex>
#include <set>

#include "sim/scenario/document.h"
#include "sim/scenario/study.h"
#include "sim/scenario/tables.h"
#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

namespace {

// JSON is YAML, so our own parser reads the schema.
Value schema(const std::string& text = json_schema()) {
  Diagnostics diagnostics;
  const auto value = parse_document("schema", text, diagnostics);
  INFO(diagnostics.text());
  REQUIRE(value);
  return *value;
}

bool is_number(const Value& value) {
  static const std::regex number("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?");
  return value.kind == Value::Kind::text && !value.is_quoted &&
         std::regex_match(value.text, number);
}

std::string type_of(const Value& value) {
  if (value.kind == Value::Kind::map) return "object";
  if (value.kind == Value::Kind::list) return "array";
  if (value.kind == Value::Kind::nothing) return "null";
  if (is_number(value))
    return value.text.find_first_of(".eE") == std::string::npos ? "integer" : "number";
  if (!value.is_quoted && (value.text == "true" || value.text == "false")) return "boolean";
  return "string";
}

bool has_type(const Value& value, const std::string& wanted) {
  const std::string type = type_of(value);
  return type == wanted || (wanted == "number" && type == "integer");
}

// The part of draft 2020-12 that the schema uses. Any other keyword fails the test.
bool accepts(const Value& rule, const Value& value);

bool accepts_object(const Value& rule, const Value& value) {
  const Value* properties = rule.find("properties");
  const Value* additional = rule.find("additionalProperties");
  for (const Entry& entry : value.entries) {
    const Value* property = properties != nullptr ? properties->find(entry.key) : nullptr;
    if (property != nullptr) {
      if (!accepts(*property, entry.value)) return false;
    } else if (additional != nullptr) {
      if (additional->text == "false") return false;
      if (additional->kind == Value::Kind::map && !accepts(*additional, entry.value)) return false;
    }
  }
  if (const Value* required = rule.find("required")) {
    for (const Value& key : required->items) {
      if (value.find(key.text) == nullptr) return false;
    }
  }
  return true;
}

bool accepts_text(const Value& rule, const Value& value) {
  if (const Value* least = rule.find("minimum")) {
    if (is_number(value) && std::stod(value.text) < std::stod(least->text)) return false;
  }
  if (const Value* most = rule.find("maximum")) {
    if (is_number(value) && std::stod(value.text) > std::stod(most->text)) return false;
  }
  if (const Value* pattern = rule.find("pattern");
      pattern != nullptr && type_of(value) == "string") {
    return std::regex_search(value.text, std::regex(pattern->text, std::regex::ECMAScript));
  }
  return true;
}

bool accepts(const Value& rule, const Value& value) {
  static const std::set<std::string> known = {
      "$schema",  "title",     "description",   "default", "type",    "properties",
      "required", "enum",      "const",         "pattern", "minimum", "maximum",
      "minItems", "minLength", "minProperties", "items",   "anyOf",   "additionalProperties",
      "if",       "else"};
  for (const Entry& entry : rule.entries) {
    CAPTURE(entry.key);
    REQUIRE(known.contains(entry.key));
  }
  if (const Value* type = rule.find("type")) {
    bool is_one = type->kind == Value::Kind::text && has_type(value, type->text);
    for (const Value& one : type->items) is_one = is_one || has_type(value, one.text);
    if (!is_one) return false;
  }
  if (const Value* words = rule.find("enum")) {
    bool is_one = false;
    for (const Value& word : words->items) {
      is_one = is_one || (value.kind == Value::Kind::text && word.text == value.text);
    }
    if (!is_one) return false;
  }
  if (const Value* only = rule.find("const"); only != nullptr && only->text != value.text)
    return false;
  if (const Value* any = rule.find("anyOf")) {
    bool is_one = false;
    for (const Value& one : any->items) is_one = is_one || accepts(one, value);
    if (!is_one) return false;
  }
  if (const Value* condition = rule.find("if");
      condition != nullptr && !accepts(*condition, value)) {
    if (!accepts(*rule.find("else"), value)) return false;
  }
  if (const Value* items = rule.find("items")) {
    for (const Value& item : value.items) {
      if (!accepts(*items, item)) return false;
    }
  }
  if (const Value* least = rule.find("minItems")) {
    if (value.kind == Value::Kind::list && value.items.size() < std::stoul(least->text))
      return false;
  }
  return accepts_object(rule, value) && accepts_text(rule, value);
}

bool accepts_text(const Value& rule, const std::string& text) {
  Diagnostics diagnostics;
  const auto value = parse_document("f", text, diagnostics);
  return value && accepts(rule, *value);
}

bool accepts(const std::string& text) {
  static const Value rule = schema();
  return accepts_text(rule, text);
}

bool study_accepts(const std::string& text) {
  static const Value rule = schema(study_schema());
  return accepts_text(rule, text);
}

// Calls `see` with every schema inside of a schema that describes a property.
void each_property(const Value& rule, const std::string& path,
                   const std::function<void(const std::string&, const Value&)>& see) {
  for (const Entry& entry : rule.entries) {
    if (entry.key == "properties") {
      for (const Entry& property : entry.value.entries) {
        see(path + "." + property.key, property.value);
        each_property(property.value, path + "." + property.key, see);
      }
    } else if (entry.key == "items" || entry.key == "additionalProperties") {
      each_property(entry.value, path + "[]", see);
    } else if (entry.key == "anyOf") {
      for (const Value& one : entry.value.items) each_property(one, path, see);
    }
  }
}

}  // namespace

TEST_CASE("schema: accepts what is right, refuses what is plainly wrong") {
  CHECK(accepts(whole_scenario));
  CHECK(accepts(program.substr(0, program.find("operations:")) +
                "dnn: {name: tiny}\ntraining: {global_batch: 1}\nplan: {}\n"));
  std::string wrong = whole_scenario;
  CHECK_FALSE(accepts(wrong.replace(wrong.find("tensor: 2"), 9, "tensor: x")));
  wrong = whole_scenario;
  CHECK_FALSE(accepts(wrong.replace(wrong.find("400 Gbit/s"), 10, "400 Gbps  ")));
  wrong = whole_scenario;
  CHECK_FALSE(accepts(wrong.replace(wrong.find("micro_batch"), 11, "micro_bacth")));
  wrong = whole_scenario;
  CHECK_FALSE(accepts(wrong.replace(wrong.find("global_batch: 128"), 17, "")));
  CHECK_FALSE(accepts(whole_scenario + "jobs: []\n"));
}

TEST_CASE("schema: every default is accepted by its own property") {
  int defaults = 0;
  each_property(schema(), "", [&](const std::string& path, const Value& rule) {
    const Value* value = rule.find("default");
    if (value == nullptr) return;
    CAPTURE(path);
    ++defaults;
    CHECK(accepts(rule, *value));
  });
  CHECK(defaults > 60);
}

TEST_CASE("schema: what the reader accepts, the schema accepts") {
  const TemporaryFile file("");
  int accepted = 0;
  const std::string letters = "0123456789 .:{}abgknmstuGMTB%/";
  for (unsigned seed = 0; seed < 1500; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text = whole_scenario;
    text[random() % text.size()] = letters[random() % letters.size()];
    file.write(text);
    if (!read(file.path()).scenario) continue;
    ++accepted;
    CAPTURE(text);
    CHECK(accepts(text));
  }
  CHECK(accepted > 100);
}

TEST_CASE("schema: every section is there, and says what it is") {
  const Value rule = schema();
  for (const std::string& key : scenario_table().keys()) {
    CAPTURE(key);
    CHECK(rule.find("properties")->find(key) != nullptr);
  }
  CHECK(rule.find("$schema")->text == "https://json-schema.org/draft/2020-12/schema");
  int described = 0;
  each_property(rule, "", [&](const std::string& path, const Value& property) {
    CAPTURE(path);
    ++described;
    const bool is_only_a_name = property.entries.size() == 1 && property.find("type") != nullptr;
    CHECK((property.find("description") != nullptr || is_only_a_name ||
           path.find("peak") != std::string::npos));
  });
  CHECK(described > 150);
}

TEST_CASE("schema of studies: accepts those of the repository, refuses what is plainly wrong") {
  enter_repository();
  int studies = 0;
  for (const auto& entry : std::filesystem::directory_iterator("scenarios/studies")) {
    const std::string text = file_text(entry.path());
    if (text.find("\nstudy:") == std::string::npos) continue;
    CAPTURE(entry.path().string());
    ++studies;
    CHECK(study_accepts(text));
  }
  CHECK(studies >= 6);
  const std::string head = "maquette: 1\nstudy: {base: x.yaml, objective: ";
  CHECK(study_accepts(head + "memory}"));
  CHECK(study_accepts(head + "[memory, power], failures: true}"));
  CHECK_FALSE(study_accepts(head + "memories}"));
  CHECK_FALSE(study_accepts(head + "[]}"));
  CHECK_FALSE(study_accepts(head + "memory, failures: perhaps}"));
  CHECK_FALSE(study_accepts(head + "memory, filter: []}"));
  CHECK_FALSE(study_accepts("maquette: 1\nstudy: {objective: memory}"));
}

TEST_CASE("schema of studies: every default is accepted, every property says what it is") {
  each_property(schema(study_schema()), "", [&](const std::string& path, const Value& rule) {
    CAPTURE(path);
    const Value* value = rule.find("default");
    if (value != nullptr) CHECK(accepts(rule, *value));
    CHECK(rule.find("description") != nullptr);
  });
}
