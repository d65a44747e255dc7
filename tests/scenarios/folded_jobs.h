// Jobs run folded and with every rank run, and compared.
#pragma once

#include <fmt/format.h>

#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/scenarios/run_scenario.h"

namespace sim {

// Random choices of a scenario.
class Choices {
 public:
  explicit Choices(unsigned seed) : random_(seed) {}

  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  template <class T>
  T pick(std::vector<T> choices) {
    return choices[static_cast<std::size_t>(below(static_cast<int>(choices.size())))];
  }

 private:
  std::mt19937_64 random_;
};

struct Both {
  training::Result folded, whole;
};

inline Both run_both(const std::filesystem::path& file,
                     const std::vector<scenario::Override>& overrides = {}) {
  return {run_scenario(file, overrides).result, run_scenario(file, overrides, false, false).result};
}

inline void check_equal(const training::Result& folded, const training::Result& whole) {
  REQUIRE(folded.iterations_ps == whole.iterations_ps);
  REQUIRE(folded.fingerprint == whole.fingerprint);
  REQUIRE(folded.time_rank == whole.time_rank);
  REQUIRE(folded.time == whole.time);
  REQUIRE(folded.fold.tasks == whole.fold.tasks);
  REQUIRE(folded.fold.ranks == whole.fold.ranks);
  REQUIRE(folded.links.size() == whole.links.size());
  for (std::size_t i = 0; i < folded.links.size(); ++i) {
    CAPTURE(whole.links[i].example);
    REQUIRE(folded.links[i].example == whole.links[i].example);
    REQUIRE(folded.links[i].count == whole.links[i].count);
    REQUIRE(folded.links[i].bytes == whole.links[i].bytes);
    REQUIRE(folded.links[i].utilization_mean == whole.links[i].utilization_mean);
    REQUIRE(folded.links[i].load == whole.links[i].load);
  }
  REQUIRE(folded.tracks.size() == whole.tracks.size());
  for (std::size_t i = 0; i < folded.tracks.size(); ++i) {
    REQUIRE(folded.tracks[i].rank == whole.tracks[i].rank);
    REQUIRE(folded.tracks[i].spans.size() == whole.tracks[i].spans.size());
    for (std::size_t s = 0; s < folded.tracks[i].spans.size(); ++s) {
      REQUIRE(folded.tracks[i].spans[s].start_ps == whole.tracks[i].spans[s].start_ps);
      REQUIRE(folded.tracks[i].spans[s].end_ps == whole.tracks[i].spans[s].end_ps);
    }
  }
}

// visit(file) for so many scenarios, text_of(seed) each.
template <class Text, class Visit>
void each_scenario(unsigned count, Text text_of, Visit visit) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("maquette-folded-{}.yaml", std::random_device()());
  for (unsigned seed = 0; seed < count; ++seed) {
    CAPTURE(seed);
    const std::string text = text_of(seed);
    CAPTURE(text);
    std::ofstream(file) << text;
    visit(file);
  }
  std::filesystem::remove(file);
}

}  // namespace sim
