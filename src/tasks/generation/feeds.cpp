#include "tasks/generation/feeds.h"

#include <algorithm>

#include "base/check.h"
#include "base/error.h"
#include "base/text.h"
#include "tasks/generation/masks.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

using analysis::StepInput;
using tensor::Tensor;

// Lists along the last dim.
uint64_t lists_of(const Tensor& tensor) {
  const uint64_t length = tensor.shape().empty() ? 1 : static_cast<uint64_t>(tensor.shape().back());
  return length == 0 ? 0 : tensor.count() / length;
}

// One more element behind each list of the last dim, or, `only`, that element alone.
template <typename Next>
Tensor extended(const Tensor& tensor, bool only, Next&& next) {
  const std::vector<double> old = tensor::load_elements<double>(tensor);
  const uint64_t lists = lists_of(tensor);
  const uint64_t length = lists == 0 ? 0 : old.size() / lists;
  std::vector<double> numbers;
  for (uint64_t list = 0; list < lists; ++list) {
    const auto begin = old.begin() + static_cast<std::ptrdiff_t>(list * length);
    if (!only) numbers.insert(numbers.end(), begin, begin + static_cast<std::ptrdiff_t>(length));
    numbers.push_back(next(list, *(begin + static_cast<std::ptrdiff_t>(length) - 1)));
  }
  tensor::Shape shape = tensor.shape();
  if (!shape.empty()) shape.back() = only ? 1 : shape.back() + 1;
  return make_numbers(tensor.dtype(), std::move(shape), numbers);
}

// Each list with another element at one place.
template <typename Next>
Tensor replaced(const Tensor& tensor, uint64_t place, Next&& next) {
  std::vector<double> numbers = tensor::load_elements<double>(tensor);
  const uint64_t lists = lists_of(tensor);
  const uint64_t length = lists == 0 ? 0 : numbers.size() / lists;
  for (uint64_t list = 0; list < lists && place < length; ++list) numbers[list * length + place] = next(list);
  return make_numbers(tensor.dtype(), tensor.shape(), numbers);
}

Tensor filled(const Tensor& like, double number) {
  return make_numbers(like.dtype(), like.shape(), std::vector<double>(like.count(), number));
}

tensor::Datum& datum_of(tensor::NamedData& data, const std::string& name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  ASSAY_CHECK(found != data.end());
  return found->value;
}

}  // namespace

tensor::Tensor make_numbers(tensor::DType dtype, tensor::Shape shape, const std::vector<double>& elements) {
  std::vector<std::byte> bytes(*tensor::packed_bytes(dtype, elements.size()));
  tensor::store(dtype, std::span(elements), 0, bytes);
  return Tensor(dtype, std::move(shape), tensor::make_owned(std::move(bytes)));
}

const tensor::Datum* find_datum(const tensor::NamedData& data, std::string_view name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  return found == data.end() ? nullptr : &found->value;
}

StepFeeds::StepFeeds(const analysis::FeedRules& rules, tensor::NamedData prompt, uint64_t tokens)
    : rules_(&rules), feeds_(std::move(prompt)) {
  const tensor::Shape& ids = find_datum(feeds_, rules.ids)->tensor().shape();
  rows_ = ids.size() == 1 ? 1 : static_cast<uint64_t>(ids.front());
  now_ = rules.room > 0 ? tokens : static_cast<uint64_t>(ids.back());
  for (const analysis::CacheFeed& cache : rules.caches) {
    if (!cache.grows || !rules.opened.empty()) continue;
    past_ = static_cast<uint64_t>(find_datum(feeds_, cache.input)->tensor().shape()[*cache.axis]);
    break;
  }
  for (const StepInput& input : rules.inputs) {
    const Tensor& given = find_datum(feeds_, input.name)->tensor();
    if (input.kind == StepInput::Kind::past_length && given.count() > 0)
      past_ = static_cast<uint64_t>(tensor::load_elements<double>(given).front());
  }
}

