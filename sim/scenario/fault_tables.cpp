// The format of failures, checkpoint, recovery and of how long a job runs.
#include "sim/fault/policy.h"
#include "sim/scenario/tables.h"

namespace sim::scenario {
namespace {

using fault::Distribution;
using fault::Recovery;

// Lives of parts are years.
Kind<Seconds> long_time() {
  return converted<Seconds>(measure(sim::Dimension::time, Zero::refused, 1e12),
                            [](double value) { return Seconds(value); });
}

// A text is read as one kind, a map as the other.
template <class T>
Kind<T> text_or_map(Kind<T> of_text, Kind<T> of_map) {
  return {[of_text, of_map] {
            return fmt::format("{{\"anyOf\":[{},{}]}}", of_text.schema(), of_map.schema());
          },
          [of_text, of_map](Reader& reader, const Value& value, const std::string& path) {
            return (value.kind == Value::Kind::map ? of_map : of_text).read(reader, value, path);
          }};
}

Kind<Distribution> lognormal_kind() {
  Section<Distribution> table("a lognormal distribution");
  table.required("median", long_time(), &Distribution::scale, "half of all are longer")
      .required("sigma", number(0, 10), &Distribution::shape, "deviation of the natural logarithm")
      .check([](Reader&, const Value&, const std::string&, Distribution& d) {
        d.kind = Distribution::Kind::lognormal;
      });
  return table.kind();
}

Kind<Distribution> weibull_kind() {
  Section<Distribution> table("a Weibull distribution");
  table.required("scale", long_time(), &Distribution::scale, "63 % are shorter")
      .required("shape", number(0.05, 100), &Distribution::shape,
                "below 1: parts that lasted fail less")
      .check([](Reader&, const Value&, const std::string&, Distribution& d) {
        d.kind = Distribution::Kind::weibull;
      });
  return table.kind();
}

void check_table(Reader& reader, const std::string& path, const std::vector<Seconds>& times) {
  if (std::is_sorted(times.begin(), times.end())) return;
  reader.error(path, reader.place(path), fmt::format("times of {} that are not ascending", path),
               "between each two of them lies the same share of all");
}

Kind<Distribution> distribution_map() {
  using Maybe = std::optional<Distribution>;
  Section<Maybe> table("times that vary");
  const auto set = [](Maybe& all, Distribution one) { all = std::move(one); };
  table
      .optional(
          "exponential", long_time(),
          [](Maybe& all, Seconds mean) { all = Distribution::exponential(mean); },
          "mean of an exponential distribution")
      .optional("lognormal", lognormal_kind(), set, "median and sigma")
      .optional("weibull", weibull_kind(), set, "scale and shape")
      .optional_with_reader(
          "table", list(long_time(), 2),
          [](Reader& reader, const std::string& path, Maybe& all, std::vector<Seconds> times) {
            check_table(reader, path, times);
            all = Distribution{Distribution::Kind::table, {}, 1, std::move(times)};
          },
          "measured times, ascending")
      .check([](Reader& reader, const Value& section, const std::string& path, Maybe&) {
        if (section.entries.size() == 1) return;
        reader.error(path, section.name_place(),
                     fmt::format("{} distributions for {}", section.entries.size(), path), "",
                     "write one, such as {lognormal: {median: 4 h, sigma: 1}}");
      });
  return converted<Distribution>(table.kind(), [](const Maybe& all) { return *all; });
}

Kind<Distribution> distribution() {
  return text_or_map<Distribution>(
      converted<Distribution>(duration(), [](Seconds time) { return Distribution::fixed(time); }),
      distribution_map());
}

Section<Observed> observed_table() {
  Section<Observed> table("failures that were counted");
  table.required("failures", number(1e-9, 1e12), &Observed::failures, "how many")
      .defaulted("parts", count(1, 1'000'000'000), &Observed::parts, "1", "of how many parts")
      .required("over", long_time(), &Observed::over, "in how long");
  return table;
}

Section<FailureEntry> infant_table() {
  Section<FailureEntry> table("failures of new parts beyond those of old ones");
  table
      .required("extra", number(0, 1e6), &FailureEntry::infant_extra,
                "times the rate of old parts, of new ones")
      .required("decay", long_time(), &FailureEntry::infant_decay,
                "age at which 37 % of that is left");
  return table;
}

Kind<Part> part_kind() {
  return word<Part>("part", {{"gpu", Part::gpu},
                             {"memory", Part::memory},
                             {"nic", Part::nic},
                             {"link", Part::link},
                             {"switch", Part::net_switch},
                             {"host", Part::host},
                             {"rack", Part::rack},
                             {"power", Part::power},
                             {"software", Part::software},
                             {"alarm", Part::alarm},
                             {"job", Part::job}});
}

void check_times(Reader& reader, const Value& section, const std::string& path,
                 const FailureEntry& entry) {
  const auto fail = [&](const char* key, const std::string& message, const std::string& hint) {
    const Value* value = section.find(key);
    reader.error(joined_path(path, key), value ? value->name_place() : section.place(), message, "",
                 hint);
  };
  const int given = (entry.rate ? 1 : 0) + (entry.observed ? 1 : 0) + (entry.life ? 1 : 0) +
                    (entry.every ? 1 : 0);
  if (given != 1) {
    fail("part", fmt::format("{} of rate, observed, life and every in {}", given, path),
         "write one of them");
  }
  if (entry.infant_extra > 0 && !entry.rate && !entry.observed) {
    fail("infant", fmt::format("infant mortality without a rate in {}", path),
         "write rate or observed; a Weibull life of shape below 1 has its own");
  }
  if (entry.first && !entry.every) {
    fail("first", fmt::format("first without every in {}", path), "write every");
  }
  if (entry.life && entry.life->kind == Distribution::Kind::fixed) {
    fail("life", fmt::format("a life that does not vary in {}", path),
         "all parts would fail at once: write a distribution, or every");
  }
  if (entry.life && entry.life->kind == Distribution::Kind::table && entry.age.value() > 0) {
    fail("age", fmt::format("age with a table of lives in {}", path), "");
  }
  if (entry.is_planned && entry.found_after) {
    fail("found_after", fmt::format("a planned failure that is found late in {}", path), "");
  }
}

void check_hosts(Reader& reader, const Value& section, const std::string& path,
                 FailureEntry& entry) {
  const bool is_group =
      entry.part == Part::net_switch || entry.part == Part::rack || entry.part == Part::power;
  for (const char* key : {"parts", "hosts"}) {
    if (!is_group || section.find(key) != nullptr) continue;
    report_missing(reader, section, path, key, "a switch, rack or power domain says it");
  }
  if (!entry.hosts) {
    const bool takes_none =
        entry.part == Part::software || entry.part == Part::alarm || entry.part == Part::job;
    entry.hosts = takes_none ? 0 : 1;
    reader.add_derived(joined_path(path, "hosts"), fmt::format("{}", *entry.hosts));
  }
  if (*entry.hosts > 0 && !entry.repair) {
    report_missing(reader, section, path, "repair", "until the hosts can be used again");
  }
  entry.place = section.place();
}

void check_recovery(Reader& reader, const Value& section, const std::string& path,
                    RecoveryEntry& entry) {
  const Recovery::Spare spare = entry.recovery.spare;
  const auto check = [&](const char* key, bool is_needed, const char* why, const char* of_what) {
    const Value* value = section.find(key);
    if (is_needed && !value) {
      report_missing(reader, section, path, key, why);
    } else if (!is_needed && value) {
      reader.error(joined_path(path, key), value->name_place(),
                   fmt::format("'{}' of {}", key, of_what), "", "remove it");
    }
  };
  const char *takes = "spares of this kind take it", *other = "spares of another kind";
  check("boot", spare == Recovery::Spare::cold, takes, other);
  check("takeover", spare == Recovery::Spare::hot, takes, other);
  check("reconfigure", entry.policy == "reroute", "what survives takes it to go on",
        "another policy than reroute");
}

Section<MemoryCheckpointEntry> memory_checkpoint_table() {
  using Entry = MemoryCheckpointEntry;
  Section<Entry> table("checkpoints in the memory of hosts, between those in storage");
  table.required("every", duration(Zero::refused), &Entry::every, "of training between two")
      .defaulted("copies", word<bool>("copies", {{"peer", true}, {"host", false}}),
                 &Entry::is_copied_to_peer, "peer",
                 "in another host too, which outlasts the loss of one host; or only in the own, "
                 "which outlasts failures that take none")
      .optional("stall", duration(), &Entry::stall,
                "training stops so long; by PCIe unless written")
      .optional("write", duration(), &Entry::write, "to the peer; by NICs unless written")
      .optional("read", duration(), &Entry::read, "by NICs and PCIe unless written")
      .check([](Reader& reader, const Value& section, const std::string& path, Entry& entry) {
        const Value* write = section.find("write");
        if (entry.is_copied_to_peer || !write) return;
        reader.error(joined_path(path, "write"), write->name_place(),
                     "write of a checkpoint that only the own host keeps",
                     "it can be used when training goes on", "write copies: peer, or remove it");
      });
  return table;
}

Kind<std::string> policy_kind() {
  std::vector<Word<std::string>> words;
  for (const fault::NamedPolicy& one : fault::policies()) words.push_back({one.name, one.name});
  return word<std::string>("policy", words);
}

template <class T>
auto in_recovery(T Recovery::*member) {
  return [member](RecoveryEntry& entry, T value) { entry.recovery.*member = std::move(value); };
}

Kind<Seconds> restart_kind() {
  Section<Seconds> phases("the phases of a restart");
  const auto add = [](Seconds& sum, Seconds phase) { sum += phase; };
  phases.optional("schedule", duration(), add, "until hosts are given")
      .optional("start", duration(), add, "of the processes")
      .optional("connect", duration(), add, "of the rank groups")
      .optional("warm_up", duration(), add, "compilation, caches, data loading");
  return text_or_map<Seconds>(duration(), phases.kind());
}

}  // namespace

Section<FailureEntry> failure_table() {
  Section<FailureEntry> table("something that interrupts the job");
  table.required("part", part_kind(), &FailureEntry::part, "what fails")
      .optional("cause", text(), &FailureEntry::cause, "for people; the part unless written")
      .optional("rate", measure(sim::Dimension::per_time, Zero::refused), &FailureEntry::rate,
                "of one part; it has no memory")
      .optional("observed", observed_table().kind(), &FailureEntry::observed,
                "failures that were counted, instead of a rate")
      .optional("life", distribution(), &FailureEntry::life, "of one part, when it is new")
      .optional("every", long_time(), &FailureEntry::every, "by the calendar: maintenance")
      .optional("first", long_time(), &FailureEntry::first, "with every; as it unless written")
      .optional_with_reader(
          "infant", infant_table().kind(),
          [](Reader&, const std::string&, FailureEntry& entry, const FailureEntry& infant) {
            entry.infant_extra = infant.infant_extra;
            entry.infant_decay = infant.infant_decay;
          },
          "infant mortality, with a rate")
      .optional("age", long_time(), &FailureEntry::age,
                "of the parts at the start; new unless written")
      .optional("planned", flag(), &FailureEntry::is_planned,
                "announced, so that the job saves its state first")
      .optional("parts", count(1, 1'000'000'000), &FailureEntry::parts,
                "of the job that can fail so; counted in the cluster unless written")
      .optional("hosts", small_count(0, 1'000'000), &FailureEntry::hosts,
                "that one failure takes out of service")
      .optional("repair", distribution(), &FailureEntry::repair, "until these can be used again")
      .optional("detect", distribution(), &FailureEntry::detect, "as recovery's unless written")
      .optional("found_after", distribution(), &FailureEntry::found_after,
                "silent corruption of data: how late it is found")
      .check(
          [](Reader& reader, const Value& section, const std::string& path, FailureEntry& entry) {
            check_times(reader, section, path, entry);
            check_hosts(reader, section, path, entry);
          });
  return table;
}

Section<CheckpointEntry> checkpoint_table() {
  Section<CheckpointEntry> table("how the state of the job is saved");
  table
      .required("every", duration(Zero::refused), &CheckpointEntry::every,
                "of training between two")
      .defaulted("mode", word<bool>("mode", {{"blocking", false}, {"async", true}}),
                 &CheckpointEntry::is_async, "blocking",
                 "training stops until it is written, or only until it is copied to the host")
      .defaulted(
          "to", word<int>("to", {{"storage", 0}}), [](CheckpointEntry&, int) {}, "storage",
          "cluster.storage")
      .optional("size", size(Zero::refused), &CheckpointEntry::size,
                "weights and optimizer state unless written")
      .optional("stall", duration(), &CheckpointEntry::stall,
                "of async: training stops so long; a copy to the host unless written")
      .optional("write", duration(), &CheckpointEntry::write,
                "until it can be used; by size and rates unless written")
      .optional("read", duration(), &CheckpointEntry::read, "by size and rates unless written")
      .optional("kept", small_count(1, 1'000'000), &CheckpointEntry::kept,
                "the newest so many; all unless written")
      .optional("memory", memory_checkpoint_table().kind(), &CheckpointEntry::memory,
                "a first level in the memory of hosts")
      .check([](Reader& reader, const Value& section, const std::string& path,
                CheckpointEntry& entry) {
        if (entry.memory && entry.memory->every >= entry.every) {
          reader.error(joined_path(path, "memory.every"), section.find("memory")->name_place(),
                       "checkpoints in memory are not more often than those in storage", "",
                       "write a shorter memory.every, or no memory");
        }
        const Value* stall = section.find("stall");
        if (entry.is_async || !stall) return;
        reader.error(joined_path(path, "stall"), stall->name_place(),
                     "stall of a blocking checkpoint", "", "write mode: async, or write");
      });
  return table;
}

Section<RecoveryEntry> recovery_table() {
  using Spare = Recovery::Spare;
  Section<RecoveryEntry> table("what happens after a failure");
  table
      .defaulted("policy", policy_kind(), &RecoveryEntry::policy, "restart",
                 "restart whole, shrink data parallelism, reroute micro-batches, replan, or ignore "
                 "failures")
      .required("detect", distribution(), in_recovery(&Recovery::detect),
                "from a failure until all ranks have stopped")
      .required("restart", restart_kind(), in_recovery(&Recovery::restart),
                "from then until the checkpoint is read, hosts being there")
      .defaulted(
          "spare",
          word<Spare>("spare", {{"cold", Spare::cold}, {"warm", Spare::warm}, {"hot", Spare::hot}}),
          in_recovery(&Recovery::spare), "warm",
          "cold spares boot first, hot ones take over instead of the restart")
      .optional("boot", duration(), in_recovery(&Recovery::boot), "of a cold spare")
      .optional("takeover", duration(), in_recovery(&Recovery::takeover), "by a hot spare")
      .optional("reconfigure", duration(), in_recovery(&Recovery::reconfigure),
                "of reroute: until what survives goes on, or takes a replica in again")
      .defaulted("interruptible", flag(), in_recovery(&Recovery::is_interruptible), "true",
                 "whether a failure meanwhile starts it over; otherwise there is none")
      .defaulted("spare_target", share(Zero::refused, 0.9999), &RecoveryEntry::spare_target, "99 %",
                 "of interruptions that need not wait for a host: the spares needed are told")
      .check(check_recovery);
  return table;
}

Section<Histories> histories_table() {
  Section<Histories> table("how many courses of the job are simulated");
  table
      .defaulted("precision", share(Zero::refused), &Histories::precision, "0.1 %",
                 "of the effective training time ratio: half its 95 % interval")
      .defaulted("most", small_count(32, 1'000'000), &Histories::most, "1000", "histories")
      .defaulted(
          "seed", count(0, INT64_MAX),
          [](Histories& h, std::int64_t seed) { h.seed = static_cast<std::uint64_t>(seed); }, "1",
          "another one gives other draws");
  return table;
}

Kind<Seconds> job_duration() { return long_time(); }

}  // namespace sim::scenario
