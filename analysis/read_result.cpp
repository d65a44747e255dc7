// result.h5 back into a result.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "analysis/hdf5_image.h"
#include "analysis/result_file.h"
#include "calibrate/profile/names.h"

namespace analysis {

using sim::training::Category;
using sim::training::category_count;
using sim::training::Result;

namespace {

void read_iteration(Hdf5Reader& file, Result& result) {
  file.enter("iteration");
  result.iterations_ps = file.integers("duration", "ps", 1);
  const auto interval = file.numbers("interval", "s", 2);
  result.interval.p10_s = interval[0];
  result.interval.p90_s = interval[1];
  const auto one = [&](const char* name, const char* units) {
    return file.numbers(name, units, 1)[0];
  };
  result.interval.model = one("interval_model", "1");
  result.interval.jitter = one("interval_jitter", "1");
  // Not in files of earlier versions.
  if (file.has("interval_families")) {
    auto& families = result.interval.families;
    const auto read = file.numbers("interval_families", "1", families.size());
    std::copy_n(read.begin(), families.size(), families.begin());
    result.interval.device_type = file.text("interval_device_type");
  }
  if (file.has("interval_software")) {
    result.interval.software = one("interval_software", "1");
    result.interval.stack = file.text("interval_stack");
  }
  result.devices = static_cast<int>(file.integers("devices", "1", 1)[0]);
  result.samples_per_iteration = one("samples", "1");
  result.tokens_per_iteration = one("tokens", "1");
  result.model_flops_per_iteration = one("model_flops", "FLOP");
  result.model_flops_causal_per_iteration = one("model_flops_causal", "FLOP");
  result.hardware_flops_per_iteration = one("hardware_flops", "FLOP");
  result.peak_flops_per_second = one("peak", "FLOP/s");
  const auto fold = file.integers("fold", "1", 5);
  result.fold = {fold[0], fold[1], fold[2], fold[3], fold[4] != 0};
  file.leave();
}

int category_of(const Hdf5Reader& file, const std::string& word) {
  for (int c = 0; c < category_count; ++c) {
    if (name(static_cast<Category>(c)) == word) return c;
  }
  file.fail(fmt::format("the category '{}' is not known", word));
}

void read_time(Hdf5Reader& file, Result& result) {
  file.enter("time");
  result.time_rank = static_cast<int>(file.integer("rank"));
  const auto names = file.texts("category");
  const auto durations = file.integers("duration", "ps", names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    result.time[static_cast<std::size_t>(category_of(file, names[i]))] = durations[i];
  }
  file.leave();
}

// Pairs of `at` and `amount` from first[i] to first[i + 1].
std::vector<std::pair<std::int64_t, double>> part(const Hdf5Reader& file,
                                                  const std::vector<std::int64_t>& first,
                                                  std::size_t i,
                                                  const std::vector<std::int64_t>& at,
                                                  const std::vector<double>& amount) {
  const std::int64_t begin = first[i], end = first[i + 1];
  if (begin < 0 || end < begin ||
      static_cast<std::size_t>(end) > std::min(at.size(), amount.size())) {
    file.fail("the parts of a list over time do not fit it");
  }
  std::vector<std::pair<std::int64_t, double>> pairs;
  for (auto n = static_cast<std::size_t>(begin); n < static_cast<std::size_t>(end); ++n) {
    pairs.emplace_back(at[n], amount[n]);
  }
  return pairs;
}

void read_memory(Hdf5Reader& file, Result& result) {
  file.enter("memory");
  result.fits = file.integer("fits") != 0;
  const auto stages = file.integers("stage", "1");
  const std::size_t n = stages.size();
  const auto lowest = file.integers("lowest_rank", "1", n), ranks = file.integers("ranks", "1", n);
  const auto replica = file.integers("replica", "1", n);
  const auto types = file.texts("device_type");
  if (types.size() < n) file.fail("the device types of stages are missing");
  const auto bytes = [&](const char* name) { return file.numbers(name, "byte", n); };
  const auto capacity = bytes("capacity"), weights = bytes("weights"),
             gradients = bytes("gradients"), optimizer = bytes("optimizer"),
             activations = bytes("activations"), other = bytes("other");
  const auto first = file.integers("first_held", "1", n + 1), at = file.integers("held_at", "ps");
  const auto held = file.numbers("held_activations", "byte");
  using sim::Bytes;
  for (std::size_t i = 0; i < n; ++i) {
    sim::training::StageMemory stage;
    stage.stage = static_cast<int>(stages[i]);
    stage.lowest_rank = static_cast<int>(lowest[i]);
    stage.ranks = static_cast<int>(ranks[i]);
    stage.replica = static_cast<int>(replica[i]);
    stage.device_type = types[i];
    stage.capacity_bytes = capacity[i];
    stage.memory.weights = Bytes(weights[i]);
    stage.memory.gradients = Bytes(gradients[i]);
    stage.memory.optimizer = Bytes(optimizer[i]);
    stage.memory.activations = Bytes(activations[i]);
    stage.memory.other = Bytes(other[i]);
    stage.activations = part(file, first, i, at, held);
    result.memory.push_back(std::move(stage));
  }
  file.leave();
}

void read_links(Hdf5Reader& file, Result& result) {
  file.enter("links");
  const auto examples = file.texts("example");
  const std::size_t n = examples.size();
  const auto count = file.integers("count", "1", n);
  const auto capacity = file.numbers("capacity", "byte/s", n);
  const auto bytes = file.numbers("bytes", "byte", n);
  const auto mean = file.numbers("utilization_mean", "1", n);
  const auto most = file.numbers("utilization_max", "1", n);
  const auto first = file.integers("load_first", "1", n + 1), at = file.integers("load_at", "ps");
  const auto load = file.numbers("load", "1");
  for (std::size_t i = 0; i < n; ++i) {
    result.links.push_back({examples[i], count[i], capacity[i], bytes[i], mean[i], most[i],
                            part(file, first, i, at, load)});
  }
  file.leave();
}

void read_tracks(Hdf5Reader& file, Result& result) {
  file.enter("tracks");
  for (std::size_t i = 0; file.has(std::to_string(i)); ++i) {
    file.enter(std::to_string(i));
    sim::training::Track track;
    track.rank = static_cast<int>(file.integer("rank"));
    track.stage = static_cast<int>(file.integer("stage"));
    track.replica = static_cast<int>(file.integer("replica"));
    track.ranks_alike = file.integer("ranks_alike");
    track.stream = file.text("stream");
    const auto names = file.texts("operation"), categories = file.texts("category");
    const auto start = file.integers("start", "ps", names.size());
    const auto end = file.integers("end", "ps", names.size());
    if (categories.size() < names.size()) file.fail("a track has fewer categories than operations");
    for (std::size_t s = 0; s < names.size(); ++s) {
      track.spans.push_back(
          {names[s], static_cast<Category>(category_of(file, categories[s])), start[s], end[s]});
    }
    result.tracks.push_back(std::move(track));
    file.leave();
  }
  file.leave();
}

void read_notes(Hdf5Reader& file, Result& result) {
  file.enter("notes");
  const auto devices = file.texts("device_type"), origins = file.texts("profile_origin");
  for (std::size_t i = 0; i < std::min(devices.size(), origins.size()); ++i) {
    const auto origin = calibrate::profile::origin_of(origins[i]);
    if (!origin) file.fail(fmt::format("the origin '{}' is not known", origins[i]));
    result.profile_origin.emplace(devices[i], *origin);
  }
  result.extrapolated = file.texts("extrapolated");
  result.warnings = file.texts("warnings");
  result.advice = file.texts("advice");
  const auto remedies = file.texts("remedy");
  const auto peaks = file.numbers("remedy_peak", "byte", remedies.size());
  for (std::size_t i = 0; i < remedies.size(); ++i) {
    result.remedies.push_back({remedies[i], sim::Bytes(peaks[i])});
  }
  file.leave();
}

}  // namespace

Result read_result(const std::filesystem::path& name) {
  Hdf5Reader file(name, result_format);
  Result result;
  result.scenario = file.text("scenario");
  const std::string fingerprint = file.text("fingerprint");
  const char* end = fingerprint.data() + fingerprint.size();
  if (std::from_chars(fingerprint.data(), end, result.fingerprint, 16).ptr != end) {
    file.fail("its fingerprint is no number");
  }
  read_iteration(file, result);
  read_time(file, result);
  read_memory(file, result);
  read_links(file, result);
  read_tracks(file, result);
  read_notes(file, result);
  return result;
}

}  // namespace analysis
