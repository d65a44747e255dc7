// The format of stragglers: what is slow, how slow, and when.
#include <algorithm>

#include "sim/scenario/encoding.h"
#include "sim/scenario/straggler_trace.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

Kind<std::uint64_t> seed() {
  return converted<std::uint64_t>(
      count(0, INT64_MAX), [](std::int64_t value) { return static_cast<std::uint64_t>(value); });
}

Kind<Straggler::Ramp> ramp_kind() {
  using Ramp = Straggler::Ramp;
  Section<Ramp> table("a share that changes over a time, in steps");
  table.required("over", duration(Zero::refused), &Ramp::over, "how long it changes")
      .defaulted("steps", small_count(1, 10'000), &Ramp::steps, "10",
                 "of equal length, each at the middle of what it spans")
      .defaulted("start", share(Zero::refused), &Ramp::start, "100 %", "of normal, at first");
  return table.kind();
}

Kind<Straggler::Random> random_kind() {
  using Random = Straggler::Random;
  Section<Random> table("slow and normal times that are exponential");
  table.required("on", duration(Zero::refused), &Random::on, "slow for so long, on average")
      .required("off", duration(Zero::refused), &Random::off,
                "normal for so long, on average; it begins so")
      .defaulted("seed", seed(), &Random::seed, "1", "of the draws")
      .defaulted("together", flag(), &Random::is_together, "false",
                 "whether all devices and links of the part are slow at the same times");
  return table.kind();
}

Kind<Straggler::Drawn> drawn_kind() {
  using Drawn = Straggler::Drawn;
  Section<Drawn> table("which of the devices and links are slow, and how slow each is");
  table.defaulted("hit", share(Zero::refused), &Drawn::hit, "100 %", "chance of each to be slow")
      .optional("up_to", share(Zero::refused), &Drawn::up_to,
                "each has a share between that of the straggler and this, all equally likely")
      .optional("sigma", number(0, 10), &Drawn::sigma,
                "each has a lognormal share with the straggler's as median, at most 100 %: "
                "deviation of the natural logarithm")
      .defaulted("seed", seed(), &Drawn::seed, "1", "of the draws")
      .check([](Reader& reader, const Value& section, const std::string& path, Drawn& drawn) {
        if (!drawn.up_to || !drawn.sigma) return;
        reader.error(path, section.place(), fmt::format("both up_to and sigma in {}", path), "",
                     "write one of them");
      });
  return table.kind();
}

Kind<StragglerTrace> trace_kind() {
  return {text().schema,
          [](Reader& reader, const Value& value,
             const std::string& path) -> std::optional<StragglerTrace> {
            if (!text().read(reader, value, path)) return std::nullopt;
            const auto file = reader.file_named(value);
            if (!file) {
              reader.error(path, value.place(),
                           fmt::format("no file '{}' for {}", shown(value.text, 200), path),
                           "paths are relative to the file that names them, then to the catalog");
              return std::nullopt;
            }
            auto trace = read_straggler_trace(*file, value.place(), reader.diagnostics());
            if (!trace) {
              reader.mark_bad(path);
              return std::nullopt;
            }
            trace->file = value.text;
            return trace;
          }};
}

// Where an entry of the list is wrong.
class Checker {
 public:
  Checker(Reader& reader, const Value& section, const std::string& path, Straggler& straggler)
      : reader_(reader), section_(section), path_(path), s_(straggler) {}

  void check() {
    who();
    what();
    when();
    how_often();
    stands_still();
    s_.place = section_.place();
  }

 private:
  bool has(const char* key) const { return section_.find(key) != nullptr; }
  void fail(const std::string& message, const std::string& hint) {
    reader_.error(path_, section_.place(), fmt::format("{} in {}", message, path_), "", hint);
  }
  void fail_at(const char* key, const std::string& message, const std::string& hint = "") {
    reader_.error(path_, reader_.place(joined_path(path_, key)), message, "", hint);
  }
  void who() {
    if (has("part") == s_.rank.has_value()) {
      fail(has("part") ? "both part and rank" : "neither part nor rank",
           "write a part, such as h0.gpu1, or a rank");
    }
    if (s_.slowdown && has("part")) {
      fail("slowdown of a part", "write compute and memory, or a rank");
    }
    if (s_.rank && s_.link) fail("link of a rank", "write the part, such as h0.nic1");
  }
  void what();
  void when();
  void how_often();
  void stands_still();

  Reader& reader_;
  const Value& section_;
  const std::string& path_;
  Straggler& s_;
};

void Checker::what() {
  const bool has_share = s_.compute || s_.memory || s_.link || s_.host || s_.slowdown;
  const auto* trace = std::get_if<StragglerTrace>(&s_.course);
  if (!has_share && !trace) {
    reader_.error(path_, section_.place(), fmt::format("nothing is slow in {}", path_), "",
                  "write compute, memory, link or host as a share of normal, such as 77 %");
  }
  if (!trace) return;
  if (has_share || s_.drawn) {
    fail(fmt::format("both trace and {}", has_share ? "shares" : "drawn"),
         "the columns of the trace are the shares");
    return;
  }
  const auto least = [](const std::vector<double>& column) -> std::optional<double> {
    if (column.empty()) return std::nullopt;
    return *std::min_element(column.begin(), column.end());
  };
  s_.compute = least(trace->compute), s_.memory = least(trace->memory);
  s_.link = least(trace->link), s_.host = least(trace->host);
}

void Checker::when() {
  if (s_.to && *s_.to <= s_.from) {
    fail_at("to", fmt::format("{} ends at {}, not after it begins at {}", path_, to_text(*s_.to),
                              to_text(s_.from)));
  }
  std::vector<std::string> courses;
  for (const char* key : {"every", "ramp", "random", "trace"}) {
    if (has(key)) courses.emplace_back(key);
  }
  if (courses.size() > 1) {
    fail(fmt::format("both {} and {}", courses[0], courses[1]),
         "write one, or two stragglers of the same part: their shares multiply");
  }
}

void Checker::how_often() {
  if (has("every") != has("for")) {
    fail(has("every") ? "every without for" : "for without every",
         "write both: slow for a time, again after every");
  }
  const auto* periodic = std::get_if<Straggler::Periodic>(&s_.course);
  if (periodic && has("for") && periodic->lasts >= periodic->every) {
    fail_at("for", fmt::format("{} lasts {}, not less than every {}", path_,
                               to_text(periodic->lasts), to_text(periodic->every)));
  }
}

// A host that launches nothing has to go on some time.
void Checker::stands_still() {
  if (s_.host != 0.0 || s_.to) return;
  const bool ends = std::holds_alternative<Straggler::Periodic>(s_.course) ||
                    std::holds_alternative<Straggler::Random>(s_.course) ||
                    std::holds_alternative<StragglerTrace>(s_.course);
  if (ends) return;
  fail_at("host", fmt::format("the host stands still for ever in {}", path_),
          "write when it goes on: to, every and for, or random");
}

Straggler::Periodic& periodic_of(Straggler& s) {
  if (!std::holds_alternative<Straggler::Periodic>(s.course)) s.course = Straggler::Periodic{};
  return std::get<Straggler::Periodic>(s.course);
}

}  // namespace

