#include "compare/measuring/code_ranks.h"

#include <algorithm>

namespace assay::compare {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr size_t kShort = size_t{1} << 13;  // lists that are ordered without a sieve
constexpr double kDeviations = 4.5;         // deviations that a sample's rank may be off

std::vector<float> codes_at_by_order(const CodeLists& lists, std::span<const uint64_t> places) {
  std::vector<float> codes;
  for (const std::span<const float>& list : lists) codes.insert(codes.end(), list.begin(), list.end());
  std::vector<float> found;
  auto rest = codes.begin();
  for (const uint64_t place : places) {
    const auto at = codes.begin() + static_cast<ptrdiff_t>(place);
    std::nth_element(rest, at, codes.end());
    found.push_back(*at);
    rest = at;
  }
  return found;
}

std::vector<float> every(size_t step, const CodeLists& lists) {
  std::vector<float> sample;
  size_t next = 0;  // in the list
  for (const std::span<const float>& list : lists) {
    for (; next < list.size(); next += step) sample.push_back(list[next]);
    next -= list.size();
  }
  return sample;
}

// Codes between two, both included.
struct CodeBracket {
  float low = 0;
  float high = 0;
};

// The variance of how many elements of a spot are not above the code, over what it would be if they were independent.
double likeness(const std::vector<float>& sample, size_t alike, float code) {
  const size_t spots = sample.size() / alike;
  const double share = static_cast<double>(std::ranges::count_if(sample, [&](float x) { return x <= code; })) /
                       static_cast<double>(sample.size());
  const double independent = static_cast<double>(alike) * share * (1 - share);
  if (spots < 2 || alike < 2 || independent == 0) return 1;
  double sum = 0;
  for (size_t spot = 0; spot < spots; ++spot) {
    int64_t not_above = 0;
    for (size_t i = spot * alike; i < (spot + 1) * alike; ++i) not_above += sample[i] <= code;
    const double off = static_cast<double>(not_above) - static_cast<double>(alike) * share;
    sum += off * off;
  }
  return std::max(1.0, sum / static_cast<double>(spots) / independent);
}

double likeness(const std::vector<float>& sample, size_t alike, uint64_t count, std::span<const uint64_t> places) {
  if (alike < 2 || places.empty()) return 1;
  std::vector<uint64_t> ends;
  for (const uint64_t place : {places.front(), places.back()}) {
    const double share = static_cast<double>(place) / static_cast<double>(count);
    ends.push_back(static_cast<uint64_t>(share * static_cast<double>(sample.size() - 1)));
  }
  const std::vector<float> codes = codes_at({sample}, ends);
  return std::max(likeness(sample, alike, codes[0]), likeness(sample, alike, codes[1]));
}

// Between which codes of the sample each place probably is; ascending with the places.
std::vector<CodeBracket> brackets(const std::vector<float>& sample, size_t alike, uint64_t count,
                                  std::span<const uint64_t> places) {
  const auto size = static_cast<double>(sample.size());
  const double deviations = kDeviations * std::sqrt(likeness(sample, alike, count, places));
  std::vector<double> bounds;
  for (const uint64_t place : places) {
    const double share = static_cast<double>(place) / static_cast<double>(count);
    const double margin = deviations * std::sqrt(size * share * (1 - share)) + 2;
    bounds.insert(bounds.end(), {share * size - margin, share * size + margin});
  }
  std::vector<uint64_t> inside;
  for (const double bound : bounds) inside.push_back(static_cast<uint64_t>(std::clamp(bound, 0.0, size - 1)));
  std::vector<uint64_t> ascending = inside;
  std::ranges::sort(ascending);
  ascending.erase(std::unique(ascending.begin(), ascending.end()), ascending.end());
  const std::vector<float> codes = codes_at({sample}, ascending);
  const auto code = [&](size_t i) {
    if (bounds[i] < 0) return -kInfinity;
    if (bounds[i] >= size) return kInfinity;
    return codes[static_cast<size_t>(std::ranges::lower_bound(ascending, inside[i]) - ascending.begin())];
  };
  std::vector<CodeBracket> found;
  for (size_t i = 0; i < bounds.size(); i += 2) found.push_back({code(i), code(i + 1)});
  return found;
}

std::vector<CodeBracket> merged(const std::vector<CodeBracket>& brackets) {
  std::vector<CodeBracket> apart;
  for (const CodeBracket& bracket : brackets) {
    if (apart.empty() || bracket.low > apart.back().high)
      apart.push_back(bracket);
    else
      apart.back().high = std::max(apart.back().high, bracket.high);
  }
  return apart;
}

CodeRange range_of(float low, float high) { return {code_before(low), high}; }

// For each bracket, whether its ends are the codes of many elements.
std::vector<std::pair<bool, bool>> common_ends(const std::vector<CodeBracket>& brackets,
                                               std::span<const float> sample) {
  CodeRanges ends;
  for (const auto& [low, high] : brackets) ends.all.insert(ends.all.end(), {range_of(low, low), range_of(high, high)});
  std::vector<CodeCount> counts(ends.all.size());
  std::vector<float> none;
  sift(sample, ends, counts, none);
  const auto is_common = [&](size_t end) { return counts[end].end - counts[end].below > sample.size() / 64; };
  std::vector<std::pair<bool, bool>> are_common;
  for (size_t i = 0; i < brackets.size(); ++i) are_common.emplace_back(is_common(2 * i), is_common(2 * i + 1));
  return are_common;
}

bool are_few_above(float limit, const std::vector<float>& sample) {
  const auto count = static_cast<size_t>(std::ranges::count_if(sample, [&](float x) { return x > limit; }));
  return count <= sample.size() / 5;
}

}  // namespace

