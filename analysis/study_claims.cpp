// Links and locks of the file system, which NFS has too.
#include "analysis/study_claims.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "analysis/file.h"
#include "analysis/study_log.h"

namespace analysis {

StudyClaims::StudyClaims(const std::filesystem::path& log)
    : log_(log), claims_(log.parent_path() / "claims") {
  std::filesystem::create_directories(claims_);
  if (!is_alive(log_)) {
    throw std::runtime_error(fmt::format(
        "cannot lock '{}': this file system has no locks, so the study cannot be shared "
        "there",
        log_.string()));
  }
}

bool StudyClaims::is_alive(const std::filesystem::path& log) const {
  const int file = open(log.c_str(), O_RDWR | O_CLOEXEC);
  if (file < 0) return false;
  const bool is_locked = flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  close(file);
  return is_locked;
}

bool StudyClaims::claim(std::int64_t candidate) const {
  const auto link = claims_ / fmt::format("{}", candidate);
  std::error_code error;
  std::filesystem::create_symlink(log_.filename(), link, error);
  if (!error) return true;
  if (error != std::errc::file_exists) {
    throw std::runtime_error(fmt::format("cannot make '{}': {}", link.string(), error.message()));
  }
  const auto owner = std::filesystem::read_symlink(link, error);
  if (!error && owner == log_.filename()) return true;
  if (!error && is_alive(log_.parent_path() / owner)) return false;
  // Under a name of its own first, then in place of the dead one's.
  const auto draft = claims_ / fmt::format("{}.{}", candidate, log_.filename().string());
  std::filesystem::create_symlink(log_.filename(), draft, error);
  std::filesystem::rename(draft, link);
  return true;
}

bool StudyClaims::has_others() const {
  const auto logs = log_files(log_.parent_path());
  return std::any_of(logs.begin(), logs.end(), [this](const std::filesystem::path& log) {
    return log.filename() != log_.filename() && is_alive(log);
  });
}

}  // namespace analysis
