// Boost.Program_options, and messages in our own words.
#include "sim/command/options.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

#include "analysis/json.h"

namespace sim::command {

namespace po = boost::program_options;

void add_common(po::options_description& options) {
  options.add_options()("json", po::bool_switch(), "print one JSON object on stdout, nothing else");
  options.add_options()("quiet", po::bool_switch(), "print no progress and no warnings");
  options.add_options()("strict", po::bool_switch(), "treat warnings as errors");
  options.add_options()("set", po::value<std::vector<std::string>>()->value_name("PATH=VALUE"),
                        "override a field of the scenario, such as plan.tensor=4 (repeatable)");
}

std::vector<scenario::Override> read_overrides(const std::vector<std::string>& texts,
                                               const std::string& option) {
  std::vector<scenario::Override> overrides;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError{fmt::format("{} '{}' is not PATH=VALUE", option, text),
                       fmt::format("write for example {} plan.tensor=4", option)};
    }
    overrides.push_back({text.substr(0, equals), text.substr(equals + 1)});
  }
  return overrides;
}

Common read_common(const po::variables_map& values) {
  Common common;
  common.is_json = values["json"].as<bool>();
  common.is_quiet = values["quiet"].as<bool>();
  common.is_strict = values["strict"].as<bool>();
  if (!values.count("set")) return common;
  common.overrides = read_overrides(values["set"].as<std::vector<std::string>>(), "--set");
  return common;
}

std::optional<po::variables_map> parse(const Syntax& syntax, po::options_description options,
                                       const std::vector<std::string>& arguments) {
  options.add_options()("help", "show this");
  po::options_description all;
  all.add(options);
  all.add_options()(syntax.positional.c_str(), po::value<std::vector<std::string>>());
  po::positional_options_description positional;
  positional.add(syntax.positional.c_str(), -1);
  po::variables_map values;
  try {
    po::store(po::command_line_parser(arguments).options(all).positional(positional).run(), values);
    po::notify(values);
  } catch (const po::error& error) {
    throw UsageError{error.what(),
                     "see " + syntax.usage.substr(0, syntax.usage.find(' ', 9)) + " --help"};
  }
  if (values.count("help")) {
    fmt::print("usage: {}\n\n{}\n\nexample: {}\n\n", syntax.usage, syntax.about, syntax.example);
    std::ostringstream text;
    text << options;
    fmt::print("{}", text.str());
    return std::nullopt;
  }
  const int given =
      values.count(syntax.positional)
          ? static_cast<int>(values[syntax.positional].as<std::vector<std::string>>().size())
          : 0;
  if (given < syntax.least || given > syntax.most) {
    throw UsageError{
        fmt::format("{} {} given", given == 0 ? "no" : std::to_string(given), syntax.positional),
        "usage: " + syntax.usage};
  }
  return values;
}

bool report(const Diagnostics& diagnostics, const Common& common) {
  bool has_warnings = false;
  for (const Diagnostic& d : diagnostics.sorted()) has_warnings |= d.severity == Severity::warning;
  const bool stops = diagnostics.has_errors() || (common.is_strict && has_warnings);
  if (stops && common.is_json) fmt::print("{}\n", analysis::errors_json(diagnostics));
  if (stops || !common.is_quiet) fmt::print(stderr, "{}", diagnostics.text());
  return stops;
}

std::filesystem::path catalog() {
  const char* elsewhere = std::getenv("MAQUETTE_CATALOG");
  return elsewhere ? elsewhere : MAQUETTE_CATALOG;
}

}  // namespace sim::command
