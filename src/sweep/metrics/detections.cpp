#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "base/error.h"
#include "sweep/metrics/values.h"
#include "tensor/elements.h"

namespace assay::sweep {
namespace {

constexpr size_t kThresholds = 10;  // intersection over union: 0.5, 0.55, ... 0.95
constexpr size_t kMostDetections = 100;
constexpr size_t kRecalls = 101;

double threshold(size_t number) { return 0.5 + 0.05 * static_cast<double>(number); }

// Corners: x0, y0, x1, y1.
struct Box {
  std::array<double, 4> corners = {};
  int64_t kind = 0;
  double score = 0;
  bool is_crowd = false;  // of objects: many that nobody told apart; what is found in it counts neither way
};

double area(const std::array<double, 4>& c) { return std::max(0.0, c[2] - c[0]) * std::max(0.0, c[3] - c[1]); }

// The share of what both cover; of a crowd, the share of the detection that lies in it.
double overlap(const Box& a, const Box& b) {
  const std::array<double, 4> common = {std::max(a.corners[0], b.corners[0]), std::max(a.corners[1], b.corners[1]),
                                        std::min(a.corners[2], b.corners[2]), std::min(a.corners[3], b.corners[3])};
  const double shared = area(common);
  const double all = area(a.corners) + (b.is_crowd ? 0 : area(b.corners) - shared);
  return all > 0 ? shared / all : 0;
}

void mark_crowds(const tensor::NamedData& labels, std::vector<Box>& objects) {
  const tensor::Tensor* const crowds = find_tensor(labels, {"crowd"});
  if (crowds == nullptr) return;
  const std::vector<double> are = tensor::load_elements<double>(*crowds);
  if (are.size() != objects.size())
    fail(ErrorCode::usage, "map: {} marks of crowds and {} objects do not fit", are.size(), objects.size());
  for (size_t i = 0; i < objects.size(); ++i) objects[i].is_crowd = are[i] != 0;
}

std::vector<Box> boxes_of(const tensor::NamedData& data, bool has_scores) {
  const tensor::Tensor* const corners = find_tensor(data, {"box"});
  const tensor::Tensor* const kinds = find_tensor(data, {"class", "label", "categor"});
  const tensor::Tensor* const scores = has_scores ? find_tensor(data, {"score", "confidence"}) : nullptr;
  if (corners == nullptr || kinds == nullptr || (has_scores && scores == nullptr)) {
    fail(ErrorCode::usage, "map needs {} whose names hold `boxes` and `classes`{}", has_scores ? "outputs" : "labels",
         has_scores ? ", and `scores`" : "");
  }
  const std::vector<double> places = tensor::load_elements<double>(*corners);
  const std::vector<double> classes = tensor::load_elements<double>(*kinds);
  const std::vector<double> sure = scores == nullptr ? classes : tensor::load_elements<double>(*scores);
  if (places.size() != 4 * classes.size() || sure.size() != classes.size())
    fail(ErrorCode::usage, "map: {} corners, {} classes and {} scores do not fit", places.size(), classes.size(),
         sure.size());
  std::vector<Box> boxes(classes.size());
  for (size_t i = 0; i < boxes.size(); ++i) {
    std::copy_n(places.begin() + static_cast<std::ptrdiff_t>(4 * i), 4, boxes[i].corners.begin());
    boxes[i].kind = static_cast<int64_t>(classes[i]);
    boxes[i].score = sure[i];
  }
  if (!has_scores) mark_crowds(data, boxes);
  std::erase_if(boxes, [&](const Box& box) { return box.kind < 0 || (has_scores && !(box.score > 0)); });
  return boxes;
}

// Numbers of the detections of one class, the surest first, that count.
std::vector<size_t> surest(const std::vector<Box>& found, int64_t kind) {
  std::vector<size_t> order;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].kind == kind) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return found[a].score > found[b].score; });
  if (order.size() > kMostDetections) order.resize(kMostDetections);
  return order;
}

// The object that a detection is matched with: the one that it overlaps most, at a threshold at least, among those of
// its class that are free, and without one such a crowd. The number of objects: there is none.
size_t match_of(const Box& found, const std::vector<Box>& objects, const std::vector<bool>& is_taken, double least) {
  size_t match = objects.size();
  for (const bool wants_crowd : {false, true}) {
    double best = least - 1e-10;
    for (size_t o = 0; o < objects.size(); ++o) {
      if (objects[o].kind != found.kind || objects[o].is_crowd != wants_crowd || (is_taken[o] && !wants_crowd))
        continue;
      const double shared = overlap(found, objects[o]);
      if (shared < best) continue;
      best = shared;
      match = o;
    }
    if (match != objects.size()) break;
  }
  return match;
}

