#include "engine/lowering/batch_norm.h"

#include <array>

#include "passes/channels.h"
#include "passes/rules.h"

namespace assay::engine {
namespace {

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

void run_all(passes::PassRun& run) {
  passes::apply_rules(run, run, std::array{passes::Rule<passes::PassRun>{"BatchNormalization", spell}});
}

}  // namespace

passes::Pass spell_batch_normalization() {
  return {.name = "spell-batch-normalization",
          .summary = "multiply and add in place of a BatchNormalization",
          .pass_class = passes::PassClass::rounding,
          .run = run_all};
}

}  // namespace assay::engine
