#include "engine/lowering/batch_norm.h"

#include <array>

#include "engine/lowering/moves.h"
#include "ir/written.h"
#include "ops/traits.h"
#include "passes/channels.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

constexpr std::string_view kOperator = "BatchNormalization";

// One number for each channel, which is axis 1.
std::optional<tensor::Tensor> channel_numbers(const ops::Type& type, const std::vector<double>& numbers) {
  std::optional<tensor::Tensor> made = passes::rounded(type.dtype, numbers);
  if (!made) return std::nullopt;
  tensor::Shape shape(type.dims->size() - 1, 1);  // in front of it, the batch is broadcast
  shape[0] = static_cast<int64_t>(numbers.size());
  return tensor::Tensor(made->dtype(), std::move(shape), made->storage());
}

void spell(passes::PassRun& run, ir::NodeId node) {
  const std::optional<passes::ChannelAffine> affine = passes::batch_normalization(run, node);
  const ir::ValueId result = run.model()[node].results.front();
  const ops::Type type = run.type(result);
  if (!affine || !type.is_tensor() || !type.dims || type.dims->size() < 2) return;
  std::optional<tensor::Tensor> scale = channel_numbers(type, affine->scale);
  std::optional<tensor::Tensor> shift = channel_numbers(type, affine->shift);
  if (!scale || !shift) return;
  ir::Patch patch;
  const ir::TypeId written = run.model()[result].type;
  const ir::PatchValue scaled =
      patch.add({.op = "Mul",
                 .operands = {run.model()[node].operands[0].value, patch.add_constant(*std::move(scale))},
                 .result_types = {written}});
  patch.replace(result, patch.add({.op = "Add", .operands = {scaled, patch.add_constant(*std::move(shift))}}));
  patch.remove(node);
  run.rewriter().commit("spell out {0}", patch);
}

// Channels of the parts that a value is joined of; empty: it is not, or not of results of convolutions alone.
std::vector<int64_t> joined_channels(passes::PassRun& run, ir::NodeId joint) {
  const ir::Model& model = run.model();
  if (!joint.valid() || !is_concat(model, joint)) return {};
  const ops::Type& type = run.type(model[joint].results[0]);
  const int64_t axis = ir::written_integer(model, model[joint], "axis").value_or(0);
  const bool is_of_channels = type.dims && (axis == 1 || axis + static_cast<int64_t>(type.dims->size()) == 1);
  if (!is_of_channels) return {};
  std::vector<int64_t> channels;
  for (const ir::Use& use : model[joint].operands) {
    const ir::NodeId maker = producer_for_one(model, use.value);
    const bool is_convolution = maker.valid() && ops::traits(model, maker).product == ops::ProductKind::convolution;
    const ops::Type& part = run.type(use.value);
    if (!is_convolution || !part.dims || part.dims->size() < 2 || !part.dims->at(1).is_number()) return {};
    channels.push_back(*part.dims->at(1).number());
  }
  return channels;
}

// An affine function of the channels of one part.
ir::PatchValue add_part(passes::PassRun& run, ir::Patch& patch, ir::ValueId value,
                        const passes::ChannelAffine& affine) {
  const tensor::DType dtype = run.type(value).dtype;
  const std::vector<double> zeros(affine.scale.size(), 0), ones(affine.scale.size(), 1);
  std::vector<ir::PatchValue> operands = {value};
  for (const std::vector<double>* const numbers : {&affine.scale, &affine.shift, &zeros, &ones}) {
    std::optional<tensor::Tensor> made = passes::rounded(dtype, *numbers);
    if (!made) return {};
    operands.push_back(patch.add_constant(*std::move(made)));
  }
  return patch.add({.op = kOperator,
                    .operands = std::move(operands),
                    .attributes = {ir::Attribute::of(run.edit().intern("epsilon"), 0.0F)},
                    .result_types = {run.model()[value].type}});
}

void divide(passes::PassRun& run, ir::NodeId node) {
  const ir::Model& model = run.model();
  const std::optional<passes::ChannelAffine> affine = passes::batch_normalization(run, node);
  if (!affine) return;
  const ir::NodeId joint = producer_for_one(model, model[node].operands[0].value);
  const std::vector<int64_t> channels = joined_channels(run, joint);
  if (channels.size() < 2) return;
  ir::Patch patch;
  std::vector<ir::PatchValue> parts;
  ptrdiff_t first = 0;
  for (size_t i = 0; i < channels.size(); ++i) {
    const ptrdiff_t end = first + channels[i];
    if (end > static_cast<ptrdiff_t>(affine->scale.size())) return;
    parts.push_back(add_part(run, patch, model[joint].operands[i].value,
                             {.scale = {affine->scale.begin() + first, affine->scale.begin() + end},
                              .shift = {affine->shift.begin() + first, affine->shift.begin() + end}}));
    if (!parts.back().is_new()) return;
    first = end;
  }
  patch.replace(model[node].results[0], add_like(patch, model, joint, std::move(parts)));
  patch.remove(node);
  patch.remove(joint);
  run.rewriter().commit("{0} of each part of a Concat", patch);
}

void spell_all(passes::PassRun& run) {
  passes::apply_rules(run, run, std::array{passes::Rule<passes::PassRun>{kOperator, spell}});
}

void divide_all(passes::PassRun& run) {
  passes::apply_rules(run, run, std::array{passes::Rule<passes::PassRun>{kOperator, divide}});
}

}  // namespace

passes::Pass spell_batch_normalization() {
  return {.name = "spell-batch-normalization",
          .summary = "multiply and add in place of a BatchNormalization",
          .pass_class = passes::PassClass::rounding,
          .run = spell_all};
}

passes::Pass divide_batch_normalization() {
  return {.name = "divide-batch-normalization",
          .summary = "normalise the parts of a Concat",
          .pass_class = passes::PassClass::rounding,
          .run = divide_all};
}

}  // namespace assay::engine
