#include "compare/measuring/selection.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "compare/measuring/sieve.h"

namespace assay::compare {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr uint64_t kSample = uint64_t{1} << 17;
constexpr uint64_t kMostKept = uint64_t{1} << 21;  // of one series
constexpr double kDeviations = 5;                  // deviations that a sample's rank may be off

// Unsigned integers in the order of the doubles.
uint64_t key_of(double x) {
  const auto bits = std::bit_cast<uint64_t>(x);
  return (bits >> 63) != 0 ? ~bits : bits | uint64_t{1} << 63;
}
double number_of(uint64_t key) { return std::bit_cast<double>((key >> 63) != 0 ? key ^ uint64_t{1} << 63 : ~key); }

// A quantile that is looked for: the elements at two neighbouring places of the sorted order, which lie in a bracket
// with `inside` elements, `below` being smaller.
struct Target {
  uint64_t first = 0;
  uint64_t last = 0;
  Bracket bracket = {-kInfinity, kInfinity};
  uint64_t below = 0;
  uint64_t inside = 0;
  bool stuck = false;  // the last pass did not make it smaller
  bool found = false;
  double low = 0;  // the answers
  double high = 0;

  void answer(double x, double y) {
    low = x;
    high = y;
    found = true;
  }
};

// Without branches, which could not be predicted.
std::vector<double> numbers_inside(const std::vector<double>& kept, const Bracket& bracket) {
  const auto is_inside = [&](double x) { return (x >= bracket.low) & (x <= bracket.high); };
  size_t count = 0;
  for (const double x : kept) count += is_inside(x);
  std::vector<double> inside(count + 1);
  count = 0;
  for (const double x : kept) {
    inside[count] = x;
    count += is_inside(x);
  }
  inside.pop_back();
  return inside;
}

constexpr uint64_t kLongList = uint64_t{1} << 15;

// Drops what a sample says is far from both places, which then are places of what is left.
void shorten(std::vector<double>& numbers, uint64_t& first, uint64_t& last) {
  const uint64_t step = numbers.size() / (kLongList / 4);
  std::vector<double> sample;
  for (uint64_t i = 0; i < numbers.size(); i += step) sample.push_back(numbers[i]);
  const auto count = static_cast<double>(sample.size());
  const double margin = kDeviations * std::sqrt(count) / 2 + 1;
  const auto at = [&](uint64_t place, double sign) {
    const double share = static_cast<double>(place) / static_cast<double>(numbers.size());
    const auto index = static_cast<ptrdiff_t>(std::clamp(share * count + sign * margin, 0.0, count - 1));
    std::nth_element(sample.begin(), sample.begin() + index, sample.end());
    return index == 0 && sign < 0                                   ? -kInfinity
           : index + 1 == static_cast<ptrdiff_t>(count) && sign > 0 ? kInfinity
                                                                    : sample[static_cast<size_t>(index)];
  };
  const Bracket bracket = {at(first, -1), at(last, 1)};
  uint64_t below = 0;
  for (const double x : numbers) below += x < bracket.low;
  std::vector<double> inside = numbers_inside(numbers, bracket);
  if (first < below || last >= below + inside.size()) return;
  numbers = std::move(inside);
  first -= below;
  last -= below;
}

// The half of a bracket, which holds the target or not.
Bracket halve(const Bracket& bracket) {
  const uint64_t low = key_of(bracket.low);
  return {bracket.low, number_of(low + (key_of(bracket.high) - low) / 2)};
}

struct Proposal {
  Bracket bracket;
  double share = 1;  // of the elements inside that it is thought to hold
};

// A narrower bracket in which the target probably lies.
Proposal propose(const Target& target, const std::vector<double>& kept) {
  if (target.stuck) return {halve(target.bracket), 1};
  std::vector<double> numbers = numbers_inside(kept, target.bracket);
  if (numbers.empty()) return {target.bracket, 1};
  const auto count = static_cast<double>(numbers.size());
  const auto place = [&](uint64_t rank, double sign) {
    const double share = static_cast<double>(rank - target.below) / static_cast<double>(target.inside);
    return share * count + sign * (kDeviations * std::sqrt(count * share * (1 - share)) + 2);
  };
  const double from = place(target.first, -1);
  const double to = place(target.last, 1);
  const auto first = static_cast<uint64_t>(std::clamp(from, 0.0, count - 1));
  const auto last = static_cast<uint64_t>(std::clamp(to, 0.0, count - 1));
  const auto [low, high] = at_places(numbers, first, last);
  const Bracket bracket = {from < 0 ? target.bracket.low : low, to >= count ? target.bracket.high : high};
  return {bracket, static_cast<double>(last - first + 1) / count};
}

// Takes over what was counted for a bracket within the target's.
void narrow(Target& target, const Bracket& bracket, const BracketCount& count) {
  const uint64_t before = target.inside;
  const uint64_t end = target.below + target.inside;
  const uint64_t bracket_end = count.below + count.inside;
  uint64_t new_end = end;
  if (target.last < count.below) {
    target.bracket.high = std::nextafter(bracket.low, -kInfinity);
    new_end = count.below;
  } else if (target.last < bracket_end) {
    target.bracket.high = bracket.high;
    new_end = bracket_end;
  }
  if (target.first >= bracket_end) {
    target.bracket.low = std::nextafter(bracket.high, kInfinity);
    target.below = bracket_end;
  } else if (target.first >= count.below) {
    target.bracket.low = bracket.low;
    target.below = count.below;
  }
  target.inside = new_end - target.below;
  target.stuck = target.inside == before;
  if (target.bracket.low == target.bracket.high) target.answer(target.bracket.low, target.bracket.low);
}

// `kept` has every element of the brackets that were proposed.
void finish(Target& target, const Bracket& bracket, const std::vector<double>& kept) {
  const bool is_inside = target.bracket.low == bracket.low && target.bracket.high == bracket.high;
  if (target.found || !is_inside) return;
  std::vector<double> numbers = numbers_inside(kept, bracket);
  const auto [low, high] = at_places(numbers, target.first - target.below, target.last - target.below);
  target.answer(low, high);
}

using Targets = std::vector<std::vector<Target>>;  // by series

// One round: proposes brackets for what is open, counts, and takes over.
void narrow_all(const TileSource& source, Targets& targets, std::vector<Sifted>& sifted) {
  std::vector<std::vector<Bracket>> brackets(targets.size());
  std::vector<double> expected(targets.size());
  parallel_for(targets.size(), 1, [&](uint64_t s, uint64_t) {
    for (const Target& target : targets[s]) {
      if (target.found) continue;
      const Proposal proposal = propose(target, sifted[s].kept);
      brackets[s].push_back(proposal.bracket);
      const bool is_point = proposal.bracket.low == proposal.bracket.high;  // counting is enough
      expected[s] += is_point ? 0 : proposal.share * static_cast<double>(target.inside);
    }
  });
  const double most = *std::ranges::max_element(expected);
  const uint64_t stride = 1 + static_cast<uint64_t>(most / kMostKept);
  sifted = sieve(source, brackets, stride);
  parallel_for(targets.size(), 1, [&](uint64_t s, uint64_t) {
    size_t next = 0;
    for (Target& target : targets[s]) {
      if (target.found) continue;
      narrow(target, brackets[s][next], sifted[s].counts[next]);
      if (stride == 1) finish(target, brackets[s][next], sifted[s].kept);
      ++next;
    }
  });
}

bool all_found(const Targets& targets) {
  return std::ranges::all_of(
      targets, [](const std::vector<Target>& of_series) { return std::ranges::all_of(of_series, &Target::found); });
}

void find(const TileSource& source, Targets& targets) {
  std::vector<bool> wanted;
  for (const std::vector<Target>& of_series : targets) wanted.push_back(!of_series.empty());
  const uint64_t stride = 1 + source.count / (2 * kSample);
  std::vector<Sifted> sifted = sample(source, wanted, stride);
  parallel_for(stride == 1 ? targets.size() : 0, 1, [&](uint64_t s, uint64_t) {
    for (Target& target : targets[s]) finish(target, target.bracket, sifted[s].kept);
  });
  while (!all_found(targets)) narrow_all(source, targets, sifted);
}

}  // namespace

