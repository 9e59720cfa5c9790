#include "engine/devices/cpu/tiles/code_product.h"

#include <algorithm>
#include <array>

#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/words/word_panels.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostSums = int64_t{32} * 1024;  // of a piece

// The columns of each panel but the last, so that all have as equally many as can be.
int64_t panel_columns(const TileKernels& kernels, int64_t columns) {
  const auto width = static_cast<int64_t>(kernels.width);
  const int64_t vectors = parts_of(columns, width);
  return parts_of(vectors, parts_of(vectors, static_cast<int64_t>(kernels.most_vectors))) * width;
}

TileWork work_of(const CodeShape& shape, const TileKernels& kernels, bool keeps_sums, int64_t panel_columns) {
  return {.rows = shape.rows,
          .steps = shape.steps,
          .depth = parts_of(shape.depth, kernels.codes),
          .columns = shape.columns,
          .most_sums = kMostSums,
          .keeps_sums = keeps_sums,
          .keeps_rows = kernels.codes == 2,
          .vectors = static_cast<size_t>(panel_columns) / kernels.width};
}

// The shape whose steps are the codes that lie side by side.
CodeShape joined(CodeShape shape) {
  shape.depth *= shape.joined;
  shape.steps /= shape.joined;
  return shape;
}

}  // namespace

int32_t CodeProduct::offset(bool are_signed) { return code_kernels(are_signed).offset; }

bool CodeProduct::fits(const CodeShape& shape) { return TileDivision::can_divide(shape.steps / shape.joined); }

CodeProduct::CodeProduct(const Layer& layer, const tensor::Tensor& weights, const CodeShape& shape,
                         IntegerEpilogue epilogue)
    : shape_(joined(shape)),
      words_(parts_of(shape_.depth, code_kernels(shape.are_signed).codes)),
      epilogue_(std::move(epilogue)),
      kernels_(code_kernels(shape.are_signed)),
      makes_codes_(kernels_.code_columns > 0 && epilogue_.fits_tiles()),
      panel_columns_(panel_columns(kernels_, shape.columns)),
      division_(work_of(shape_, kernels_, epilogue_.has_tape(), panel_columns_), kernels_) {
  const WordPanels panels{.dtype = tensor::DType::int8,
                          .steps = shape.steps,
                          .depth = shape.depth,
                          .columns = shape.columns,
                          .step_stride = shape.step_stride,
                          .depth_stride = shape.depth_stride,
                          .column_stride = shape.column_stride,
                          .first_constant = shape.first_constant,
                          .width = panel_columns_,
                          .joined = shape.joined,
                          .are_pairs = kernels_.codes == 2,
                          .unit = static_cast<int64_t>(kernels_.width)};
  const std::string form = fmt::format("codes {} {} {} {} {} {} {} {} {} {}", kernels_.codes, panel_columns_,
                                       shape.steps, shape.depth, shape.columns, shape.step_stride, shape.depth_stride,
                                       shape.column_stride, shape.joined, shape.first_constant);
  weights_ = layer.packed->get(weights, form, panels.bytes(), [&](std::byte* bytes) { panels.pack(weights, bytes); });
}

void CodeProduct::run(const Given& given) const {
  division_.run([&](const TileDivision::Piece& piece) { run_piece(given, piece); });
}

// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): written before they are read
void CodeProduct::run_piece(const Given& given, const TileDivision::Piece& piece) const {
  std::array<const float*, TileDivision::kMostPlaces> places;
  given.places(piece.row, piece.rows, places.data());
  if (given.prepare != nullptr) (*given.prepare)(piece.row, piece.rows);
  alignas(64) std::array<float, kMostSums> sums;
  const bool keeps_all = keeps_sums();
  IntegerEpilogue::Run epilogue(epilogue_, given.arguments);
  const Piece all{.epilogue = epilogue,
                  .row = piece.row,
                  .rows = piece.rows,
                  .panel = piece.panel,
                  .panels = piece.panels,
                  .places = places.data(),
                  .sums = sums.data(),
                  .sums_row = keeps_all ? piece.panels * panel_columns_ : panel_columns_,
                  .keeps_all = keeps_all};
  for (const Part& part : division_.parts) {
    for (int64_t i = 0; i < piece.panels; ++i) run_panel(given, all, piece.panel + i, part);
  }
}
// NOLINTEND(cppcoreguidelines-pro-type-member-init)

