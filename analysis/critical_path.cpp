// Backwards from the end, one operation at a time.
#include "analysis/critical_path.h"

#include <algorithm>
#include <optional>

namespace analysis {

using sim::training::Result;
using sim::training::Span;

namespace {

struct Piece {
  std::size_t track = 0;
  const Span* span = nullptr;
};

class Walk {
 public:
  explicit Walk(const Result& result) : result_(result) {
    for (std::size_t t = 0; t < result.tracks.size(); ++t) {
      for (const Span& span : result.tracks[t].spans) {
        if (span.end_ps > span.start_ps) by_end_.push_back({t, &span});
      }
    }
    std::stable_sort(by_end_.begin(), by_end_.end(), [](const Piece& a, const Piece& b) {
      return a.span->end_ps < b.span->end_ps;
    });
  }

  std::vector<PathPiece> run() {
    std::vector<PathPiece> path;
    if (by_end_.empty()) return path;
    Piece now = by_end_.back();
    while (true) {
      const std::int64_t start = std::max<std::int64_t>(now.span->start_ps, 0);
      path.push_back({now.track, now.span, start, now.span->end_ps});
      if (start == 0) break;
      const auto before = predecessor(now);
      const std::int64_t ended = before ? before->span->end_ps : 0;
      if (ended < start)
        path.push_back({now.track, nullptr, std::max<std::int64_t>(ended, 0), start});
      if (!before || ended <= 0) break;
      now = *before;
    }
    std::reverse(path.begin(), path.end());
    return path;
  }

 private:
  // 0: the same stream, 1: the same rank, 2: another one.
  int distance(const Piece& a, const Piece& b) const {
    if (a.track == b.track) return 0;
    return result_.tracks[a.track].rank == result_.tracks[b.track].rank ? 1 : 2;
  }

  std::optional<Piece> predecessor(const Piece& now) const {
    auto at =
        std::upper_bound(by_end_.begin(), by_end_.end(), now.span->start_ps,
                         [](std::int64_t time, const Piece& p) { return time < p.span->end_ps; });
    std::optional<Piece> best;
    while (at != by_end_.begin()) {
      const Piece& one = *--at;
      const bool is_exact = one.span->end_ps == now.span->start_ps;
      if (!is_exact && (best || distance(now, one) == 2)) {
        if (best) break;
        continue;
      }
      if (!best || distance(now, one) < distance(now, *best)) best = one;
      if (!is_exact) break;
    }
    return best;
  }

  const Result& result_;
  std::vector<Piece> by_end_;
};

}  // namespace

std::vector<PathPiece> critical_path(const Result& result) { return Walk(result).run(); }

}  // namespace analysis
