#include <algorithm>

#include "ops/kernels/elements/broadcast.h"
#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kStarts{"starts", 1, 10};
constexpr ListArgument kEnds{"ends", 2, 10};
constexpr ListArgument kAxes{"axes", 3, 10};
constexpr ListArgument kSteps{"steps", 4, 10};
constexpr int64_t kFar = INT32_MAX;  // exporters write this or more for "to the end"

struct Cut {
  int64_t start = 0;
  int64_t step = 1;
  int64_t count = 0;
};

Cut cut_of(int64_t dim, int64_t start, int64_t end, int64_t step) {
  if (dim == 0) return {};
  start = start < 0 ? start + dim : start;
  end = end < 0 ? end + dim : end;
  Cut cut{0, step, 0};
  if (step > 0) {
    cut.start = std::clamp<int64_t>(start, 0, dim);
    end = std::clamp<int64_t>(end, 0, dim);
    if (cut.start < end) cut.count = (end - cut.start - 1) / step + 1;
  } else {
    cut.start = std::clamp<int64_t>(start, 0, dim - 1);
    end = std::clamp<int64_t>(end, -1, dim - 1);
    const uint64_t size = uint64_t{0} - static_cast<uint64_t>(step);
    if (cut.start > end) cut.count = static_cast<int64_t>(static_cast<uint64_t>(cut.start - end - 1) / size) + 1;
  }
  if (cut.count <= 1) cut.step = 0;  // may be too large to multiply with
  return cut;
}

bool is_at_most(const Dim& dim, int64_t limit) { return dim.is_number() && *dim.number() <= limit; }
bool is_at_least(const Dim& dim, int64_t limit) { return dim.is_number() && *dim.number() >= limit; }

// The last element on, backwards to the first.
Dim reversed_dim(const Dim& dim, const Dim& start, const Dim& end, int64_t step) {
  const bool is_whole = (start.is(-1) || is_at_least(start, kFar)) && is_at_most(end, -kFar);
  return is_whole && step > -kFar ? ceil_div(dim, -step) : Dim();
}

// The place of an end of a cut of symbolic `dim`, not below 0; it may lie beyond the dim.
Dim place_of(const Dim& dim, const Dim& at) {
  if (is_at_least(at, kFar)) return dim;
  if (is_at_most(at, -kFar)) return 0;
  if (is_at_most(at, -1)) return max(dim + at, 0);
  return at.is_non_negative() ? at : Dim();
}

Dim sliced_dim(const Dim& dim, const Dim& start, const Dim& end, const Dim& step) {
  if (!step.is_number()) return {};
  if (dim.is_number() && start.is_number() && end.is_number()) {
    return cut_of(*dim.number(), *start.number(), *end.number(), *step.number()).count;
  }
  if (is_at_most(step, 0)) return reversed_dim(dim, start, end, *step.number());
  const bool is_tail = is_at_most(start, -1) && is_at_least(start, -kFar) && is_at_least(end, kFar);
  const Dim length =
      is_tail ? min(dim, Dim(-*start.number())) : max(min(place_of(dim, end), dim) - place_of(dim, start), 0);
  return is_at_least(step, kFar) ? min(length, 1) : ceil_div(length, *step.number());
}

std::vector<int64_t> axes_or_all(std::optional<std::vector<int64_t>> axes, size_t count, int64_t rank) {
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < count; ++i) axes->push_back(static_cast<int64_t>(i));
  }
  return normalize_axes(std::move(*axes), rank);
}

void require_length(size_t length, size_t expected, std::string_view name) {
  if (length == expected) return;
  fail(ErrorCode::shape, "`{}` has {} items, `starts` has {}", name, length, expected);
}

// The lists as far as they are known; `starts` must be.
struct Lists {
  Dims starts;
  Dims ends;
  Dims steps;
};

