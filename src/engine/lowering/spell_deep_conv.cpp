#include "engine/lowering/spell_deep_conv.h"

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

constexpr int64_t kFirstSliceOfInputs = 10;

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// Numbers of the three dims.
struct DeepConv {
  tensor::Shape in, out;
  const tensor::Tensor* weights = nullptr;
  std::vector<int64_t> strides, dilations, pads;
  int64_t groups = 1;

  // True if the last two dims may be one, which nothing reaches over.
  bool is_line() const {
    const tensor::Shape& dims = weights->shape();
    const bool is_padded = pads[1] + pads[2] + pads[4] + pads[5] != 0;
    return dims[3] == 1 && dims[4] == 1 && strides[1] == 1 && strides[2] == 1 && !is_padded;
  }
};

std::optional<DeepConv> find_deep_conv(Context& context, NodeId node) {
  const ir::Model& model = context.run.model();
  const std::optional<tensor::Shape> in = context.inferred.shape(ir::operand(model, node, 0));
  const std::optional<tensor::Shape> out = context.inferred.shape(ir::result(model, node));
  DeepConv conv;
  conv.weights = context.run.constant(ir::operand(model, node, 1));
  if (!in || !out || in->size() != 5 || conv.weights == nullptr || conv.weights->dtype() != DType::float32) return {};
  if (*tensor::element_count(*in) == 0 || *tensor::element_count(*out) == 0) return {};
  const ops::Node facts = context.run.facts(node);
  const std::string_view padding = facts.string("auto_pad", "NOTSET");
  if (padding != "NOTSET" && padding != "VALID") return {};
  conv.in = *in;
  conv.out = *out;
  conv.strides = list_or(facts, "strides", 3, 1);
  conv.dilations = list_or(facts, "dilations", 3, 1);
  conv.pads = padding == "VALID" ? std::vector<int64_t>(6, 0) : list_or(facts, "pads", 6, 0);
  conv.groups = facts.integer("group", 1);
  if (conv.groups != 1 && !conv.is_line()) return {};
  return conv;
}

// [filters, channels, depth, ...] as [filters, depth * channels, ...].
tensor::Tensor flat_weights(const tensor::Tensor& weights) {
  const tensor::Shape& dims = weights.shape();
  const auto size = [&](size_t i) { return static_cast<size_t>(dims[i]); };
  const size_t plane = size(3) * size(4);
  const std::vector<double> from = tensor::load_elements<double>(weights);
  std::vector<float> to(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const size_t depth = i / plane % size(2);
    const size_t channel = i / plane / size(2) % size(1);
    const size_t filter = i / plane / size(2) / size(1);
    to[((filter * size(2) + depth) * size(1) + channel) * plane + i % plane] = static_cast<float>(from[i]);
  }
  return tensor::make_tensor<float>(DType::float32, {dims[0], dims[2] * dims[1], dims[3], dims[4]}, to);
}

class Speller {
 public:
  Speller(Context& context, const DeepConv& conv) : context_(context), conv_(conv) {}

  void replace(NodeId node) {
    const ir::Model& model = context_.run.model();
    patch_.replace(ir::result(model, node), conv_.is_line() ? of_lines(node) : of_slices(node));
    patch_.remove(node);
    context_.run.rewriter().commit("{0} as one over two dims", patch_);
  }

 private:
  PatchValue convolved(NodeId node, PatchValue x, tensor::Tensor weights, std::vector<ir::Attribute> attributes) {
    const ir::Model& model = context_.run.model();
    std::vector<PatchValue> operands = {x, patch_.add_constant(std::move(weights))};
    if (const ir::ValueId bias = ir::operand(model, node, 2)) operands.push_back(bias);
    return patch_.add(
        {.op = "Conv", .name = model[node].name, .operands = std::move(operands), .attributes = std::move(attributes)});
  }

  // The first dim, beside the two others as one.
  PatchValue of_lines(NodeId node) {
    const tensor::Shape &in = conv_.in, &dims = conv_.weights->shape();
    const PatchValue lines =
        passes::add_reshape(patch_, ir::operand(context_.run.model(), node, 0), {in[0], in[1], in[2], in[3] * in[4]});
    const tensor::Tensor weights(DType::float32, {dims[0], dims[1], dims[2], 1}, conv_.weights->storage());
    const ir::Attribute groups = ir::Attribute::of(context_.run.edit().intern("group"), conv_.groups);
    return passes::add_reshape(patch_,
                               convolved(node, lines, weights,
                                         {list("kernel_shape", {dims[2], 1}), list("strides", {conv_.strides[0], 1}),
                                          list("dilations", {conv_.dilations[0], 1}),
                                          list("pads", {conv_.pads[0], 0, conv_.pads[3], 0}), groups}),
                               conv_.out);
  }

