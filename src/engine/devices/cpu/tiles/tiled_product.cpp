#include "engine/devices/cpu/tiles/tiled_product.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/followers.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/words/word_panels.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostSums = int64_t{32} * 1024;  // of a piece
constexpr int64_t kTapeRows = 32;                  // that the first cache holds beside what is multiplied
constexpr size_t kMostTileNumbers = 512;

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
  tape->take_floats();
  epilogue.tape = std::move(*tape);
  return epilogue;
}

bool TiledProduct::fits(const Layer& layer, const TiledShape& shape, int bias) {
  if (!TileDivision::can_divide(shape.steps)) return false;
  if (shape.dtype == tensor::DType::float32) return true;
  const bool is_known = bias < 0 || layer.constants[static_cast<size_t>(bias)] != nullptr;
  return shape.dtype == tensor::DType::bfloat16 && pair_kernels() != nullptr &&
         shape.depth % numbers_of_word(shape.dtype) == 0 && is_known;
}

TiledProduct::TiledProduct(const Layer& layer, const tensor::Tensor& weights, const TiledShape& shape, int bias,
                           TileEpilogue epilogue)
    : shape_(shape),
      depth_(shape.depth / numbers_of_word(shape.dtype)),
      bias_(bias),
      epilogue_(std::move(epilogue)),
      kernels_(are_pairs() ? *pair_kernels() : tile_kernels(shape.columns)),
      panel_columns_(static_cast<int64_t>(kernels_.width * kernels_.most_vectors)),
      panel_count_(parts_of(shape.columns, panel_columns_)),
      division_({.rows = shape.rows,
                 .steps = shape.steps,
                 .depth = depth_,
                 .columns = shape.columns,
                 .most_sums = are_pairs() ? kMostSums : 0},
                kernels_) {
  if (are_pairs() && bias >= 0) {
    const auto numbers = tensor::load_elements<double>(*layer.constants[static_cast<size_t>(bias)]);
    widened_bias_.assign(numbers.begin(), numbers.end());
  }
  weights_ = pack(layer, weights);
}

PackedWeights::Bytes TiledProduct::pack(const Layer& layer, const tensor::Tensor& weights) const {
  const WordPanels panels{.dtype = shape_.dtype,
                          .steps = shape_.steps,
                          .depth = shape_.depth,
                          .columns = shape_.columns,
                          .step_stride = shape_.step_stride,
                          .depth_stride = shape_.depth_stride,
                          .column_stride = shape_.column_stride,
                          .width = panel_columns_,
                          .unit = static_cast<int64_t>(kernels_.width)};
  const std::string form = fmt::format("tiles {} {} {} {} {} {} {}", panel_columns_, shape_.steps, shape_.depth,
                                       shape_.columns, shape_.step_stride, shape_.depth_stride, shape_.column_stride);
  return layer.packed->get(weights, form, panels.bytes(), [&](std::byte* bytes) { panels.pack(weights, bytes); });
}

const float* TiledProduct::find_bias(const Given& given) const {
  if (bias_ < 0) return nullptr;
  if (are_pairs()) return widened_bias_.data();
  return host<const float>(given.arguments.inputs[static_cast<size_t>(bias_)]);
}

void TiledProduct::run(const Given& given) const {
  division_.run([&](const TileDivision::Piece& part) {
    Piece piece{part.row, part.rows, part.panel, part.panels};
    are_pairs() ? run_beside(given, piece) : run_in_place(given, piece);
  });
}

void TiledProduct::run_in_place(const Given& given, Piece& piece) const {
  piece.sums = host<float>(given.arguments.outputs[0]) + piece.row * shape_.columns + piece.panel * panel_columns_;
  piece.sums_row = shape_.columns;
  run_piece(given, piece);
}

void TiledProduct::run_beside(const Given& given, Piece& piece) const {
  alignas(64) std::array<float, kMostSums> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
  piece.sums = sums.data();
  piece.sums_row = piece.panels * panel_columns_;
  run_piece(given, piece);
}

void TiledProduct::run_piece(const Given& given, const Piece& piece) const {
  std::array<const float*, TileDivision::kMostPlaces>
      places;  // NOLINT(cppcoreguidelines-pro-type-member-init): written next
  given.places(piece.row, piece.rows, places.data());
  for (const Part& part : division_.parts) {
    for (int64_t i = 0; i < piece.panels; ++i) run_panel(given, piece, piece.panel + i, part, places.data());
  }
}

