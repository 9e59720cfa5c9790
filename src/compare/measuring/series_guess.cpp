#include "compare/measuring/series_guess.h"

#include <algorithm>

namespace assay::compare {

float* CodeList::end() {
  if (room_ - size_ < kPackedRoom) {
    room_ = std::max(2 * room_, 4 * kPackedRoom);
    std::unique_ptr<float[]> more = std::make_unique_for_overwrite<float[]>(room_);
    std::copy_n(codes_, size_, more.get());
    own_ = std::move(more);
    codes_ = own_.get();
  }
  return codes_ + size_;
}

SeriesGuess::SeriesGuess(const std::vector<float>& sample, size_t alike, uint64_t count, std::vector<uint64_t> places,
                         const Pieces& pieces)
    : pieces_(pieces), places_(std::move(places)), sieve_(sample, alike, count, places_), parts_(pieces.count) {
  std::vector<CodeCount> counts(sieve_.ranges().all.size());
  for (Part& part : parts_) part.counts = counts;
  std::vector<float> kept;
  sift(sample, sieve_.ranges(), counts, kept);
  make_room(static_cast<double>(kept.size()) / static_cast<double>(sample.size()));
}

// Small pages, of which each piece would need some, cost more than what is done with the codes.
void SeriesGuess::make_room(double kept_share) {
  constexpr double kMargin = 1.125;
  const auto expected = static_cast<size_t>(kMargin * kept_share * static_cast<double>(pieces_.tiles * kTile));
  const size_t room = expected + kPackedRoom;
  room_.reset(static_cast<float*>(allocate_large(parts_.size() * room * sizeof(float))));
  for (size_t p = 0; p < parts_.size(); ++p) parts_[p].kept = CodeList({room_.get() + p * room, room});
}

void SeriesGuess::add(const float* codes, bool is_exact, uint64_t piece) {
  if (places_.empty()) return;
  Part& part = parts_[piece];
  if (part.tiles.empty()) part.tiles.reserve(pieces_.tiles);
  float surplus[kPackedRoom];
  const bool keeps = !is_full(part);
  const uint64_t count =
      tile_kernels().front().sift(codes, sieve_.ranges(), part.counts.data(), keeps ? part.kept.end() : surplus);
  if (keeps) part.kept.add(count);
  part.tiles.push_back({is_exact, static_cast<uint32_t>(part.kept.codes().size())});
  part.is_exact &= is_exact;
}

std::vector<CodeCount> SeriesGuess::counts() const {
  std::vector<CodeCount> sums(sieve_.ranges().all.size());
  for (const Part& part : parts_) {
    for (size_t r = 0; r < sums.size(); ++r) {
      sums[r].below += part.counts[r].below;
      sums[r].end += part.counts[r].end;
    }
  }
  return sums;
}

std::map<uint64_t, float> SeriesGuess::codes() const {
  std::map<uint64_t, float> found;
  std::vector<uint64_t> of_kept, kept_places;
  const std::vector<CodeCount> counted = counts();
  for (const uint64_t place : places_) {
    const std::optional<CodePlace> at = sieve_.find(place, counted);
    if (at && !at->is_kept) found[place] = at->code;
    if (!at || !at->is_kept) continue;
    of_kept.push_back(place);
    kept_places.push_back(at->index);
  }
  if (of_kept.empty() || std::ranges::any_of(parts_, [&](const Part& part) { return is_full(part); })) return found;
  CodeLists kept;
  for (const Part& part : parts_) kept.push_back(part.kept.codes());
  const std::vector<float> codes = codes_at(kept, kept_places);
  for (size_t i = 0; i < codes.size(); ++i) found[of_kept[i]] = codes[i];
  return found;
}

void SeriesGuess::add_tiles(const Part& part, float code, CodeGroup& group) const {
  const std::span<const float> kept = part.kept.codes();
  const uint64_t first = static_cast<uint64_t>(&part - parts_.data()) * pieces_.tiles;
  size_t begin = 0;
  for (size_t t = 0; t < part.tiles.size(); ++t) {
    const size_t end = part.tiles[t].kept;
    const auto count = static_cast<uint64_t>(std::ranges::count(kept.subspan(begin, end - begin), code));
    if (part.tiles[t].is_exact)
      group.add_equal(count);
    else if (count != 0)
      group.add_tile(first + t);
    begin = end;
  }
}

// The group of a code that was kept.
CodeGroup SeriesGuess::kept_group(float code, uint64_t place, uint64_t kept_place) const {
  const CodeRanges range = {.all = {{code_before(code), code}}};
  std::vector<CodeCount> counts(parts_.size());
  std::vector<float> none;
  for (size_t p = 0; p < parts_.size(); ++p) {
    sift(parts_[p].kept.codes(), range, std::span(counts).subspan(p, 1), none);
  }
  uint64_t less = 0;
  for (const CodeCount& count : counts) less += count.below;
  CodeGroup group(code, place - (kept_place - less));
  for (size_t p = 0; p < parts_.size(); ++p) {
    if (counts[p].end == counts[p].below) continue;
    if (parts_[p].is_exact)
      group.add_equal(counts[p].end - counts[p].below);
    else
      add_tiles(parts_[p], code, group);
  }
  return group;
}

// The group of a code that was only counted.
CodeGroup SeriesGuess::counted_group(float code, uint64_t below) const {
  const auto is_it = [&](const CodeRange& range) { return range.end == code; };
  const std::vector<CodeRange>& ranges = sieve_.ranges().all;
  const auto counted = ranges.begin() + static_cast<ptrdiff_t>(sieve_.ranges().kept);
  const auto range = static_cast<size_t>(std::find_if(counted, ranges.end(), is_it) - ranges.begin());
  CodeGroup group(code, below);
  for (size_t p = 0; p < parts_.size(); ++p) {
    const CodeCount& count = parts_[p].counts[range];
    if (parts_[p].is_exact) {
      group.add_equal(count.end - count.below);
    } else if (count.end != count.below) {
      for (uint64_t t = 0; t < parts_[p].tiles.size(); ++t) group.add_tile(p * pieces_.tiles + t);
    }
  }
  return group;
}

std::vector<CodeGroup> SeriesGuess::groups(const std::map<uint64_t, float>& codes) const {
  std::vector<CodeGroup> groups;
  if (std::ranges::all_of(parts_, &Part::is_exact)) return groups;
  const std::vector<CodeCount> counted = counts();
  for (const auto& [place, code] : codes) {
    if (code == 0 || (!groups.empty() && groups.back().code() == code)) continue;
    const std::optional<CodePlace> at = sieve_.find(place, counted);
    groups.push_back(at->is_kept ? kept_group(code, place, at->index) : counted_group(code, place - at->index));
  }
  return groups;
}

}  // namespace assay::compare
