// Sums, means, squares and greatest elements over neighbouring dims.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <set>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kTile = 1024;               // elements that are widened, or columns that are summed, at once
constexpr int64_t kSummed = 64;               // rows whose sum is added to the others as one
constexpr int64_t kReductionGrain = 1 << 14;  // elements read

enum class Kind : uint8_t { sum, mean, square, length, maximum };

struct Name {
  const char* op;
  Kind kind;
};
constexpr std::array kNames = {Name{"ReduceSum", Kind::sum}, Name{"ReduceMean", Kind::mean},
                               Name{"ReduceSumSquare", Kind::square}, Name{"ReduceL2", Kind::length},
                               Name{"ReduceMax", Kind::maximum}};

// In the order of memory: [outer, reduced, inner].
struct Extents {
  int64_t outer = 1, reduced = 1, inner = 1;
};

class ReductionKernel final : public PlainKernel {
 public:
  ReductionKernel(Kind kind, Extents extents, tensor::DType dtype) : kind_(kind), e_(extents), dtype_(dtype) {}

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    const int64_t tiles = (e_.inner + kTile - 1) / kTile;
    const auto grain =
        static_cast<uint64_t>(std::max<int64_t>(1, kReductionGrain / (e_.reduced * std::min(e_.inner, kTile))));
    parallel_for(static_cast<uint64_t>(e_.outer * tiles), grain, [&](uint64_t begin, uint64_t end) {
      for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
        const int64_t column = i % tiles * kTile;
        const std::byte* const from = in + (i / tiles * e_.reduced * e_.inner + column) * float_bytes(dtype_);
        std::byte* const to = out + (i / tiles * e_.inner + column) * float_bytes(dtype_);
        if (e_.inner == 1)
          reduce_row(from, to);
        else
          reduce_columns(from, to, std::min(kTile, e_.inner - column));
      }
    });
  }

 private:
  void reduce_row(const std::byte* from, std::byte* to) const {
    const RowKernels& rows = row_kernels();
    const bool is_square = kind_ == Kind::square || kind_ == Kind::length;
    double sum = 0;
    float greatest = -std::numeric_limits<float>::infinity();
    float tile[kTile];
    for (int64_t first = 0; first < e_.reduced; first += kTile) {
      const auto count = static_cast<size_t>(std::min(kTile, e_.reduced - first));
      const float* const x = read_floats(dtype_, from + first * float_bytes(dtype_), tile, count);
      if (kind_ == Kind::maximum)
        rows.maximum(&greatest, std::array{rows.greatest(x, count)}.data(), 1);
      else
        sum += is_square ? rows.sum_of_squares(x, 0, count) : rows.sum(x, count);
    }
    if (kind_ == Kind::mean) sum /= static_cast<double>(e_.reduced);
    if (kind_ == Kind::length) sum = std::sqrt(sum);
    float made = kind_ == Kind::maximum ? greatest : static_cast<float>(sum);
    float* const placed = place_floats(dtype_, to, &made);
    *placed = made;
    write_floats(dtype_, placed, to, 1);
  }

  void reduce_columns(const std::byte* from, std::byte* to, int64_t columns) const {
    const RowKernels& rows = row_kernels();
    const auto count = static_cast<size_t>(columns);
    float read[kTile];
    float part[kTile];
    float total_tile[kTile];
    float* const total = place_floats(dtype_, to, total_tile);
    const bool is_maximum = kind_ == Kind::maximum;
    std::fill_n(total, count, is_maximum ? -std::numeric_limits<float>::infinity() : 0.0F);
    for (int64_t first = 0; first < e_.reduced; first += kSummed) {
      float* const kept = is_maximum || e_.reduced <= kSummed ? total : part;
      if (kept == part) std::fill_n(part, count, 0.0F);
      for (int64_t row = first; row < std::min(e_.reduced, first + kSummed); ++row) {
        const float* const x = read_floats(dtype_, from + row * e_.inner * float_bytes(dtype_), read, count);
        if (is_maximum)
          rows.maximum(kept, x, count);
        else if (kind_ == Kind::sum || kind_ == Kind::mean)
          rows.add(kept, x, count);
        else
          rows.add_squares(kept, x, nullptr, count);
      }
      if (kept == part) rows.add(total, part, count);
    }
    if (kind_ == Kind::mean) rows.scale(total, 1.0F / static_cast<float>(e_.reduced), total, count);
    if (kind_ == Kind::length) {
      for (size_t i = 0; i < count; ++i) total[i] = std::sqrt(total[i]);
    }
    write_floats(dtype_, total, to, count);
  }

  Kind kind_;
  Extents e_;
  tensor::DType dtype_;
};

// The axes that are reduced; nullopt: data decides, or none are.
std::optional<std::set<size_t>> axes_of(const Layer& layer) {
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const size_t rank = layer.inputs[0].dims.size();
  std::vector<int64_t> axes = facts.integers("axes");
  if (const ir::ValueId given = layer.operand(layer.nodes[0], 1); given.valid()) {
    const tensor::Tensor* const constant = layer.constant(given);
    if (constant == nullptr) return std::nullopt;
    axes = tensor::load_elements<int64_t>(*constant);
  }
  if (axes.empty() && facts.integer("noop_with_empty_axes", 0) != 0) return std::nullopt;
  std::set<size_t> all;
  for (size_t i = 0; i < rank && axes.empty(); ++i) all.insert(i);
  for (const int64_t axis : axes)
    all.insert(static_cast<size_t>(ops::normalize_axis(axis, static_cast<int64_t>(rank))));
  return all;
}

// Nullopt: the reduced dims are no neighbours, or the result lies in another order.
std::optional<Extents> extents_of(const TensorDesc& in, const TensorDesc& out, const std::set<size_t>& axes) {
  if (!is_dense(in) || !is_dense(out)) return std::nullopt;
  const bool keeps = in.dims.size() == out.dims.size();
  std::vector<size_t> kept;  // as the result counts its dims
  Extents extents;
  bool is_past = false;
  for (const size_t dim : memory_order(in)) {
    if (axes.contains(dim)) {
      if (is_past) return std::nullopt;
      extents.reduced *= in.dims[dim];
      continue;
    }
    is_past = is_past || extents.reduced != 1;
    (is_past ? extents.inner : extents.outer) *= in.dims[dim];
    const auto gone = static_cast<size_t>(std::ranges::count_if(axes, [&](size_t axis) { return axis < dim; }));
    kept.push_back(keeps ? dim : dim - gone);
  }
  return kept == memory_order(out) ? std::optional(extents) : std::nullopt;
}

class Reduction final : public Implementation {
 public:
  std::string_view name() const override { return "reduction.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto name = std::ranges::find_if(kNames, [&](const Name& known) { return layer.starts_with(known.op); });
    if (name == kNames.end() || !layer.is_single()) return {};
    const TensorDesc& in = layer.inputs[0];
    if (!is_float(in.dtype) || in.count() == 0 || layer.outputs[0].dtype != in.dtype) return {};
    const std::optional<std::set<size_t>> axes = axes_of(layer);
    const std::optional<Extents> extents = axes ? extents_of(in, layer.outputs[0], *axes) : std::nullopt;
    if (!extents) return {};
    return std::make_unique<ReductionKernel>(name->kind, *extents, in.dtype);
  }
};

Implementations make_reduction_kernels(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Reduction>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_reductions() { return {make_reduction_kernels}; }

}  // namespace assay::engine::cpu
