#include "engine/devices/cpu/tiles/selected_rows.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/devices/cpu/words/word_panels.h"
#include "engine/layers/selected_product.h"
#include "engine/weights/packed_weights.h"
#include "ops/kernels/movement/places.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kMostSums = int64_t{16} * 1024;  // of a piece, on the stack
constexpr int64_t kMostRows = 256;                 // likewise
constexpr int64_t kPartDepth = 256;                // of a panel that stays in the first cache

// The layer's inputs.
struct SelectedInputs {
  size_t data, places;
  tensor::DType index;  // type of places
};

class SelectedKernel final : public PlainKernel {
 public:
  SelectedKernel(const Layer& layer, const SelectedProduct& product, const SelectedInputs& inputs)
      : p_(product),
        inputs_(inputs),
        kernels_(tile_kernels(product.columns)),
        panel_columns_(static_cast<int64_t>(kernels_.width * kernels_.most_vectors)),
        panels_(parts_of(product.columns, panel_columns_)),
        matrix_words_(static_cast<int64_t>(layout_of(0).bytes() / sizeof(float))),
        most_rows_(std::min(kMostRows, kMostSums / panel_columns_)),
        weights_(pack(layer)) {}

  void run(const Arguments& arguments) const override {
    const std::vector<std::vector<int64_t>> rows = rows_by_matrix(arguments);
    std::vector<int64_t> chosen;
    for (int64_t i = 0; i < p_.count; ++i) {
      if (!rows[static_cast<size_t>(i)].empty()) chosen.push_back(i);
    }
    const uint64_t pieces = chosen.size() * static_cast<uint64_t>(panels_);
    parallel_for(pieces, 1, [&](uint64_t begin, uint64_t end) {
      for (uint64_t piece = begin; piece < end; ++piece) {
        const int64_t matrix = chosen[piece / static_cast<uint64_t>(panels_)];
        multiply(arguments, matrix, static_cast<int64_t>(piece % static_cast<uint64_t>(panels_)),
                 rows[static_cast<size_t>(matrix)]);
      }
    });
  }

 private:
  WordPanels layout_of(int64_t matrix) const {
    return {.depth = p_.depth,
            .columns = p_.columns,
            .depth_stride = p_.depth_stride,
            .column_stride = p_.column_stride,
            .first_constant = matrix * p_.matrix,
            .width = panel_columns_,
            .unit = static_cast<int64_t>(kernels_.width)};
  }

  Buffer pack(const Layer& layer) const {
    const std::string form =
        fmt::format("selected {} {} {} {} {}", panel_columns_, p_.depth, p_.columns, p_.depth_stride, p_.column_stride);
    const uint64_t bytes = static_cast<uint64_t>(matrix_words_ * p_.count) * sizeof(float);
    return layer.packed->get(*p_.matrices, form, bytes, [&](std::byte* to) {
      for (int64_t i = 0; i < p_.count; ++i)
        layout_of(i).pack(*p_.matrices, to + i * matrix_words_ * static_cast<int64_t>(sizeof(float)));
    });
  }

  int64_t place_of(const Arguments& arguments, int64_t item) const {
    const auto& input = arguments.inputs[inputs_.places];
    const int64_t index = inputs_.index == tensor::DType::int64 ? host<const int64_t>(input)[item]
                                                                : int64_t{host<const int32_t>(input)[item]};
    return static_cast<int64_t>(ops::checked_index(index, static_cast<uint64_t>(p_.count)));
  }

  // Rows of the result, by the matrix that makes them.
  std::vector<std::vector<int64_t>> rows_by_matrix(const Arguments& arguments) const {
    std::vector<std::vector<int64_t>> rows(static_cast<size_t>(p_.count));
    for (int64_t item = 0; item < p_.items; ++item) {
      std::vector<int64_t>& own = rows[static_cast<size_t>(place_of(arguments, item))];
      for (int64_t row = 0; row < p_.rows; ++row) own.push_back(item * p_.rows + row);
    }
    return rows;
  }

  // The rows of one matrix by one of its panels.
  void multiply(const Arguments& arguments, int64_t matrix, int64_t panel, const std::vector<int64_t>& rows) const {
    const auto* const data = host<const float>(arguments.inputs[inputs_.data]);
    auto* const out = host<float>(arguments.outputs[0]);
    const int64_t first = panel * panel_columns_;
    const int64_t columns = std::min(panel_columns_, p_.columns - first);
    const int64_t row_words = rounded_up(columns, static_cast<int64_t>(kernels_.width));
    const float* const words = host<const float>(weights_.first) + matrix * matrix_words_ + first * p_.depth;
    alignas(64) std::array<float, kMostSums> sums;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    std::array<const float*, kMostRows> places;     // NOLINT(cppcoreguidelines-pro-type-member-init): likewise
    const auto count = static_cast<int64_t>(rows.size());
    for (int64_t begin = 0; begin < count; begin += most_rows_) {
      const int64_t some = std::min(most_rows_, count - begin);
      for (int64_t i = 0; i < some; ++i) {
        const int64_t row = rows[static_cast<size_t>(begin + i)];
        places[static_cast<size_t>(i)] = data + (p_.has_shared_rows ? row % p_.rows : row) * p_.depth;
      }
      sum_up({.places = places.data(), .rows = static_cast<size_t>(some), .steps = 1}, words, row_words, sums.data());
      for (int64_t i = 0; i < some; ++i)
        std::memcpy(out + rows[static_cast<size_t>(begin + i)] * p_.columns + first, sums.data() + i * row_words,
                    static_cast<size_t>(columns) * sizeof(float));
    }
  }

  void sum_up(const TileRows& rows, const float* words, int64_t row_words, float* sums) const {
    for (int64_t depth = 0; depth < p_.depth; depth += kPartDepth) {
      Tile tile{rows, {}, {.sums = sums, .sums_row = row_words, .continues = depth > 0}};
      tile.depth = static_cast<size_t>(std::min(kPartDepth, p_.depth - depth));
      tile.first = depth;
      tile.panel = words + depth * row_words;
      tile.ahead = tile.panel + static_cast<int64_t>(tile.depth) * row_words;
      tile.ahead_step = static_cast<size_t>(row_words) * sizeof(float);
      kernels_.multiply(tile, static_cast<size_t>(row_words) / kernels_.width);
    }
  }

  SelectedProduct p_;
  SelectedInputs inputs_;
  const TileKernels& kernels_;
  int64_t panel_columns_;
  int64_t panels_;
  int64_t matrix_words_;  // of a matrix in panels
  int64_t most_rows_;     // at once
  Buffer weights_;
};

class Selected final : public Implementation {
 public:
  std::string_view name() const override { return "product.selected"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const std::optional<SelectedProduct> found = find_selected(layer);
    if (!found || !layer.lies_plainly()) return {};
    const int data = layer.input_of(found->data);
    const int places = layer.input_of(found->places);
    if (data < 0 || places < 0) return {};
    const auto index = static_cast<size_t>(places);
    return std::make_unique<SelectedKernel>(
        layer, *found, SelectedInputs{static_cast<size_t>(data), index, layer.inputs[index].dtype});
  }
};

}  // namespace

std::unique_ptr<Implementation> selected_products() { return std::make_unique<Selected>(); }

}  // namespace assay::engine::cpu
