// BatchNormalization and GroupNormalization.
#include "passes/opset/adapters.h"

namespace assay::passes {
namespace {

Refusal drop_spatial(Draft& draft) {
  if (draft.integer("spatial", 1) == 0) return "its statistics are not per channel (`spatial` is 0)";
  draft.drop("spatial");
  return {};
}

// Before version 14 more than one output means training.
Refusal refuse_training(Draft& draft) {
  if (draft.result_count() > 1) return "it is in training form, whose outputs mean something else";
  if (draft.integer("training_mode", 0) != 0) return "it trains, and has the outputs of one that does not";
  draft.drop("training_mode");
  return {};
}

// From one number for each group to one for each channel.
DraftValue spread(Draft& draft, DraftValue values, int64_t groups, int64_t channels_per_group) {
  const DraftValue column = draft.add({.op = "Reshape", .operands = {values, draft.add_integers({groups, 1})}});
  const DraftValue table =
      draft.add({.op = "Expand", .operands = {column, draft.add_integers({groups, channels_per_group})}});
  return draft.add({.op = "Reshape", .operands = {table, draft.add_integers({groups * channels_per_group})}});
}

Refusal scale_channels(Draft& draft) {
  const ops::Type type = draft.type(0);
  const int64_t groups = draft.integer("num_groups", 1);
  const bool is_image = type.is_tensor() && type.dims && type.dims->size() >= 2;
  const std::optional<int64_t> channels = is_image ? (*type.dims)[1].number() : std::nullopt;
  if (!channels) return "the number of its channels is not known";
  if (groups < 1 || *channels < 1 || *channels % groups != 0) return "its groups do not divide its channels";
  if (groups == *channels) return {};
  draft.set_operand(1, spread(draft, draft.operand(1), groups, *channels / groups));
  draft.set_operand(2, spread(draft, draft.operand(2), groups, *channels / groups));
  return {};
}

}  // namespace

std::span<const Adapter> normalization_adapters() {
  static constexpr Adapter kRows[] = {
      {"BatchNormalization", 9, drop_spatial},
      {"BatchNormalization", 14, refuse_training, refuse_training},
      {"GroupNormalization", 21, scale_channels},
  };
  return kRows;
}

}  // namespace assay::passes
