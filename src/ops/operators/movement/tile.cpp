#include "ops/kernels/elements/element_inference.h"
#include "ops/kernels/elements/list_argument.h"
#include "ops/kernels/movement/movement.h"
#include "ops/kernels/movement/places.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr ListArgument kRepeats{.name = "repeats", .input = 1};

int64_t whole_number(double value, std::string_view what) {
  if (!(value > -0x1p62 && value < 0x1p62)) fail(ErrorCode::shape, "{} is no {}", value, what);
  return static_cast<int64_t>(value);
}

// Version 1 repeats along one axis; both numbers are scalars of the data's type.
std::optional<Dims> old_repeats(const Infer& node) {
  const std::optional<double> tiles = node.number_of(1);
  const std::optional<double> axis = node.number_of(2);
  if (!tiles || !axis || !node.is_ranked(0)) return std::nullopt;
  Dims repeats(node.dims(0).size(), Dim(1));
  repeats[static_cast<size_t>(normalize_axis(whole_number(*axis, "axis"), node.rank(0)))] =
      whole_number(*tiles, "number of tiles");
  return repeats;
}

std::vector<AxisMap> tile_maps(std::span<const int64_t> from, std::span<const int64_t> to) {
  std::vector<AxisMap> maps(to.size());
  for (size_t a = 0; a < to.size(); ++a) {
    for (int64_t i = 0; i < to[a]; ++i) maps[a].push_back(i % from[a]);
  }
  return maps;
}

void infer_tiled_elements(Infer& node, const Dims& dims) {
  const std::optional<Elements> elements = node.elements(0);
  const std::optional<std::vector<int64_t>> to = numbers(dims);
  const std::optional<uint64_t> count = to ? tensor::element_count(*to) : std::nullopt;
  if (!elements || !count || *count == 0 || *count > 4096) return;
  const std::vector<AxisMap> maps = tile_maps(elements->shape, *to);
  infer_moved_elements(
      node, *to, [&](uint64_t place) { return static_cast<uint64_t>(mapped_place(place, elements->shape, maps)); });
}

void infer_tile(Infer& node) {
  const std::optional<Dims> repeats = node.version() < 6 ? old_repeats(node) : known_list(node, kRepeats);
  if (repeats) {
    for (const Dim& count : *repeats) {
      if (count.is_number() && *count.number() < 0)
        fail(ErrorCode::shape, "a number of repeats is negative: {}", text(*repeats));
    }
  }
  if (!node.is_ranked(0)) return;
  Dims dims = node.dims(0);
  if (!repeats) return node.set_dims(0, Dims(dims.size()));
  if (repeats->size() != dims.size()) {
    fail(ErrorCode::shape, "`repeats` has {} items, the input has shape {}", repeats->size(), text(dims));
  }
  for (size_t a = 0; a < dims.size(); ++a) dims[a] = dims[a] * (*repeats)[a];
  infer_tiled_elements(node, dims);
  node.set_dims(0, std::move(dims));
}

void eval_tile(Eval& node) {
  const Shape to = node.out_shape(0);
  if (node.out_count(0) == 0) return node.set_tensor(0, MoveTo(node.tensor_in(0).dtype(), to).finish());
  node.set_tensor(0, move_by_maps(node.tensor_in(0), tile_maps(node.shape(0), to), nullptr));
}

}  // namespace

OperatorRows operator_movement_tile() {
  static constexpr Operator kRows[] = {
      {.name = "Tile", .traits = {Nature::movement, {.sizes = {1}}}, .infer = infer_tile, .eval = eval_tile},
  };
  return kRows;
}

}  // namespace assay::ops
