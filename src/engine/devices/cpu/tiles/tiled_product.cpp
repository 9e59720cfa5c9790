#include "engine/devices/cpu/tiles/tiled_product.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/followers.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kPartDepth = 768;                       // of constants that are read again for each tile
constexpr int64_t kBlockBytes = int64_t{400} * 1024;      // of the rows that are read again for each panel
constexpr int64_t kMostPlaces = 4096;                     // of a piece, on the stack
constexpr int64_t kPieceWork = int64_t{6} * 1000 * 1000;  // multiplications
constexpr int64_t kLeastRows = 40;                        // of a piece
constexpr int64_t kUsualRows = 128;                       // where less work than that of a piece would be left
constexpr int64_t kMostPanels = 4;                        // of a piece
constexpr size_t kMostTileNumbers = 512;

int64_t parts_of(int64_t count, int64_t most) { return (count + most - 1) / most; }
int64_t rounded_up(int64_t count, int64_t step) { return parts_of(count, step) * step; }

}  // namespace

std::optional<TileEpilogue> make_tile_epilogue(const Layer& layer, size_t done, int added) {
  TileEpilogue epilogue;
  epilogue.added = added < 0 ? added_input(layer, done) : added;
  if (epilogue.added != added) ++done;
  if (done < layer.nodes.size()) {
    epilogue.bounds = bounds_of(layer, layer.nodes[done], layer.result(layer.nodes[done - 1], 0));
    if (epilogue.bounds) ++done;
  }
  if (done == layer.nodes.size()) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!tape) return std::nullopt;
  epilogue.tape = std::move(*tape);
  return epilogue;
}

bool TiledProduct::fits(const TiledShape& shape) { return shape.steps * kUsualRows / 2 <= kMostPlaces; }

TiledProduct::TiledProduct(const Layer& layer, const tensor::Tensor& weights, const TiledShape& shape,
                           TileEpilogue epilogue)
    : shape_(shape),
      epilogue_(std::move(epilogue)),
      kernels_(tile_kernels()),
      panel_columns_(static_cast<int64_t>(kernels_.width * kernels_.most_vectors)),
      panel_count_(parts_of(shape.columns, panel_columns_)) {
  divide_depth();
  divide_work();
  weights_ = pack(layer, weights);
}

void TiledProduct::divide_depth() {
  if (shape_.depth < kPartDepth) {
    const int64_t most = std::max<int64_t>(1, kPartDepth / shape_.depth);
    const int64_t count = parts_of(shape_.steps, most);
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * shape_.steps / count;
      parts_.push_back({begin, (i + 1) * shape_.steps / count - begin, 0, shape_.depth});
    }
    return;
  }
  const int64_t count = parts_of(shape_.depth, kPartDepth);
  for (int64_t step = 0; step < shape_.steps; ++step) {
    for (int64_t i = 0; i < count; ++i) {
      const int64_t begin = i * shape_.depth / count;
      parts_.push_back({step, 1, begin, (i + 1) * shape_.depth / count - begin});
    }
  }
}

// Panels so that threads get equally many, rows so that they stay in the second cache.
void TiledProduct::divide_work() {
  const auto threads = static_cast<int64_t>(thread_count());
  const auto longest = [&](int64_t panels) { return parts_of(parts_of(panel_count_, panels), threads) * panels; };
  for (int64_t panels = 1; panels <= std::min(kMostPanels, panel_count_); ++panels) {
    if (longest(panels) <= longest(block_panels_)) block_panels_ = panels;
  }
  const int64_t groups = parts_of(panel_count_, block_panels_);
  const int64_t depth = shape_.steps * shape_.depth;
  const int64_t read_depth = parts_.front().steps * parts_.front().depth;
  const auto step = static_cast<int64_t>(kernels_.most_rows(kernels_.most_vectors));
  const int64_t most =
      std::min(kBlockBytes / (read_depth * static_cast<int64_t>(sizeof(float))), kMostPlaces / shape_.steps - step);
  const int64_t wanted = std::max(kUsualRows, kPieceWork / (depth * block_panels_ * panel_columns_));
  int64_t blocks = parts_of(shape_.rows, std::max(kLeastRows, std::min(most, wanted)));
  if (groups % threads != 0) blocks = rounded_up(blocks, threads);
  block_rows_ = rounded_up(parts_of(shape_.rows, blocks), step);
}

