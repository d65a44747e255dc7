// Draft and rename.
#include "analysis/file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <stdexcept>
#include <system_error>

namespace analysis {

void write_whole(const std::filesystem::path& file, std::string_view bytes) {
  std::filesystem::path draft = file;
  // Runs into one folder, from several hosts too, do not share it.
  char host[256] = "host";
  gethostname(host, sizeof host - 1);
  draft += fmt::format(".{}-{}.part", host, getpid());
  errno = 0;
  std::ofstream out(draft, std::ios::binary);
  out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  out.close();
  std::error_code error;
  if (out) {
    std::filesystem::rename(draft, file, error);
  } else {
    error = std::error_code(errno != 0 ? errno : EIO, std::generic_category());
  }
  if (!error) return;
  std::error_code ignored;
  std::filesystem::remove(draft, ignored);
  throw std::runtime_error(fmt::format("cannot write '{}': {}", file.string(), error.message()));
}

}  // namespace analysis
