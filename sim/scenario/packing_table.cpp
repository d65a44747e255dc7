// The format of training.packing: how long the documents in a sequence are, and who has which.
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using plan::Lengths;
using plan::Packing;

constexpr std::int64_t tokens_max = 1'000'000'000;

struct Range {
  std::int64_t from = 1, to = 1;
};
struct Bar {
  std::int64_t tokens = 1;
  double documents = 0;
};

Kind<Range> range_kind() {
  Section<Range> table("every length in a range is as likely");
  table.required("from", count(1, tokens_max), &Range::from, "tokens of the shortest documents")
      .required("to", count(1, tokens_max), &Range::to, "tokens of the longest documents")
      .check([](Reader& reader, const Value& section, const std::string& path, Range& range) {
        if (range.from <= range.to) return;
        reader.error(path, section.name_place(),
                     fmt::format("{} goes from {} to {} tokens", path, range.from, range.to), "",
                     "write the shorter length first");
      });
  return table.kind();
}

Kind<Lengths> lognormal_kind() {
  Section<Lengths> table("lengths whose logarithm is normal");
  table
      .required(
          "median", count(1, tokens_max),
          [](Lengths& lengths, std::int64_t tokens) {
            lengths.median = static_cast<double>(tokens);
          },
          "tokens; half of all documents are longer")
      .required("sigma", number(0, 10), &Lengths::sigma, "deviation of the natural logarithm")
      .check([](Reader&, const Value&, const std::string&, Lengths& lengths) {
        lengths.distribution = Lengths::Distribution::lognormal;
      });
  return table.kind();
}

Kind<Bar> bar_kind() {
  Section<Bar> table("documents of one length");
  table.required("tokens", count(1, tokens_max), &Bar::tokens, "of each of them")
      .required("documents", number(0, 1e18), &Bar::documents, "how many, in any unit");
  return table.kind();
}

Lengths histogram_of(const std::vector<Bar>& bars) {
  Lengths lengths;
  lengths.distribution = Lengths::Distribution::histogram;
  for (const Bar& bar : bars) {
    lengths.histogram.emplace_back(static_cast<double>(bar.tokens), bar.documents);
  }
  return lengths;
}

Kind<Lengths> lengths_kind() {
  using Maybe = std::optional<Lengths>;
  Section<Maybe> table("how long documents are, in tokens");
  const auto between = [](std::int64_t from, std::int64_t to, Lengths::Distribution kind) {
    Lengths lengths;
    lengths.distribution = kind;
    lengths.low = static_cast<double>(from), lengths.high = static_cast<double>(to);
    return lengths;
  };
  table
      .optional(
          "fixed", count(1, tokens_max),
          [between](Maybe& all, std::int64_t tokens) {
            all = between(tokens, tokens, Lengths::Distribution::fixed);
          },
          "all of one length")
      .optional(
          "uniform", range_kind(),
          [between](Maybe& all, Range range) {
            all = between(range.from, range.to, Lengths::Distribution::uniform);
          },
          "from and to")
      .optional(
          "lognormal", lognormal_kind(),
          [](Maybe& all, Lengths lengths) { all = std::move(lengths); }, "median and sigma")
      .optional_with_reader(
          "histogram", list(bar_kind(), 1),
          [](Reader& reader, const std::string& path, Maybe& all, const std::vector<Bar>& bars) {
            double sum = 0;
            for (const Bar& bar : bars) sum += bar.documents;
            if (sum <= 0) {
              reader.error(path, reader.place(path), fmt::format("{} without documents", path), "",
                           "write how many there are of some length: {tokens: 512, documents: 3}");
            }
            all = histogram_of(bars);
          },
          "as measured: so many documents of so many tokens")
      .check([](Reader& reader, const Value& section, const std::string& path, Maybe&) {
        if (section.entries.size() == 1) return;
        reader.error(path, section.name_place(),
                     fmt::format("{} distributions for {}", section.entries.size(), path), "",
                     "write one, such as {lognormal: {median: 1500, sigma: 1}}");
      });
  return converted<Lengths>(table.kind(), [](const Maybe& all) { return *all; });
}

}  // namespace

Section<Packing> packing_table() {
  Section<Packing> table("several documents in a sequence, which do not see each other");
  table
      .required("lengths", lengths_kind(), &Packing::lengths,
                "of documents; each sequence starts with a new one, its last is cut off at its end")
      .optional("draw", word<bool>("draw", {{"fixed", false}, {"per-micro-batch", true}}),
                &Packing::is_drawn_per_micro_batch,
                "whether all micro-batches of a replica have the same lengths; per-micro-batch "
                "unless written")
      .optional("replicas", word<bool>("replicas", {{"same", false}, {"independent", true}}),
                &Packing::is_drawn_per_replica,
                "whether all data-parallel replicas have the same lengths; independent unless "
                "written")
      .optional(
          "seed", count(0, INT64_MAX),
          [](Packing& p, std::int64_t seed) { p.seed = static_cast<std::uint64_t>(seed); },
          "another one draws other lengths; 1 unless written");
  return table;
}

}  // namespace sim::scenario
