#include "match/repeats.h"

#include <algorithm>
#include <map>
#include <unordered_map>

namespace assay::match {
namespace {

constexpr size_t kMostDistances = 24;  // that are tried, the most frequent first

// Distances between the same classes, from one to the next.
std::vector<size_t> frequent_distances(std::span<const uint32_t> classes) {
  std::unordered_map<uint32_t, size_t> last;
  std::map<size_t, size_t> counts;
  for (size_t i = 0; i < classes.size(); ++i) {
    const auto [entry, is_new] = last.try_emplace(classes[i], i);
    if (!is_new) ++counts[i - entry->second];
    entry->second = i;
  }
  std::vector<std::pair<size_t, size_t>> ordered(counts.begin(), counts.end());
  std::ranges::stable_sort(ordered, std::ranges::greater(), [](const auto& item) { return item.second; });
  std::vector<size_t> distances;
  for (const auto& [distance, count] : ordered) {
    if (distances.size() < kMostDistances) distances.push_back(distance);
  }
  return distances;
}

size_t saving(const Repeat& repeat) {
  return (repeat.starts.size() - 1) * repeat.length - std::min(repeat.starts.size(), repeat.length);
}

// Occurrences at one distance from each other, as long and as many as they get.
void add_repeats(std::span<const uint32_t> classes, size_t distance, const RepeatLimits& limits,
                 std::vector<Repeat>& repeats) {
  const size_t count = classes.size();
  std::vector<size_t> same(count + 1, 0);  // number of classes from here on that equal those at the distance
  for (size_t i = count - distance; i-- > 0;) same[i] = classes[i] == classes[i + distance] ? same[i + 1] + 1 : 0;
  for (size_t i = 0; i + distance < count; ++i) {
    const bool is_first = same[i] > 0 && (i == 0 || same[i - 1] == 0);
    if (!is_first) continue;
    Repeat repeat = {.starts = {i}, .length = std::min(same[i], distance)};
    if (repeat.length < limits.least_length) continue;
    for (size_t at = i; at + distance < count && same[at] >= repeat.length; at += distance) {
      repeat.starts.push_back(at + distance);
    }
    if (repeat.starts.size() >= limits.least_count) repeats.push_back(std::move(repeat));
  }
}

}  // namespace

std::vector<Repeat> find_repeats(std::span<const uint32_t> classes, const RepeatLimits& limits) {
  std::vector<Repeat> repeats;
  for (const size_t distance : frequent_distances(classes)) {
    if (distance >= limits.least_length) add_repeats(classes, distance, limits, repeats);
  }
  std::ranges::stable_sort(repeats, std::ranges::greater(), saving);
  return repeats;
}

}  // namespace assay::match
