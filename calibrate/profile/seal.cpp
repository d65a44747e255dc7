// The sealed header of a profile file.
#include "calibrate/profile/seal.h"

#include <fmt/format.h>

#include <cstdint>

namespace calibrate::profile {
namespace {

constexpr std::string_view start = "maquette profile ", magic = "maquette profile 2\n";

// FNV-1a, 64 bits: every single changed byte changes it.
std::uint64_t checksum(std::span<const std::byte> contents) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::byte byte : contents) {
    hash = (hash ^ static_cast<std::uint64_t>(byte)) * 0x100000001b3U;
  }
  return hash;
}

}  // namespace

std::string seal_of(std::span<const std::byte> contents) {
  std::string seal =
      fmt::format("{}size {} byte\nfnv1a {:016x}\n", magic, contents.size(), checksum(contents));
  seal.resize(seal_size, '\n');
  return seal;
}

std::optional<std::string> seal_complaint(std::span<const std::byte> file) {
  const std::string_view text(reinterpret_cast<const char*>(file.data()), file.size());
  if (text.starts_with(start) && !text.starts_with(magic)) {
    return "its format is that of another version of this program";
  }
  if (!text.starts_with(magic)) return "it does not start like a profile of this program";
  if (file.size() <= seal_size) return fmt::format("it ends after {} bytes", file.size());
  const std::span<const std::byte> contents = file.subspan(seal_size);
  if (text.substr(0, seal_size) != seal_of(contents)) {
    return "its checksum or size differs from what its first bytes say: it was cut short or "
           "changed";
  }
  return std::nullopt;
}

}  // namespace calibrate::profile