PackedWeights::Bytes TiledProduct::pack(const Layer& layer, const tensor::Tensor& weights) const {
  const int64_t depth = shape_.steps * shape_.depth;
  const auto width = static_cast<int64_t>(kernels_.width);
  const auto size = static_cast<uint64_t>(depth * rounded_up(shape_.columns, width)) * sizeof(float);
  const std::string form = fmt::format("tiles {} {} {} {} {} {} {}", panel_columns_, shape_.steps, shape_.depth,
                                       shape_.columns, shape_.step_stride, shape_.depth_stride, shape_.column_stride);
  return layer.packed->get(weights, form, size, [&](std::byte* bytes) {
    const auto* const from = reinterpret_cast<const float*>(weights.bytes().data());
    auto* const to = reinterpret_cast<float*>(bytes);
    parallel_for(static_cast<uint64_t>(panel_count_), 1, [&](uint64_t panel, uint64_t) {
      const int64_t first = static_cast<int64_t>(panel) * panel_columns_;
      const int64_t count = columns_of(static_cast<int64_t>(panel));
      float* row = to + first * depth;
      for (int64_t k = 0; k < depth; ++k) {
        const int64_t at = k / shape_.depth * shape_.step_stride + k % shape_.depth * shape_.depth_stride;
        for (int64_t c = 0; c < count; ++c) row[c] = from[at + (first + c) * shape_.column_stride];
        std::fill(row + count, row + rounded_up(count, width), 0.0F);
        row += rounded_up(count, width);
      }
    });
  });
}

void TiledProduct::run(const Given& given) const {
  const int64_t groups = parts_of(panel_count_, block_panels_);
  const int64_t blocks = parts_of(shape_.rows, block_rows_);
  const bool has_more_rows = shape_.rows > shape_.columns;  // the larger operand is read once
  parallel_for(static_cast<uint64_t>(groups * blocks), 1, [&](uint64_t begin, uint64_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const int64_t row = (has_more_rows ? i / groups : i % blocks) * block_rows_;
      const int64_t panel = (has_more_rows ? i % groups : i / blocks) * block_panels_;
      run_piece(given,
                {row, std::min(block_rows_, shape_.rows - row), panel, std::min(block_panels_, panel_count_ - panel)});
    }
  });
}

void TiledProduct::run_piece(const Given& given, const Piece& piece) const {
  std::array<const float*, kMostPlaces> places;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  for (int64_t r = 0; r < piece.rows; ++r) given.places(piece.row + r, places.data() + r * shape_.steps);
  for (const Part& part : parts_) {
    for (int64_t i = 0; i < piece.panels; ++i) run_panel(given, piece, piece.panel + i, part, places.data());
  }
  if (!epilogue_.tape.is_empty()) run_tape(given, piece);
}

