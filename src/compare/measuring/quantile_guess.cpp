#include "compare/measuring/quantile_guess.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "base/parallel.h"
#include "compare/measuring/selection.h"
#include "compare/measuring/sieve.h"

namespace assay::compare {
namespace {

constexpr uint64_t kLeastCount = uint64_t{1} << 20;  // fewer elements are soon searched without a guess
constexpr uint64_t kLeastSample = uint64_t{1} << 16;
constexpr uint64_t kMostSample = uint64_t{1} << 18;
constexpr double kDeviations = 4.5;  // how far a sample's rank is thought to be off
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The codes between which a quantile probably lies. `sample` is in order up to `sorted`, and further after the call.
CodeBracket propose(std::vector<double>& sample, double quantile, size_t& sorted) {
  const auto count = static_cast<double>(sample.size());
  const double margin = kDeviations * std::sqrt(count * quantile * (1 - quantile)) + 2;
  const auto at = [&](double place) {
    const auto index = static_cast<size_t>(std::clamp(place, static_cast<double>(sorted), count - 1));
    std::nth_element(sample.begin() + static_cast<ptrdiff_t>(sorted), sample.begin() + static_cast<ptrdiff_t>(index),
                     sample.end());
    sorted = index;
    return static_cast<float>(sample[index]);
  };
  const double from = quantile * count - margin;
  const double to = quantile * count + margin;
  CodeBracket bracket = {-kInfinity, kInfinity};
  if (from >= 0) bracket.low = at(from);
  if (to < count) bracket.high = at(to);
  return bracket;
}

float code_of(double x) {
  const auto code = static_cast<float>(x);
  return code == 0 && x != 0 ? std::copysign(std::numeric_limits<float>::denorm_min(), static_cast<float>(x)) : code;
}

template <typename Fn>
void for_each_bit(const TileBits& marks, Fn fn) {
  for (size_t w = 0; w < std::size(marks); ++w) {
    for (uint64_t bits = marks[w]; bits != 0; bits &= bits - 1) {
      fn(64 * w + static_cast<uint64_t>(std::countr_zero(bits)));
    }
  }
}

// Takes the marks of elements of that code away and counts them.
uint64_t take_equal(const float* codes, float code, TileBits& marks) {
  TileBits equal;
  const BracketCount count = tile_kernels().front().sieve32(codes, {code, code}, equal);
  for (size_t w = 0; w < std::size(marks); ++w) marks[w] &= ~equal[w];
  return count.inside;
}

}  // namespace

inline double TileElements::at(size_t series, uint64_t place) const {
  if (loaded != nullptr) return loaded->series[series][place];
  if (series == kSideA) return a[place];
  if (series == kSideB) return b[place];
  const double difference = std::fabs(double{a[place]} - double{b[place]});
  if (series == kAbsolute || difference == 0) return difference;
  return difference / (b[place] == 0 ? zero_reference : std::fabs(double{b[place]}));
}

QuantileGuess::QuantileGuess(const TileSource& source, const std::vector<std::vector<double>>& wanted,
                             const std::array<bool, kMostSeries>& is_exact)
    : piece_tiles_(tiles_a_piece(source.tile_count())) {
  const bool is_wanted_at_all = !std::ranges::all_of(wanted, &std::vector<double>::empty);
  if (source.count < kLeastCount || !is_wanted_at_all) return;
  const uint64_t wish = std::clamp(source.count / 128, kLeastSample, kMostSample);
  std::vector<bool> is_wanted;
  for (const std::vector<double>& of_series : wanted) is_wanted.push_back(!of_series.empty());
  std::vector<Sifted> samples = sample(source, is_wanted, source.count / wish);
  parallel_for(wanted.size(), 1, [&](uint64_t s, uint64_t) {
    std::vector<double>& kept = samples[s].kept;
    std::erase_if(kept, [](double x) { return std::isnan(x); });
    if (kept.empty()) return;
    propose(s, kept, wanted[s], is_exact[s] || s == kAbsolute);
  });
  pieces_.resize((source.tile_count() + piece_tiles_ - 1) / piece_tiles_);
  for (Piece& piece : pieces_) {
    for (size_t s = 0; s < kMostSeries; ++s) piece[s].resize(targets_[s].size());
  }
  most_kept_ = piece_tiles_ * kTile / 4;
}

// `is_exact`: elements are, as a rule, equal to their codes.
void QuantileGuess::propose(size_t series, std::vector<double>& sample, const std::vector<double>& wanted,
                            bool is_exact) {
  std::vector<size_t> order(wanted.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::sort(order, {}, [&](size_t i) { return wanted[i]; });
  targets_[series].resize(order.size());
  size_t sorted = 0;
  for (const size_t i : order) {
    Target& target = targets_[series][i];
    target.quantile = wanted[i];
    target.bracket = compare::propose(sample, wanted[i], sorted);
    const auto is_common = [&](float code) {
      const auto same = std::ranges::count_if(sample, [&](double x) { return code_of(x) == code; });
      return (is_exact || code == 0) && static_cast<size_t>(same) > sample.size() / 64;
    };
    target.counts_low = is_common(target.bracket.low);
    target.counts_high = target.bracket.low != target.bracket.high && is_common(target.bracket.high);
  }
}

void QuantileGuess::keep(double element, Part& part) const {
  if (part.kept.size() < most_kept_)
    part.kept.push_back(element);
  else
    part.is_full = true;
}

void QuantileGuess::pack(const float* codes, const TileBits& marks, Part& part) const {
  if (part.is_full) return;
  float packed[kPackedRoom];
  const uint64_t count = tile_kernels().front().pack(codes, marks, packed);
  part.packed.insert(part.packed.end(), packed, packed + count);
  part.is_full = part.packed.size() > most_kept_;
}

void QuantileGuess::sift(const TileCodes& codes, size_t series, const TileElements& elements, Piece& piece) const {
  const float* const of_series = codes.of[series];
  for (size_t t = 0; t < targets_[series].size(); ++t) {
    const Target& target = targets_[series][t];
    Part& part = piece[series][t];
    TileBits inside;
    const BracketCount count = tile_kernels().front().sieve32(of_series, target.bracket, inside);
    part.count.below += count.below;
    part.count.inside += count.inside;
    if (count.inside == 0) continue;
    if (target.counts_low) part.at_low += take_equal(of_series, target.bracket.low, inside);
    if (target.counts_high) part.at_high += take_equal(of_series, target.bracket.high, inside);
    const bool counts_rounded = (target.counts_low && target.bracket.low != 0) || target.counts_high;
    part.is_full |= counts_rounded && !codes.is_exact[series];
    if (target.is_point()) continue;
    if (codes.is_exact[series])
      pack(of_series, inside, part);
    else
      for_each_bit(inside, [&](uint64_t place) { keep(elements.at(series, place), part); });
  }
}

void QuantileGuess::add(const TileCodes& codes, const TileElements& elements) {
  for (size_t s = 0; s < kMostSeries; ++s) sift(codes, s, elements, piece_of(codes.number));
}

void QuantileGuess::add(const Tile& tile, uint64_t number) {
  Piece& piece = piece_of(number);
  for (size_t s = 0; s < kMostSeries; ++s) {
    for (size_t t = 0; t < targets_[s].size(); ++t) {
      const Target& target = targets_[s][t];
      Part& part = piece[s][t];
      for (const double x : tile.elements(s)) {
        const float code = code_of(x);
        part.count.below += code < target.bracket.low;
        if (!(code >= target.bracket.low && code <= target.bracket.high)) continue;
        ++part.count.inside;
        const bool is_low = target.counts_low && code == target.bracket.low;
        const bool is_high = !is_low && target.counts_high && code == target.bracket.high;
        part.at_low += is_low;
        part.at_high += is_high;
        part.is_full |= (is_low || is_high) && static_cast<double>(code) != x;
        if (!is_low && !is_high) keep(x, part);
      }
    }
  }
}

void QuantileGuess::Part::add(const Part& next) {
  count.below += next.count.below;
  count.inside += next.count.inside;
  at_low += next.at_low;
  at_high += next.at_high;
  is_full |= next.is_full;
  kept.insert(kept.end(), next.kept.begin(), next.kept.end());
  kept.insert(kept.end(), next.packed.begin(), next.packed.end());
}

// Inside a bracket come the elements of its lowest code that were counted, those that were kept, those of its highest.
std::optional<double> QuantileGuess::find(size_t series, size_t target, uint64_t count) const {
  const Target& wanted = targets_[series][target];
  Part all;
  for (const Piece& piece : pieces_) {
    if (piece[series][target].is_full) return std::nullopt;
    all.add(piece[series][target]);
  }
  const double place = wanted.quantile * (static_cast<double>(count) - 1);
  const uint64_t first = static_cast<uint64_t>(place);
  const uint64_t last = std::min(first + 1, count - 1);
  if (first < all.count.below || last >= all.count.below + all.count.inside) return std::nullopt;
  std::pair<double, double> kept;  // the numbers at the two places, if they were kept
  const uint64_t begin = all.count.below + all.at_low;
  const uint64_t end = begin + all.kept.size();
  const auto is_kept = [&](uint64_t at) { return at >= begin && at < end; };
  if (is_kept(first) || is_kept(last)) {
    kept = at_places(all.kept, std::max(first, begin) - begin, std::min(last, end - 1) - begin);
  }
  const auto at = [&](uint64_t index, double of_kept) {
    if (index < begin) return static_cast<double>(wanted.bracket.low);
    return index < end ? of_kept : static_cast<double>(wanted.bracket.high);
  };
  return interpolate(at(first, kept.first), at(last, kept.second), place - std::floor(place));
}

std::vector<std::vector<std::optional<double>>> QuantileGuess::find(uint64_t count) const {
  std::vector<std::vector<std::optional<double>>> found(kMostSeries);
  std::vector<std::pair<size_t, size_t>> all;
  for (size_t s = 0; s < kMostSeries; ++s) {
    found[s].resize(targets_[s].size());
    for (size_t t = 0; t < targets_[s].size(); ++t) all.emplace_back(s, t);
  }
  parallel_for(all.size(), 1, [&](uint64_t i, uint64_t) {
    const auto [s, t] = all[i];
    found[s][t] = find(s, t, count);
  });
  return found;
}

}  // namespace assay::compare
