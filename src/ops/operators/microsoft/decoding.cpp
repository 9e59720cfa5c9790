#include <algorithm>
#include <array>

#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Step : uint8_t { both, row, column };

void infer_path(Infer& node) {
  node.set_dtype(0, DType::int32);
  node.set_dims(0, {Dim(2), Dim()});
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  const bool fits = dims.size() == 2 || (dims.size() == 3 && (!dims[0].is_number() || dims[0].is(1)));
  if (!fits) fail(ErrorCode::shape, "costs must have the shape [M, N] or [1, M, N], it is {}", text(dims));
}

// The cheapest way from the first corner to the last, by steps of one row, one column, or both; where two are alike,
// a step along a row is taken.
void eval_path(Eval& node) {
  const Shape& shape = node.shape(0);
  const auto rows = static_cast<uint64_t>(shape[shape.size() - 2]);
  const auto columns = static_cast<uint64_t>(shape.back());
  if (rows == 0 || columns == 0) fail(ErrorCode::shape, "there are no costs");
  const std::vector<double> costs = node.load<double>(0);
  std::vector<double> least(rows * columns);
  std::vector<Step> steps(rows * columns, Step::column);
  for (uint64_t i = 0; i < least.size(); ++i) {
    const uint64_t r = i / columns;
    const uint64_t c = i % columns;
    if (r > 0 && c == 0) steps[i] = Step::row;
    if (r > 0 && c > 0) {
      const double both = least[i - columns - 1];
      const double row = least[i - columns];
      const double column = least[i - 1];
      if (both < row && both < column)
        steps[i] = Step::both;
      else if (row < both && row < column)
        steps[i] = Step::row;
    }
    const uint64_t from = steps[i] == Step::both ? columns + 1 : steps[i] == Step::row ? columns : 1;
    least[i] = static_cast<double>(static_cast<float>(costs[i] + (i == 0 ? 0 : least[i - from])));
  }
  std::array<std::vector<int64_t>, 2> path;
  for (uint64_t i = least.size() - 1;;) {
    path[0].push_back(static_cast<int64_t>(i / columns));
    path[1].push_back(static_cast<int64_t>(i % columns));
    if (i == 0) break;
    i -= steps[i] == Step::both ? columns + 1 : steps[i] == Step::row ? columns : 1;
  }
  const auto length = static_cast<int64_t>(path[0].size());
  std::vector<int64_t> all(path[0].rbegin(), path[0].rend());
  all.insert(all.end(), path[1].rbegin(), path[1].rend());
  node.store(0, {2, length}, std::move(all));
}

void infer_merged(Infer& node) {
  for (const uint32_t input : {0U, 1U, 3U}) node.require_rank(input, 1);
  const int64_t least = node.integer("min_ngram_size");
  const int64_t most = node.integer("max_ngram_size");
  if (least < 1 || most < least)
    fail(ErrorCode::shape, "`min_ngram_size` {} and `max_ngram_size` {} are no range", least, most);
  if (node.is_ranked(3) && node.is_ranked(0)) {
    // A token more than there is behind the match.
    const Dims& predicted = node.dims(3);
    if (predicted[0].is(0)) fail(ErrorCode::shape, "there are no predicted tokens");
  }
  node.set_dims(0, {Dim()});
  node.set_dims(1, {});
}

// Tokens that were guessed from a source are kept up to the first that differs from it, and that one; then the last
// tokens are looked for in the source: where they stand once, guessing goes on behind them.
void eval_merged(Eval& node) {
  const std::vector<int64_t> source = node.integers_in(0);
  std::vector<int64_t> tokens = node.integers_in(1);
  const int64_t match = node.scalar<int64_t>(2, 0);
  if (node.has(3)) {
    const std::vector<int64_t> guessed = node.integers_in(3);
    if (match < 0 || static_cast<uint64_t>(match) > source.size())
      fail(ErrorCode::shape, "the match begins at {} of {} tokens", match, source.size());
    if (guessed.size() != source.size() + 1 - static_cast<uint64_t>(match))
      fail(ErrorCode::shape, "{} tokens are predicted, expected {}", guessed.size(),
           source.size() + 1 - static_cast<uint64_t>(match));
    uint64_t same = 0;
    while (same + 1 < guessed.size() && guessed[same] == source[static_cast<uint64_t>(match) + same]) ++same;
    tokens.insert(tokens.end(), guessed.begin(), guessed.begin() + static_cast<ptrdiff_t>(same) + 1);
  }
  int64_t place = -1;
  const auto least = static_cast<uint64_t>(node.integer("min_ngram_size"));
  const auto most = static_cast<uint64_t>(node.integer("max_ngram_size"));
  for (uint64_t size = least; size <= std::min<uint64_t>(most, tokens.size()); ++size) {
    const auto begin = tokens.end() - static_cast<ptrdiff_t>(size);
    const auto first = std::search(source.begin(), source.end(), begin, tokens.end());
    if (first == source.end()) break;
    place = static_cast<int64_t>(first - source.begin()) + static_cast<int64_t>(size);
    const bool is_last = place >= static_cast<int64_t>(source.size());
    const auto again = std::search(first + 1, source.end(), begin, tokens.end());
    if (is_last || again == source.end()) break;
    place = -1;
  }
  const auto count = static_cast<int64_t>(tokens.size());
  node.store(0, {count}, std::move(tokens));
  node.store(1, std::vector<int64_t>{place});
}

}  // namespace

OperatorRows operator_microsoft_decoding() {
  static constexpr Operator kRows[] = {
      {.domain = kMicrosoft,
       .name = "BifurcationDetector",
       .traits = {Nature::text, {.counts_elements = true}},
       .infer = infer_merged,
       .eval = eval_merged},
      {.domain = kMicrosoft,
       .name = "DynamicTimeWarping",
       .traits = {Nature::selection, {.counts_elements = true}},
       .infer = infer_path,
       .eval = eval_path},
  };
  return kRows;
}

}  // namespace assay::ops
