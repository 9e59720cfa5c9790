#include "engine/devices/cpu/tiles/tiled_product.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/words/word_panels.h"
#include "engine/layers/followers.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostSums = int64_t{32} * 1024;  // of a piece
constexpr int64_t kTapeRows = 480;                 // in whole tiles; the second cache holds them
constexpr size_t kMostTileNumbers = 512;
constexpr int64_t kMostSteps = 64;    // that can be left out
constexpr int64_t kLeastShare = 100;  // of the steps of all rows, one is to be left out, or it does not pay

}  // namespace

std::optional<TileEpilogue> make_tile_epilogue(const Layer& layer, size_t done, int added) {
  std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
  if (!chain) return std::nullopt;
  TileEpilogue epilogue;
  epilogue.added = added < 0 ? take_added(layer, *chain) : added;
  epilogue.bounds = take_bounds(*chain);
  if (chain->steps.empty()) return epilogue;
  std::optional<Tape> tape = Tape::make(layer, *chain);
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

void TiledProduct::leave_out(FunctionRef<uint64_t(int64_t row)> steps_of) {
  const bool has_groups = !are_pairs() && epilogue_.tape.is_empty() && shape_.columns % panel_columns_ == 0;
  if (!has_groups || shape_.steps > kMostSteps) return;
  int64_t left_out = 0;
  for (int64_t row = 0; row < shape_.rows; ++row) left_out += shape_.steps - std::popcount(steps_of(row));
  if (left_out * kLeastShare < shape_.rows * shape_.steps) return;
  groups_ = RowGroups(shape_.rows, division_.block_rows(), steps_of);
}

Buffer TiledProduct::pack(const Layer& layer, const tensor::Tensor& weights) const {
  const WordPanels panels{.dtype = shape_.dtype,
                          .steps = shape_.steps * shape_.joined,
                          .depth = shape_.depth / shape_.joined,
                          .columns = shape_.columns,
                          .step_stride = shape_.step_stride,
                          .depth_stride = shape_.depth_stride,
                          .column_stride = shape_.column_stride,
                          .width = panel_columns_,
                          .joined = shape_.joined,
                          .zeros = shape_.zeros,
                          .unit = static_cast<int64_t>(kernels_.width)};
  const std::string form =
      fmt::format("tiles {} {} {} {} {} {} {} {} {}", panel_columns_, shape_.steps, shape_.depth, shape_.columns,
                  shape_.step_stride, shape_.depth_stride, shape_.column_stride, shape_.joined, shape_.zeros);
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
  if (tapes_rows(piece)) run_tape_on_rows(given, piece);
}

// True if whole rows go through the tape at once: their panels would leave vectors that are not whole.
bool TiledProduct::tapes_rows(const Piece& piece) const {
  const bool is_whole = shape_.columns % static_cast<int64_t>(kernels_.width) == 0;
  return !is_whole && !are_pairs() && !epilogue_.tape.is_empty() && epilogue_.tape.is_same_everywhere() &&
         piece.panels == panel_count_;
}

void TiledProduct::run_tape_on_rows(const Given& given, const Piece& piece) const {
  const int64_t begin = piece.row * shape_.columns, end = begin + piece.rows * shape_.columns;
  const int64_t whole = end - (end - begin) % static_cast<int64_t>(kernels_.width);
  for (const auto& [from, to] : {std::pair(begin, whole), std::pair(whole, end)}) {
    float* const numbers = piece.sums + (from - begin);
    if (from < to) epilogue_.tape.run(numbers, numbers, given.arguments.inputs, from, to);
  }
}

// That of the first row of a piece, by a part of a panel.
Tile TiledProduct::first_tile(const Given& given, const Piece& piece, int64_t panel, const Part& part) const {
  const int64_t first = panel * panel_columns_;
  const int64_t depth = part.step * depth_ + part.first;
  const int64_t row_words = rounded_up(columns_of(panel), static_cast<int64_t>(kernels_.width));
  Tile tile{{.place_step = static_cast<size_t>(shape_.steps),
             .steps = static_cast<size_t>(part.steps),
             .depth = static_cast<size_t>(part.depth),
             .first = part.first},
            {.panel = host<const float>(weights_.first) + first * shape_.steps * depth_ + depth * row_words},
            {.sums = piece.sums + (panel - piece.panel) * panel_columns_,
             .sums_row = piece.sums_row,
             .continues = depth > 0,
             .out_row = shape_.columns}};
  // The bias may be much larger than the sum. It comes last, so that its roundings do not count for each of the sum's
  // parts.
  const bool is_last = &part == &division_.parts.back();
  const float* const bias = find_bias(given);
  if (is_last && bias != nullptr) tile.bias = bias + first;
  if (is_last && epilogue_.bounds) tile.bounds = epilogue_.bounds->data();
  // Ahead is the same part of the next panel, or the next part of the first one.
  const bool ends_group = panel + 1 == piece.panel + piece.panels;
  tile.ahead = tile.panel + (ends_group ? part.steps * part.depth : shape_.steps * depth_) * row_words;
  if (ends_group && piece.panels > 1) tile.ahead -= (piece.panels - 1) * shape_.steps * depth_ * panel_columns_;
  return tile;
}

void TiledProduct::run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part,
                             const float* const* places) const {
  const Tile first = first_tile(given, piece, panel, part);
  const int64_t columns = columns_of(panel);
  const auto vectors = static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width)));
  const bool is_last = &part == &division_.parts.back();
  const int64_t element = piece.row * shape_.columns + panel * panel_columns_;
  Tile tile = first;
  if (!groups_.is_empty()) {
    tile.places = places + part.step;
    if (is_last) place_results(given, element, tile);
    return run_groups(piece, part, tile);
  }
  const int64_t tiles = parts_of(piece.rows, static_cast<int64_t>(kernels_.most_rows(vectors)));
  const auto row_words = static_cast<int64_t>(vectors * kernels_.width);
  tile.ahead_step = static_cast<size_t>(parts_of(row_words, tiles) * 4);
  const bool has_tape = is_last && !epilogue_.tape.is_empty() && !tapes_rows(piece);
  const bool is_whole = columns == row_words || kernels_.has_masks;
  tile.last = is_whole ? static_cast<size_t>(columns) % kernels_.width : 0;
  int64_t most = piece.rows;
  if (!is_whole) most = static_cast<int64_t>(kMostTileNumbers) / row_words;
  if (has_tape) most = std::min(most, kTapeRows);
  for (int64_t row = 0; row < piece.rows; row += most) {
    const int64_t end = std::min(row + most, piece.rows);
    tile.rows = static_cast<size_t>(end - row);
    tile.places = places + row * shape_.steps + part.step;
    tile.ahead = first.ahead + row * part.steps * part.depth * row_words / piece.rows;
    tile.sums = first.sums + row * piece.sums_row;
    if (is_last) place_results(given, element + row * shape_.columns, tile);
    is_whole ? kernels_.multiply(tile, vectors) : run_apart(tile, columns, vectors);
    if (has_tape) run_tape(given, piece, panel, {row, end});
  }
}

