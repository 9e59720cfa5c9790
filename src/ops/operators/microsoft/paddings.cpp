#include <algorithm>
#include <cmath>

#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_removed(Infer& node) {
  node.require_rank(0, 3);
  node.require_rank(1, 1);
  node.set_dims(3, {Dim(1)});
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  if (node.is_ranked(1)) unify(dims[0], node.dims(1)[0], "batch sizes of input and counts");
  node.set_dims(0, {Dim(), dims[2]});
  node.set_dims(1, {dims[0], dims[1]});
  node.set_dims(2, {dims[0] + Dim(1)});
}

// Tokens that count, sequence by sequence, and where they and the others stood.
void eval_removed(Eval& node) {
  const auto length = static_cast<uint64_t>(node.shape(0)[1]);
  const auto width = static_cast<uint64_t>(node.shape(0)[2]);
  std::vector<int64_t> offsets;
  std::vector<int64_t> padding;
  std::vector<int64_t> ends = {0};
  int64_t longest = 0;
  for (const int64_t count : node.integers_in(1)) {
    if (count < 0 || count > static_cast<int64_t>(length))
      fail(ErrorCode::shape, "a sequence of {} tokens is said to have {}", length, count);
    const auto first = static_cast<int64_t>((ends.size() - 1) * length);
    for (int64_t t = 0; t < static_cast<int64_t>(length); ++t) (t < count ? offsets : padding).push_back(first + t);
    ends.push_back(ends.back() + count);
    longest = std::max(longest, count);
  }
  const std::vector<double> all = node.load<double>(0);
  std::vector<double> kept;
  for (const int64_t offset : offsets) {
    const auto from = all.begin() + offset * static_cast<int64_t>(width);
    kept.insert(kept.end(), from, from + static_cast<ptrdiff_t>(width));
  }
  const auto count = static_cast<int64_t>(offsets.size());
  offsets.insert(offsets.end(), padding.begin(), padding.end());
  node.store(0, {count, static_cast<int64_t>(width)}, std::move(kept));
  node.store(1, std::move(offsets));
  node.store(2, std::move(ends));
  node.store(3, std::vector<int64_t>{longest});
}

void infer_restored(Infer& node) {
  node.require_rank(0, 2);
  node.require_rank(1, 2);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  node.set_dims(0, {node.dims(1)[0], node.dims(1)[1], node.dims(0)[1]});
}

void eval_restored(Eval& node) {
  const auto width = static_cast<uint64_t>(node.shape(0)[1]);
  const std::vector<double> tokens = node.load<double>(0);
  const std::vector<int64_t> offsets = node.integers_in(1);
  const auto count = static_cast<uint64_t>(node.shape(0)[0]);
  if (count > offsets.size()) fail(ErrorCode::shape, "there are {} tokens for {} places", count, offsets.size());
  std::vector<double> all(offsets.size() * width);
  for (uint64_t t = 0; t < count; ++t) {
    if (offsets[t] < 0) fail(ErrorCode::shape, "offset {} is negative", offsets[t]);
    const uint64_t place = checked_index(offsets[t], offsets.size());
    std::copy_n(tokens.begin() + static_cast<ptrdiff_t>(t * width), width,
                all.begin() + static_cast<ptrdiff_t>(place * width));
  }
  node.store(0, std::move(all));
}

void infer_looked_up(Infer& node) {
  node.require_rank(0, 2);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  Dims dims = node.dims(1);
  dims.push_back(node.dims(0)[1]);
  node.set_dims(0, std::move(dims));
}

void eval_looked_up(Eval& node) {
  const std::vector<double> table = node.load<double>(0);
  const auto rows = static_cast<uint64_t>(node.shape(0)[0]);
  const auto width = static_cast<ptrdiff_t>(node.shape(0)[1]);
  std::vector<double> found;
  for (const int64_t index : node.integers_in(1)) {
    if (index < 0) fail(ErrorCode::shape, "index {} is negative", index);
    const auto from = table.begin() + static_cast<ptrdiff_t>(checked_index(index, rows)) * width;
    found.insert(found.end(), from, from + width);
  }
  node.store(0, std::move(found));
}

void infer_finite(Infer& node) {
  if (node.flag("isnan_only") && node.flag("isinf_only"))
    fail(ErrorCode::shape, "`isnan_only` and `isinf_only` exclude each other");
  node.set_dims(0, {});
}

void eval_finite(Eval& node) {
  const bool looks_at_nan = !node.flag("isinf_only");
  const bool looks_at_infinities = !node.flag("isnan_only");
  const auto is_found = [&](double x) {
    return (looks_at_nan && std::isnan(x)) || (looks_at_infinities && std::isinf(x));
  };
  bool is_finite = true;
  for (uint32_t i = 0; i < node.input_count(); ++i) {
    is_finite = is_finite && std::ranges::none_of(node.load<double>(i), is_found);
  }
  node.store(0, std::vector<uint64_t>{is_finite ? uint64_t{1} : uint64_t{0}});
}

}  // namespace

OperatorRows operator_microsoft_paddings() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "IsAllFinite",
       .traits = {Nature::reduction, {.rounding = RoundingClass::decided}},
       .infer = infer_finite,
       .eval = eval_finite},
      {.domain = kMicrosoft,
       .name = "RemovePadding",
       .traits = {Nature::movement, {.counts_elements = true}},
       .infer = infer_removed,
       .eval = eval_removed},
      {.domain = kMicrosoft,
       .name = "RestorePadding",
       .traits = {Nature::movement, {.range = ValueRange::first_or_zero}},
       .infer = infer_restored,
       .eval = eval_restored},
      {.domain = kMicrosoft,
       .name = "TorchEmbedding",
       .traits = {Nature::movement, {.indices = {1}}},
       .infer = infer_looked_up,
       .eval = eval_looked_up},
  };
  return kRows;
}

}  // namespace assay::ops