std::optional<Lists> known_lists(const Infer& node) {
  const std::optional<Dims> starts = known_list(node, kStarts);
  const std::optional<Dims> ends = known_list(node, kEnds);
  if (!starts && !ends) return std::nullopt;
  const size_t count = starts ? starts->size() : ends->size();
  Lists lists{starts.value_or(Dims(count)), ends.value_or(Dims(count)), Dims(count, Dim(1))};
  require_length(lists.ends.size(), count, "ends");
  if (node.version() >= 10 && node.has(4)) lists.steps = known_list(node, kSteps).value_or(Dims(count));
  require_length(lists.steps.size(), count, "steps");
  for (const Dim& step : lists.steps) {
    if (step.is(0)) fail(ErrorCode::shape, "a step must not be 0");
  }
  return lists;
}

void infer_cut_elements(Infer& node, const Lists& lists, const std::vector<int64_t>& axes) {
  const std::optional<std::vector<int64_t>> from = numbers(node.dims(0));
  const std::optional<std::vector<int64_t>> starts = numbers(lists.starts);
  const std::optional<std::vector<int64_t>> ends = numbers(lists.ends);
  const std::optional<std::vector<int64_t>> steps = numbers(lists.steps);
  if (!from || !starts || !ends || !steps || !node.elements(0)) return;
  Shape to = *from;
  std::vector<int64_t> strides = row_major_strides(*from);
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<size_t>(axes[i]);
    const Cut cut = cut_of(to[a], (*starts)[i], (*ends)[i], (*steps)[i]);
    offset += cut.start * strides[a];
    strides[a] *= cut.step;
    to[a] = cut.count;
  }
  infer_moved_elements(
      node, to, [&](uint64_t place) { return static_cast<uint64_t>(offset + strided_place(place, to, strides)); });
}

void infer_slice(Infer& node) {
  const std::optional<Lists> lists = known_lists(node);
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  const bool has_axes = is_given(node, kAxes);
  const std::optional<std::vector<int64_t>> given = known_numbers(node, kAxes);
  if ((has_axes && !given) || (!has_axes && !lists)) return node.set_dims(0, Dims(dims.size()));
  const size_t count = lists ? lists->starts.size() : given->size();
  if (given) require_length(given->size(), count, "axes");
  if (count > dims.size()) fail(ErrorCode::shape, "{} axes are to be cut, the input has shape {}", count, text(dims));
  const std::vector<int64_t> axes = axes_or_all(given, count, node.rank(0));
  for (size_t i = 0; i < axes.size(); ++i) {
    Dim& dim = dims[static_cast<size_t>(axes[i])];
    dim = lists ? sliced_dim(dim, lists->starts[i], lists->ends[i], lists->steps[i]) : Dim();
  }
  if (lists) infer_cut_elements(node, *lists, axes);
  node.set_dims(0, std::move(dims));
}

void eval_slice(Eval& node) {
  const std::vector<int64_t> starts = list_of(node, kStarts);
  const std::vector<int64_t> ends = list_of(node, kEnds);
  std::vector<int64_t> steps(starts.size(), 1);
  if (node.version() >= 10 && node.has(4)) steps = list_of(node, kSteps);
  std::optional<std::vector<int64_t>> given;
  if (is_given(node, kAxes)) given = list_of(node, kAxes);
  const std::vector<int64_t> axes = axes_or_all(given, starts.size(), node.rank(0));
  std::vector<int64_t> strides = row_major_strides(node.shape(0));
  int64_t offset = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto a = static_cast<size_t>(axes[i]);
    const Cut cut = cut_of(node.shape(0)[a], starts[i], ends[i], steps[i]);
    offset += cut.start * strides[a];
    strides[a] *= cut.step;
  }
  node.set_tensor(0, copy_strided(node.tensor_in(0), node.out_shape(0), offset, strides));
}

}  // namespace

OperatorRows operator_movement_slice() {
  static constexpr Operator kRows[] = {
      {.name = "Slice",
       .traits = {Nature::movement, {.sizes = {1, 2, 3, 4}, .clamps_sizes = true}},
       .infer = infer_slice,
       .eval = eval_slice},
  };
  return kRows;
}

}  // namespace assay::ops
