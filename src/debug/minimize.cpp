#include "debug/minimize.h"

#include <algorithm>
#include <bit>
#include <map>
#include <numeric>

namespace assay::debug {
namespace {

Subset joined(const Subset& a, std::span<const uint32_t> b) {
  Subset both;
  std::ranges::set_union(a, b, std::back_inserter(both));
  return both;
}

class Minimizer {
 public:
  Minimizer(SubsetJudge judge, const MinimizeOptions& options) : judge_(judge), options_(options) {}

  Subset run(uint32_t count) {
    rest_.resize(count);
    std::iota(rest_.begin(), rest_.end(), 0);
    if (options_.knows_whole_fails) known_[rest_] = Verdict::fails;
    while (!rest_.empty() && !fails(found_)) {
      if (!is_first() && take_nearest()) break;
      if (!is_first() && !fails(joined(found_, rest_))) return {};
      find_next();
    }
    if (!fails(found_)) return {};
    while (drop_one()) {
    }
    return found_;
  }

 private:
  // Tries the nearest part alone: things that fail together are often side by side.
  bool take_nearest() {
    Subset both = joined(found_, part_of(1));
    if (!fails(both)) return false;
    found_ = std::move(both);
    return true;
  }

  // The next thing that is needed: the last one of the shortest part of the rest that fails together with the others.
  void find_next() {
    size_t passing = is_first() ? 0 : 1;  // the nearest alone was tried
    size_t failing = rest_.size();
    has_passed_ = false;
    while (failing - passing > 1) narrow(passing, failing);
    const std::vector<uint32_t> part = part_of(failing);
    const uint32_t needed = is_first() ? part.back() : part.front();
    rest_ = part;
    std::erase(rest_, needed);
    found_ = joined(found_, std::span(&needed, 1));
  }

  // The first that is found is the last of a beginning; then what is nearest to it comes first.
  bool is_first() const { return found_.empty(); }
  std::vector<uint32_t> part_of(size_t size) const {
    const auto count = static_cast<std::ptrdiff_t>(size);
    return is_first() ? std::vector(rest_.begin(), rest_.begin() + count)
                      : std::vector(rest_.end() - count, rest_.end());
  }

  // Moves the bounds towards each other: `failing` always names a part that was seen to fail.
  void narrow(size_t& passing, size_t& failing) {
    const std::vector<size_t> sizes = sizes_between(passing, failing);
    std::vector<Subset> subsets;
    for (const size_t size : sizes) subsets.push_back(joined(found_, part_of(size)));
    const uint64_t left = options_.is_linear ? failing - passing : std::bit_width(failing - passing) + 1;
    const std::vector<Verdict> verdicts = judged(subsets, left);
    for (size_t i = 0; i < sizes.size(); ++i) {
      has_passed_ = verdicts[i] != Verdict::fails;
      if (has_passed_) {
        passing = sizes[i];
        continue;
      }
      failing = sizes[i];
      break;
    }
  }

  std::vector<size_t> sizes_between(size_t passing, size_t failing) const {
    const size_t count = std::min(options_.at_a_time, failing - passing - 1);
    std::vector<size_t> sizes;
    for (size_t i = 1; i <= count; ++i) {
      const size_t rounded_up = has_passed_ ? count : 0;
      sizes.push_back(options_.is_linear ? failing - 1 - count + i
                                         : passing + ((failing - passing) * i + rounded_up) / (count + 1));
    }
    if (options_.is_linear) return sizes;
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    std::erase(sizes, passing);
    return sizes;
  }

  // Leaves one thing out, if the rest still fails. Returns true if it did.
  bool drop_one() {
    for (const uint32_t candidate : found_) {
      Subset without = found_;
      std::erase(without, candidate);
      if (!fails(without)) continue;
      found_ = std::move(without);
      return true;
    }
    return false;
  }

  bool fails(const Subset& subset) { return judged({&subset, 1}, found_.size())[0] == Verdict::fails; }

  std::vector<Verdict> judged(std::span<const Subset> subsets, uint64_t remaining) {
    std::vector<Subset> unknown;
    for (const Subset& subset : subsets) {
      if (!subset.empty() && !known_.contains(subset)) unknown.push_back(subset);
    }
    if (!unknown.empty()) {
      const std::vector<Verdict> verdicts = judge_(unknown, remaining);
      for (size_t i = 0; i < unknown.size(); ++i) known_[unknown[i]] = verdicts[i];
    }
    std::vector<Verdict> all;
    for (const Subset& subset : subsets) all.push_back(subset.empty() ? Verdict::passes : known_[subset]);
    return all;
  }

  SubsetJudge judge_;
  const MinimizeOptions& options_;
  Subset found_;             // things that are needed
  Subset rest_;              // fails together with what was found
  bool has_passed_ = false;  // last verdict in this search
  std::map<Subset, Verdict> known_;
};

}  // namespace

Subset minimize(uint32_t count, SubsetJudge judge, const MinimizeOptions& options) {
  return Minimizer(judge, options).run(count);
}

}  // namespace assay::debug
