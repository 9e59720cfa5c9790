#include <unordered_set>

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

std::string changed(std::string_view text, Case action) {
  if (action == Case::unchanged) return std::string(text);
  return action == Case::lower ? to_lower(text) : to_upper(text);
}

class Normalization {
 public:
  explicit Normalization(const Node& node) : action_(case_of(node)), is_exact_(node.flag("is_case_sensitive")) {
    for (const std::string_view word : node.strings("stopwords")) stopwords_.insert(key(word));
  }

  bool takes_words_out() const { return !stopwords_.empty(); }
  std::vector<std::string> kept(std::span<const std::string> texts) const {
    std::vector<std::string> kept;
    kept.reserve(texts.size());
    for (const std::string& text : texts) {
      if (!takes_words_out() || !stopwords_.contains(key(text))) kept.push_back(changed(text, action_));
    }
    return kept;
  }

 private:
  std::string key(std::string_view text) const { return is_exact_ ? std::string(text) : to_lower(text); }

  Case action_;
  bool is_exact_;
  std::unordered_set<std::string> stopwords_;
};

// Infers the result. The number of strings that are left after words are taken out is known when they are looked at.
void infer_normalizer(Infer& node) {
  const auto normalization = node.read<Normalization>();
  if (!node.is_ranked(0)) return;
  const Dims& dims = node.dims(0);
  const bool is_row = dims.size() == 2 && (!dims[0].is_number() || dims[0].is(1));
  if (dims.size() != 1 && !is_row)
    fail(ErrorCode::shape, "the input must have shape [C] or [1, C], it has {}", text(dims));
  if (dims.back().is(0)) fail(ErrorCode::shape, "the input has no strings");
  Dims result(dims.size(), Dim(1));
  result.back() = normalization->takes_words_out() ? Dim() : dims.back();
  node.set_dims(0, std::move(result));
}

void eval_normalizer(Eval& node) {
  std::vector<std::string> kept = node.read<Normalization>()->kept(node.tensor_in(0).strings());
  if (kept.empty()) kept.emplace_back();
  Shape shape(node.shape(0).size(), 1);
  shape.back() = static_cast<int64_t>(kept.size());
  node.store(0, std::move(shape), std::move(kept));
}

}  // namespace

OperatorRows operator_text_string_normalizer() {
  static constexpr Operator kRows[] = {
      {.name = "StringNormalizer",
       .since = 10,
       .traits = {Nature::text},
       .infer = infer_normalizer,
       .eval = eval_normalizer},
  };
  return kRows;
}

}  // namespace assay::ops