// Bits of a detection: one for each threshold at which it is matched with an object, then one for each at which it is
// matched with a crowd. Each object is matched once.
std::vector<uint64_t> matches(const std::vector<Box>& found, const std::vector<size_t>& order,
                              const std::vector<Box>& objects) {
  std::vector<uint64_t> bits(order.size());
  for (size_t t = 0; t < kThresholds; ++t) {
    std::vector<bool> is_taken(objects.size());
    for (size_t d = 0; d < order.size(); ++d) {
      const size_t match = match_of(found[order[d]], objects, is_taken, threshold(t));
      if (match == objects.size()) continue;
      is_taken[match] = true;
      bits[d] |= uint64_t{1} << (objects[match].is_crowd ? t + kThresholds : t);
    }
  }
  return bits;
}

struct Detection {
  double score;
  uint64_t bits;
};
struct OfClass {
  double objects = 0;
  std::vector<Detection> found;
};

// Mean of the precision at 101 recalls.
double average_precision(const OfClass& one, size_t number) {
  std::vector<double> precisions;
  std::vector<double> recalls;
  double right = 0;
  double counted = 0;
  for (const Detection& found : one.found) {
    if ((found.bits >> (number + kThresholds) & 1U) != 0) continue;
    right += static_cast<double>(found.bits >> number & 1U);
    precisions.push_back(right / ++counted);
    recalls.push_back(right / one.objects);
  }
  for (size_t i = precisions.size(); i-- > 1;) precisions[i - 1] = std::max(precisions[i - 1], precisions[i]);
  double sum = 0;
  for (size_t i = 0; i < kRecalls; ++i) {
    const double recall = static_cast<double>(i) / static_cast<double>(kRecalls - 1);
    const auto place = static_cast<size_t>(std::ranges::lower_bound(recalls, recall) - recalls.begin());
    sum += place < precisions.size() ? precisions[place] : 0;
  }
  return sum / static_cast<double>(kRecalls);
}

// Mean average precision as COCO defines it, over all sizes of objects. Boxes are corners. Rows: the number of classes
// with objects, each with its count; the detections with class, score, and bits of matches().
class MeanPrecision final : public Metric {
 public:
  std::vector<double> measure(const SampleValues& sample) const override {
    const std::vector<Box> found = boxes_of(sample.outputs, true);
    const std::vector<Box> objects = boxes_of(sample.labels, false);
    std::map<int64_t, double> counts;
    std::map<int64_t, double> kinds;
    for (const Box& box : objects) {
      if (!box.is_crowd) ++counts[box.kind];
    }
    for (const Box& box : found) ++kinds[box.kind];
    std::vector<double> row = {static_cast<double>(counts.size())};
    for (const auto& [kind, count] : counts) row.insert(row.end(), {static_cast<double>(kind), count});
    for (const auto& [kind, count] : kinds) {
      const std::vector<size_t> order = surest(found, kind);
      const std::vector<uint64_t> bits = matches(found, order, objects);
      for (size_t i = 0; i < order.size(); ++i)
        row.insert(row.end(), {static_cast<double>(kind), found[order[i]].score, static_cast<double>(bits[i])});
    }
    return row;
  }

  bool is_row(const std::vector<double>& row) const override {
    if (row.empty() || !(row[0] >= 0 && 2 * row[0] < static_cast<double>(row.size()))) return false;
    return (row.size() - 1 - 2 * static_cast<size_t>(row[0])) % 3 == 0;
  }

  double score(Rows rows) const override {
    std::map<int64_t, OfClass> classes;
    for (const std::vector<double>* row : rows) add(*row, classes);
    double sum = 0;
    double count = 0;
    for (auto& [kind, one] : classes) {
      if (one.objects == 0) continue;
      std::ranges::stable_sort(one.found, std::greater(), &Detection::score);
      for (size_t t = 0; t < kThresholds; ++t) sum += average_precision(one, t);
      count += kThresholds;
    }
    return count == 0 ? std::nan("") : sum / count;
  }

 private:
  static void add(const std::vector<double>& row, std::map<int64_t, OfClass>& classes) {
    const auto counts = static_cast<size_t>(row[0]);
    for (size_t i = 0; i < counts; ++i) classes[static_cast<int64_t>(row[1 + 2 * i])].objects += row[2 + 2 * i];
    for (size_t at = 1 + 2 * counts; at + 2 < row.size(); at += 3) {
      classes[static_cast<int64_t>(row[at])].found.push_back({row[at + 1], static_cast<uint64_t>(row[at + 2])});
    }
  }
};

}  // namespace

MetricPtr make_map() { return std::make_unique<MeanPrecision>(); }

}  // namespace assay::sweep
