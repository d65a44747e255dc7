// Damaged and hostile files: always a scenario or reasons, never a crash.
#include <functional>
#include <random>

#include "sim/scenario/document.h"
#include "tests/sim/scenario/reading.h"

using namespace sim;
using namespace sim::scenario;

namespace {

// read() itself checks that there is a scenario or a reason; this adds that the reason has a place
// in this file or in one it names.
void must_survive(const TemporaryFile& file, const std::string& text) {
  file.write(text);
  const Reading reading = read(file.path());
  if (!reading.scenario) CHECK(reading.text.find(": error: ") != std::string::npos);
}

}  // namespace

TEST_CASE("robust: every beginning of a right scenario") {
  for (const std::string* whole : {&whole_scenario, &program}) {
    const TemporaryFile file("");
    for (std::size_t length = 0; length <= whole->size(); ++length) {
      CAPTURE(length);
      must_survive(file, whole->substr(0, length));
    }
  }
}

TEST_CASE("robust: every line left out, every two lines swapped with the next") {
  std::vector<std::string> lines;
  std::istringstream stream(whole_scenario);
  for (std::string line; std::getline(stream, line);) lines.push_back(line + "\n");
  const TemporaryFile file("");
  for (std::size_t i = 0; i < lines.size(); ++i) {
    CAPTURE(i);
    std::string without, swapped;
    for (std::size_t j = 0; j < lines.size(); ++j) {
      if (j != i) without += lines[j];
      swapped += j == i && i + 1 < lines.size() ? lines[j + 1] : j == i + 1 ? lines[i] : lines[j];
    }
    must_survive(file, without);
    must_survive(file, swapped);
  }
}

TEST_CASE("robust: random bytes changed, inserted and removed") {
  const std::string marks = "{}[]:,#&*!|>'\"%@`-? \n\t\\0123456789.eabfnst~";
  const TemporaryFile file("");
  int accepted = 0;
  for (unsigned seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    std::mt19937 random(seed);
    std::string text = seed % 3 == 0 ? program : whole_scenario;
    for (std::size_t n = 1 + random() % 4; n > 0; --n) {
      const std::size_t at = random() % text.size();
      const char letter =
          random() % 4 == 0 ? static_cast<char>(random() % 256) : marks[random() % marks.size()];
      if (random() % 3 == 0)
        text.insert(at, 1, letter);
      else if (random() % 2 == 0)
        text.erase(at, 1 + random() % 5);
      else
        text[at] = letter;
    }
    file.write(text);
    accepted += read(file.path()).scenario.has_value();
  }
  // Some changes are harmless (in a name, a comment); most are not.
  CHECK(accepted > 0);
  CHECK(accepted < 1500);
}

TEST_CASE("robust: any value in the place of any other") {
  const std::vector<std::string> values = {"",
                                           "~",
                                           "0",
                                           "-1",
                                           "1",
                                           "99999999999999999999",
                                           "1e999",
                                           "nan",
                                           "true",
                                           "''",
                                           "x",
                                           "[]",
                                           "{}",
                                           "[{}]",
                                           "[[1]]",
                                           "{a: b}",
                                           "5 s",
                                           "5 GB",
                                           "50 %",
                                           "../../etc/passwd",
                                           "/",
                                           ".yaml",
                                           "\xc3\xa4",
                                           "{base: tiny}",
                                           "{name: [1]}",
                                           "{timed: 1}",
                                           "{file: {}}",
                                           "{file: /}"};
  const std::vector<std::string> paths = {"maquette",
                                          "name",
                                          "cluster",
                                          "cluster.hosts",
                                          "cluster.hosts.0",
                                          "cluster.hosts.0.count",
                                          "cluster.hosts.0.type",
                                          "cluster.fabric",
                                          "cluster.fabric.kind",
                                          "cluster.fabric.link",
                                          "cluster.spares",
                                          "cluster.storage",
                                          "dnn",
                                          "dnn.name",
                                          "stack",
                                          "stack.base",
                                          "stack.bucket",
                                          "training",
                                          "training.sequence",
                                          "training.global_batch",
                                          "training.precision",
                                          "plan",
                                          "plan.tensor",
                                          "plan.context",
                                          "plan.pipeline",
                                          "plan.pipeline.stages",
                                          "plan.pipeline.layers",
                                          "plan.pipeline.schedule",
                                          "plan.data",
                                          "plan.data.degree",
                                          "plan.expert",
                                          "placement",
                                          "placement.order",
                                          "stragglers",
                                          "stragglers.0",
                                          "stragglers.0.part",
                                          "stragglers.2.rank",
                                          "run",
                                          "run.iterations",
                                          "expect",
                                          "expect.iteration",
                                          "operations",
                                          "failures",
                                          "failures.0",
                                          "failures.0.repair",
                                          "checkpoint",
                                          "checkpoint.every",
                                          "recovery",
                                          "recovery.restart",
                                          "run.duration",
                                          "run.histories"};
  const TemporaryFile file(whole_scenario);
  for (const std::string& path : paths) {
    for (const std::string& value : values) {
      CAPTURE(path);
      CAPTURE(value);
      read(file.path(), {{path, value}});
    }
  }
}

TEST_CASE("robust: binary, empty, huge and missing files, folders") {
  const TemporaryFile file("");
  std::mt19937 random(1);
  for (int i = 0; i < 50; ++i) {
    std::string bytes;
    for (std::size_t n = random() % 2000; n > 0; --n) bytes += static_cast<char>(random() % 256);
    must_survive(file, bytes);
  }
  file.write(std::string(file_bytes_max + 1, '#'));
  CHECK(read(file.path()).text.find("has more than 16 MiB") != std::string::npos);
  file.write(std::string(file_bytes_max - 1, '#') + "\n");
  CHECK(read(file.path()).text.find("the file holds nothing") != std::string::npos);
  CHECK(read(file.folder()).text.find("is a folder, not a file") != std::string::npos);
  CHECK(read(file.folder() / "nothing.yaml").text.find("No such file or directory") !=
        std::string::npos);
  CHECK(read("").text.find("error") != std::string::npos);
}

TEST_CASE("robust: nested, repeated and aliased beyond reason") {
  const TemporaryFile file("");
  must_survive(file, "maquette: 1\nplan: " + std::string(200000, '{'));
  must_survive(file, "maquette: 1\nplan: " + std::string(200000, '['));
  std::string deep;
  for (int i = 0; i < 2000; ++i) deep += std::string(static_cast<std::size_t>(i), ' ') + "a:\n";
  must_survive(file, deep);
  std::string wide = "maquette: 1\n";
  for (int i = 0; i < 20000; ++i) wide += "key" + std::to_string(i) + ": 1\n";
  must_survive(file, wide);
  std::string dashes;
  for (int i = 0; i < 5000; ++i) dashes += "- ";
  must_survive(file, dashes);
  must_survive(file, "a: &a {b: *a}\n");
  must_survive(file, std::string(100000, '&'));
  must_survive(file, "a: \"" + std::string(100000, '\\'));
  must_survive(file, "? ? ? ? ? ?\n" + std::string(10000, '?'));
  must_survive(file, "%YAML 9.9\n---\nmaquette: 1\n");
}