void TiledProduct::run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part,
                             const float* const* places) const {
  const int64_t columns = columns_of(panel);
  const auto vectors = static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width)));
  const int64_t first = panel * panel_columns_;
  const int64_t at = piece.row * shape_.columns + first;
  const int64_t depth = part.step * shape_.depth + part.first;
  Tile tile{.place_step = static_cast<size_t>(shape_.steps),
            .steps = static_cast<size_t>(part.steps),
            .depth = static_cast<size_t>(part.depth),
            .first = part.first,
            .panel = reinterpret_cast<const float*>(weights_.get()) + first * shape_.steps * shape_.depth +
                     depth * static_cast<int64_t>(vectors * kernels_.width),
            .out_row = shape_.columns,
            .continues = depth > 0};
  // What may be much larger than the sum comes last, so that its roundings do not count for each of the sum's parts.
  const bool is_last = &part == &parts_.back();
  if (is_last && given.bias != nullptr) tile.bias = given.bias + first;
  if (is_last && epilogue_.bounds) tile.bounds = epilogue_.bounds->data();
  const int64_t tiles = parts_of(piece.rows, static_cast<int64_t>(kernels_.most_rows(vectors)));
  const int64_t row_numbers = static_cast<int64_t>(vectors * kernels_.width);
  const int64_t numbers = part.steps * part.depth * row_numbers;
  const bool ends_group = panel + 1 == piece.panel + piece.panels;
  // The same part of the next panel, or the next part of the first one.
  const float* next = tile.panel + numbers;
  if (!ends_group) next = tile.panel + shape_.steps * shape_.depth * row_numbers;
  if (ends_group && piece.panels > 1) next -= (piece.panels - 1) * shape_.steps * shape_.depth * panel_columns_;
  tile.ahead_step = static_cast<size_t>((row_numbers * 4 + tiles - 1) / tiles);
  for (int64_t i = 0; i < tiles; ++i) {
    const int64_t row = i * piece.rows / tiles;
    tile.rows = static_cast<size_t>((i + 1) * piece.rows / tiles - row);
    tile.places = places + row * shape_.steps + part.step;
    tile.ahead = next + i * numbers / tiles;
    const int64_t element = at + row * shape_.columns;
    tile.out = host<float>(given.arguments.outputs[0]) + element;
    if (is_last && epilogue_.added >= 0)
      tile.added = host<const float>(given.arguments.inputs[static_cast<size_t>(epilogue_.added)]) + element;
    const bool is_whole = columns == static_cast<int64_t>(vectors * kernels_.width);
    is_whole ? kernels_.multiply(tile, vectors) : run_apart(tile, columns, vectors);
  }
}

// Through memory for whole vectors, where the result has no room for these.
void TiledProduct::run_apart(const Tile& tile, int64_t columns, size_t vectors) const {
  using Numbers = std::array<float, kMostTileNumbers>;
  alignas(64) Numbers sums{};
  alignas(64) Numbers added{};
  alignas(64) Numbers bias{};
  Tile apart = tile;
  apart.out = sums.data();
  apart.out_row = static_cast<int64_t>(vectors * kernels_.width);
  if (tile.bias != nullptr) apart.bias = std::copy_n(tile.bias, columns, bias.data()) - columns;
  if (tile.added != nullptr) apart.added = added.data();
  for (int64_t r = 0; r < static_cast<int64_t>(tile.rows); ++r) {
    if (tile.continues) std::copy_n(tile.out + r * tile.out_row, columns, apart.out + r * apart.out_row);
    if (tile.added != nullptr) std::copy_n(tile.added + r * tile.out_row, columns, added.data() + r * apart.out_row);
  }
  kernels_.multiply(apart, vectors);
  for (int64_t r = 0; r < static_cast<int64_t>(tile.rows); ++r) {
    std::copy_n(apart.out + r * apart.out_row, columns, tile.out + r * tile.out_row);
  }
}

void TiledProduct::run_tape(const Given& given, const Piece& piece) const {
  const int64_t first = piece.panel * panel_columns_;
  const int64_t columns = std::min(piece.panels * panel_columns_, shape_.columns - first);
  const bool is_whole = columns == shape_.columns;
  const int64_t count = is_whole ? piece.rows * columns : columns;
  for (int64_t r = 0; r < (is_whole ? 1 : piece.rows); ++r) {
    const int64_t at = (piece.row + r) * shape_.columns + first;
    float* const out = host<float>(given.arguments.outputs[0]) + at;
    epilogue_.tape.run(out, out, given.arguments.inputs, at, at + count);
  }
}

}  // namespace assay::engine::cpu
