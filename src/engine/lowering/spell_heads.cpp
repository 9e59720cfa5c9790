#include "engine/lowering/spell_heads.h"

#include <array>
#include <numeric>

#include "engine/lowering/code_spelling.h"
#include "ops/operator.h"
#include "passes/channels.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using ir::ValueId;
using tensor::DType;
using Numbers = std::vector<int64_t>;

constexpr int64_t kFirstVersion = 13;        // of ai.onnx, whose Split and Unsqueeze have operands
constexpr int64_t kBoolean = 9, kInt64 = 7;  // numbers of types in Cast
constexpr uint32_t kNone = UINT32_MAX;

// The places of operands that not all such operators have; the past is one of keys and values, or of keys, then of
// values.
struct Form {
  uint32_t mask = kNone, addend = kNone, past = kNone;
};
constexpr Form kAttention = {.mask = 3, .addend = 5, .past = 4};
constexpr Form kQAttention = {.mask = 5, .past = 8};
constexpr Form kMultiHead = {.mask = 4, .addend = 5, .past = 6};

struct Context {
  CodeSpelling codes;
  passes::Inferred inferred;
};

// Writes one node anew.
class Speller {
 public:
  Speller(Context& context, NodeId node, Form form)
      : context_(context), node_(node), form_(form), facts_(context.codes.run.facts(node)) {}

  // Attention, or QAttention with codes.
  void attention(bool has_codes) {
    const std::optional<tensor::Shape> x = shape(0), weights = shape(1), past = shape(form_.past);
    const Numbers widths = weights ? widths_of(weights->back()) : Numbers();
    const bool shares = facts_.flag("past_present_share_buffer") || (!has_codes && has(6));
    if (!x || widths.empty() || has(form_.past) != past.has_value() || facts_.flag("do_rotary") || shares) return;
    scores_ = {(*x)[0], (*x)[1], (*x)[1] + (past ? (*past)[3] : 0)};
    const std::optional<PatchValue> addend = added_to_scores();
    if (!addend) return;
    const std::array<PatchValue, 3> parts = split(has_codes ? projected_codes() : projected(), widths, -1);
    std::vector<PatchValue> operands = {parts[0], parts[1], parts[2], {}, {}, *addend};
    for (const int64_t half : {0, 1}) {
      if (past) operands.push_back(applied("Gather", {operand(form_.past), integer(half)}, {attribute("axis", 0)}));
    }
    const ValueId present = result(1);
    const PatchValue made = attended(std::move(operands), present.valid() || past ? 3 : 1);
    if (present.valid()) {
      const auto stacked = [&](uint32_t i) { return applied("Unsqueeze", {patch_.result(made, i), integers({0})}); };
      patch_.replace(present, applied("Concat", {stacked(1), stacked(2)}, {attribute("axis", 0)}));
    }
    finish(made);
  }

  void multi_head() {
    const std::optional<tensor::Shape> q = shape(0), k = shape(1), v = shape(2), past = shape(form_.past);
    constexpr uint32_t kBias = 3;
    const bool is_known = q && k && v && has(form_.past) == past.has_value() && !has(8) && !has(9);
    const bool are_packed = is_known && q->size() == 3 && (!has(kBias) || (k->size() == 3 && v->size() == 3));
    if (!are_packed || result(3).valid() || (!has(kBias) && !has(form_.mask))) return;
    scores_ = {(*q)[0], (*q)[1], (*k)[k->size() == 3 ? 1 : 2] + (past ? (*past)[2] : 0)};
    const std::optional<PatchValue> addend = added_to_scores();
    if (!addend) return;
    std::vector<PatchValue> operands = {operand(0), operand(1), operand(2), {}, {}, *addend};
    if (has(kBias)) {
      const std::array<PatchValue, 3> biases = split(operand(kBias), {q->back(), k->back(), v->back()}, 0);
      for (size_t i = 0; i < biases.size(); ++i) operands[i] = applied("Add", {operands[i], biases[i]});
    }
    if (past) operands.insert(operands.end(), {operand(form_.past), operand(form_.past + 1)});
    const bool keeps = past || result(1).valid() || result(2).valid();
    const PatchValue made = attended(std::move(operands), keeps ? 3 : 1);
    for (const uint32_t i : {1U, 2U}) {
      if (result(i).valid()) patch_.replace(result(i), patch_.result(made, i));
    }
    finish(made);
  }

 private:
  struct Scores {
    int64_t batch = 0, queries = 0, keys = 0;
  };

  const ir::Model& model() const { return context_.codes.model(); }
  ValueId operand(uint32_t index) const { return index == kNone ? ValueId() : ir::operand(model(), node_, index); }
  bool has(uint32_t index) const { return operand(index).valid(); }
  ValueId result(uint32_t index) const {
    const auto& results = model()[node_].results;
    return index < results.size() ? results[index] : ValueId();
  }
  std::optional<tensor::Shape> shape(uint32_t index) {
    return has(index) ? context_.inferred.shape(operand(index)) : std::nullopt;
  }
  // The widths of queries, keys and values side by side; empty: they do not fit.
  Numbers widths_of(int64_t all) const {
    const Numbers written = facts_.integers("qkv_hidden_sizes");
    if (written.empty()) return all % 3 == 0 ? Numbers(3, all / 3) : Numbers();
    const bool fits = written.size() == 3 && std::accumulate(written.begin(), written.end(), int64_t{0}) == all;
    return fits ? written : Numbers();
  }

