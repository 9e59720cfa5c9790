#include "engine/lowering/spell_transposed_conv.h"

#include <algorithm>
#include <array>

#include "engine/lowering/list_or.h"
#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"
#include "schema/imports.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;
using tensor::Tensor;

constexpr int64_t kFirstSliceOfInputs = 10;
constexpr size_t kMostDims = 3;
// Times as many weights, the others of which are zeros: at most, and where a device computes the convolution as it is,
// over lines, for which kernels may take long to make, and over pictures.
constexpr double kMostSpread = 32, kSpreadOfLines = 4, kSpreadOfPictures = 1.5;

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
  const LoweringRules& rules;
};

// One dim of the pictures. Each input spreads over `kernel` results, every `stride` of which are a step: their results
// are those of a convolution with a window of `taps`.
struct Axis {
  int64_t in = 1, kernel = 1, stride = 1;
  int64_t first = 0, out = 1;  // of all that is spread, the results

  int64_t taps() const { return (kernel + stride - 1) / stride; }
  int64_t steps() const { return in + taps() - 1; }
  bool fits() const { return first >= 0 && first + out <= steps() * stride; }
  bool takes_away() const { return first != 0 || out != steps() * stride; }
};

struct TransposedConv {
  std::vector<Axis> axes;
  int64_t batch = 0, channels = 0, filters = 0;
  const Tensor* weights = nullptr;
  const Tensor* bias = nullptr;

  // The number of times as many weights as there will be: those that nothing is spread by are zeros.
  double spread() const {
    double share = 1;
    for (const Axis& axis : axes)
      share *= static_cast<double>(axis.stride) * static_cast<double>(axis.taps()) / static_cast<double>(axis.kernel);
    return share;
  }
  int64_t phases() const {
    int64_t count = 1;
    for (const Axis& axis : axes) count *= axis.stride;
    return count;
  }
};

bool is_plain(const ops::Node& facts, size_t dims) {
  const std::string_view padding = facts.string("auto_pad", "NOTSET");
  const std::vector<int64_t> dilations = list_or(facts, "dilations", dims, 1);
  return (padding == "NOTSET" || padding == "VALID") && facts.integer("group", 1) == 1 &&
         !facts.has_attribute("output_shape") && std::ranges::count(dilations, 1) == std::ssize(dilations);
}

std::optional<TransposedConv> find_transposed(Context& context, NodeId node) {
  const ir::Model& model = context.run.model();
  const std::optional<tensor::Shape> in = context.inferred.shape(ir::operand(model, node, 0));
  const std::optional<tensor::Shape> out = context.inferred.shape(ir::result(model, node));
  TransposedConv conv;
  conv.weights = context.run.constant(ir::operand(model, node, 1));
  if (!in || !out || conv.weights == nullptr || conv.weights->dtype() != DType::float32) return {};
  if (*tensor::element_count(*in) == 0 || *tensor::element_count(*out) == 0) return {};
  const size_t dims = in->size() - 2;
  const ops::Node facts = context.run.facts(node);
  if (dims > kMostDims || !is_plain(facts, dims)) return {};
  conv.batch = in->at(0);
  conv.channels = in->at(1);
  conv.filters = out->at(1);
  const bool is_known = dims < kMostDims || context.rules.has_volumes;
  const ir::ValueId bias = ir::operand(model, node, 2);
  conv.bias = bias.valid() ? context.run.constant(bias) : nullptr;
  if (bias.valid() && conv.bias == nullptr) return {};
  const std::vector<int64_t> strides = list_or(facts, "strides", dims, 1);
  const bool is_padded = facts.string("auto_pad", "NOTSET") == "NOTSET";
  const std::vector<int64_t> pads = is_padded ? list_or(facts, "pads", 2 * dims, 0) : std::vector<int64_t>(2 * dims, 0);
  for (size_t i = 0; i < dims; ++i) {
    conv.axes.push_back({in->at(i + 2), conv.weights->shape()[i + 2], strides[i], pads[i], out->at(i + 2)});
    if (!conv.axes.back().fits()) return {};
  }
  const bool has_choice = is_known && conv.filters >= context.rules.few_filters;
  const double most = !has_choice ? kMostSpread : dims == 1 ? kSpreadOfLines : kSpreadOfPictures;
  return conv.spread() <= most ? std::optional(conv) : std::nullopt;
}

// Numbers of three dims, of which the first may be 1.
struct Places {
  std::array<int64_t, kMostDims> sizes = {1, 1, 1};

  template <typename Size>
  Places(const std::vector<Axis>& axes, Size&& size) {
    for (size_t i = 0; i < axes.size(); ++i) sizes[kMostDims - axes.size() + i] = size(axes[i]);
  }
  int64_t count() const { return sizes[0] * sizes[1] * sizes[2]; }
  std::array<int64_t, kMostDims> at(int64_t number) const {
    return {number / sizes[2] / sizes[1], number / sizes[2] % sizes[1], number % sizes[2]};
  }
};

