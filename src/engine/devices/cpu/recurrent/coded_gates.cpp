#include "engine/devices/cpu/recurrent/coded_gates.h"

#include <array>

#include "base/parallel.h"
#include "engine/devices/cpu/parts.h"
#include "engine/devices/cpu/recurrent/cell_kernels.h"
#include "engine/devices/cpu/rows/dynamic_codes.h"
#include "engine/devices/cpu/tiles/code_rows.h"
#include "engine/devices/cpu/tiles/code_sums.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/devices/cpu/words/word_panels.h"
#include "engine/weights/packed_weights.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kRowsAtOnce = 32;
constexpr int64_t kMostColumns = 64;  // of a panel
constexpr uint64_t kSlack = 64;       // bytes behind codes that a last word may read
constexpr int64_t kGrain = 1 << 19;   // multiplications of a piece

const TileKernels& kernels() { return vector_code_kernels(false); }

std::vector<float> wide_scales(const Recurrence& r, const std::vector<float>& scales) {
  std::vector<float> wide(static_cast<size_t>(panel_row(r) + kMostColumns));
  const auto hidden = static_cast<size_t>(r.hidden), width = static_cast<size_t>(panel_width(r));
  for (size_t i = 0; i < scales.size(); ++i) wide[i / hidden * width + i % hidden] = scales[i];
  return wide;
}

}  // namespace

struct CodedGates::Given {
  const std::byte* codes;
  int64_t row_bytes;
  float scale;
  const int32_t* starts;
  const int32_t* sums;
  float* out;
};

CodedGates::CodedGates(const Layer& layer, const Recurrence& r, const RecurrentCodes& codes)
    : depth_(codes.weights.shape()[0]),
      hidden_(r.hidden),
      gates_(r.gates),
      width_(panel_width(r)),
      panel_columns_(static_cast<int64_t>(kernels().width * std::min<size_t>(kernels().most_vectors, 4))),
      zeros_({.input = codes.input, .weights = &codes.weights, .axis = 1, .zeros = &codes.zeros}),
      scales_(wide_scales(r, codes.scales)) {
  WordPanels panels{.dtype = tensor::DType::int8,
                    .depth = depth_,
                    .columns = hidden_,
                    .depth_stride = gates_ * hidden_,
                    .column_stride = 1,
                    .width = panel_columns_,
                    .are_pairs = kernels().codes == 2,
                    .unit = static_cast<int64_t>(kernels().width)};
  gate_bytes_ = panels.bytes();
  const std::string form =
      fmt::format("coded gates {} {} {} {} {}", kernels().codes, panel_columns_, codes.direction, depth_, hidden_);
  const tensor::Tensor& constant = *layer.constants[static_cast<size_t>(codes.input)];
  panels_ = layer.packed->get(constant, form, gate_bytes_ * static_cast<uint64_t>(gates_), [&](std::byte* bytes) {
    for (int64_t gate = 0; gate < gates_; ++gate, bytes += gate_bytes_) {
      panels.first_constant = gate * hidden_;
      panels.pack(codes.weights, bytes);
    }
  });
}

uint64_t CodedGates::scratch_bytes(int64_t rows, int64_t pitch) {
  const uint64_t sums = static_cast<uint64_t>(rounded_up(rows, 16)) * sizeof(int32_t);
  return sums + 3 * (static_cast<uint64_t>(rows * pitch) + kSlack) / kSlack * kSlack + 2 * kSlack;
}

void CodedGates::add_product(const Rows& rows, std::byte* scratch, float* out) const {
  auto* const sums = reinterpret_cast<int32_t*>(scratch);
  std::byte* const bytes = scratch + static_cast<size_t>(rounded_up(rows.count, 16)) * sizeof(int32_t);
  const auto count = static_cast<uint64_t>(rows.count * rows.pitch);
  const DynamicScale made = make_dynamic_codes(rows.numbers, count, reinterpret_cast<uint8_t*>(bytes));
  if (zeros_.row_factors() != nullptr) sum_rows({bytes, rows.count, depth_, rows.pitch, false, made.zero}, sums);
  const CodeForm form = CodeForm::of(tensor::DType::uint8);
  std::byte* const wide = form.widens ? bytes + (count + kSlack) / kSlack * kSlack : bytes;
  if (form.widens) form.copy(bytes, static_cast<int64_t>(count), wide);
  std::vector<int32_t> starts;
  const Given given{wide, rows.pitch * form.bytes(), made.scale, zeros_.starts(made.zero, starts), sums, out};
  const int64_t panels = parts_of(hidden_, panel_columns_);
  const auto grain = static_cast<uint64_t>(
      std::max<int64_t>(1, kGrain / (std::min(rows.count, kRowsAtOnce) * depth_ * panel_columns_)));
  const auto pieces = static_cast<uint64_t>(parts_of(rows.count, kRowsAtOnce) * gates_ * panels);
  parallel_for(pieces, grain, [&](uint64_t begin, uint64_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const int64_t first = i / (gates_ * panels) * kRowsAtOnce;
      multiply(given, first, std::min(kRowsAtOnce, rows.count - first), i % (gates_ * panels));
    }
  });
}

// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): written before they are read
void CodedGates::multiply(const Given& given, int64_t first, int64_t count, int64_t panel) const {
  const int64_t panels = parts_of(hidden_, panel_columns_);
  const int64_t gate = panel / panels, column = panel % panels * panel_columns_;
  const auto width = static_cast<int64_t>(kernels().width);
  const auto vectors = parts_of(std::min(panel_columns_, hidden_ - column), width);
  const int64_t words = parts_of(depth_, kernels().codes);
  std::array<const float*, kRowsAtOnce> places;
  for (int64_t i = 0; i < count; ++i)
    places[static_cast<size_t>(i)] = reinterpret_cast<const float*>(given.codes + (first + i) * given.row_bytes);
  alignas(64) std::array<int32_t, kRowsAtOnce * kMostColumns> sums;
  const std::byte* const weights = host<const std::byte>(panels_.first) + static_cast<uint64_t>(gate) * gate_bytes_;
  const int64_t at = gate * hidden_ + column;
  const bool has_factors = zeros_.row_factors() != nullptr;
  kernels().multiply(
      {{.places = places.data(), .rows = static_cast<size_t>(count), .depth = static_cast<size_t>(words)},
       {.panel = reinterpret_cast<const float*>(weights + column * words * kernels().codes)},
       {.sums = reinterpret_cast<float*>(sums.data()),
        .sums_row = kMostColumns,
        .starts = reinterpret_cast<const float*>(given.starts + at),
        .row_sums = has_factors ? given.sums + first : nullptr,
        .row_factors = has_factors ? zeros_.row_factors() + at : nullptr}},
      static_cast<size_t>(vectors));
  const int64_t place = gate * width_ + column;
  const auto columns = static_cast<size_t>(std::min(vectors * width, width_ - column));
  for (int64_t i = 0; i < count; ++i) {
    cell_kernels().add_scaled({sums.data() + i * kMostColumns, columns}, scales_.data() + place, given.scale,
                              given.out + (first + i) * gates_ * width_ + place);
  }
}
// NOLINTEND(cppcoreguidelines-pro-type-member-init)

}  // namespace assay::engine::cpu