void CodeProduct::run_panel(const Given& given, const Piece& piece, int64_t panel, const Part& part) const {
  const int64_t first = panel * panel_columns_;
  const int64_t columns = std::min(panel_columns_, shape_.columns - first);
  const auto vectors = static_cast<size_t>(parts_of(columns, static_cast<int64_t>(kernels_.width)));
  const auto row_words = static_cast<int64_t>(vectors * kernels_.width);
  const int64_t depth = part.step * words_ + part.first;
  const int64_t bytes = part.steps * part.depth * row_words * kernels_.codes;
  Tile tile{
      {.places = piece.places + part.step,
       .place_step = static_cast<size_t>(shape_.steps),
       .rows = static_cast<size_t>(piece.rows),
       .steps = static_cast<size_t>(part.steps),
       .depth = static_cast<size_t>(part.depth),
       .first = part.first},
      {.panel = reinterpret_cast<const float*>(host<const std::byte>(weights_.first) +
                                               (first * shape_.steps * words_ + depth * row_words) * kernels_.codes)},
      {.sums = piece.sums + (piece.keeps_all ? (panel - piece.panel) * panel_columns_ : 0),
       .sums_row = piece.sums_row,
       .continues = depth > 0,
       .starts = reinterpret_cast<const float*>(given.starts + first),
       .row_sums = given.row_sums == nullptr ? nullptr : given.row_sums + piece.row,
       .row_factors = given.row_sums == nullptr ? nullptr : given.row_factors + first}};
  const bool is_last = &part == &division_.parts.back();
  const bool ends_group = panel + 1 == piece.panel + piece.panels;
  // Ahead is the same part of the next panel, or the next part of the first one.
  const int64_t column_bytes = shape_.steps * words_ * kernels_.codes;
  const auto* next = reinterpret_cast<const std::byte*>(tile.panel) + (ends_group ? bytes : column_bytes * row_words);
  if (ends_group && piece.panels > 1) next -= (piece.panels - 1) * column_bytes * panel_columns_;
  // In as many steps as tiles read rows of the panel.
  const int64_t tiles = parts_of(piece.rows, static_cast<int64_t>(kernels_.most_rows(vectors)));
  tile.ahead = reinterpret_cast<const float*>(next);
  tile.ahead_step = static_cast<size_t>((row_words * kernels_.codes + tiles - 1) / tiles);
  if (is_last && makes_codes_ && static_cast<size_t>(columns) % kernels_.code_columns == 0) {
    tile.finish = &piece.epilogue.in_tiles(shape_.first_column + first, columns, shape_.all_columns);
    tile.element = piece.row * shape_.all_columns + shape_.first_column + first;
    if (!piece.keeps_all) tile.sums = nullptr;
    kernels_.multiply(tile, vectors);
    return piece.epilogue.end_tiles(tile.element, piece.rows);
  }
  int64_t row = 0;
  const auto finish_next = [&](size_t rows) {
    finish(piece, panel, tile.sums, {row, row + static_cast<int64_t>(rows)});
    row += static_cast<int64_t>(rows);
  };
  const FunctionRef<void(size_t rows)> take(finish_next);
  if (!piece.keeps_all) tile.take = &take;
  kernels_.multiply(tile, vectors);
  if (is_last && piece.keeps_all) finish(piece, panel, tile.sums, {0, piece.rows});
}

void CodeProduct::finish(const Piece& piece, int64_t panel, float* sums, const Rows& rows) const {
  const int64_t first = panel * panel_columns_;
  piece.epilogue.finish({.sums = reinterpret_cast<int32_t*>(sums),
                         .sums_row = piece.sums_row,
                         .rows = rows.end - rows.begin,
                         .channel = shape_.first_column + first,
                         .channels = std::min(panel_columns_, shape_.columns - first),
                         .first = (piece.row + rows.begin) * shape_.all_columns + shape_.first_column + first,
                         .pitch = shape_.all_columns});
}

}  // namespace assay::engine::cpu
