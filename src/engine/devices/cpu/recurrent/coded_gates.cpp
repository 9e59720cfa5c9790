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

// Columns of gates with as many zeros behind those of each gate as make them whole vectors; rows of `from` are spread.
template <typename T>
std::vector<T> spread(const Recurrence& r, std::span<const T> from, int64_t gate) {
  const int64_t rows = static_cast<int64_t>(from.size()) / (r.gates * r.hidden);
  std::vector<T> wide(static_cast<size_t>(rows * r.gates * gate));
  for (int64_t i = 0; i < rows * r.gates; ++i)
    std::copy_n(from.data() + i * r.hidden, r.hidden, wide.data() + i * gate);
  return wide;
}

RecurrentCodes spread_codes(const Recurrence& r, const RecurrentCodes& codes, int64_t gate) {
  RecurrentCodes wide = codes;
  const tensor::Shape dims = {codes.weights.shape()[0], r.gates * gate};
  wide.weights = {tensor::DType::int8, dims, tensor::make_owned(spread<std::byte>(r, codes.weights.bytes(), gate))};
  wide.scales = spread<float>(r, codes.scales, gate);
  wide.zeros = spread<int32_t>(r, codes.zeros, gate);
  return wide;
}

}  // namespace

struct CodedGates::Given {
  const std::byte* codes;
  int64_t row_bytes;
  DynamicScale made;
  const int32_t* sums;
  float* out;
};

CodedGates::CodedGates(const Layer& layer, const Recurrence& r, const RecurrentCodes& codes)
    : CodedGates(layer, r, spread_codes(r, codes, rounded_up(r.hidden, static_cast<int64_t>(kernels().width))),
                 r.gates) {}

CodedGates::CodedGates(const Layer& layer, const Recurrence& r, const RecurrentCodes& wide, int64_t gates)
    : depth_(wide.weights.shape()[0]),
      columns_(wide.weights.shape()[1]),
      gate_(columns_ / gates),
      out_gate_(panel_width(r)),
      out_row_(panel_row(r)),
      panel_columns_(static_cast<int64_t>(kernels().width * std::min<size_t>(kernels().most_vectors, 4))),
      zeros_({.input = wide.input, .weights = &wide.weights, .axis = 1, .zeros = &wide.zeros}),
      scales_(wide.scales) {
  const WordPanels panels{.dtype = tensor::DType::int8,
                          .depth = depth_,
                          .columns = columns_,
                          .depth_stride = columns_,
                          .column_stride = 1,
                          .width = panel_columns_,
                          .are_pairs = kernels().codes == 2,
                          .unit = static_cast<int64_t>(kernels().width)};
  const std::string form =
      fmt::format("coded gates {} {} {} {} {}", kernels().codes, panel_columns_, wide.direction, depth_, columns_);
  const tensor::Tensor& constant = *layer.constants[static_cast<size_t>(wide.input)];
  panels_ =
      layer.packed->get(constant, form, panels.bytes(), [&](std::byte* bytes) { panels.pack(wide.weights, bytes); });
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
  const Given given{wide, rows.pitch * form.bytes(), made, sums, out};
  const int64_t panels = parts_of(columns_, panel_columns_);
  const auto grain = static_cast<uint64_t>(
      std::max<int64_t>(1, kGrain / (std::min(rows.count, kRowsAtOnce) * depth_ * panel_columns_)));
  const auto pieces = static_cast<uint64_t>(parts_of(rows.count, kRowsAtOnce) * panels);
  parallel_for(pieces, grain, [&](uint64_t begin, uint64_t end) {
    for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
      const int64_t first = i / panels * kRowsAtOnce;
      multiply(given, first, std::min(kRowsAtOnce, rows.count - first), i % panels * panel_columns_);
    }
  });
}

// NOLINTBEGIN(cppcoreguidelines-pro-type-member-init): written before they are read
void CodedGates::multiply(const Given& given, int64_t first, int64_t count, int64_t column) const {
  const int64_t words = parts_of(depth_, kernels().codes), panel_bytes = words * kernels().codes * panel_columns_;
  const int64_t columns = std::min(panel_columns_, columns_ - column);
  std::array<const float*, kRowsAtOnce> places;
  for (int64_t i = 0; i < count; ++i)
    places[static_cast<size_t>(i)] = reinterpret_cast<const float*>(given.codes + (first + i) * given.row_bytes);
  alignas(64) std::array<int32_t, kRowsAtOnce * kMostColumns> sums;
  const std::byte* const panel = host<const std::byte>(panels_.first) + column / panel_columns_ * panel_bytes;
  const bool has_factors = zeros_.row_factors() != nullptr;
  kernels().multiply(
      {{.places = places.data(), .rows = static_cast<size_t>(count), .depth = static_cast<size_t>(words)},
       {.panel = reinterpret_cast<const float*>(panel), .ahead = reinterpret_cast<const float*>(panel)},
       {.sums = reinterpret_cast<float*>(sums.data()),
        .sums_row = kMostColumns,
        .row_sums = has_factors ? given.sums + first : nullptr,
        .row_factors = has_factors ? zeros_.row_factors() + column : nullptr}},
      static_cast<size_t>(columns) / kernels().width);
  for (int64_t i = 0; i < count; ++i)
    add_sums(given, sums.data() + i * kMostColumns, {column, column + columns}, given.out + (first + i) * out_row_);
}
// NOLINTEND(cppcoreguidelines-pro-type-member-init)

// Adds the sums of some columns, which may be of several gates, to the gates of a row.
void CodedGates::add_sums(const Given& given, const int32_t* sums, Columns columns, float* gates) const {
  for (int64_t c = columns.begin; c < columns.end;) {
    const int64_t gate = c / gate_, end = std::min(columns.end, (gate + 1) * gate_);
    cell_kernels().add_scaled({.sums = {sums + c - columns.begin, static_cast<size_t>(end - c)},
                               .by_zero = zeros_.sums() + c,
                               .zero = given.made.zero,
                               .scales = scales_.data() + c,
                               .scale = given.made.scale},
                              gates + gate * out_gate_ + c % gate_);
    c = end;
  }
}

}  // namespace assay::engine::cpu