Section<Straggler> straggler_table() {
  Section<Straggler> table("a part that is slower than normal");
  const auto set_course = [](Straggler& s, auto course) { s.course = std::move(course); };
  table.optional("part", text(), &Straggler::part, "such as h0.gpu1 or h[0..3].nic2, or storage")
      .optional("rank", small_count(0, 100'000'000), &Straggler::rank,
                "the device that holds this rank")
      .optional("compute", share(Zero::refused), &Straggler::compute, "of normal")
      .optional("memory", share(Zero::refused), &Straggler::memory, "of normal")
      .optional("link", share(Zero::refused), &Straggler::link, "of normal")
      .optional("host", share(), &Straggler::host,
                "of normal, how fast hosts launch; 0 %: they pause")
      .optional("slowdown", number(1, 1000), &Straggler::slowdown,
                "compute and memory of a rank are slower by this factor")
      .defaulted("from", duration(), &Straggler::from, "0 s", "when it begins")
      .optional("to", duration(), &Straggler::to, "when it ends; never unless written")
      .optional(
          "every", duration(Zero::refused),
          [](Straggler& s, Seconds every) { periodic_of(s).every = every; },
          "it begins again so long after it began")
      .optional(
          "for", duration(Zero::refused),
          [](Straggler& s, Seconds lasts) { periodic_of(s).lasts = lasts; },
          "with every: how long it lasts each time")
      .optional("ramp", ramp_kind(), set_course, "it gets slow bit by bit")
      .optional("random", random_kind(), set_course, "it comes and goes")
      .optional("trace", trace_kind(), set_course,
                "file of comma-separated values: at [s], compute [%], memory [%], link [%], "
                "host [%]")
      .optional("drawn", drawn_kind(), &Straggler::drawn,
                "only some of the part's devices and links are slow, or each differently")
      .check([](Reader& reader, const Value& section, const std::string& path, Straggler& s) {
        Checker(reader, section, path, s).check();
      });
  return table;
}

}  // namespace sim::scenario
