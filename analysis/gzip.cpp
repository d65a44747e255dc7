// zlib's deflate with a gzip header of our own.
#include "analysis/gzip.h"

#include <zlib.h>

#include <algorithm>

#include "sim/base/invariant.h"

namespace analysis {

std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int window_bits = 15 + 16;  // 16: a gzip header instead of zlib's
  constexpr int memory_level = 8;
  const int is_ready = deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window_bits,
                                    memory_level, Z_DEFAULT_STRATEGY);
  sim::invariant(is_ready == Z_OK, "zlib starts");
  gz_header header{};
  constexpr int unknown_system = 255;
  header.os = unknown_system;
  deflateSetHeader(&stream, &header);
  std::string result;
  std::string buffer(std::size_t{1} << 16, '\0');
  int state = Z_OK;
  while (state != Z_STREAM_END) {
    // zlib counts in 32 bits.
    const std::size_t piece = std::min<std::size_t>(text.size(), std::size_t{1} << 30);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
    stream.avail_in = static_cast<uInt>(piece);
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = deflate(&stream, piece == text.size() ? Z_FINISH : Z_NO_FLUSH);
    sim::invariant(state == Z_OK || state == Z_STREAM_END, "zlib compresses");
    text.remove_prefix(piece - stream.avail_in);
    result.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  deflateEnd(&stream);
  return result;
}

std::optional<std::string> gunzip(std::string_view bytes, std::size_t bytes_max) {
  if (bytes.size() > std::size_t{1} << 30) return std::nullopt;  // zlib counts in 32 bits
  z_stream stream{};
  constexpr int window_bits = 15 + 16;
  sim::invariant(inflateInit2(&stream, window_bits) == Z_OK, "zlib starts");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string result;
  std::string buffer(std::size_t{1} << 16, '\0');
  int state = Z_OK;
  while (state == Z_OK && result.size() <= bytes_max) {
    stream.next_out = reinterpret_cast<Bytef*>(buffer.data());
    stream.avail_out = static_cast<uInt>(buffer.size());
    state = inflate(&stream, Z_NO_FLUSH);
    result.append(buffer, 0, buffer.size() - stream.avail_out);
  }
  inflateEnd(&stream);
  if (state != Z_STREAM_END || result.size() > bytes_max) return std::nullopt;
  return result;
}

}  // namespace analysis