std::optional<uint64_t> StepFeeds::last_place() const {
  return rules_->room > 0 ? std::optional(now_ - 1) : std::nullopt;
}

void StepFeeds::advance(const tensor::NamedData& outputs, std::span<const int64_t> tokens) {
  feed_tokens(tokens);
  feed_caches(outputs);
  if (rules_->grows) {
    ++now_;
  } else {
    past_ += now_;
    now_ = 1;
  }
  for (const StepInput& input : rules_->inputs) feed_input(input);
}

void StepFeeds::feed_tokens(std::span<const int64_t> tokens) {
  tensor::Datum& ids = datum_of(feeds_, rules_->ids);
  const auto token = [&](uint64_t row, double = 0) { return static_cast<double>(tokens[row]); };
  if (rules_->room > 0)
    ids = replaced(ids.tensor(), now_, token);
  else
    ids = extended(ids.tensor(), !rules_->grows, token);
}

// Inputs that are no caches keep what the model of the prompt gave.
void StepFeeds::feed_opened(const tensor::NamedData& outputs) {
  for (const auto& [output, input] : rules_->opened) {
    const tensor::Datum* made = find_datum(outputs, output);
    if (made != nullptr && find_datum(feeds_, input) == nullptr) feeds_.push_back({input, *made});
  }
}

// A cache that a step leaves empty, as of an encoder's values that were computed before, stays as it is.
void StepFeeds::feed_caches(const tensor::NamedData& outputs) {
  if (past_ == 0) feed_opened(outputs);
  for (const analysis::CacheFeed& cache : rules_->caches) {
    const tensor::Datum* made = find_datum(outputs, cache.output);
    if (made == nullptr) fail(ErrorCode::backend, "output `{}` was not given", printable(cache.output));
    if (find_datum(feeds_, cache.input) == nullptr) {
      feeds_.push_back({cache.input, *made});
      continue;
    }
    tensor::Datum& datum = datum_of(feeds_, cache.input);
    const bool is_empty = made->is_tensor() && made->tensor().count() == 0;
    if (!is_empty || datum.tensor().count() == 0) datum = *made;
  }
}

Tensor StepFeeds::next_causal_mask(const StepInput& input, const Tensor& old) const {
  if (rules_->room > 0) return filled_mask(old, now_ - 1);
  if (rules_->grows) return grown_mask(old);
  return input.room > 0 ? next_mask_row(old, past_ + now_ - 1) : next_mask_row(old);
}

void StepFeeds::feed_input(const StepInput& input) {
  tensor::Datum& datum = datum_of(feeds_, input.name);
  const Tensor old = datum.tensor();
  const auto one = [seen = mask_numbers(old).seen](uint64_t, double = 0) { return seen; };
  const auto next = [](uint64_t, double last) { return last + 1; };
  const auto same = [](uint64_t, double last) { return last; };
  const auto total = static_cast<double>(past_ + now_);
  switch (input.kind) {
    case StepInput::Kind::mask:
      datum = input.room > 0 ? replaced(old, past_ + now_ - 1, one) : extended(old, false, one);
      break;
    case StepInput::Kind::step_mask:
      datum = extended(old, true, one);
      break;
    case StepInput::Kind::causal_mask:
      datum = next_causal_mask(input, old);
      break;
    case StepInput::Kind::positions:
      if (input.room < 0) datum = extended(old, !rules_->grows, next);
      break;
    case StepInput::Kind::segments:
      if (input.room < 0) datum = extended(old, !rules_->grows, same);
      break;
    case StepInput::Kind::past_length:
      datum = filled(old, static_cast<double>(past_));
      break;
    case StepInput::Kind::total_length:
      datum = filled(old, total);
      break;
    case StepInput::Kind::last_position:
      datum = filled(old, total - 1);
      break;
    case StepInput::Kind::flag:
      datum = filled(old, 1);
      break;
  }
}

}  // namespace assay::tasks
