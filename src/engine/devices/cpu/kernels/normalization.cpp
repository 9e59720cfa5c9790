// Softmax and normalisations over the innermost dims.
#include <algorithm>
#include <array>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/row_kernels.h"
#include "engine/spelled_norm.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kGrain = 1 << 13;  // elements

// Rows of `inner` elements, each on its own.
template <typename Fn>
void for_rows(int64_t rows, int64_t inner, Fn&& fn) {
  const auto grain = static_cast<uint64_t>(std::max<int64_t>(1, kGrain / std::max<int64_t>(inner, 1)));
  parallel_for(static_cast<uint64_t>(rows), grain, [&](uint64_t begin, uint64_t end) {
    for (auto row = static_cast<int64_t>(begin); row < static_cast<int64_t>(end); ++row) fn(row * inner);
  });
}

struct Rows {
  int64_t count;
  int64_t inner;
};

// The dims from `axis` on are the row.
Rows rows_of(const tensor::Shape& dims, int64_t axis) {
  Rows rows{1, 1};
  for (size_t i = 0; i < dims.size(); ++i) (static_cast<int64_t>(i) < axis ? rows.count : rows.inner) *= dims[i];
  return rows;
}

bool is_plain_float(const TensorDesc& desc) {
  return desc.dtype == tensor::DType::float32 && has_layout(desc, Layout::plain) && desc.count() > 0;
}

class SoftmaxKernel final : public PlainKernel {
 public:
  explicit SoftmaxKernel(Rows rows) : rows_(rows) {}
  void run(const Arguments& arguments) const override {
    const auto* const in = host<const float>(arguments.inputs[0]);
    auto* const out = host<float>(arguments.outputs[0]);
    for_rows(rows_.count, rows_.inner,
             [&](int64_t at) { row_kernels().softmax(in + at, out + at, static_cast<size_t>(rows_.inner)); });
  }

 private:
  Rows rows_;
};

class Softmax final : public Implementation {
 public:
  std::string_view name() const override { return "softmax.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Softmax")) return {};
    if (!is_plain_float(layer.inputs[0]) || !is_plain_float(layer.outputs[0])) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const auto rank = static_cast<int64_t>(layer.inputs[0].dims.size());
    constexpr int64_t kFirstOverOneAxis = 13;
    const bool is_flattened = facts.version() < kFirstOverOneAxis;
    const int64_t axis = ops::normalize_axis(facts.integer("axis", is_flattened ? 1 : -1), rank);
    if (!is_flattened && axis != rank - 1) return {};
    return std::make_unique<SoftmaxKernel>(rows_of(layer.inputs[0].dims, axis));
  }
};

class NormalizationKernel final : public PlainKernel {
 public:
  NormalizationKernel(Rows rows, float epsilon, bool is_rms, std::array<int, 3> inputs)
      : rows_(rows), epsilon_(epsilon), is_rms_(is_rms), inputs_(inputs) {}
  void run(const Arguments& arguments) const override {
    const auto input = [&](int index) {
      return index < 0 ? nullptr : host<const float>(arguments.inputs[static_cast<size_t>(index)]);
    };
    const float* const in = input(inputs_[0]);
    const float* const scale = input(inputs_[1]);
    const float* const shift = input(inputs_[2]);
    auto* const out = host<float>(arguments.outputs[0]);
    for_rows(rows_.count, rows_.inner, [&](int64_t at) {
      row_kernels().normalize(in + at, scale, shift, out + at, static_cast<size_t>(rows_.inner), epsilon_, is_rms_);
    });
  }

 private:
  Rows rows_;
  float epsilon_;
  bool is_rms_;
  std::array<int, 3> inputs_;  // data, scale, shift; -1: there is none
};

class Normalization final : public Implementation {
 public:
  std::string_view name() const override { return "normalization.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_rms = layer.starts_with("RMSNormalization");
    if (!layer.is_single() || (!is_rms && !layer.starts_with("LayerNormalization"))) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const auto rank = static_cast<int64_t>(layer.inputs[0].dims.size());
    const int64_t axis = ops::normalize_axis(facts.integer("axis", -1), rank);
    const Rows rows = rows_of(layer.inputs[0].dims, axis);
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const TensorDesc& desc = layer.inputs[i];
      if (desc.exists() && (!is_plain_float(desc) || (i > 0 && desc.count() != rows.inner))) return {};
    }
    for (size_t i = 1; i < layer.outputs.size(); ++i) {
      if (layer.outputs[i].exists()) return {};
    }
    if (!is_plain_float(layer.outputs[0]) || !layer.inputs[1].exists()) return {};
    const bool has_shift = layer.inputs.size() > 2 && layer.inputs[2].exists();
    return std::make_unique<NormalizationKernel>(rows, static_cast<float>(facts.floating("epsilon", 1e-5)), is_rms,
                                                 std::array{0, 1, has_shift ? 2 : -1});
  }
};

// The same written out in operators.
class SpelledNormalization final : public Implementation {
 public:
  std::string_view name() const override { return "normalization.spelled"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto constant = [&](ir::ValueId value) { return layer.constant(value); };
    const std::optional<SpelledNorm> norm = match_norm(*layer.model, layer.nodes, constant);
    if (!norm || layer.outputs.size() != 1) return {};
    const auto input_of = [&](ir::ValueId value) { return value.valid() ? layer.input_of(value) : -1; };
    const std::array<int, 3> inputs = {input_of(norm->data), input_of(norm->scale), input_of(norm->shift)};
    for (const int input : inputs) {
      if (input >= 0 && !is_plain_float(layer.inputs[static_cast<size_t>(input)])) return {};
    }
    if (inputs[0] < 0) return {};
    const tensor::Shape& dims = layer.inputs[static_cast<size_t>(inputs[0])].dims;
    if (dims.empty() || !is_plain_float(layer.outputs[0]) || layer.outputs[0].dims != dims) return {};
    const Rows rows = rows_of(dims, static_cast<int64_t>(dims.size()) - 1);
    for (const int input : {inputs[1], inputs[2]}) {
      if (input >= 0 && layer.inputs[static_cast<size_t>(input)].dims != tensor::Shape{rows.inner}) return {};
    }
    return std::make_unique<NormalizationKernel>(rows, norm->epsilon, norm->is_rms, inputs);
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Softmax>());
  all.push_back(std::make_unique<Normalization>());
  all.push_back(std::make_unique<SpelledNormalization>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_normalization() { return {make_all}; }

}  // namespace assay::engine::cpu
