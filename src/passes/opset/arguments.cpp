// Other attributes that became inputs: Slice, TopK, Pad, Clip, Dropout.
#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "passes/opset/adapters.h"
#include "tensor/elements.h"

namespace assay::passes {
namespace {

Refusal raise_slice(Draft& draft) {
  to_input(draft, "starts", 1);
  to_input(draft, "ends", 2);
  to_input(draft, "axes", 3);
  return {};
}

Refusal raise_top_k(Draft& draft) {
  draft.set_operand(1, draft.add_integers({draft.integer("k", 0)}));
  draft.drop("k");
  return {};
}

bool is_float(tensor::DType dtype) {
  return dtype == tensor::DType::float32 || dtype == tensor::DType::float64 || dtype == tensor::DType::float16;
}

Refusal unknown_dtype() { return "the element type of its input is not known, which a new input must have"; }

Refusal raise_pad(Draft& draft) {
  const float value = draft.floating("value", 0);
  if (value != 0 && !is_float(draft.dtype(0))) return unknown_dtype();
  to_input(draft, "pads", 1);
  if (value != 0) draft.set_operand(2, draft.add_scalar(draft.dtype(0), value));
  draft.drop("value");
  return {};
}

// In version 6 an absent bound is the largest float32, not infinity; narrower numbers cannot tell the two apart.
void raise_bound(Draft& draft, std::string_view name, size_t index, float otherwise) {
  const bool is_written = draft.find(name) != nullptr;
  const float bound = draft.floating(name, otherwise);
  if (is_written || draft.dtype(0) != tensor::DType::float16) {
    draft.set_operand(index, draft.add_scalar(draft.dtype(0), bound));
  }
  draft.drop(name);
}

Refusal raise_clip(Draft& draft) {
  if (!is_float(draft.dtype(0))) return unknown_dtype();
  raise_bound(draft, "min", 1, -std::numeric_limits<float>::max());
  raise_bound(draft, "max", 2, std::numeric_limits<float>::max());
  return {};
}

// `edge` and the like came with the operator; version 19 has wrap.
Refusal lower_wrap(Draft& draft) {
  if (draft.string("mode", "constant") == "wrap") return "mode `wrap` came with version 19";
  return {};
}

// The pads of all axes, of which the node lists some.
Refusal lower_pad(Draft& draft) {
  if (!draft.has(3)) return {};
  const std::optional<std::vector<int64_t>> axes = draft.known_integers(3);
  const std::optional<std::vector<int64_t>> pads = draft.known_integers(1);
  const std::optional<int64_t> rank = draft.rank(0);
  if (!axes || !pads || !rank) return "its pads, axes or rank are computed, and must be known for the older version";
  const size_t count = axes->size();
  if (pads->size() != 2 * count) return "its pads do not fit to its axes";
  std::vector<int64_t> all(static_cast<size_t>(2 * *rank), 0);
  for (size_t i = 0; i < count; ++i) {
    const int64_t axis = (*axes)[i] < 0 ? (*axes)[i] + *rank : (*axes)[i];
    if (axis < 0 || axis >= *rank) return fmt::format("there is no axis {}", (*axes)[i]);
    all[static_cast<size_t>(axis)] = (*pads)[i];
    all[static_cast<size_t>(axis + *rank)] = (*pads)[i + count];
  }
  draft.drop_operand(3);
  draft.set_operand(1, draft.add_integers(all));
  return {};
}

// In version 7 the mask has the type of the data.
Refusal raise_dropout_mask(Draft& draft) {
  return draft.wants(1) ? "its mask has another type in the newer version" : "";
}

// Nothing is dropped up to version 10, and later neither, without the input `training_mode`.
Refusal raise_dropout(Draft& draft) {
  if (draft.find("ratio"))
    draft.set_operand(1, draft.add_scalar(tensor::DType::float32, draft.floating("ratio", 0.5F)));
  draft.drop("ratio");
  return {};
}

Refusal lower_dropout(Draft& draft) {
  const tensor::Tensor* training = draft.constant(2);
  const bool trains =
      draft.has(2) && (!training || training->count() != 1 || tensor::load_elements<int64_t>(*training)[0] != 0);
  if (trains) return "it may be in training mode, which the older version has not";
  const tensor::Tensor* ratio = draft.constant(1);
  if (draft.has(1) && (!ratio || ratio->count() != 1)) return "its ratio is computed, and an attribute before";
  if (ratio) draft.set("ratio", static_cast<float>(tensor::load_elements<double>(*ratio)[0]));
  draft.drop_operand(2);
  draft.drop_operand(1);
  draft.drop("seed");
  // The mask of a node that drops nothing is not defined by the older version.
  if (draft.wants(1)) draft.follow(1, {.op = "Or", .operands = {draft.add_scalar(tensor::DType::boolean, 1)}});
  return {};
}

}  // namespace

std::span<const Adapter> argument_adapters() {
  static constexpr Adapter kRows[] = {
      {"Slice", 10, raise_slice},
      {"TopK", 10, raise_top_k},
      {"TopK", 11, nullptr, nullptr, "`largest` and `sorted`: by default as before"},
      {"Pad", 11, raise_pad},
      {"Pad", 18, nullptr, lower_pad},
      {"Pad", 19, nullptr, lower_wrap},
      {"Clip", 11, raise_clip},
      {"Dropout", 10, raise_dropout_mask},
      {"Dropout", 12, raise_dropout, lower_dropout},
  };
  return kRows;
}

}  // namespace assay::passes
