// What fails, how often, and what one failure takes with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/base/random.h"
#include "sim/fault/distribution.h"

namespace sim::fault {

struct FailureProcess {
  std::string cause;       // for people: "HBM", "switch or cable"
  std::int64_t parts = 1;  // of the job at its full size that can fail so
  Life life;               // of each part; a part that failed is replaced by a new one
  Seconds age;             // of the parts when the job starts
  struct Calendar {
    Seconds first, every;
  };
  std::optional<Calendar> calendar;    // instead of a life: maintenance
  bool is_planned = false;             // announced: the job saves its state first
  int hosts = 1;                       // that one failure takes out of service
  Distribution repair;                 // until they can be used again
  std::optional<Distribution> detect;  // until the job stops; as for all failures unless given
  // Silent corruption of data: what the job does from the failure until this has passed is wrong,
  // and so are the checkpoints of that time.
  std::optional<Distribution> found_after;
};

// Interruptions per second of all processes together, in the long run. Planned ones only if asked.
enum class Planned { left_out, counted };
double rate(const std::vector<FailureProcess>& processes, Planned planned);

struct Failure {
  std::size_t process = 0;
  std::uint64_t number = 0;  // of the process, from 0
  double at = 0;             // [s] since the job started
};

// Whose draws they are: a history of the job with this number. A draw depends on nothing else, so
// two policies see the same failures, repairs and delays.
struct Draws {
  std::uint64_t seed = 1;
  std::uint32_t history = 0;
  enum class What : std::uint32_t { gap, life, repair, detect, found, hit, storage };
  double uniform(What what, std::size_t process, std::uint64_t number) const;
};

// The failures of all processes in order of time. Parts fail at the rate of the job at full size,
// whatever the job does.
class Arrivals {
 public:
  Arrivals(const std::vector<FailureProcess>& processes, const Draws& draws);
  // Returns the next one; at infinity where nothing fails any more.
  Failure next();

 private:
  struct Stream {
    double next_at = 0;
    std::uint64_t count = 0;         // of failures before next_at
    double hazard = 0;               // of the parts that are there from the start, at next_first_at
    std::int64_t originals = 0;      // parts that are there from the start and have not failed
    double next_first_at = 0;        // when the next of these fails
    std::vector<double> renewed_at;  // when parts that replaced others fail; a heap, earliest first
  };
  void begin(std::size_t process);
  void advance(std::size_t process);
  void draw_original(std::size_t process);
  double exponential(Draws::What what, std::size_t process, std::uint64_t number) const;

  const std::vector<FailureProcess>& processes_;
  Draws draws_;
  std::vector<Stream> streams_;  // [process]
};

}  // namespace sim::fault
