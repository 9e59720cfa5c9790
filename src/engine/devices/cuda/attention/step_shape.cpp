#include "engine/devices/cuda/attention/step_shape.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace assay::engine::cuda {
namespace {

// More would not fit into registers, beside what masks hold there.
int64_t most_taken(const StepWork& work) { return work.has_beside ? 4 : 8; }

int64_t divided_up(int64_t count, int64_t by) { return (count + by - 1) / by; }

// The least power of two that is as large.
int64_t power_for(int64_t count) {
  return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(std::max<int64_t>(count, 1))));
}

class Shapes {
 public:
  Shapes(const StepWork& work, int64_t processors)
      : work_(work), processors_(processors), most_taken_(std::min(most_taken(work), power_for(work.queries))) {}

  // Few keys are read by a block for each query, or for several where there are very many. Of more, blocks with several
  // queries read them less often, and as many blocks as the card has room for divide them.
  StepShape usual() const {
    int64_t take = 1;
    if (are_few()) {
      while (take < most_taken_ && blocks(take) > 2 * processors_) take *= 2;
      return with(take, 1);
    }
    take = most_taken_;
    while (take > 1 && 4 * blocks(take) * most_parts() < 3 * processors_) take /= 2;
    return with(take, parts_for(take));
  }

  std::vector<StepShape> all() const {
    std::vector<StepShape> found = {usual()};
    for (int64_t take = 1; take <= most_taken_; take *= 2) {
      const int64_t parts = parts_for(take);
      for (const int64_t each : {parts, std::max<int64_t>(parts / 2, 1), int64_t{1}}) {
        const StepShape shape = with(take, each);
        const bool is_new = std::ranges::find(found, shape.name(), &StepShape::name) == found.end();
        if (is_new && (each == parts || each > 1 || are_few())) found.push_back(shape);
      }
    }
    return found;
  }

 private:
  StepShape with(int64_t take, int64_t parts) const {
    StepShape shape{.lanes = power_for(divided_up(work_.size, kStepPack)),
                    .flight = work_.is_wide || take > 4 ? 2 : 4,
                    .take = take,
                    .chunks = divided_up(work_.queries, take),
                    .part_keys = divided_up(work_.keys, parts),
                    .resident = resident_for(take)};
    shape.parts = divided_up(work_.keys, shape.part_keys);
    return shape;
  }
  static int64_t resident_for(int64_t take) { return take == 1 ? 2 : 1; }
  int64_t blocks(int64_t take) const { return work_.sets * divided_up(work_.queries, take); }
  int64_t most_parts() const {
    constexpr int64_t kLeastPart = 64;
    return std::min(kMostStepParts, divided_up(work_.keys, kLeastPart));
  }
  int64_t parts_for(int64_t take) const {
    return std::clamp<int64_t>(processors_ * resident_for(take) / blocks(take), 1, most_parts());
  }
  // True if a block has them all on their way in two turns.
  bool are_few() const {
    const StepShape alone = with(1, 1);
    return work_.keys <= 2 * kStepThreads / alone.lanes * alone.flight;
  }

  const StepWork& work_;
  int64_t processors_, most_taken_;
};

}  // namespace

std::string StepShape::name() const { return fmt::format("{}/{}", take, parts); }

std::vector<StepShape> step_shapes(const StepWork& work, int64_t processors) {
  constexpr size_t kMostShapes = 8;
  std::vector<StepShape> shapes = Shapes(work, processors).all();
  if (shapes.size() > kMostShapes) shapes.resize(kMostShapes);
  return shapes;
}

}  // namespace assay::engine::cuda
