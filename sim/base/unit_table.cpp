// The tables of units and of the spellings people try instead.
#include "sim/base/unit_table.h"

#include "sim/base/invariant.h"

namespace sim {
namespace {

constexpr double kibi = 1024, mebi = kibi * 1024, gibi = mebi * 1024, tebi = gibi * 1024,
                 pebi = tebi * 1024;
constexpr double hour = 3600, day = 24 * hour, year = 365 * day;

std::vector<Unit> byte_rate_units() {
  return {{"bit/s", 1, 8},    {"kbit/s", 1e3, 8},  {"Mbit/s", 1e6, 8},
          {"Gbit/s", 1e9, 8}, {"Tbit/s", 1e12, 8}, {"B/s"},
          {"kB/s", 1e3},      {"MB/s", 1e6},       {"GB/s", 1e9},
          {"TB/s", 1e12},     {"KiB/s", kibi},     {"MiB/s", mebi},
          {"GiB/s", gibi},    {"TiB/s", tebi}};
}

std::vector<DimensionUnits> make_units() {
  return {
      {Dimension::time,
       "time",
       "ms",
       "1.5 us",
       false,
       {{"s"},
        {"ms", 1, 1e3},
        {"us", 1, 1e6},
        {"ns", 1, 1e9},
        {"ps", 1, 1e12},
        {"min", 60},
        {"h", hour},
        {"d", day}}},
      {Dimension::bytes,
       "bytes",
       "GB",
       "80 GB",
       false,
       {{"B"},
        {"kB", 1e3},
        {"MB", 1e6},
        {"GB", 1e9},
        {"TB", 1e12},
        {"PB", 1e15},
        {"KiB", kibi},
        {"MiB", mebi},
        {"GiB", gibi},
        {"TiB", tebi},
        {"PiB", pebi}}},
      {Dimension::byte_rate, "bytes per second", "GB/s", "400 Gbit/s", false, byte_rate_units()},
      {Dimension::flop_rate,
       "operations per second",
       "TFLOP/s",
       "989 TFLOP/s",
       false,
       {{"FLOP/s"},
        {"MFLOP/s", 1e6},
        {"GFLOP/s", 1e9},
        {"TFLOP/s", 1e12},
        {"PFLOP/s", 1e15},
        {"EFLOP/s", 1e18}}},
      {Dimension::per_time,
       "events per time",
       "/day",
       "4.7e-4 /day",
       false,
       {{"/s"}, {"/h", 1, hour}, {"/day", 1, day}, {"/year", 1, year}}},
      {Dimension::power, "power", "W", "700 W", false, {{"W"}, {"kW", 1e3}, {"MW", 1e6}}},
      {Dimension::money, "money", "USD", "2.5 USD", false, {{"USD"}}},
      {Dimension::percent, "shares", "%", "77 %", false, {{"%", 1, 100}}},
      {Dimension::count_text,
       "counts",
       "M",
       "15 T",
       true,
       {{"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}}},
  };
}

std::vector<Misspelling> make_misspellings() {
  std::vector<Misspelling> all;
  for (const std::string prefix : {"k", "K", "M", "G", "T"}) {
    const std::string rate_prefix = prefix == "K" ? "k" : prefix;
    const std::vector<std::string> both = {rate_prefix + "bit/s", rate_prefix + "B/s"};
    const auto both_ways = [&](const std::string& text) {
      all.push_back({text, Dimension::byte_rate, both,
                     "'" + text + "' is read as bits by some and bytes by others"});
    };
    both_ways(prefix + "bps");
    both_ways(prefix + "b/s");
    both_ways(prefix + "bits");
    all.push_back({prefix + "Bps", Dimension::byte_rate, {rate_prefix + "B/s"}, ""});
    all.push_back({prefix + "bit", Dimension::byte_rate, {rate_prefix + "bit/s"}, ""});
    all.push_back({prefix + "B", Dimension::byte_rate, both, "a rate is per second"});
    all.push_back({prefix + "b",
                   Dimension::bytes,
                   {rate_prefix + "B"},
                   "'" + prefix + "b' is read as bits by some and bytes by others"});
  }
  for (const std::string prefix : {"M", "G", "T", "P", "E"}) {
    for (const std::string tail :
         {"FLOPS", "FLOPs", "FLOP", "flops", "FLOPS/s", "FLOPs/s", "Flops"}) {
      all.push_back({prefix + tail,
                     Dimension::flop_rate,
                     {prefix + "FLOP/s"},
                     "a speed is operations per second"});
    }
  }
  all.push_back(
      {"KB", Dimension::bytes, {"kB", "KiB"}, "'KB' is 1000 bytes for some and 1024 for others"});
  const std::vector<std::pair<std::string, std::vector<std::string>>> times = {
      {"s", {"sec", "secs", "second", "seconds", "S"}},
      {"ms", {"msec", "millisecond", "milliseconds"}},
      {"us", {"usec", "\xc2\xb5s", "\xce\xbcs", "microsecond", "microseconds"}},
      {"ns", {"nsec", "nanosecond", "nanoseconds"}},
      {"min", {"mins", "minute", "minutes"}},
      {"h", {"hr", "hrs", "hour", "hours", "H"}},
      {"d", {"day", "days", "D"}}};
  for (const auto& [unit, spellings] : times) {
    for (const auto& text : spellings) all.push_back({text, Dimension::time, {unit}, ""});
  }
  all.push_back(
      {"m", Dimension::time, {"min", "ms"}, "'m' is minutes for some and milli for others"});
  for (const std::string text : {"/d", "/days", "per day"}) {
    all.push_back({text, Dimension::per_time, {"/day"}, ""});
  }
  for (const std::string text : {"k", "thousand"})
    all.push_back({text, Dimension::count_text, {"K"}, ""});
  for (const std::string text : {"G", "billion", "bn"}) {
    all.push_back({text, Dimension::count_text, {"B"}, ""});
  }
  all.push_back({"million", Dimension::count_text, {"M"}, ""});
  all.push_back({"trillion", Dimension::count_text, {"T"}, ""});
  all.push_back({"percent", Dimension::percent, {"%"}, ""});
  for (const std::string text : {"$", "dollar", "dollars", "usd"}) {
    all.push_back({text, Dimension::money, {"USD"}, ""});
  }
  return all;
}

}  // namespace

const std::vector<DimensionUnits>& all_units() {
  static const std::vector<DimensionUnits> all = make_units();
  return all;
}

const DimensionUnits& units_of(Dimension dimension) {
  for (const DimensionUnits& units : all_units()) {
    if (units.dimension == dimension) return units;
  }
  bug("a dimension has no units");
}

const Unit* find_unit(std::string_view name, Dimension dimension) {
  for (const Unit& unit : units_of(dimension).units) {
    if (unit.name == name) return &unit;
  }
  return nullptr;
}

const Misspelling* find_misspelling(std::string_view text, Dimension dimension) {
  static const std::vector<Misspelling> all = make_misspellings();
  for (const Misspelling& one : all) {
    if (one.dimension == dimension && one.text == text) return &one;
  }
  return nullptr;
}

}  // namespace sim
