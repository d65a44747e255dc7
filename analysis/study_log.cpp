// Appending with one write a line, and reading what is whole.
#include "analysis/study_log.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <ctime>
#include <fstream>
#include <stdexcept>

namespace analysis {

namespace {

constexpr std::string_view magic = "maquette study log 1 ";
constexpr std::size_t checksum_digits = 16;

std::string first_line(std::uint64_t study) { return fmt::format("{}{:016x}", magic, study); }

std::int64_t now_s() { return static_cast<std::int64_t>(std::time(nullptr)); }

// What stands behind a right checksum.
std::optional<StudyRecord> record_of(const std::string& line, std::uint64_t study) {
  if (line.size() <= checksum_digits || line[checksum_digits] != ' ') return std::nullopt;
  const std::string payload = line.substr(checksum_digits + 1);
  if (line.substr(0, checksum_digits) != fmt::format("{:016x}", text_hash(payload, study))) {
    return std::nullopt;
  }
  return decoded(payload);
}

}  // namespace

std::uint64_t text_hash(std::string_view text, std::uint64_t seed) {
  constexpr std::uint64_t prime = 0x100000001b3ULL;
  for (const char c : text) seed = (seed ^ static_cast<unsigned char>(c)) * prime;
  return seed;
}

StudyLog::StudyLog(const std::filesystem::path& folder, std::uint64_t study) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  // Process numbers come again, and hosts may share the folder.
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  for (int i = 0; descriptor_ < 0; ++i) {
    file_ = folder / fmt::format("{}-{}-{}.log", host, getpid(), i);
    descriptor_ = open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
    if (descriptor_ >= 0 || errno == EEXIST) continue;
    throw std::runtime_error(
        fmt::format("cannot make '{}': {}", file_.string(), std::strerror(errno)));
  }
  // Only a study that is shared needs the lock; StudyClaims looks whether it is there.
  flock(descriptor_, LOCK_EX | LOCK_NB);
  write(first_line(study) + "\n");
  study_ = study;
}

StudyLog::~StudyLog() {
  fdatasync(descriptor_);
  close(descriptor_);
}

void StudyLog::append(const StudyRecord& record) {
  const std::string payload = encoded(record);
  const std::string line = fmt::format("{:016x} {}\n", text_hash(payload, study_), payload);
  const std::lock_guard lock(mutex_);
  write(line);
  if (now_s() == synced_at_s_) return;
  fdatasync(descriptor_);
  synced_at_s_ = now_s();
}

void StudyLog::write(const std::string& line) {
  for (std::size_t done = 0; done < line.size();) {
    const ssize_t written = ::write(descriptor_, line.data() + done, line.size() - done);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw std::runtime_error(
          fmt::format("cannot write '{}': {}", file_.string(), std::strerror(errno)));
    }
    done += static_cast<std::size_t>(written);
  }
}

std::vector<std::filesystem::path> log_files(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> files;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() == ".log") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

LogContents read_logs(const std::filesystem::path& folder, std::uint64_t study) {
  LogContents contents;
  for (const auto& file : log_files(folder)) {
    std::ifstream stream(file, std::ios::binary);
    std::string line;
    // A kill may come before the first line is whole.
    if (!std::getline(stream, line) || (stream.eof() && line != first_line(study))) continue;
    if (line != first_line(study)) {
      contents.foreign.push_back(file.string());
      continue;
    }
    while (std::getline(stream, line)) {
      auto record = record_of(line, study);
      if (!record) {
        ++contents.damaged_lines;
        continue;
      }
      const std::int64_t candidate = record->candidate;
      contents.records.insert_or_assign(candidate, std::move(*record));
    }
  }
  return contents;
}

}  // namespace analysis