// The rows of a piece by the steps of a part that they read; `tile` is that of its first row.
void TiledProduct::run_groups(const Piece& piece, const Part& part, Tile tile) const {
  const std::span<const RowGroups::Group> groups = groups_.of_block(piece.row);
  const uint64_t of_part = ~uint64_t{0} >> (kMostSteps - part.steps) << part.step;
  const auto turns_of = [&](const RowGroups::Group& group) {
    const int64_t tiles =
        parts_of(group.end - group.begin, static_cast<int64_t>(kernels_.most_rows(kernels_.most_vectors)));
    return tiles * std::popcount(group.steps & of_part);
  };
  int64_t turns = 0;
  for (const RowGroups::Group& group : groups) turns += turns_of(group);
  tile.ahead_step = static_cast<size_t>(parts_of(part.steps * panel_columns_, std::max<int64_t>(turns, 1))) * 4;
  std::array<uint8_t, kMostSteps> chosen{};
  tile.chosen = chosen.data();
  for (const RowGroups::Group& group : groups) {
    tile.steps = 0;
    for (uint64_t left = group.steps & of_part; left != 0; left &= left - 1)
      chosen[tile.steps++] = static_cast<uint8_t>(std::countr_zero(left) - part.step);
    const bool is_begun = (group.steps & ((uint64_t{1} << part.step) - 1)) != 0;
    tile.continues = is_begun || (part.first > 0 && tile.steps > 0);
    if (tile.steps == 0 && &part != &division_.parts.back()) continue;
    tile.rows = static_cast<size_t>(group.end - group.begin);
    tile.order = groups_.order_of_block(piece.row) + group.begin;
    kernels_.multiply(tile, kernels_.most_vectors);
    tile.ahead += turns_of(group) * part.depth * static_cast<int64_t>(tile.ahead_step / sizeof(float));
  }
}

// Places the results of a tile whose first number is that element of the result.
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
