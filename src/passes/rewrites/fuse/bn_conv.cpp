// Before: BatchNormalization, then Conv.
// After:  the Conv with the scale in its weights and the shift in its bias.
// Only if: the Conv pads nothing (the shift would not reach the padding), weights and statistics are constant, the
//         normalization is at inference, nothing else uses what is between.
// Class:  rounding; weights are merged in double and rounded once.
#include <algorithm>

#include "ir/queries.h"
#include "match/uses.h"
#include "passes/channels.h"
#include "passes/rules.h"
#include "tensor/elements.h"

namespace assay::passes {
namespace {

bool pads_nothing(const ops::Node& conv) {
  const std::string_view rule = conv.string("auto_pad", "NOTSET");
  const std::vector<int64_t> pads = conv.integers("pads");
  return rule == "VALID" || (rule == "NOTSET" && std::ranges::all_of(pads, [](int64_t pad) { return pad == 0; }));
}

// The map from weights to channels of the Conv's input.
struct InputChannels {
  uint64_t kernel;     // weights of one input and one output channel
  uint64_t per_group;  // input channels of a group
  uint64_t outs_per_group;

  uint64_t channel(uint64_t index) const {
    return index / kernel / per_group / outs_per_group * per_group + index / kernel % per_group;
  }
};

void fuse(PassRun& run, ir::NodeId node) {
  const ir::Model& model = run.model();
  const ir::ValueId between = operand(model, node, 0);
  if (!between || !match::is_only_for(model, between, node) || !producer(model, between)) return;
  const std::optional<Weighted> conv = find_convolution(run, node);
  if (!conv || !pads_nothing(run.facts(node))) return;
  const std::optional<ChannelAffine> affine = batch_normalization(run, producer(model, between));
  const tensor::Shape& shape = conv->weights->shape();
  const auto groups = static_cast<uint64_t>(run.facts(node).integer("group", 1));
  const auto per_group = static_cast<uint64_t>(shape[1]);
  std::optional<std::vector<double>> bias = bias_of(*conv);
  if (!affine || !bias || affine->scale.size() != groups * per_group) return;
  const InputChannels inputs = {conv->inner / per_group, per_group, conv->channels / groups};
  const std::vector<double> weights = tensor::load_elements<double>(*conv->weights);
  for (uint64_t i = 0; i < weights.size(); ++i)
    (*bias)[i / conv->inner] += weights[i] * affine->shift[inputs.channel(i)];
  const std::optional<tensor::Tensor> merged =
      scaled(run, *conv->weights, inputs.kernel,
             [inputs, scale = affine->scale](uint64_t index) { return scale[inputs.channel(index)]; });
  const std::optional<tensor::Tensor> added = rounded(conv->weights->dtype(), *bias);
  if (!merged || !added) return run.skip(node, "merged weights would leave the range of their type");
  ir::Patch patch;
  const ir::PatchValue first = patch.add_constant(*merged);
  const ir::PatchValue second = patch.add_constant(*added);
  const std::span<const ir::Attribute> attributes = model[node].attributes;
  patch.replace(result(model, node), patch.add({.op = model.text(model[node].op),
                                                .name = model[node].name,
                                                .operands = {operand(model, model[between].producer, 0), first, second},
                                                .attributes = {attributes.begin(), attributes.end()}}));
  patch.remove(node);
  patch.remove(model[between].producer);
  run.rewriter().commit("fuse {1} into {0}", patch);
}

void fuse_bn_conv(PassRun& run) {
  const auto is_convolution = [](const ops::Traits& traits) { return traits.product == ops::ProductKind::convolution; };
  apply_rules(run, run, rules_of<PassRun>(is_convolution, fuse));
}

}  // namespace

Pass pass_fuse_bn_conv() {
  return {.name = "fuse-bn-conv",
          .summary = "merge a BatchNormalization into the Conv after it",
          .pass_class = PassClass::rounding,
          .run = fuse_bn_conv};
}

}  // namespace assay::passes
