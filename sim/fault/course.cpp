// What happens in order of time. Each step goes to the earliest of what may come next.
#include "sim/fault/course.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/base/invariant.h"

namespace sim::fault {
namespace {

constexpr double never = std::numeric_limits<double>::infinity();
// A job that fails faster than it comes back would never end.
constexpr double hopeless = 1000;

double end_of(const Model& model) {
  const Horizon& horizon = model.horizon;
  if (horizon.duration) return horizon.duration->value();
  invariant(horizon.work.has_value(), "a job without an end");
  return hopeless * horizon.work->value();
}

}  // namespace

Course::Course(const Model& model, const Policy& policy, Rates& rates,
               const HistoryOptions& options)
    : model_(model),
      policy_(policy),
      rates_(rates),
      options_(options),
      arrivals_(model.processes, options.draws),
      replicas_(model.machines.replicas),
      storage_(model.storage, options.draws, end_of(model)),
      speeds_(writing_count * (static_cast<std::size_t>(model.machines.replicas) + 1) *
                  static_cast<std::size_t>(model.machines.hosts_per_replica()),
              -1) {
  work_end_ = model.horizon.work ? model.horizon.work->value() : never;
  end_at_ = end_of(model);
  can_skip_ = !options.keeps_episodes && !model.memory && model.storage.empty();
  history_.lost_by_process.resize(model.processes.size());
  history_.interruptions.resize(model.processes.size());
  coming_ = arrivals_.next();
  draw_next();
}

History Course::run() {
  while (train() == Outcome::interrupted) {
    recover();
    if (now_ >= end_at_) break;
  }
  history_.wall = now_;
  history_.work = work_;
  return std::move(history_);
}

void Course::draw_next() {
  next_ = {{0, 0, never}, never};
  if (policy_.ignores_failures()) return;
  while (true) {
    const auto found =
        std::min_element(hidden_.begin(), hidden_.end(),
                         [](const auto& a, const auto& b) { return a.failure.at < b.failure.at; });
    if (found != hidden_.end() && found->failure.at <= coming_.at) {
      next_ = *found;
      hidden_.erase(found);
      return;
    }
    if (coming_.at == never) return;
    Interruption seen{coming_, coming_.at};
    coming_ = arrivals_.next();
    const FailureProcess& process = model_.processes[seen.failure.process];
    if (!process.found_after) {
      next_ = seen;
      return;
    }
    seen.failure.at += quantile(*process.found_after,
                                options_.draws.uniform(Draws::What::found, seen.failure.process,
                                                       seen.failure.number))
                           .value();
    hidden_.push_back(seen);
  }
}

bool Course::is_hit() {
  const FailureProcess& process = model_.processes[next_.failure.process];
  if (process.is_planned || replicas_ == model_.machines.replicas) return true;
  const double running =
      replicas_ + static_cast<double>(part_) / model_.machines.hosts_per_replica();
  const double share = running / model_.machines.replicas;
  return options_.draws.uniform(Draws::What::hit, next_.failure.process, next_.failure.number) <
         share;
}

double Course::draw(Draws::What what, const Distribution& distribution) const {
  if (distribution.kind == Distribution::Kind::fixed) return distribution.scale.value();
  const Failure& failure = current_.failure;
  return quantile(distribution, options_.draws.uniform(what, failure.process, failure.number))
      .value();
}

Writing Course::writing() const {
  if (!pending_) return Writing::none;
  return pending_->saved.place == Place::memory ? Writing::to_memory : Writing::to_storage;
}

double Course::speed_in(Writing writing, int percent) {
  const int state = replicas_ * model_.machines.hosts_per_replica() + part_;
  double asked = -1;
  double& known = percent < 100 ? asked
                                : speeds_[writing_count * static_cast<std::size_t>(state) +
                                          static_cast<std::size_t>(writing)];
  if (known < 0) {
    known = rates_.samples_per_second({replicas_, writing, policy_.keeps_batch(), part_, percent}) /
            rates_.samples_per_second({model_.machines.replicas});
    invariant(known > 0, "a job that runs makes no progress");
  }
  return known;
}

double Course::speed() { return speed_in(writing(), pending_ ? pending_->percent : 100); }

void Course::note(double start, bool is_training, Loss loss) {
  if (!options_.keeps_episodes || now_ <= start) return;
  auto& all = history_.episodes;
  if (!all.empty() && all.back().is_training == is_training && all.back().end == start &&
      (is_training || all.back().loss == loss) && all.back().replicas == replicas_) {
    all.back().end = now_;
    return;
  }
  all.push_back({start, now_, is_training, loss, replicas_});
}

void Course::train_for(double duration) {
  const double start = now_, now_possible = speed(), full = speed_in(Writing::none, 100);
  now_ += duration;
  work_ += now_possible * duration;
  for (double& since : since_checkpoint_) since += duration;
  history_.lost[static_cast<std::size_t>(Loss::checkpoint)] += (full - now_possible) * duration;
  history_.lost[static_cast<std::size_t>(Loss::shrunk)] += (1 - full) * duration;
  note(start, true, Loss::rework);
}

void Course::lose(double duration, Loss loss) {
  const double start = now_;
  now_ += duration;
  history_.lost[static_cast<std::size_t>(loss)] += duration;
  if (loss != Loss::checkpoint) {
    (cause_ ? history_.lost_by_process[*cause_] : history_.growing) += duration;
  }
  note(start, false, loss);
}

Course::Outcome Course::pass(double duration, Loss loss) {
  const double until = now_ + duration;
  while (next_.failure.at <= until && next_.failure.at < end_at_) {
    if (is_hit()) {
      lose(std::max(0.0, next_.failure.at - now_), loss);
      current_ = next_;
      draw_next();
      return Outcome::interrupted;
    }
    draw_next();
  }
  if (until >= end_at_) {
    lose(end_at_ - now_, loss);
    return Outcome::finished;
  }
  lose(duration, loss);
  now_ = until;
  return Outcome::done;
}

// When the next hosts are repaired, which a policy may take in at a checkpoint.
double Course::next_repair() const {
  double next = never;
  for (const Repair& repair : repairs_) {
    if (repair.at > now_) next = std::min(next, repair.at);
  }
  return next;
}

// Whole cycles of training and a checkpoint before anything else happens, at once. A checkpoint
// that is written beside training must have just begun, and so it has at the end of each cycle.
void Course::skip_cycles() {
  const Checkpointing& all = model_.checkpoint;
  const double every = all.every.value(), stall = all.stall.value(), write = all.write.value();
  const bool is_async = write > 0;
  if (!can_skip_ || since_checkpoint_[0] > 0) return;
  if (is_async && (!pending_ || pending_->done_at != now_ + write)) return;
  const Situation here = situation();
  if (policy_.replicas_at_checkpoint(here) != here.replicas_running) return;
  const double full = speed_in(Writing::none, 100), slower = full - speed();
  // One that takes longer than the time between two holds up the next one.
  const double stopped = std::max(write - every, 0.0) + stall;
  const double slowed = slower * std::min(write, every);
  const double cycle = every + stopped, trained = full * every - slowed;
  const double event = std::min({end_at_, next_.failure.at, next_repair()});
  // The last of them is left to the steps.
  const double cycles =
      std::floor(std::min((event - now_) / cycle, (work_end_ - work_) / trained)) - 1;
  if (cycles < 1) return;
  now_ += cycles * cycle;
  work_ += cycles * trained;
  history_.lost[static_cast<std::size_t>(Loss::checkpoint)] += cycles * (stopped + slowed);
  history_.lost[static_cast<std::size_t>(Loss::shrunk)] += cycles * (1 - full) * every;
  history_.checkpoints += static_cast<std::int64_t>(cycles);
  SavedState newest{work_, now_ - stall};
  if (is_async) {
    pending_ = {newest, now_ + write};
    newest = {work_ - trained, now_ - stall - cycle};
  }
  saved_.add_row(newest, static_cast<std::int64_t>(cycles), trained, cycle);
  if (all.kept > 0) saved_.keep(all.kept);
}

Course::Outcome Course::train() {
  while (true) {
    skip_cycles();
    const double speed_now = speed();
    const double finish = std::min(end_at_, now_ + (work_end_ - work_) / speed_now);
    const auto [place, due] = next_due();
    double written = never;
    if (pending_) written = pending_->done_at;
    const double to = std::min({finish, due, written, next_.failure.at});
    train_for(std::max(0.0, to - now_));
    now_ = std::max(now_, to);
    if (to == finish) return Outcome::finished;
    Outcome outcome = Outcome::done;
    if (to == next_.failure.at) {
      const bool is_struck = is_hit();
      current_ = next_;
      draw_next();
      if (!is_struck) continue;
      const bool is_planned = model_.processes[current_.failure.process].is_planned;
      outcome = is_planned && !goes_on() ? drain() : Outcome::interrupted;
    } else if (to == written) {
      outcome = saved();
    } else {
      outcome = checkpoint(place);
    }
    if (outcome != Outcome::done) return outcome;
  }
}

const Checkpointing& Course::times(Place place) const {
  return place == Place::memory ? model_.memory->times : model_.checkpoint;
}

// A blocking checkpoint waits for the storage, another one for a copy.
double Course::stall_time(Place place) {
  const Checkpointing& all = times(place);
  const double stall = all.stall.value();
  return all.write.value() > 0 ? stall : storage_.takes(now_, stall, all.write_room);
}

double Course::drain_time() {
  const Checkpointing& all = model_.checkpoint;
  const double copy = all.write.value() > 0 ? all.stall.value() : 0;
  return copy + storage_.takes(now_ + copy, all.drain.value() - copy, all.write_room);
}

double Course::read_time() {
  const Checkpointing& all = times(read_from_);
  return storage_.takes(now_, all.read.value(), all.read_room);
}

// The longer it takes, the less it loads the NICs; in tenths, so that few states are asked for, and
// never less than it is.
void Course::write_on(const SavedState& state) {
  const Checkpointing& all = times(state.place);
  const double normal = all.write.value();
  const double takes = storage_.takes(now_, normal, all.write_room);
  pending_ = {state, now_ + takes};
  if (takes > normal) {
    constexpr double exact = 1e-9;  // a tenth that rounding made a little more
    pending_->percent =
        std::min(100, 10 * static_cast<int>(std::ceil(10 * normal / takes - exact)));
  }
}

std::pair<Course::Place, double> Course::next_due() const {
  const auto due = [this](Place place) {
    const double since = since_checkpoint_[static_cast<std::size_t>(place)];
    return std::pair(place, now_ + std::max(0.0, times(place).every.value() - since));
  };
  const auto storage = due(Place::storage);
  if (!model_.memory || writing() == Writing::to_storage) return storage;
  const auto memory = due(Place::memory);
  return memory.second < storage.second ? memory : storage;
}

// One in storage serves for one in memory too.
Course::Outcome Course::checkpoint(Place place) {
  cause_.reset();
  if (pending_) {
    const Outcome outcome = pass(std::max(0.0, pending_->done_at - now_), Loss::checkpoint);
    if (outcome != Outcome::done) return outcome;
    if (const Outcome after = saved(); after != Outcome::done) return after;
  }
  const SavedState state{work_, now_, place};
  const Outcome outcome = pass(stall_time(place), Loss::checkpoint);
  if (outcome != Outcome::done) return outcome;
  since_checkpoint_[static_cast<std::size_t>(Place::memory)] = 0;
  if (place == Place::storage) since_checkpoint_[static_cast<std::size_t>(place)] = 0;
  write_on(state);
  return times(place).write.value() > 0 ? Outcome::done : saved();
}

// A checkpoint that can be used from now on.
Course::Outcome Course::saved() {
  const SavedState state = pending_->saved;
  pending_.reset();
  saved_.forget_memory();
  saved_.add(state);
  if (state.place == Place::memory) {
    ++history_.memory_checkpoints;
    return Outcome::done;
  }
  ++history_.checkpoints;
  if (model_.checkpoint.kept > 0) saved_.keep(model_.checkpoint.kept);
  const Situation here = situation();
  if (policy_.replicas_at_checkpoint(here) == here.replicas_running) return Outcome::done;
  current_ = {{model_.processes.size(), 0, now_}, now_};
  return Outcome::interrupted;
}

Course::Outcome Course::drain() {
  const Interruption planned = current_;
  cause_ = planned.failure.process;
  pending_.reset();
  const SavedState state{work_, now_};
  const double before = now_;
  const Outcome outcome = pass(drain_time(), Loss::checkpoint);
  history_.lost_by_process[*cause_] += now_ - before;
  if (outcome != Outcome::done) return outcome;
  saved_.add(state);
  ++history_.checkpoints;
  current_ = planned;
  return Outcome::interrupted;
}

}  // namespace sim::fault
