// Logs of a study: what is finished survives a kill at any moment.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/study_record.h"

namespace analysis {

// FNV-1a, 64 bits, going on from `seed`. Source: Noll, Vo, Eastlake, Hansen, RFC 9923 (2026).
std::uint64_t text_hash(std::string_view text, std::uint64_t seed = 0xcbf29ce484222325ULL);

// A file of its own for each process, in one folder, which it holds locked while it lives. Its
// first line names the study (a hash of all that decides the results); each further line is a
// record behind its checksum.
class StudyLog {
 public:
  // Throws std::runtime_error when the file cannot be made.
  StudyLog(const std::filesystem::path& folder, std::uint64_t study);
  ~StudyLog();
  StudyLog(const StudyLog&) = delete;
  StudyLog& operator=(const StudyLog&) = delete;

  // From any thread. In the file when it returns; on the disk at most a second later or, should no
  // record follow, when the log is closed. Throws std::runtime_error, such as on a full disk.
  void append(const StudyRecord& record);
  const std::filesystem::path& file() const { return file_; }

 private:
  void write(const std::string& line);

  std::mutex mutex_;
  std::filesystem::path file_;
  std::uint64_t study_ = 0;
  int descriptor_ = -1;
  std::int64_t synced_at_s_ = 0;
};

struct LogContents {
  std::map<std::int64_t, StudyRecord> records;  // by candidate
  std::int64_t damaged_lines = 0;               // cut off by a kill, or changed since
  std::vector<std::string> foreign;             // files that belong to another study
};
// All logs of the folder; none where there is none.
LogContents read_logs(const std::filesystem::path& folder, std::uint64_t study);
std::vector<std::filesystem::path> log_files(const std::filesystem::path& folder);

}  // namespace analysis