  PatchValue of_slices(NodeId node) {
    const tensor::Shape &kernel = conv_.weights->shape(), &out = conv_.out;
    const PatchValue flat =
        convolved(node, slices(ir::operand(context_.run.model(), node, 0)), flat_weights(*conv_.weights),
                  {list("kernel_shape", {kernel[3], kernel[4]}), list("strides", {conv_.strides[1], conv_.strides[2]}),
                   list("dilations", {conv_.dilations[1], conv_.dilations[2]}),
                   list("pads", {conv_.pads[1], conv_.pads[2], conv_.pads[4], conv_.pads[5]})});
    return passes::add_transpose(context_.run, patch_,
                                 passes::add_reshape(patch_, flat, {out[0], out[2], out[1], out[3], out[4]}),
                                 {0, 2, 1, 3, 4});
  }

  ir::Attribute list(const char* name, const std::vector<int64_t>& numbers) {
    return passes::integers_attribute(context_.run, name, numbers);
  }
  PatchValue joined(std::vector<PatchValue> parts, int64_t axis) {
    if (parts.size() == 1) return parts[0];
    const ir::Attribute along = ir::Attribute::of(context_.run.edit().intern("axis"), axis);
    return patch_.add({.op = "Concat", .operands = std::move(parts), .attributes = {along}});
  }

  // With the channels innermost, and zeros before and after the first of the three dims.
  PatchValue padded(ir::ValueId x) {
    const auto zeros = [&](int64_t depth) {
      const tensor::Shape dims = {conv_.in[0], depth, conv_.in[3], conv_.in[4], conv_.in[1]};
      const std::vector<float> elements(*tensor::element_count(dims));
      return patch_.add_constant(tensor::make_tensor<float>(DType::float32, dims, elements));
    };
    std::vector<PatchValue> parts = {passes::add_transpose(context_.run, patch_, x, {0, 2, 3, 4, 1})};
    if (conv_.pads[0] > 0) parts.insert(parts.begin(), zeros(conv_.pads[0]));
    if (conv_.pads[3] > 0) parts.push_back(zeros(conv_.pads[3]));
    return joined(std::move(parts), 1);
  }

  // A picture for each slice of the result, of all that its kernel sees.
  PatchValue slices(ir::ValueId x) {
    const PatchValue whole = padded(x);
    const int64_t depth = conv_.weights->shape()[2];
    const int64_t length = (conv_.out[2] - 1) * conv_.strides[0] + 1;
    std::vector<PatchValue> seen;
    for (int64_t k = 0; k < depth; ++k) {
      const int64_t first = k * conv_.dilations[0];
      std::vector<PatchValue> operands = {whole};
      for (const int64_t number : {first, first + length, int64_t{1}, conv_.strides[0]}) {
        operands.push_back(patch_.add_constant(passes::integer_tensor({number})));
      }
      seen.push_back(patch_.add({.op = "Slice", .operands = std::move(operands)}));
    }
    const PatchValue pictures =
        passes::add_transpose(context_.run, patch_, joined(std::move(seen), 4), {0, 1, 4, 2, 3});
    return passes::add_reshape(patch_, pictures,
                               {conv_.in[0] * conv_.out[2], depth * conv_.in[1], conv_.in[3], conv_.in[4]});
  }

  Context& context_;
  const DeepConv& conv_;
  ir::Patch patch_;
};

void spell(Context& context, NodeId node) {
  if (schema::imported_version(context.run.model()) < kFirstSliceOfInputs) return;
  const std::optional<DeepConv> conv = find_deep_conv(context, node);
  if (conv) Speller(context, *conv).replace(node);
}

}  // namespace

void spell_deep_conv(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-deep-conv",
        .summary = "Conv over three dims as Conv over two",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          Context context{run, passes::Inferred(run)};
          passes::apply_rules(run, context, std::array{passes::Rule<Context>{"Conv", spell}});
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
