#include <set>

#include "ops/kernels/text/code_points.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

enum class Case : uint8_t { unchanged, lower, upper };

Case case_of(const Node& node) {
  const std::string_view name = node.string("case_change_action");
  if (name == "NONE") return Case::unchanged;
  if (name == "LOWER") return Case::lower;
  if (name == "UPPER") return Case::upper;
  fail(ErrorCode::shape, "there is no case change `{}`", name);
}

// How many strings are left where words are taken out is known when they are looked at.
void infer_normalizer(Infer& node) {
  case_of(node);
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  const bool is_row = dims.size() == 2 && (!dims[0].is_number() || dims[0].is(1));
  if (dims.size() != 1 && !is_row)
    fail(ErrorCode::shape, "the input must have shape [C] or [1, C], it has {}", text(dims));
  if (dims.back().is(0)) fail(ErrorCode::shape, "the input has no strings");
  Dims result(dims.size(), Dim(1));
  result.back() = node.strings("stopwords").empty() ? dims.back() : Dim();
  node.set_dims(0, std::move(result));
}

std::string changed(std::string_view text, Case action) {
  if (action == Case::unchanged) return std::string(text);
  return action == Case::lower ? to_lower(text) : to_upper(text);
}

void eval_normalizer(Eval& node) {
  const bool is_exact = node.flag("is_case_sensitive");
  const auto key = [&](std::string_view text) { return is_exact ? std::string(text) : to_lower(text); };
  std::set<std::string> stopwords;
  for (const std::string_view word : node.strings("stopwords")) stopwords.insert(key(word));
  std::vector<std::string> kept;
  for (const std::string& text : node.tensor_in(0).strings()) {
    if (!stopwords.contains(key(text))) kept.push_back(changed(text, case_of(node)));
  }
  if (kept.empty()) kept.emplace_back();
  Shape shape(node.shape(0).size(), 1);
  shape.back() = static_cast<int64_t>(kept.size());
  node.store(0, std::move(shape), std::move(kept));
}

}  // namespace

OperatorRows operator_text_string_normalizer() {
  static constexpr Operator kRows[] = {
      {.name = "StringNormalizer", .since = 10, .infer = infer_normalizer, .eval = eval_normalizer},
  };
  return kRows;
}

}  // namespace assay::ops
