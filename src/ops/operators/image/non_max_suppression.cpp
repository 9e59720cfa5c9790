#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/parallel.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void infer_suppression(Infer& node) {
  node.require_rank(0, 3);
  node.require_rank(1, 3);
  if (node.is_ranked(0)) unify(node.dims(0)[2], 4, "the numbers of a box and 4");
  if (node.is_ranked(0) && node.is_ranked(1)) {
    unify(node.dims(0)[0], node.dims(1)[0], "batch sizes of boxes and scores");
    unify(node.dims(0)[1], node.dims(1)[2], "numbers of boxes and of scores");
  }
  const int64_t center = node.integer("center_point_box");
  if (center != 0 && center != 1) fail(ErrorCode::shape, "attribute `center_point_box` is {}, expected 0 or 1", center);
  const std::optional<double> threshold = node.number_of(3);
  if (threshold && !(*threshold >= 0 && *threshold <= 1)) {
    fail(ErrorCode::shape, "iou_threshold is {}, expected 0 to 1", *threshold);
  }
  node.set_dims(0, {Dim(), 3});
}

// By its borders along both axes.
struct Box {
  double low[2], high[2];

  Box(const double* numbers, bool has_center) {
    for (int i = 0; i < 2; ++i) {
      const double half = numbers[i + 2] / 2;
      const double a = has_center ? numbers[i] - half : numbers[i];
      const double b = has_center ? numbers[i] + half : numbers[i + 2];
      low[i] = std::min(a, b);
      high[i] = std::max(a, b);
    }
  }
  double area() const { return (high[0] - low[0]) * (high[1] - low[1]); }
};

// True if the common part of two boxes is more than `threshold` of what they cover together.
bool overlap(const Box& a, const Box& b, double threshold) {
  double common = 1;
  for (int i = 0; i < 2; ++i) {
    const double length = std::min(a.high[i], b.high[i]) - std::max(a.low[i], b.low[i]);
    if (!(length > 0)) return false;
    common *= length;
  }
  if (a.area() <= 0 || b.area() <= 0) return false;
  return common / (a.area() + b.area() - common) > threshold;
}

constexpr uint64_t kLeastBoxes = 2000;  // that are worth a thread

struct Limits {
  int64_t most;
  double overlap;
  double score;  // must be exceeded, if there is one
  bool has_score;
};

// Boxes by where they begin along the first axis, so that few have to be held against another one.
class KeptBoxes {
 public:
  void add(const Box& box) {
    if (!(box.high[0] > box.low[0])) return;  // overlaps with none
    longest_ = std::max(longest_, box.high[0] - box.low[0]);
    boxes_.insert(std::ranges::upper_bound(boxes_, box.low[0], {}, begin_of), box);
  }
  bool has_overlap(const Box& box, double threshold) const {
    constexpr double kRoundoff = 1e-15;
    const double first = box.low[0] - longest_ - kRoundoff * (std::fabs(box.low[0]) + longest_);
    auto at = std::ranges::lower_bound(boxes_, box.high[0], {}, begin_of);
    while (at != boxes_.begin() && !((--at)->low[0] < first)) {
      if (overlap(box, *at, threshold)) return true;
    }
    return false;
  }

 private:
  static double begin_of(const Box& box) { return box.low[0]; }
  std::vector<Box> boxes_;
  double longest_ = 0;
};

// Indices of the boxes of one class that are kept, best first; of equal scores the first.
std::vector<int64_t> select(std::span<const double> scores, const std::vector<Box>& boxes, const Limits& limits) {
  struct Candidate {
    double rank;
    int64_t index;
  };
  std::vector<Candidate> open;  // a heap, the best on top
  for (size_t i = 0; i < scores.size(); ++i) {
    if (limits.has_score && !(scores[i] > limits.score)) continue;
    const double rank = std::isnan(scores[i]) ? -std::numeric_limits<double>::infinity() : scores[i];
    open.push_back({rank, static_cast<int64_t>(i)});
  }
  const auto comes_later = [](const Candidate& a, const Candidate& b) {
    return a.rank < b.rank || (a.rank == b.rank && a.index > b.index);
  };
  std::ranges::make_heap(open, comes_later);
  std::vector<int64_t> kept;
  KeptBoxes kept_boxes;
  while (!open.empty() && static_cast<int64_t>(kept.size()) < limits.most) {
    std::ranges::pop_heap(open, comes_later);
    const int64_t index = open.back().index;
    open.pop_back();
    const Box& box = boxes[static_cast<size_t>(index)];
    if (kept_boxes.has_overlap(box, limits.overlap)) continue;
    kept_boxes.add(box);
    kept.push_back(index);
  }
  return kept;
}

void eval_suppression(Eval& node) {
  const Limits limits{node.scalar<int64_t>(2, 0), node.scalar<double>(3, 0), node.scalar<double>(4, 0), node.has(4)};
  const std::vector<double> numbers = node.load<double>(0);
  const std::vector<double> scores = node.load<double>(1);
  const Shape& shape = node.shape(1);
  const auto count = static_cast<size_t>(shape[2]);
  const bool has_center = node.flag("center_point_box");
  std::vector<std::vector<Box>> boxes(static_cast<size_t>(shape[0]));
  for (size_t i = 0; i < boxes.size() * count; ++i) boxes[i / count].emplace_back(numbers.data() + i * 4, has_center);
  const auto classes = static_cast<uint64_t>(shape[1]);
  std::vector<std::vector<int64_t>> kept(boxes.size() * classes);
  parallel_for(kept.size(), kLeastBoxes / (count + 1) + 1, [&](uint64_t begin, uint64_t end) {
    for (uint64_t i = begin; i < end; ++i)
      kept[i] = select(std::span(scores).subspan(i * count, count), boxes[i / classes], limits);
  });
  std::vector<int64_t> selected;
  for (uint64_t i = 0; i < kept.size(); ++i) {
    for (const int64_t index : kept[i])
      selected.insert(selected.end(), {static_cast<int64_t>(i / classes), static_cast<int64_t>(i % classes), index});
  }
  const auto rows = static_cast<int64_t>(selected.size() / 3);
  node.store(0, {rows, 3}, std::move(selected));
}

// Each box of a class may have to be held against all that are kept.
Dim work_of_suppression(const Infer& node) {
  if (!node.is_ranked(1)) return {};
  const int64_t most = node.has(2) ? node.integer_of(2).value_or(0) : 0;
  return product(node.dims(1)) * min(node.dims(1)[2], std::max<int64_t>(most, 0));
}

}  // namespace

OperatorRows operator_image_non_max_suppression() {
  static constexpr Operator kRows[] = {
      {.name = "NonMaxSuppression",
       .since = 10,
       .traits = {Nature::selection, {.counts_elements = true, .places = {0}}},
       .infer = infer_suppression,
       .eval = eval_suppression,
       .work = work_of_suppression},
  };
  return kRows;
}

}  // namespace assay::ops
