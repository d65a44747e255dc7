// What a transfer or a collective costs on the cluster: latency, duration alone, and the links it
// loads.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "sim/base/fixed.h"
#include "sim/training/costs.h"
#include "sim/training/path.h"

namespace sim::training {

// One operation as the engine runs it.
struct TransferCost {
  Picoseconds lag = 0, work = 0;
  std::int64_t amount = 0;  // bytes/s through the link that carries `Path::reference`
  std::int64_t weight = weight_one;
  bool is_extrapolated = false;
};

// A rank group on the cluster. Remembers its answers; not for several threads at once.
class Communicator {
 public:
  using Profile = calibrate::profile::Profile;

  // `members` in ring order. `layout` without hosts, which follow from the members: some of these,
  // and of their hosts, may be left out.
  Communicator(const topology::Cluster& cluster, const Profile& profile,
               std::vector<DeviceIndex> members, collective::Layout layout = {});

  // The path of an operation of this size, and its cost. The path lives as long as the
  // communicator. Inside one scale-up domain the profile's measured curve gives the time, where it
  // has one; otherwise the structured law: latency per step, bytes over the slowest link.
  std::pair<const Path*, TransferCost> cost(collective::Operation operation, Bytes size,
                                            const collective::Forced& forced = {}) const;
  // What runs for it, for people: "nvls-tree Simple", or the curve that answers.
  std::string described(collective::Operation operation, Bytes size,
                        const collective::Forced& forced = {}) const;
  // Of a transfer from each member to the next, round a ring.
  const Path& shift() const;
  // What a rank group runs: a send-receive is such a shift.
  std::pair<const Path*, TransferCost> group_cost(collective::Operation operation,
                                                  Bytes size) const;
  // An all-to-all in which member i is sent, or sends, loads[i] times its even share; `size` is
  // what a member sends, or gets, in all.
  std::pair<const Path*, TransferCost> skewed(Bytes size, const Skew& skew) const;
  std::span<const DeviceIndex> members() const { return members_; }
  int channels() const;
  // Whether an operation of this size runs along rings.
  bool is_ring(collective::Operation operation, Bytes size,
               const collective::Forced& forced = {}) const;
  // Equal for groups whose costs are equal for every operation and size.
  std::vector<double> signature() const;

 private:
  struct Cached {
    collective::Operation operation;
    collective::Choice choice;
    std::unique_ptr<Path> path;
  };
  struct KnownCost {
    collective::Operation operation;
    double size;
    collective::Forced forced;
    std::pair<const Path*, TransferCost> answer;
  };
  const Path& path(collective::Operation operation, collective::Choice choice) const;
  std::pair<const Path*, TransferCost> computed_cost(collective::Operation operation, Bytes size,
                                                     const collective::Forced& forced) const;
  collective::Choice choice(collective::Operation operation, Bytes size,
                            const collective::Forced& forced) const;
  // Whether a measured curve answers for so many ranks inside one domain, and nothing is forced.
  bool is_measured(collective::Operation operation, Bytes size,
                   const collective::Forced& forced) const;
  TransferCost curve_cost(collective::Operation operation, Bytes size, const Path& path) const;
  void stretch_to_curve(Bytes size, const Path& path, TransferCost& cost) const;
  const collective::Hardware& hardware() const;

  const topology::Cluster* cluster_;
  const Profile* profile_;
  std::vector<DeviceIndex> members_;
  collective::Layout layout_;
  bool inside_domain_ = false;
  mutable std::vector<Cached> paths_;
  mutable std::vector<KnownCost> costs_;  // a plan asks for few sizes, again and again
  mutable std::optional<collective::Hardware> hardware_;
  mutable std::unique_ptr<Path> shift_;
  struct SkewedPath {
    Skew skew;
    std::unique_ptr<Path> path;
  };
  const Path& skewed_path(const Skew& skew, const Path& even) const;
  mutable std::vector<SkewedPath> skewed_;
};

TransferCost transfer_cost(const Path& path, Bytes size);

}  // namespace sim::training
