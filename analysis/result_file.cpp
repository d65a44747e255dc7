// The groups of result.h5.
#include "analysis/result_file.h"

#include <fmt/format.h>

#include "analysis/file.h"
#include "analysis/hdf5_image.h"
#include "analysis/job_file.h"
#include "calibrate/profile/names.h"

namespace analysis {

using sim::training::Category;
using sim::training::Result;

namespace {

using Numbers = std::vector<double>;
using Integers = std::vector<std::int64_t>;
using Texts = std::vector<std::string>;

// One column of a table: a value of each row.
template <class Column, class Row, class Value>
Column column(const std::vector<Row>& rows, Value value) {
  Column result;
  result.reserve(rows.size());
  for (const Row& row : rows) result.push_back(value(row));
  return result;
}

void add_iteration(Hdf5Image& image, const Result& result) {
  image.enter("iteration");
  image.dataset("duration", "ps", result.iterations_ps);
  image.dataset("interval", "s", Numbers{result.interval.p10_s, result.interval.p90_s});
  image.dataset("interval_model", "1", Numbers{result.interval.model});
  image.dataset("interval_software", "1", Numbers{result.interval.software});
  image.dataset("interval_jitter", "1", Numbers{result.interval.jitter});
  image.dataset("interval_families", "1",
                Numbers(result.interval.families.begin(), result.interval.families.end()));
  image.attribute("interval_device_type", result.interval.device_type);
  image.attribute("interval_stack", result.interval.stack);
  image.dataset("devices", "1", Integers{result.devices});
  image.dataset("samples", "1", Numbers{result.samples_per_iteration});
  image.dataset("tokens", "1", Numbers{result.tokens_per_iteration});
  image.dataset("model_flops", "FLOP", Numbers{result.model_flops_per_iteration});
  image.dataset("model_flops_causal", "FLOP", Numbers{result.model_flops_causal_per_iteration});
  image.dataset("hardware_flops", "FLOP", Numbers{result.hardware_flops_per_iteration});
  image.dataset("peak", "FLOP/s", Numbers{result.peak_flops_per_second});
  image.dataset("fold", "1",
                Integers{result.fold.ranks, result.fold.rank_classes, result.fold.tasks,
                         result.fold.task_classes, result.fold.exact});
  image.leave();
}

void add_time(Hdf5Image& image, const Result& result) {
  Texts names;
  for (int c = 0; c < sim::training::category_count; ++c) {
    names.emplace_back(name(static_cast<Category>(c)));
  }
  image.enter("time");
  image.attribute("rank", result.time_rank);
  image.dataset("category", names);
  image.dataset("duration", "ps", Integers(result.time.begin(), result.time.end()));
  image.leave();
}

void add_memory(Hdf5Image& image, const Result& result) {
  using Stage = sim::training::StageMemory;
  const auto integers = [&](const char* name, auto value) {
    image.dataset(name, "1", column<Integers>(result.memory, value));
  };
  const auto bytes = [&](const char* name, auto value) {
    image.dataset(name, "byte", column<Numbers>(result.memory, value));
  };
  image.enter("memory");
  image.attribute("fits", static_cast<std::int64_t>(result.fits));
  integers("stage", [](const Stage& s) { return s.stage; });
  integers("lowest_rank", [](const Stage& s) { return s.lowest_rank; });
  integers("replica", [](const Stage& s) { return s.replica; });
  integers("ranks", [](const Stage& s) { return s.ranks; });
  image.dataset("device_type",
                column<Texts>(result.memory, [](const Stage& s) { return s.device_type; }));
  bytes("capacity", [](const Stage& s) { return s.capacity_bytes; });
  bytes("weights", [](const Stage& s) { return s.memory.weights.value(); });
  bytes("gradients", [](const Stage& s) { return s.memory.gradients.value(); });
  bytes("optimizer", [](const Stage& s) { return s.memory.optimizer.value(); });
  bytes("activations", [](const Stage& s) { return s.memory.activations.value(); });
  bytes("other", [](const Stage& s) { return s.memory.other.value(); });
  // Of one rank, in its host's memory.
  bytes("host_optimizer", [](const Stage& s) { return s.memory.host.optimizer.value(); });
  bytes("host_gradients", [](const Stage& s) { return s.memory.host.gradients.value(); });
  bytes("host_parameters", [](const Stage& s) { return s.memory.host.parameters.value(); });
  bytes("host_activations", [](const Stage& s) { return s.memory.host.activations.value(); });
  // Activations over time: those of a stage from first[i] to first[i + 1].
  Integers first = {0}, held_at;
  Numbers held;
  for (const Stage& stage : result.memory) {
    for (const auto& [at, amount] : stage.activations) {
      held_at.push_back(at);
      held.push_back(amount);
    }
    first.push_back(static_cast<std::int64_t>(held.size()));
  }
  image.dataset("first_held", "1", first);
  image.dataset("held_at", "ps", held_at);
  image.dataset("held_activations", "byte", held);
  image.leave();
}

void add_links(Hdf5Image& image, const Result& result) {
  using Link = sim::training::LinkClass;
  const auto numbers = [&](const char* name, const char* units, auto value) {
    image.dataset(name, units, column<Numbers>(result.links, value));
  };
  Integers first = {0}, load_at;
  Numbers load;
  for (const Link& link : result.links) {
    for (const auto& [at, share] : link.load) {
      load_at.push_back(at);
      load.push_back(share);
    }
    first.push_back(static_cast<std::int64_t>(load.size()));
  }
  image.enter("links");
  image.dataset("example", column<Texts>(result.links, [](const Link& l) { return l.example; }));
  image.dataset("count", "1",
                column<Integers>(result.links, [](const Link& l) { return l.count; }));
  numbers("capacity", "byte/s", [](const Link& l) { return l.capacity; });
  numbers("bytes", "byte", [](const Link& l) { return l.bytes; });
  numbers("utilization_mean", "1", [](const Link& l) { return l.utilization_mean; });
  numbers("utilization_max", "1", [](const Link& l) { return l.utilization_max; });
  // The load of link i: entries load_first[i] to load_first[i + 1] - 1.
  image.dataset("load_first", "1", first);
  image.dataset("load_at", "ps", load_at);
  image.dataset("load", "1", load);
  image.leave();
}

void add_tracks(Hdf5Image& image, const Result& result) {
  using Span = sim::training::Span;
  image.enter("tracks");
  for (std::size_t i = 0; i < result.tracks.size(); ++i) {
    const auto& track = result.tracks[i];
    image.enter(fmt::format("{}", i));
    image.attribute("rank", track.rank);
    image.attribute("stage", track.stage);
    image.attribute("replica", track.replica);
    image.attribute("ranks_alike", track.ranks_alike);
    image.attribute("stream", track.stream);
    image.dataset("operation", column<Texts>(track.spans, [](const Span& s) { return s.name; }));
    image.dataset("category", column<Texts>(track.spans, [](const Span& s) {
                    return std::string(name(s.category));
                  }));
    image.dataset("start", "ps",
                  column<Integers>(track.spans, [](const Span& s) { return s.start_ps; }));
    image.dataset("end", "ps",
                  column<Integers>(track.spans, [](const Span& s) { return s.end_ps; }));
    image.leave();
  }
  image.leave();
}

void add_notes(Hdf5Image& image, const Result& result) {
  using Remedy = sim::plan::Remedy;
  Texts devices, origins;
  for (const auto& [device, origin] : result.profile_origin) {
    devices.push_back(device);
    origins.emplace_back(calibrate::profile::name(origin));
  }
  image.enter("notes");
  image.dataset("device_type", devices);
  image.dataset("profile_origin", origins);
  image.dataset("extrapolated", result.extrapolated);
  image.dataset("warnings", result.warnings);
  image.dataset("advice", result.advice);
  image.dataset("remedy", column<Texts>(result.remedies, [](const Remedy& r) { return r.change; }));
  image.dataset("remedy_peak", "byte",
                column<Numbers>(result.remedies, [](const Remedy& r) { return r.peak.value(); }));
  image.leave();
}

}  // namespace

void write_result(const Result& result, const std::filesystem::path& file,
                  const std::optional<sim::fault::Outlook>& outlook) {
  Hdf5Image image(result_format);
  image.attribute("scenario", result.scenario);
  image.attribute("fingerprint", fmt::format("{:016x}", result.fingerprint));
  add_iteration(image, result);
  add_time(image, result);
  add_memory(image, result);
  add_links(image, result);
  add_tracks(image, result);
  add_notes(image, result);
  if (outlook) add_job(image, *outlook);
  write_whole(file, image.bytes());
}

}  // namespace analysis
