// Attributes and inputs that came later, and without which an operator does what it did before; types that went away.
#include "passes/opset/expansions.h"

namespace assay::passes {
namespace {

// For 8-bit floats, which came with it.
Refusal drop_round_mode(Draft& draft) {
  draft.drop("round_mode");
  return {};
}

// The precision of 16-bit sums; these types came with it.
Refusal drop_stash_type(Draft& draft) {
  draft.drop("stash_type");
  return {};
}

Refusal refuse_float_modulo(Draft& draft) {
  if (draft.integer("fmod", 0) != 0 || tensor::is_integer(draft.dtype(0))) return {};
  return "its operands are not known to be integers, and others need `fmod` in the older version";
}

Refusal refuse_batch_form(Draft&) { return "Scan of version 8 goes over a batch, which no later one does"; }

// The older operator of that name is ONNX Runtime's.
Refusal spell_layer_normalization(Draft& draft) { return find_expansion("LayerNormalization")->expand(draft); }

}  // namespace

std::span<const Adapter> addition_adapters() {
  static constexpr std::string_view kDilations = "no dilations by default";
  static constexpr std::string_view kLayout = "`layout` is as before by default";
  static constexpr std::string_view kNoIntegers = "integers are not allowed any more";
  static constexpr Adapter kRows[] = {
      {"Erf", 13, nullptr, nullptr, kNoIntegers},
      {"ReduceLogSum", 28, nullptr, nullptr, kNoIntegers},
      {"ReduceLogSumExp", 28, nullptr, nullptr, kNoIntegers},
      {"ArgMax", 12, nullptr, nullptr, "the first of equals by default"},
      {"ArgMin", 12, nullptr, nullptr, "the first of equals by default"},
      {"Attention", 24, nullptr, nullptr, "`nonpad_kv_seqlen` is optional"},
      {"Attention", 25, nullptr, nullptr, "no windows by default"},
      {"AveragePool", 10, nullptr, nullptr, "rounds down by default"},
      {"AveragePool", 19, nullptr, drop_dilations, kDilations},
      {"LpPool", 18, nullptr, drop_dilations, kDilations},
      {"MaxPool", 8, nullptr, nullptr, "the new output is optional"},
      {"MaxPool", 10, nullptr, drop_dilations, kDilations},
      {"Cast", 19, nullptr, drop_saturate, "`saturate` is for 8-bit floats, which are new"},
      {"Cast", 24, nullptr, drop_round_mode, "`round_mode` is for float8e8m0, which is new"},
      {"CastLike", 19, nullptr, drop_saturate, "`saturate` is for 8-bit floats, which are new"},
      {"CastLike", 24, nullptr, drop_round_mode, "`round_mode` is for float8e8m0, which is new"},
      {"DepthToSpace", 11, nullptr, nullptr, "`DCR`, as before, by default"},
      {"SpaceToDepth", 28, nullptr, nullptr, "`DCR`, as before, by default"},
      {"GRU", 14, nullptr, nullptr, kLayout},
      {"LSTM", 14, nullptr, nullptr, kLayout},
      {"LayerNormalization", 17, nullptr, spell_layer_normalization},
      {"RNN", 14, nullptr, nullptr, kLayout},
      {"Mod", 28, nullptr, refuse_float_modulo},
      {"Range", 27, nullptr, drop_stash_type, "`stash_type` is for 16-bit floats, which are new"},
      {"Scan", 9, refuse_batch_form},
  };
  return kRows;
}

}  // namespace assay::passes
