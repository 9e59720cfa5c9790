// Resize by weighted sums of neighbours, one axis after the other.
#include <algorithm>
#include <array>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/forms.h"
#include "engine/devices/cpu/rows/weighted_rows.h"
#include "engine/layers/resize.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kResamplingGrain = 1 << 14;  // elements

// One axis: `outer` times, lines of `in` groups of `inner` elements become such of `out`.
struct Stage {
  uint64_t outer, in, out, inner;
  std::vector<uint32_t> elements;  // of the terms
  std::vector<float> weights;
  std::vector<size_t> begins;  // of the terms of each place, and their end
  bool has_pairs = true;       // two terms at each place

  Stage(const std::vector<ops::ResampledAxis>& plan, const tensor::Shape& dims, size_t axis,
        const ops::ResampledTerms& given)
      : outer(1), in(static_cast<uint64_t>(plan[axis].in)), out(given.size()), inner(1) {
    for (size_t i = 0; i < dims.size(); ++i) {
      if (i != axis) (i < axis ? outer : inner) *= static_cast<uint64_t>(dims[i]);
    }
    for (const auto& own : given) {
      begins.push_back(elements.size());
      for (const ops::ResampledTerm& term : own) {
        elements.push_back(static_cast<uint32_t>(term.element));
        weights.push_back(static_cast<float>(term.weight));
      }
      has_pairs = has_pairs && own.size() == 2;
    }
    begins.push_back(elements.size());
  }

  uint64_t count() const { return outer * out * inner; }

  void run(const float* from, float* to) const {
    const uint64_t grain = kResamplingGrain / (out * inner) + 1;
    parallel_for(outer, grain, [&](uint64_t begin, uint64_t end) {
      for (uint64_t o = begin; o < end; ++o) {
        const float* const lines = from + o * in * inner;
        float* const sums = to + o * out * inner;
        if (inner > 1)
          add_groups(lines, sums);
        else if (has_pairs)
          add_pairs(lines, sums);
        else
          add_elements(lines, sums);
      }
    });
  }

 private:
  void add_pairs(const float* from, float* to) const {
    for (uint64_t x = 0; x < out; ++x)
      to[x] = weights[2 * x] * from[elements[2 * x]] + weights[2 * x + 1] * from[elements[2 * x + 1]];
  }

  void add_elements(const float* from, float* to) const {
    for (uint64_t x = 0; x < out; ++x) {
      float sum = 0;
      for (size_t t = begins[x]; t < begins[x + 1]; ++t) sum += weights[t] * from[elements[t]];
      to[x] = sum;
    }
  }

  void add_groups(const float* from, float* to) const {
    constexpr size_t kTogether = 8;
    std::array<const float*, kTogether> groups;  // NOLINT(cppcoreguidelines-pro-type-member-init): written first
    for (uint64_t x = 0; x < out; ++x, to += inner) {
      size_t t = begins[x];
      do {
        const size_t count = std::min(kTogether, begins[x + 1] - t);
        for (size_t i = 0; i < count; ++i) groups[i] = from + elements[t + i] * inner;
        weighted_rows().sum(groups.data(), weights.data() + t, count, t > begins[x], to, inner);
        t += count;
      } while (t < begins[x + 1]);
    }
  }
};

class ResampleKernel final : public PlainKernel {
 public:
  explicit ResampleKernel(std::vector<Stage> stages) : stages_(std::move(stages)) {
    for (size_t i = 0; i + 1 < stages_.size(); ++i) between_ = std::max(between_, stages_[i].count());
  }

  uint64_t workspace_bytes() const override { return 2 * between_ * sizeof(float); }

  void run(const Arguments& arguments) const override {
    const auto* from = host<const float>(arguments.inputs[0]);
    for (size_t i = 0; i < stages_.size(); ++i) {
      const bool is_last = i + 1 == stages_.size();
      float* const to =
          is_last ? host<float>(arguments.outputs[0]) : host<float>(arguments.workspace) + i % 2 * between_;
      stages_[i].run(from, to);
      from = to;
    }
  }

 private:
  std::vector<Stage> stages_;
  uint64_t between_ = 0;  // elements
};

// The axes in the order in which they lie in memory.
std::vector<size_t> order_of(const TensorDesc& desc) {
  std::vector<size_t> order;
  for (size_t i = 0; i < desc.dims.size(); ++i) order.push_back(i);
  if (has_layout(desc, Layout::plain)) return order;
  order.erase(order.begin() + 1);
  order.push_back(1);
  return order;
}

// That of the operator, but the innermost axis that grows comes first, while there are few elements: the last stage
// adds long rows.
std::vector<size_t> stage_order(const std::vector<ops::ResampledAxis>& plan) {
  std::vector<size_t> order = ops::resampling_order(plan);
  const auto grows = [&](size_t axis) { return plan[axis].out > plan[axis].in; };
  std::reverse(std::ranges::find_if(order, grows), order.end());
  return order;
}

class Resample final : public Implementation {
 public:
  std::string_view name() const override { return "resize.sums"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const ResizeForm* const form = resize_of(layer);
    if (form == nullptr) return {};
    for (const TensorDesc& desc : {layer.inputs[0], layer.outputs[0]}) {
      if (desc.dtype != tensor::DType::float32) return {};
    }
    const ops::Node facts = layer.facts(layer.nodes[0]);
    if (ops::resize_mode(facts) == ops::ResizeMode::nearest) return {};
    return make_stages(facts, layer.inputs[0], form->axes);
  }

 private:
  static std::unique_ptr<Kernel> make_stages(const ops::Node& facts, const TensorDesc& in,
                                             const std::vector<ops::ResampledAxis>& given) {
    std::vector<ops::ResampledAxis> plan;
    tensor::Shape dims;
    for (const size_t axis : order_of(in)) {
      plan.push_back(given[axis]);
      dims.push_back(in.dims[axis]);
    }
    std::vector<Stage> stages;
    for (const size_t axis : stage_order(plan)) {
      stages.emplace_back(plan, dims, axis, ops::resize_terms(facts, plan[axis]));
      dims[axis] = plan[axis].out;
    }
    if (stages.empty()) return {};
    return std::make_unique<ResampleKernel>(std::move(stages));
  }
};

}  // namespace

KernelFamily cpu_kernel_resampling() { return family_of<Resample>(); }

}  // namespace assay::engine::cpu
