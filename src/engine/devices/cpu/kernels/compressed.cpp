// Products with constant matrices of small integers, which are expanded in registers, or, for many rows, in the cache.
#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/panels/code_panels.h"
#include "engine/devices/cpu/panels/digits.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kColumns = static_cast<int64_t>(kPanel);
constexpr uint64_t kPieceWork = 1 << 19;  // multiplications
constexpr size_t kMostRows = 8;           // whose products expand in registers
constexpr size_t kMostSplitRows = 4;      // more are not split into digits first
constexpr size_t kExpanded = 128;         // rows of a panel at a time

struct Shape {
  size_t rows = 0, depth = 0;
  int64_t columns = 0;
  int data = 0;
  int bias = -1;
  bool is_exact = false;  // scales are applied to codes, not to sums of products
  tensor::DType made = tensor::DType::float32;
  bool has_few_rows() const { return rows <= kMostRows && !is_exact; }
  // True if sums lie in the workspace before they become the result.
  bool sums_apart() const { return made != tensor::DType::float32 && !has_few_rows(); }
};

class CompressedKernel final : public PlainKernel {
 public:
  CompressedKernel(Shape shape, CodePanels weights, Tape tape)
      : shape_(shape),
        weights_(std::move(weights)),
        tape_(std::move(tape)),
        digits_(may_split(shape, weights_.any()) ? digit_kernels() : nullptr),
        row_runs_(digit_runs(shape.depth, weights_.any().block)) {}

  uint64_t workspace_bytes() const override {
    if (shape_.sums_apart()) return shape_.rows * static_cast<uint64_t>(shape_.columns) * sizeof(float);
    return digits_ != nullptr ? shape_.rows * row_runs_ * sizeof(DigitRun) : 0;
  }