  PatchValue applied(std::string_view op, std::vector<PatchValue> operands,
                     std::vector<ir::Attribute> attributes = {}) {
    return patch_.add({.op = op, .operands = std::move(operands), .attributes = std::move(attributes)});
  }
  ir::Attribute attribute(std::string_view name, int64_t value) {
    return ir::Attribute::of(context_.codes.run.edit().intern(name), value);
  }
  PatchValue integers(const Numbers& numbers) { return patch_.add_constant(passes::integer_tensor(numbers)); }
  PatchValue integer(int64_t number) {
    return patch_.add_constant(tensor::make_tensor<int64_t>(DType::int64, {}, Numbers{number}));
  }
  PatchValue number(double value) {
    return patch_.add_constant(*passes::rounded(context_.codes.dtype_of(result(0)), {value}));
  }
  std::array<PatchValue, 3> split(PatchValue value, const Numbers& widths, int64_t axis) {
    const PatchValue parts = patch_.add({.op = "Split",
                                         .operands = {value, integers(widths)},
                                         .attributes = {attribute("axis", axis)},
                                         .result_types = std::vector<ir::TypeId>(3)});
    return {parts, patch_.result(parts, 1), patch_.result(parts, 2)};
  }

  PatchValue projected() {
    const PatchValue product = applied("MatMul", {operand(0), operand(1)});
    return has(2) ? applied("Add", {product, operand(2)}) : product;
  }
  PatchValue projected_codes() {
    return patch_.add(
        {.op = "MatMulIntegerToFloat",
         .domain = ops::kMicrosoft,
         .operands = {operand(0), operand(1), operand(3), operand(4), operand(6), operand(7), operand(2)}});
  }

  // The condition of a key being seen, of [batch, heads, queries, keys]; nullopt: the mask has another form.
  std::optional<PatchValue> condition() {
    const std::optional<tensor::Shape> dims = shape(form_.mask);
    const auto& [batch, queries, keys] = scores_;
    const auto cast = [&](int64_t to) { return applied("Cast", {operand(form_.mask)}, {attribute("to", to)}); };
    if (dims == tensor::Shape{batch, keys}) return applied("Unsqueeze", {cast(kBoolean), integers({1, 2})});
    if (dims == tensor::Shape{batch, queries, keys}) return applied("Unsqueeze", {cast(kBoolean), integers({1})});
    if (dims != tensor::Shape{batch}) return std::nullopt;
    Numbers places(static_cast<size_t>(keys));
    std::iota(places.begin(), places.end(), 0);
    return applied("Less", {integers(places), applied("Unsqueeze", {cast(kInt64), integers({1, 2, 3})})});
  }

  // A large negative number for keys that the mask hides. Nothing: there is no mask; nullopt: of another form.
  std::optional<PatchValue> added_to_scores() {
    const PatchValue given = has(form_.addend) ? PatchValue(operand(form_.addend)) : PatchValue();
    if (!has(form_.mask)) return given;
    const std::optional<PatchValue> is_seen = condition();
    if (!is_seen) return std::nullopt;
    const double filler = facts_.floating("mask_filter_value", -10000);
    const PatchValue hidden = applied("Where", {*is_seen, number(0), number(filler)});
    return has(form_.addend) ? applied("Add", {hidden, given}) : hidden;
  }

  PatchValue attended(std::vector<PatchValue> operands, size_t results) {
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : model()[node_].attributes) {
      const std::string_view name = model().text(attribute.name());
      if (name == "num_heads" || name == "scale" || name == "unidirectional") attributes.push_back(attribute);
    }
    return patch_.add({.op = "MultiHeadAttention",
                       .domain = ops::kMicrosoft,
                       .name = model()[node_].name,
                       .operands = std::move(operands),
                       .attributes = std::move(attributes),
                       .result_types = std::vector<ir::TypeId>(results)});
  }
  void finish(PatchValue made) {
    patch_.replace(result(0), made);
    patch_.remove(node_);
    context_.codes.run.rewriter().commit("{0} with its products and masks apart", patch_);
  }

  Context& context_;
  NodeId node_;
  Form form_;
  ops::Node facts_;
  Scores scores_;
  ir::Patch patch_;
};

void spell(passes::PassRun& run) {
  Context context{{run}, passes::Inferred(run)};
  const ir::Model& model = run.model();
  for (const NodeId node : microsoft_nodes(run)) {
    if (run.rewriter().is_done()) return;
    if (!tensor::is_floating(context.codes.dtype_of(ir::result(model, node)))) continue;
    const std::string_view op = model.text(model[node].op);
    if (op == "Attention") Speller(context, node, kAttention).attention(false);
    if (op == "QAttention") Speller(context, node, kQAttention).attention(true);
    if (op == "MultiHeadAttention") Speller(context, node, kMultiHead).multi_head();
  }
}

}  // namespace

void spell_heads(ir::Model& model, ir::Rewriter& rewriter) {
  if (schema::imported_version(model) < kFirstVersion) return;
  const std::array<passes::Pass, 1> pass = {{{.name = "spell-heads",
                                              .summary = "attention with its products and masks apart",
                                              .pass_class = passes::PassClass::rounding,
                                              .run = spell}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
