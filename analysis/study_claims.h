// Who simulates which candidates, where several processes, maybe on several hosts, share the folder
// of a study.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace analysis {

// A claim is a symbolic link with the candidate's number to the claimant's log: made in one step or
// not at all. A process lives while it holds the lock of its log, which ends with it however it
// ends, so a claim of a dead one can be taken over. Two may take over at once; both records are the
// same then.
class StudyClaims {
 public:
  // `log`: of this process, in the shared folder, locked by it. Throws std::runtime_error.
  explicit StudyClaims(const std::filesystem::path& log);

  // Whether this process is to simulate it. From any thread. Throws std::runtime_error.
  bool claim(std::int64_t candidate) const;
  // Whether any other process that shares the folder is alive.
  bool has_others() const;

 private:
  bool is_alive(const std::filesystem::path& log) const;

  std::filesystem::path log_, claims_;
};

}  // namespace analysis
