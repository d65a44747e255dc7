// The page below that of an iteration.
#include "analysis/job_summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "analysis/lines.h"
#include "sim/base/units.h"

namespace analysis {

using sim::Seconds;
using sim::fault::Cause;
using sim::fault::Loss;
using sim::fault::Outlook;

namespace {

constexpr std::size_t causes_shown = 8;

// Times of hours and days in these.
std::string long_text(double seconds) {
  if (seconds >= 2 * 86400) return four_digits(seconds / 86400) + " d";
  if (seconds >= 2 * 3600) return four_digits(seconds / 3600) + " h";
  if (seconds >= 120) return four_digits(seconds / 60) + " min";
  return sim::to_text(Seconds(seconds));
}

std::string share_text(double share) { return fmt::format("{:.2f} %", 100 * share); }

std::string head(const Outlook& outlook) {
  const auto& found = outlook.estimate;
  const auto& horizon = outlook.model.horizon;
  std::string text =
      fmt::format("\n{:<23}{} of {}, policy {}, {}\n", "the job over time",
                  horizon.duration ? "wall time" : "work",
                  long_text((horizon.duration ? *horizon.duration : *horizon.work).value()),
                  outlook.policy, fmt::format("{} histories", found.histories));
  text += line("effective time",
               fmt::format("{} +- {} of the wall time (95 % of the mean); one job in ten below {}",
                           share_text(found.ratio.mean), share_text(found.ratio.half_width),
                           share_text(found.ratio.p10)));
  text += line("goodput", fmt::format("{} tokens/s of {} undisturbed",
                                      four_digits(outlook.tokens_per_second * found.ratio.mean),
                                      four_digits(outlook.tokens_per_second)));
  if (std::isfinite(found.time_to_interruption)) {
    text += line("interruptions",
                 fmt::format("{} +- {}, one every {}", four_digits(found.interruptions.mean),
                             four_digits(found.interruptions.half_width),
                             long_text(found.time_to_interruption)));
  }
  return text;
}

std::string losses(const Outlook& outlook) {
  const auto& found = outlook.estimate;
  std::string text =
      fmt::format("\n{:<23}{:>12}{:>10}\n", "where the job's time goes", "[h]", "share");
  const auto row = [&](std::string_view label, double seconds) {
    text += fmt::format("  {:<23}{:>12.2f}{:>10}\n", label, seconds / 3600,
                        share_text(seconds / found.wall.mean));
  };
  row("training that lasts", found.work.mean);
  for (std::size_t l = 0; l < sim::fault::loss_count; ++l) {
    if (found.lost[l] > 0) row(name(static_cast<Loss>(l)), found.lost[l]);
  }
  row("together", found.wall.mean);
  return text;
}

std::string causes(const Outlook& outlook) {
  const auto& found = outlook.estimate;
  std::vector<std::size_t> order(found.causes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return found.causes[a].lost > found.causes[b].lost;
  });
  std::string text =
      fmt::format("\n{:<35}{:>14}{:>10}{:>10}\n", "lost by cause", "interruptions", "[h]", "share");
  const auto row = [&](const std::string& label, const Cause& cause) {
    text += fmt::format("  {:<33}{:>14.1f}{:>10.2f}{:>10}\n", label, cause.interruptions,
                        cause.lost / 3600, share_text(cause.lost / found.wall.mean));
  };
  Cause rest;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const Cause& cause = found.causes[order[i]];
    if (i < causes_shown) {
      row(outlook.model.processes[order[i]].cause, cause);
    } else {
      rest.interruptions += cause.interruptions;
      rest.lost += cause.lost;
    }
  }
  if (order.size() > causes_shown) {
    row(fmt::format("{} others, with --json", order.size() - causes_shown), rest);
  }
  if (found.growing > 0) {
    text += fmt::format("  {:<33}{:>14}{:>10.2f}{:>10}\n", "running more replicas again", "",
                        found.growing / 3600, share_text(found.growing / found.wall.mean));
  }
  return text;
}

std::string interval(const Outlook& outlook) {
  const auto every = [](Seconds time, double ratio) {
    return fmt::format("every {}, effective time {}", long_text(time.value()), share_text(ratio));
  };
  std::string text = "\n";
  text += line("checkpoints", every(outlook.model.checkpoint.every, outlook.estimate.ratio.mean));
  if (outlook.model.memory) {
    text += line("in memory",
                 fmt::format("every {}", long_text(outlook.model.memory->times.every.value())));
  }
  if (outlook.best) {
    text += line("best by simulation", every(outlook.best->every, outlook.best->ratio));
  }
  if (outlook.young) {
    text += line("by Young's formula", every(*outlook.young, *outlook.ratio_young));
    text += line("by Daly's formula", fmt::format("every {}", long_text(outlook.daly->value())));
  }
  return text;
}

std::string spares(const Outlook& outlook) {
  std::string text;
  for (const auto& needed : outlook.spares_needed) {
    text += line(text.empty() ? "spare hosts needed" : "",
                 fmt::format("{} that {} of interruptions need not wait; there are {}",
                             needed.hosts, percent(needed.share), outlook.model.machines.spares));
  }
  return text;
}

std::string cost(const Outlook& outlook) {
  const bool has_tokens = outlook.tokens > 0;
  const double wall = has_tokens ? outlook.time_to_tokens() : outlook.estimate.wall.mean;
  std::string text;
  if (has_tokens) {
    text += line("time to the tokens",
                 fmt::format("{} for {} billion tokens{}", long_text(wall),
                             four_digits(outlook.tokens * 1e-9),
                             outlook.model.horizon.work ? "" : ", at this effective time"));
  }
  const double device_hours = wall / 3600 * outlook.devices;
  std::string price;
  if (outlook.device_hour) {
    price = fmt::format(", {} million USD at {} USD a device-hour",
                        four_digits(device_hours * *outlook.device_hour * 1e-6),
                        four_digits(*outlook.device_hour));
  }
  return text + line("device-hours", fmt::format("{} million with spares{}",
                                                 four_digits(device_hours * 1e-6), price));
}

std::string warnings(const Outlook& outlook) {
  const auto& found = outlook.estimate;
  std::string text;
  if (!found.is_precise) {
    text += line("warning", fmt::format("less precise than the {} % asked for: more histories",
                                        four_digits(100 * outlook.precision)));
  }
  if (found.unfinished > 0) {
    text += line("warning", fmt::format("{} of {} histories were given up: no progress",
                                        found.unfinished, found.histories));
  }
  return text;
}

}  // namespace

std::string job_summary(const Outlook& outlook) {
  std::string text = head(outlook) + losses(outlook) + causes(outlook) + interval(outlook) +
                     spares(outlook) + cost(outlook);
  const char* label = "assumed";
  for (const std::string& note : outlook.notes) {
    text += line(label, note);
    label = "";
  }
  text += line(label,
               fmt::format("the engine ran {} of the cluster", counted(outlook.states, "state")));
  return text + warnings(outlook);
}

}  // namespace analysis
