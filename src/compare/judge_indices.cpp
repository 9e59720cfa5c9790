#include <algorithm>
#include <span>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "compare/judge.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::compare {
namespace {

constexpr size_t kMostNotes = 10;

// Notes of faults, the first few in words.
class Notes {
 public:
  template <typename Make>
  void add(Make make) {
    if (count_++ < kMostNotes) lines_.push_back(make());
  }
  bool empty() const { return count_ == 0; }
  std::vector<std::string> lines() && {
    if (count_ > kMostNotes) lines_.push_back(fmt::format("... and {} more", count_ - kMostNotes));
    return std::move(lines_);
  }

 private:
  size_t count_ = 0;
  std::vector<std::string> lines_;
};

// NaN is found nowhere, as in the peer.
template <typename T>
class ListMatcher {
 public:
  ListMatcher(int64_t tolerance, Notes& notes) : tolerance_(static_cast<uint64_t>(tolerance)), notes_(&notes) {}

  void match(std::span<const T> a, std::span<const T> b) {
    first_places_.clear();
    const size_t checked = a.size() - std::min<size_t>(a.size(), tolerance_);
    for (size_t i = 0; i < checked; ++i) {
      if (a[i] == b[i]) continue;
      if (first_places_.empty()) remember(b);
      check(a[i], i);
    }
  }

 private:
  void remember(std::span<const T> b) {
    for (size_t i = 0; i < b.size(); ++i) first_places_.emplace(b[i], i);
  }

  void check(const T& value, size_t place) {
    const auto found = first_places_.find(value);
    if (found == first_places_.end()) {
      notes_->add([&] { return fmt::format("Value: {} not found in output", text(value)); });
      return;
    }
    const size_t distance = found->second > place ? found->second - place : place - found->second;
    if (distance <= tolerance_) return;
    notes_->add([&] {
      return fmt::format("Difference exceeds index tolerance ({}): value {} is at {} and at {}", tolerance_,
                         text(value), place, found->second);
    });
  }

  static std::string text(const T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      return printable(value);
    } else {
      return fmt::format("{}", value);
    }
  }

  uint64_t tolerance_;
  Notes* notes_;
  std::unordered_map<T, size_t> first_places_;
};

template <typename T>
void match_lists(const tensor::Tensor& a, const tensor::Tensor& b, ListMatcher<T> matcher) {
  const std::vector<T> values_a = tensor::load_elements<T>(a);
  const std::vector<T> values_b = tensor::load_elements<T>(b);
  const size_t length = a.shape().empty() ? 1 : static_cast<size_t>(a.shape().back());
  for (size_t begin = 0; begin < values_a.size(); begin += length) {
    matcher.match(std::span(values_a).subspan(begin, length), std::span(values_b).subspan(begin, length));
  }
}

bool is_unsigned(const tensor::Tensor& tensor) {
  const tensor::DTypeKind kind = tensor::kind(tensor.dtype());
  return kind == tensor::DTypeKind::unsigned_integer || kind == tensor::DTypeKind::boolean;
}
bool is_signed(const tensor::Tensor& tensor) {
  return tensor::kind(tensor.dtype()) == tensor::DTypeKind::signed_integer;
}

}  // namespace

results::Judgement judge_indices(const tensor::Tensor& a, const tensor::Tensor& b, int64_t tolerance) {
  if (a.shape() != b.shape()) fail(ErrorCode::shape, "lists of indices have different shapes");
  if (tolerance < 0) fail(ErrorCode::usage, "an index tolerance of {} is below 0", tolerance);
  Notes notes;
  if (a.dtype() == tensor::DType::string && b.dtype() == tensor::DType::string) {
    match_lists<std::string>(a, b, {tolerance, notes});
  } else if (is_signed(a) && is_signed(b)) {
    match_lists<int64_t>(a, b, {tolerance, notes});
  } else if (is_unsigned(a) && is_unsigned(b)) {
    match_lists<uint64_t>(a, b, {tolerance, notes});
  } else {
    match_lists<double>(a, b, {tolerance, notes});
  }
  results::Judgement judgement;
  judgement.function = "indices";
  judgement.bound = static_cast<double>(tolerance);
  judgement.passed = notes.empty();
  judgement.notes = std::move(notes).lines();
  return judgement;
}

}  // namespace assay::compare