// [channels, filters, kernel...] as [phases * filters, channels, taps...]: the tap that is u-th of a window holds what
// the input so many steps before the last one spreads.
Tensor spread_weights(const TransposedConv& conv) {
  const Places kernel(conv.axes, [](const Axis& axis) { return axis.kernel; });
  const Places phases(conv.axes, [](const Axis& axis) { return axis.stride; });
  const Places taps(conv.axes, [](const Axis& axis) { return axis.taps(); });
  const std::vector<double> from = tensor::load_elements<double>(*conv.weights);
  std::vector<float> to(static_cast<size_t>(phases.count() * conv.filters * conv.channels * taps.count()));
  size_t next = 0;
  for (int64_t phase = 0; phase < phases.count(); ++phase) {
    for (int64_t filter = 0; filter < conv.filters; ++filter) {
      for (int64_t channel = 0; channel < conv.channels; ++channel) {
        for (int64_t tap = 0; tap < taps.count(); ++tap, ++next) {
          int64_t place = 0;
          bool is_inside = true;
          for (size_t i = 0; i < kMostDims; ++i) {
            const int64_t k = phases.at(phase)[i] + phases.sizes[i] * (taps.sizes[i] - 1 - taps.at(tap)[i]);
            is_inside = is_inside && k < kernel.sizes[i];
            place = place * kernel.sizes[i] + k;
          }
          const int64_t plane = channel * conv.filters + filter;
          if (is_inside) to[next] = static_cast<float>(from[static_cast<size_t>(plane * kernel.count() + place)]);
        }
      }
    }
  }
  tensor::Shape dims = {phases.count() * conv.filters, conv.channels};
  for (const Axis& axis : conv.axes) dims.push_back(axis.taps());
  return tensor::make_tensor<float>(DType::float32, dims, to);
}

Tensor repeated_bias(const TransposedConv& conv) {
  const std::vector<double> once = tensor::load_elements<double>(*conv.bias);
  std::vector<float> all;
  for (int64_t phase = 0; phase < conv.phases(); ++phase) all.insert(all.end(), once.begin(), once.end());
  return tensor::make_tensor<float>(DType::float32, {std::ssize(all)}, all);
}

class Speller {
 public:
  Speller(Context& context, const TransposedConv& conv) : context_(context), conv_(conv) {}

  void replace(NodeId node) {
    patch_.replace(ir::result(context_.run.model(), node), cut(between(convolved(node))));
    patch_.remove(node);
    context_.run.rewriter().commit("{0} as a Conv whose channels are moved between the pixels", patch_);
  }

 private:
  PatchValue convolved(NodeId node) {
    const ir::Model& model = context_.run.model();
    std::vector<int64_t> taps, pads;
    for (const Axis& axis : conv_.axes) taps.push_back(axis.taps());
    for (size_t i = 0; i < 2 * taps.size(); ++i) pads.push_back(taps[i % taps.size()] - 1);
    std::vector<PatchValue> operands = {ir::operand(model, node, 0), patch_.add_constant(spread_weights(conv_))};
    if (conv_.bias != nullptr) operands.push_back(patch_.add_constant(repeated_bias(conv_)));
    return patch_.add({.op = "Conv",
                       .name = model[node].name,
                       .operands = std::move(operands),
                       .attributes = {passes::integers_attribute(context_.run, "kernel_shape", taps),
                                      passes::integers_attribute(context_.run, "pads", pads)}});
  }

  // [batch, phases..., filters, steps...] with each phase behind its step.
  PatchValue between(PatchValue x) {
    const auto count = static_cast<int64_t>(conv_.axes.size());
    tensor::Shape apart = {conv_.batch}, joined = {conv_.batch, conv_.filters};
    std::vector<int64_t> order = {0, count + 1};
    for (const Axis& axis : conv_.axes) apart.push_back(axis.stride);
    apart.push_back(conv_.filters);
    for (const Axis& axis : conv_.axes) {
      order.push_back(std::ssize(apart));
      order.push_back(std::ssize(apart) - count - 1);
      apart.push_back(axis.steps());
      joined.push_back(axis.steps() * axis.stride);
    }
    return passes::add_reshape(
        patch_, passes::add_transpose(context_.run, patch_, passes::add_reshape(patch_, x, apart), order), joined);
  }

  PatchValue cut(PatchValue x) {
    if (std::ranges::none_of(conv_.axes, &Axis::takes_away)) return x;
    std::vector<int64_t> begins, ends, dims;
    for (const Axis& axis : conv_.axes) {
      dims.push_back(std::ssize(dims) + 2);
      begins.push_back(axis.first);
      ends.push_back(axis.first + axis.out);
    }
    std::vector<PatchValue> operands = {x};
    for (const std::vector<int64_t>& numbers : {begins, ends, dims})
      operands.push_back(patch_.add_constant(passes::integer_tensor(numbers)));
    return patch_.add({.op = "Slice", .operands = std::move(operands)});
  }

  Context& context_;
  const TransposedConv& conv_;
  ir::Patch patch_;
};

void spell(Context& context, NodeId node) {
  if (schema::imported_version(context.run.model()) < kFirstSliceOfInputs) return;
  const std::optional<TransposedConv> conv = find_transposed(context, node);
  if (conv) Speller(context, *conv).replace(node);
}

}  // namespace

void spell_transposed_conv(ir::Model& model, ir::Rewriter& rewriter, const LoweringRules& rules) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-transposed-conv",
        .summary = "ConvTranspose as Conv",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          Context context{run, passes::Inferred(run), run.options().get<LoweringRules>()};
          passes::apply_rules(run, context, std::array{passes::Rule<Context>{"ConvTranspose", spell}});
        }}}};
  passes::Options options;
  options.of<LoweringRules>() = rules;
  passes::Pipeline(model, rewriter, options).run(pass);
}

}  // namespace assay::engine
