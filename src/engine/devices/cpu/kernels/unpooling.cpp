// MaxUnpool: numbers at the places that a pool of the same windows found them.
#include <algorithm>
#include <atomic>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "ops/kernels/window/window.h"

namespace assay::engine::cpu {
namespace {

// A plane holds numbers of one picture's channel. Places count elements of what was pooled; its dims are the first
// elements of those of the result.
struct UnpoolForm {
  int64_t planes = 1, given = 1, pooled = 1, result = 1;  // elements of a plane: numbers, what was pooled, results
  tensor::Shape pooled_dims, result_dims;
};

class UnpoolKernel final : public PlainKernel {
 public:
  explicit UnpoolKernel(UnpoolForm form) : form_(std::move(form)) {}

  void run(const Arguments& arguments) const override {
    std::atomic<bool> are_apart = true;
    const auto grain = static_cast<uint64_t>(kGrain / form_.result + 1);
    parallel_for(static_cast<uint64_t>(form_.planes), grain, [&](uint64_t begin, uint64_t end) {
      for (auto plane = static_cast<int64_t>(begin); plane < static_cast<int64_t>(end); ++plane)
        if (!fill_plane(arguments, plane)) are_apart = false;
    });
    if (!are_apart) move_all(arguments);
  }

 private:
  static constexpr int64_t kGrain = 1 << 14;  // elements

  // False: a place lies in another plane.
  bool fill_plane(const Arguments& arguments, int64_t plane) const {
    const auto* const numbers = host<const float>(arguments.inputs[0]) + plane * form_.given;
    const auto* const places = host<const int64_t>(arguments.inputs[1]) + plane * form_.given;
    auto* const out = host<float>(arguments.outputs[0]) + plane * form_.result;
    std::fill_n(out, form_.result, 0.0F);
    const bool is_whole = form_.pooled == form_.result;
    const auto limit = static_cast<uint64_t>(form_.pooled);
    for (int64_t i = 0; i < form_.given; ++i) {
      const auto place = static_cast<uint64_t>(places[i] - plane * form_.pooled);
      if (place >= limit) return false;
      out[is_whole ? place : widened(place)] = numbers[i];
    }
    return true;
  }

  // The place in a plane of the result.
  uint64_t widened(uint64_t place) const {
    uint64_t target = 0, step = 1;
    for (size_t axis = form_.pooled_dims.size(); axis-- > 0;) {
      const auto dim = static_cast<uint32_t>(form_.pooled_dims[axis]);
      target += place % dim * step;
      place /= dim;
      step *= static_cast<uint64_t>(form_.result_dims[axis]);
    }
    return target;
  }

  // In the order of the numbers: of those for one place the last one stays.
  void move_all(const Arguments& arguments) const {
    const auto* const numbers = host<const float>(arguments.inputs[0]);
    const auto* const places = host<const int64_t>(arguments.inputs[1]);
    auto* const out = host<float>(arguments.outputs[0]);
    const auto in_plane = static_cast<uint64_t>(form_.pooled);
    const uint64_t limit = static_cast<uint64_t>(form_.planes) * in_plane;
    std::fill_n(out, form_.planes * form_.result, 0.0F);
    for (int64_t i = 0; i < form_.planes * form_.given; ++i) {
      const auto place = static_cast<uint64_t>(places[i]);
      if (place >= limit) fail(ErrorCode::shape, "index {} is out of range for {} elements", places[i], limit);
      out[place / in_plane * static_cast<uint64_t>(form_.result) + widened(place % in_plane)] = numbers[i];
    }
  }

  UnpoolForm form_;
};

class Unpool final : public Implementation {
 public:
  std::string_view name() const override { return "pool.unpool"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("MaxUnpool") || !layer.lies_plainly()) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const bool are_planes = in.dims[0] == out.dims[0] && in.dims[1] == out.dims[1];
    if (in.dtype != tensor::DType::float32 || !are_planes || in.count() == 0 || out.count() == 0) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const size_t axes = in.dims.size() - 2;
    const std::vector<int64_t> kernel = ops::read_kernel(facts, axes);
    const ops::WindowRules rules = ops::read_window_rules(facts, axes);
    UnpoolForm form{.planes = in.dims[0] * in.dims[1]};
    for (size_t i = 0; i < axes; ++i) {
      const int64_t dim = in.dims[i + 2];
      form.pooled_dims.push_back((dim - 1) * rules.strides[i] + kernel[i] - rules.pads[i] - rules.pads[i + axes]);
      form.result_dims.push_back(out.dims[i + 2]);
      form.given *= dim;
      form.pooled *= form.pooled_dims.back();
      form.result *= form.result_dims.back();
      if (form.pooled_dims.back() > form.result_dims.back()) return {};
    }
    return form.pooled > 0 ? std::make_unique<UnpoolKernel>(std::move(form)) : nullptr;
  }
};

}  // namespace

KernelFamily cpu_kernel_unpooling() { return family_of<Unpool>(); }

}  // namespace assay::engine::cpu
