// Errors of predicted collectives by class, worked by hand.
#include "analysis/collective_errors.h"

#include <doctest/doctest.h>

#include "tests/approximately.h"

using namespace analysis;
using sim::approximately;

namespace {

CollectiveError row(const char* run, int hosts, double bytes, double predicted, bool in_sample) {
  return {run,
          "all-reduce",
          "ring Simple",
          sim::Bytes(bytes),
          8 * hosts,
          hosts,
          sim::gigabytes_per_second(100),
          sim::gigabytes_per_second(predicted),
          in_sample};
}

constexpr double gibibyte = 1073741824;

CollectiveReport example() {
  return {"log.txt",
          {row("a", 1, 1024, 110, false), row("b", 2, gibibyte, 90, false),
           row("b", 2, 2 * gibibyte, 130, false), row("c", 2, gibibyte, 120, false),
           row("d", 2, gibibyte, 101, true), row("e", 32, gibibyte, 150, false)},
          {{"f", "no fitted profile of x", 3}},
          {"one switch"}};
}

}  // namespace

TEST_CASE("collective errors: classes by place, size and sample; median of -10, +30, +20 % is 20") {
  const auto classes = error_classes(example().rows);
  REQUIRE(classes.size() == 4);
  CHECK(classes[0].place == "inside a host");
  CHECK(classes[0].sizes == "below 64 KiB");
  CHECK(classes[0].median_absolute == approximately(0.1));
  const ErrorClass& over = classes[1];
  CHECK(over.place == "2 to 16 hosts");
  CHECK(over.sizes == "from 64 MiB");
  CHECK_FALSE(over.in_sample);
  CHECK(over.runs == 2);
  CHECK(over.rows == 3);
  CHECK(over.median_absolute == approximately(0.2));
  CHECK(over.mean_absolute == approximately(0.2));
  CHECK(over.bias == approximately(0.2));
  CHECK(over.worst == approximately(0.3));
  CHECK(classes[2].in_sample);
  CHECK(classes[2].median_absolute == approximately(0.01));
  CHECK(classes[3].place == "more than 16 hosts");
}

TEST_CASE("collective errors: text names what was skipped and assumed; brief leaves rows out") {
  const std::string text = to_text(example(), false);
  CHECK(text.find("skipped f, 3 rows: no fitted profile of x") != std::string::npos);
  CHECK(text.find("assumed: one switch") != std::string::npos);
  CHECK(text.find("(in the fit)") != std::string::npos);
  CHECK(text.find("+30.0 %") != std::string::npos);
  CHECK(to_text(example(), true).find("ring Simple") == std::string::npos);
  CHECK(to_text({"empty.txt", {}, {}, {}}, false).find("nothing was predicted") !=
        std::string::npos);
}

TEST_CASE("collective errors: JSON has rows, skipped runs and classes") {
  const std::string json = to_json(example());
  CHECK(json.find("\"run\": \"a\"") != std::string::npos);
  CHECK(json.find("\"why\": \"no fitted profile of x\"") != std::string::npos);
  CHECK(json.find("\"place\": \"more than 16 hosts\"") != std::string::npos);
}