std::pair<double, double> at_places(std::vector<double>& numbers, uint64_t first, uint64_t last) {
  if (numbers.size() > kLongList) shorten(numbers, first, last);
  const auto begin = numbers.begin();
  std::nth_element(begin, begin + static_cast<ptrdiff_t>(first), numbers.end());
  const double low = numbers[first];
  if (last == first) return {low, low};
  std::nth_element(begin + static_cast<ptrdiff_t>(first) + 1, begin + static_cast<ptrdiff_t>(last), numbers.end());
  return {low, numbers[last]};
}

double interpolate(double low, double high, double share) {
  if (share == 0 || low == high) return low;
  const double step = high - low;
  if (!std::isfinite(step)) return low * (1 - share) + high * share;
  return share < 0.5 ? low + step * share : high - step * (1 - share);
}

std::vector<std::vector<double>> quantiles(const TileSource& source, const std::vector<std::vector<double>>& wanted) {
  Targets targets(wanted.size());
  const auto place = [&](double quantile) { return quantile * (static_cast<double>(source.count) - 1); };
  for (size_t s = 0; s < wanted.size(); ++s) {
    for (const double quantile : wanted[s]) {
      Target target;
      target.first = std::min(static_cast<uint64_t>(place(quantile)), source.count - 1);
      target.last = std::min(target.first + 1, source.count - 1);
      target.inside = source.count;
      targets[s].push_back(target);
    }
  }
  find(source, targets);
  std::vector<std::vector<double>> results(wanted.size());
  for (size_t s = 0; s < wanted.size(); ++s) {
    for (size_t i = 0; i < wanted[s].size(); ++i) {
      const double exact = place(wanted[s][i]);
      results[s].push_back(interpolate(targets[s][i].low, targets[s][i].high, exact - std::floor(exact)));
    }
  }
  return results;
}

results::Percentiles as_percentiles(std::span<const double> found) {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  if (found.size() < std::size(kPercentiles)) return {kNan, kNan, kNan, kNan};
  return {found[0], found[1], found[2], found[3]};
}

}  // namespace assay::compare
