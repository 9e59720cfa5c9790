#include "engine/devices/cuda/tiles/tile_shapes.h"

#include <algorithm>
#include <array>
#include <span>

#include "engine/devices/cuda/tiles/tile_stream.h"

namespace assay::engine::cuda {
int64_t bytes_of(const TileProduct& product) { return tensor::bit_width(product.type) / 8; }
bool is_float8(const TileProduct& product) { return product.type == tensor::DType::float8e4m3fn; }
bool is_float(const TileProduct& product) { return product.type == tensor::DType::float32; }
// Without tensor cores.
bool is_plain(const TileProduct& product, int tf32_products) { return is_float(product) && tf32_products == 0; }

bool packs(const TileProduct& product, const TileOperand& operand) {
  const int64_t pack = kPackBytes / bytes_of(product);
  const auto is_even = [&](int64_t stride) { return stride % pack == 0; };
  return operand.depth == 1 && is_even(operand.along) && is_even(product.depth) &&
         operand.pointer.offset % kPackBytes == 0 && std::ranges::all_of(operand.items, is_even);
}

bool left_packs(const TileProduct& product) {
  if (!product.windows) return packs(product, product.left);
  const int64_t pack = kPackBytes / bytes_of(product);
  return product.windows->channels / product.windows->groups % pack == 0 && product.pixel % pack == 0;
}

// The cost of a step besides its products is shared by more bytes where tiles are small.
int64_t step_bytes(const TileProduct& product, const TileShape& shape) {
  constexpr int64_t kNarrow = 64, kUsual = 128, kWide = 256;
  constexpr int kSmall = 64;  // rows and columns together
  const int64_t depth = product.depth * bytes_of(product);
  if (is_plain(product, shape.tf32_products) || depth <= kNarrow) return kNarrow;
  const int64_t together =
      product.windows ? product.windows->channels / product.windows->groups * bytes_of(product) : depth;
  const bool is_deep = depth >= 2 * kWide && together % kWide == 0;
  return is_deep && shape.rows + shape.columns <= kSmall ? kWide : kUsual;
}

// Enough turns for two blocks to fit beside each other.
int stages_of(const TileProduct& product, const TileShape& shape) {
  constexpr int64_t kHalf = 100 << 10;
  const int64_t stage = (shape.rows + shape.columns) * step_bytes(product, shape);
  return static_cast<int>(std::clamp<int64_t>(kHalf / stage, 2, 4));
}

namespace {

constexpr size_t kMostForms = 4;  // of one kind among the first choices

struct Form {
  int rows, columns, warp_rows, warp_columns;
};
// Largest first.
constexpr std::array kForms = {Form{128, 128, 2, 4}, Form{128, 64, 4, 2}, Form{64, 64, 2, 2},
                               Form{32, 64, 2, 2},   Form{32, 32, 2, 2},  Form{16, 64, 1, 4}};
constexpr std::array kFloatForms = {Form{128, 128, 2, 4}, Form{128, 64, 2, 4}, Form{64, 64, 2, 4}, Form{32, 32, 1, 4}};

int64_t blocks_of(const TileProduct& product, const Form& form) {
  return ((product.rows + form.rows - 1) / form.rows) * ((product.columns + form.columns - 1) / form.columns) *
         product.item_count();
}

TileShape split(const TileProduct& product, const Form& form, int tf32_products, int processors) {
  constexpr int64_t kLeastSteps = 2;  // of a part
  constexpr int64_t kMostSplits = 16;
  TileShape shape{form.rows, form.columns, form.warp_rows, form.warp_columns, 1, tf32_products};
  const int64_t step_depth = step_bytes(product, shape) / bytes_of(product);
  const int64_t steps = (product.depth + step_depth - 1) / step_depth;
  const int64_t wanted = std::min({processors / blocks_of(product, form), steps / kLeastSteps, kMostSplits});
  shape.splits = static_cast<int>(std::max<int64_t>(wanted, 1));
  return shape;
}

std::vector<TileShape> shapes_of(const TileProduct& product, int tf32_products, int processors) {
  const bool has_plain_forms = is_plain(product, tf32_products);
  const std::span<const Form> forms = has_plain_forms ? std::span<const Form>(kFloatForms) : kForms;
  // The largest tiles that give each processor one, and those around them; without such, the smallest.
  const auto blocks = [&](const Form& form) { return blocks_of(product, form); };
  const auto fits = [&](const Form& form) {
    const bool is_wasteful = form.rows >= 2 * std::max<int64_t>(product.rows, 16) ||
                             form.columns >= 2 * std::max<int64_t>(product.columns, 32);
    return blocks(form) >= processors && !is_wasteful;
  };
  auto best = std::ranges::find_if(forms, fits);
  if (best == forms.end()) best = std::ranges::max_element(forms, {}, blocks);
  std::vector<TileShape> shapes = {split(product, *best, tf32_products, processors)};
  for (auto other = best; other != forms.end() && shapes.size() < kMostForms; ++other) {
    if (other != best) shapes.push_back(split(product, *other, tf32_products, processors));
  }
  if (best != forms.begin() && shapes.size() < kMostForms)
    shapes.push_back(split(product, *(best - 1), tf32_products, processors));
  return shapes;
}

}  // namespace

std::vector<TileShape> tile_shapes(const TileProduct& product, FloatProducts permitted, const Card& card) {
  const int processors = card.multiprocessors();
  const int tf32 = permitted == FloatProducts::tf32 && is_float(product) ? 1 : 0;
  std::vector<TileShape> streamed = stream_shapes(product, tf32 != 0, card);
  if (!streamed.empty()) {
    const size_t tried = std::min(streamed.size(), kMostForms);
    streamed.insert(streamed.begin() + static_cast<ptrdiff_t>(tried), shapes_of(product, tf32, processors).front());
    return streamed;
  }
  if (!is_float(product) || permitted == FloatProducts::exact) return shapes_of(product, 0, processors);
  std::vector<TileShape> shapes = shapes_of(product, permitted == FloatProducts::tf32 ? 1 : 3, processors);
  std::vector<TileShape> exact = shapes_of(product, 0, processors);
  constexpr int64_t kManyProducts = int64_t{1} << 31;  // from here on, three on tensor cores are faster than one
  const bool is_large = product.item_count() * product.rows * product.columns * product.depth >= kManyProducts;
  if (permitted == FloatProducts::nearly_exact && !is_large) std::swap(shapes, exact);
  shapes.insert(shapes.end(), exact.begin(), exact.end());
  return shapes;
}

}  // namespace assay::engine::cuda