  void run(const Arguments& arguments) const override {
    const auto panels = static_cast<uint64_t>((shape_.columns + kColumns - 1) / kColumns);
    const auto work = static_cast<uint64_t>(shape_.rows * shape_.depth) * kPanel;
    const uint64_t most = std::max<uint64_t>(1, kPieceWork / work);
    const uint64_t grain = std::min(most, panels_of_piece(panels, weights_.panel_bytes()));
    const DigitRun* const digits = digits_ != nullptr ? split(arguments) : nullptr;
    parallel_for(panels, grain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t panel = begin; panel < end; ++panel) run_panel(arguments, static_cast<int64_t>(panel), digits);
    });
  }

 private:
  static bool may_split(const Shape& shape, const CodePanel& panel) {
    return panel.are_zeros_whole && shape.rows <= kMostSplitRows && !shape.is_exact;
  }

  const float* left_of(const Arguments& arguments) const {
    return host<const float>(arguments.inputs[static_cast<size_t>(shape_.data)]);
  }

  // Null: there are numbers that have no digits.
  const DigitRun* split(const Arguments& arguments) const {
    auto* const digits = host<DigitRun>(arguments.workspace);
    for (size_t r = 0; r < shape_.rows; ++r) {
      const float* const row = left_of(arguments) + r * shape_.depth;
      if (!digits_->split_row(row, shape_.depth, weights_.any(), digits + r * row_runs_)) return nullptr;
    }
    return digits;
  }

  struct Target {
    float* out;
    int64_t row;
    size_t rows, columns;
  };

  void run_panel(const Arguments& arguments, int64_t index, const DigitRun* digits) const {
    const int64_t first = index * kColumns;
    const auto count = static_cast<size_t>(std::min(kColumns, shape_.columns - first));
    const CodePanel panel = weights_.panel(index);
    const float* const left = left_of(arguments);
    if (shape_.has_few_rows()) {
      alignas(64) float sums[kMostRows * kPanel] = {};
      start(arguments, first, {sums, kColumns, shape_.rows, count});
      const PanelRows rows = rows_of(left, sums, kColumns);
      digits == nullptr ? panel_kernels().multiply_codes(rows, panel) : digits_->multiply(digits, rows, panel);
      return finish(arguments, {sums, kColumns, shape_.rows, count}, first);
    }
    float* const sums = shape_.sums_apart() ? host<float>(arguments.workspace) : host<float>(arguments.outputs[0]);
    const Target target = {sums + first, shape_.columns, shape_.rows, count};
    start(arguments, first, target);
    expand_and_multiply(panel, left, target);
    finish(arguments, target, first);
  }

  // Sums of columns from `first` on become their part of the result.
  void finish(const Arguments& arguments, const Target& sums, int64_t first) const {
    std::byte* const out = host<std::byte>(arguments.outputs[0]) + first * float_bytes(shape_.made);
    if (!tape_.is_empty()) {
      const auto rows = static_cast<int64_t>(sums.rows);
      return tape_.run_rows({sums.out, sums.row}, out, arguments.inputs,
                            {first, shape_.columns, rows, static_cast<int64_t>(sums.columns)});
    }
    auto* const made = reinterpret_cast<float*>(out);
    if (made == sums.out) return;
    for (size_t r = 0; r < sums.rows; ++r) {
      const auto row = static_cast<int64_t>(r);
      std::copy_n(sums.out + row * sums.row, sums.columns, made + row * shape_.columns);
    }
  }

  PanelRows rows_of(const float* left, float* out, int64_t out_row) const {
    return {.left = left,
            .left_row = static_cast<int64_t>(shape_.depth),
            .out = out,
            .out_row = out_row,
            .rows = shape_.rows,
            .depth = shape_.depth};
  }

  void start(const Arguments& arguments, int64_t first, const Target& target) const {
    const float* const bias =
        shape_.bias < 0 ? nullptr : host<const float>(arguments.inputs[static_cast<size_t>(shape_.bias)]) + first;
    for (size_t r = 0; r < target.rows; ++r) {
      float* const row = target.out + static_cast<int64_t>(r) * target.row;
      bias == nullptr ? std::fill_n(row, target.columns, 0.0F) : std::copy_n(bias, target.columns, row);
    }
  }

  void expand_and_multiply(const CodePanel& panel, const float* left, const Target& target) const {
    alignas(64) float numbers[kExpanded * kPanel];
    for (size_t k = 0; k < shape_.depth; k += kExpanded) {
      const size_t depth = std::min(kExpanded, shape_.depth - k);
      panel_kernels().expand(panel, k, k + depth, numbers);
      PanelRows rows = rows_of(left + k, target.out, target.row);
      rows.depth = depth;
      target.columns == kPanel ? panel_kernels().multiply(rows, numbers, kColumns)
                               : multiply_apart(rows, numbers, target.columns);
    }
  }

  // Through memory for whole panels, where the result has no room for these.
  static void multiply_apart(PanelRows rows, const float* panel, size_t columns) {
    alignas(64) float sums[kMostRows * kPanel] = {};
    for (size_t left = rows.rows; left > 0; left -= rows.rows) {
      rows.rows = std::min(left, kMostRows);
      for (size_t r = 0; r < rows.rows; ++r) {
        std::copy_n(rows.out + static_cast<int64_t>(r) * rows.out_row, columns, sums + r * kPanel);
      }
      PanelRows apart = rows;
      apart.out = sums;
      apart.out_row = kColumns;
      panel_kernels().multiply(apart, panel, kColumns);
      for (size_t r = 0; r < rows.rows; ++r) {
        std::copy_n(sums + r * kPanel, columns, rows.out + static_cast<int64_t>(r) * rows.out_row);
      }
      rows.left += static_cast<int64_t>(rows.rows) * rows.left_row;
      rows.out += static_cast<int64_t>(rows.rows) * rows.out_row;
    }
  }

  Shape shape_;
  CodePanels weights_;
  Tape tape_;
  const DigitKernels* digits_;  // null: rows are not split
  size_t row_runs_;
};

class Compressed final : public Implementation {
 public:
  std::string_view name() const override { return "product.compressed"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<CompressedForm>(layer);
    if (form == nullptr) return {};
    const CompressedProduct& product = form->product;
    const ir::ValueId result = layer.result(layer.nodes[form->done - 1], 0);
    const int data = layer.input_of(product.data);
    if (layer.outputs.size() != 1 || data < 0 || layer.desc_of(result).dims != layer.outputs[0].dims) return {};
    const int bias = product.bias.valid() ? layer.input_of(product.bias) : -1;
    const TensorDesc& given = layer.inputs[static_cast<size_t>(data)];
    const bool are_floats = given.dtype == tensor::DType::float32 && layer.desc_of(result).dtype == given.dtype;
    if (!are_floats || !has_layout(given, Layout::plain) || !has_layout(layer.outputs[0], Layout::plain)) return {};
    if (bias >= 0 && !has_layout(layer.inputs[static_cast<size_t>(bias)], Layout::plain)) return {};
    std::optional<Tape> tape = Tape::make(layer, form->done, result);
    if (!tape) return {};
    const Shape shape{.rows = static_cast<size_t>(layer.outputs[0].count() / product.columns),
                      .depth = static_cast<size_t>(product.depth),
                      .columns = product.columns,
                      .data = data,
                      .bias = bias,
                      .is_exact = layer.is_strict,
                      .made = layer.outputs[0].dtype};
    return std::make_unique<CompressedKernel>(shape, CodePanels(layer, product), std::move(*tape));
  }
};

}  // namespace

KernelFamily cpu_kernel_compressed() { return family_of<Compressed>(); }

}  // namespace assay::engine::cpu
