#include "scene/repeats.h"

#include <algorithm>
#include <functional>

namespace assay::scene {
namespace {

constexpr match::RepeatLimits kLimits = {.least_length = 4, .least_count = 2};
constexpr size_t kLeastPair = 8;          // places of a part that occurs twice only
constexpr size_t kMostCandidates = 200;   // that are looked at, the best first
constexpr size_t kMostLooks = 4'000'000;  // at places, for all of them
constexpr size_t kMostKinds = 26;

// Short parts count where several follow each other.
bool is_worth(const match::Repeat& repeat) {
  const auto follows = [&](size_t a, size_t b) { return a + repeat.length == b; };
  const bool has_neighbours = std::ranges::adjacent_find(repeat.starts, follows) != repeat.starts.end();
  const size_t count = repeat.starts.size();
  return repeat.length < kLeastPair ? count > kLimits.least_count && has_neighbours : count >= kLimits.least_count;
}

class Chooser {
 public:
  Chooser(std::span<const uint32_t> classes, std::span<const uint32_t> living);
  std::vector<match::Repeat> run();

 private:
  struct Part {
    size_t start;
    size_t length;
    size_t saving;  // places that need not be looked at
  };

  uint64_t hash(size_t begin, size_t length) const { return sums_[begin + length] - sums_[begin] * powers_[length]; }
  bool is_free(size_t begin, size_t length) const { return taken_[begin + length] == taken_[begin]; }
  size_t best_start(const match::Repeat& repeat) const;
  std::vector<Part> parts() const;
  std::vector<size_t> occurrences(size_t start, size_t length) const;
  void count_taken();

  std::span<const uint32_t> classes_;
  std::span<const uint32_t> living_;
  std::vector<uint64_t> sums_;    // of the classes before a place, as a number in an odd base
  std::vector<uint64_t> powers_;  // of that base
  std::vector<bool> is_taken_;
  std::vector<size_t> taken_;  // places before one that are taken
};

Chooser::Chooser(std::span<const uint32_t> classes, std::span<const uint32_t> living)
    : classes_(classes), living_(living), is_taken_(classes.size(), false) {
  constexpr uint64_t kBase = 0x9e3779b97f4a7c15;
  sums_.push_back(0);
  powers_.push_back(1);
  for (const uint32_t number : classes) {
    sums_.push_back(sums_.back() * kBase + number + 1);
    powers_.push_back(powers_.back() * kBase);
  }
  count_taken();
}

void Chooser::count_taken() {
  taken_.assign(1, 0);
  for (const bool is_taken : is_taken_) taken_.push_back(taken_.back() + (is_taken ? 1 : 0));
}

// Parts that follow each other may be cut at each place of the first one, as long as none gets lost or as few values
// pass that one less is better.
size_t Chooser::best_start(const match::Repeat& repeat) const {
  const size_t first = repeat.starts.front();
  const size_t length = repeat.length;
  if (repeat.starts[1] != first + length) return first;
  size_t end = repeat.starts.back() + length;
  while (end < classes_.size() && classes_[end] == classes_[end - length]) ++end;
  const auto cost = [&](size_t start) { return std::pair(living_[start + length - 1], start); };
  size_t best = first;
  for (size_t start = first; start < first + length && start + kLimits.least_count * length <= end; ++start) {
    if (cost(start) < cost(best)) best = start;
  }
  return best;
}

std::vector<size_t> Chooser::occurrences(size_t start, size_t length) const {
  std::vector<size_t> starts;
  const uint64_t wanted = hash(start, length);
  const std::span<const uint32_t> part = classes_.subspan(start, length);
  for (size_t i = 0; i + length <= classes_.size();) {
    const bool is_same =
        hash(i, length) == wanted && is_free(i, length) && std::ranges::equal(classes_.subspan(i, length), part);
    if (is_same) starts.push_back(i);
    i += is_same ? length : 1;
  }
  return starts;
}

// Parts, cut where they should be, those first that are most of the whole.
std::vector<Chooser::Part> Chooser::parts() const {
  const std::vector<match::Repeat> candidates = match::find_repeats(classes_, kLimits);
  const size_t most = std::clamp<size_t>(kMostLooks / std::max<size_t>(classes_.size(), 1), 8, kMostCandidates);
  std::vector<Part> found;
  for (size_t i = 0; i < std::min(candidates.size(), most); ++i) {
    const size_t start = best_start(candidates[i]);
    const size_t length = candidates[i].length;
    if (length < classes_.size()) found.push_back({start, length, (occurrences(start, length).size() - 1) * length});
  }
  std::ranges::stable_sort(found, std::ranges::greater(), &Part::saving);
  return found;
}

std::vector<match::Repeat> Chooser::run() {
  std::vector<match::Repeat> chosen;
  for (const Part& part : parts()) {
    if (chosen.size() == kMostKinds) break;
    if (!is_free(part.start, part.length)) continue;
    match::Repeat repeat = {.starts = occurrences(part.start, part.length), .length = part.length};
    if (!is_worth(repeat)) continue;
    for (const size_t at : repeat.starts)
      std::fill_n(is_taken_.begin() + static_cast<ptrdiff_t>(at), part.length, true);
    count_taken();
    chosen.push_back(std::move(repeat));
  }
  return chosen;
}

}  // namespace

std::vector<match::Repeat> choose_repeats(std::span<const uint32_t> classes, std::span<const uint32_t> living) {
  return Chooser(classes, living).run();
}

}  // namespace assay::scene