void TiledProduct::run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part,
                             const float* const* places) const {
  const int64_t columns = columns_of(panel);
  const auto vectors = static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width)));
  const int64_t first = panel * panel_columns_;
  const int64_t depth = part.step * depth_ + part.first;
  Tile tile{.place_step = static_cast<size_t>(shape_.steps),
            .steps = static_cast<size_t>(part.steps),
            .depth = static_cast<size_t>(part.depth),
            .first = part.first,
            .panel = reinterpret_cast<const float*>(weights_.get()) + first * shape_.steps * depth_ +
                     depth * static_cast<int64_t>(vectors * kernels_.width),
            .sums_row = piece.sums_row,
            .continues = depth > 0,
            .out_row = shape_.columns};
  // What may be much larger than the sum comes last, so that its roundings do not count for each of the sum's parts.
  const bool is_last = &part == &division_.parts.back();
  const float* const bias = find_bias(given);
  if (is_last && bias != nullptr) tile.bias = bias + first;
  if (is_last && epilogue_.bounds) tile.bounds = epilogue_.bounds->data();
  const int64_t tiles = parts_of(piece.rows, static_cast<int64_t>(kernels_.most_rows(vectors)));
  const int64_t row_words = static_cast<int64_t>(vectors * kernels_.width);
  const int64_t words = part.steps * part.depth * row_words;
  const bool ends_group = panel + 1 == piece.panel + piece.panels;
  // The same part of the next panel, or the next part of the first one.
  const float* next = tile.panel + words;
  if (!ends_group) next = tile.panel + shape_.steps * depth_ * row_words;
  if (ends_group && piece.panels > 1) next -= (piece.panels - 1) * shape_.steps * depth_ * panel_columns_;
  tile.ahead_step = static_cast<size_t>(parts_of(row_words, tiles) * 4);
  const bool has_tape = is_last && !epilogue_.tape.is_empty();
  const bool is_whole = columns == row_words;
  int64_t most = piece.rows;
  if (!is_whole) most = static_cast<int64_t>(kMostTileNumbers) / row_words;
  if (has_tape) most = std::min(most, kTapeRows);
  const int64_t calls = parts_of(piece.rows, most);
  for (int64_t i = 0; i < calls; ++i) {
    const int64_t row = i * piece.rows / calls;
    const int64_t end = (i + 1) * piece.rows / calls;
    tile.rows = static_cast<size_t>(end - row);
    tile.places = places + row * shape_.steps + part.step;
    tile.ahead = next + row * words / piece.rows;
    tile.sums = piece.sums + row * piece.sums_row + (panel - piece.panel) * panel_columns_;
    if (is_last) place_results(given, (piece.row + row) * shape_.columns + first, tile);
    is_whole ? kernels_.multiply(tile, vectors) : run_apart(tile, columns, vectors);
    if (has_tape) run_tape(given, piece, panel, {row, end});
  }
}

// Of a tile whose first number is that element of the result.
void TiledProduct::place_results(const Given& given, int64_t element, Tile& tile) const {
  const auto bytes = static_cast<uint64_t>(element * float_bytes(shape_.dtype));
  if (epilogue_.added >= 0)
    tile.added = host<const std::byte>(given.arguments.inputs[static_cast<size_t>(epilogue_.added)] + bytes);
  if (are_pairs() && epilogue_.tape.is_empty()) tile.out = host<std::byte>(given.arguments.outputs[0] + bytes);
}

namespace {

// Rows of whole vectors for numbers that have fewer columns in memory, in a type of so many bytes.
class WholeRows {
 public:
  // NOLINTNEXTLINE(cppcoreguidelines-pro-type-member-init): numbers are written before they are read
  WholeRows(size_t rows, int64_t pitch, int64_t columns, int64_t bytes)
      : rows_(static_cast<int64_t>(rows)), pitch_(pitch), columns_(columns), bytes_(bytes) {}

  // With zeros after each row.
  std::byte* take(const void* from, int64_t from_pitch) {
    std::memset(numbers_.data(), 0, static_cast<size_t>(rows_ * pitch_ * bytes_));
    copy(from, from_pitch, numbers_.data(), pitch_);
    return numbers_.data();
  }
  void give(void* to, int64_t to_pitch) const { copy(numbers_.data(), pitch_, to, to_pitch); }
  std::byte* data() { return numbers_.data(); }

 private:
  void copy(const void* from, int64_t from_pitch, void* to, int64_t to_pitch) const {
    for (int64_t row = 0; row < rows_; ++row) {
      std::memcpy(static_cast<std::byte*>(to) + row * to_pitch * bytes_,
                  static_cast<const std::byte*>(from) + row * from_pitch * bytes_,
                  static_cast<size_t>(columns_ * bytes_));
    }
  }

  int64_t rows_, pitch_, columns_, bytes_;
  alignas(64) std::array<std::byte, kMostTileNumbers * sizeof(float)> numbers_;
};

}  // namespace

// Through memory for whole vectors, where rows have no room for these.
void TiledProduct::run_apart(const Tile& tile, int64_t columns, size_t vectors) const {
  const auto pitch = static_cast<int64_t>(vectors * kernels_.width);
  const int64_t bytes = float_bytes(shape_.dtype);
  WholeRows sums(tile.rows, pitch, columns, sizeof(float));
  WholeRows bias(1, pitch, columns, sizeof(float));
  WholeRows added(tile.rows, pitch, columns, bytes);
  WholeRows out(tile.rows, pitch, columns, bytes);
  Tile apart = tile;
  apart.sums = reinterpret_cast<float*>(tile.continues ? sums.take(tile.sums, tile.sums_row) : sums.data());
  apart.sums_row = apart.out_row = pitch;
  if (tile.bias != nullptr) apart.bias = reinterpret_cast<const float*>(bias.take(tile.bias, columns));
  if (tile.added != nullptr) apart.added = added.take(tile.added, tile.out_row);
  if (tile.out != nullptr) apart.out = out.data();
  kernels_.multiply(apart, vectors);
  tile.out != nullptr ? out.give(tile.out, tile.out_row) : sums.give(tile.sums, tile.sums_row);
}

void TiledProduct::run_tape(const Given& given, const Piece& piece, int64_t panel, const Rows& rows) const {
  const TapeRows taped{.first = (piece.row + rows.begin) * shape_.columns + panel * panel_columns_,
                       .pitch = shape_.columns,
                       .rows = rows.end - rows.begin,
                       .columns = columns_of(panel)};
  const float* const sums = piece.sums + rows.begin * piece.sums_row + (panel - piece.panel) * panel_columns_;
  const auto offset = static_cast<uint64_t>(taped.first * float_bytes(shape_.dtype));
  epilogue_.tape.run_rows({sums, piece.sums_row}, host<std::byte>(given.arguments.outputs[0] + offset),
                          given.arguments.inputs, taped);
}

}  // namespace assay::engine::cpu