CodeSieve::CodeSieve(const std::vector<float>& sample, size_t alike, uint64_t count, std::span<const uint64_t> places) {
  const std::vector<CodeBracket> around = merged(brackets(sample, alike, count, places));
  const std::vector<std::pair<bool, bool>> are_common = common_ends(around, sample);
  for (size_t i = 0; i < around.size(); ++i) add(around[i].low, around[i].high, are_common[i]);
  ranges_.has_tail = ranges_.kept > 2 && are_few_above(ranges_.all[1].below, sample);
}

void CodeSieve::add(float low, float high) {
  const bool is_kept = low != high;
  const size_t index = is_kept ? ranges_.kept++ : ranges_.all.size();
  ranges_.all.insert(ranges_.all.begin() + static_cast<ptrdiff_t>(index), range_of(low, high));
}

// The codes of many are apart.
void CodeSieve::add(float low, float high, std::pair<bool, bool> ends_are_common) {
  if (ends_are_common.first && low != high) {
    add(low, low);
    low = std::nextafter(low, kInfinity);
  }
  const bool has_high = ends_are_common.second && low != high;
  add(low, has_high ? code_before(high) : high);
  if (has_high) add(high, high);
}

std::optional<CodePlace> CodeSieve::find(uint64_t place, std::span<const CodeCount> counts) const {
  uint64_t kept = 0;
  for (size_t r = 0; r < counts.size(); ++r) {
    const bool is_kept = r < ranges_.kept;
    if (place >= counts[r].below && place < counts[r].end) {
      const uint64_t index = place - counts[r].below;
      return is_kept ? CodePlace{.is_kept = true, .index = kept + index}
                     : CodePlace{.code = ranges_.all[r].end, .index = index};
    }
    if (is_kept) kept += counts[r].end - counts[r].below;
  }
  return std::nullopt;
}

void sift(std::span<const float> codes, const CodeRanges& ranges, std::span<CodeCount> counts,
          std::vector<float>& kept) {
  const TileKernels& kernels = tile_kernels().front();
  float packed[kPackedRoom];
  for (size_t i = 0; i < codes.size(); i += kTile) {
    const std::span<const float> part = codes.subspan(i, std::min<size_t>(kTile, codes.size() - i));
    const float* from = part.data();
    float padded[kTile];
    if (part.size() < kTile) {
      std::ranges::copy(part, padded);
      std::fill(padded + part.size(), padded + kTile, std::numeric_limits<float>::quiet_NaN());
      from = padded;
    }
    const uint64_t count = kernels.sift(from, ranges, counts.data(), packed);
    kept.insert(kept.end(), packed, packed + count);
  }
}

std::vector<float> codes_at(const CodeLists& lists, std::span<const uint64_t> places) {
  size_t size = 0;
  for (const std::span<const float>& list : lists) size += list.size();
  if (size <= kShort) return codes_at_by_order(lists, places);
  const CodeSieve sieve(every(std::clamp(size / kShort, size_t{4}, size_t{16}), lists), 1, size, places);
  std::vector<CodeCount> counts(sieve.ranges().all.size());
  std::vector<float> kept;
  for (const std::span<const float>& list : lists) sift(list, sieve.ranges(), counts, kept);
  std::vector<CodePlace> found;
  std::vector<uint64_t> kept_places;
  for (const uint64_t place : places) {
    const std::optional<CodePlace> at = sieve.find(place, counts);
    if (!at || kept.size() > size / 2) return codes_at_by_order(lists, places);
    found.push_back(*at);
    if (at->is_kept) kept_places.push_back(at->index);
  }
  const std::vector<float> of_kept = codes_at({kept}, kept_places);
  std::vector<float> result;
  auto next = of_kept.begin();
  for (const CodePlace& place : found) result.push_back(place.is_kept ? *next++ : place.code);
  return result;
}

}  // namespace assay::compare
