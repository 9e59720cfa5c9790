#include "engine/lowering/spell_qlinear.h"

#include <algorithm>
#include <array>

#include "base/text.h"
#include "engine/lowering/code_spelling.h"
#include "passes/constants.h"
#include "passes/pipelines.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;

constexpr int64_t kFirstQuantizers = 10;  // version of ai.onnx
constexpr int64_t kFirstSoftmaxOfOneAxis = 13;
constexpr int64_t kFirstAxesAsInput = 18;  // of ReduceMean

struct Spelled {
  std::string_view name, op;
  uint32_t operands;  // codes with their scales and zero points; 0: those of a list
  uint32_t result;    // index of its scale
  std::string_view attributes = {};
  uint32_t first = 0;  // operands that are no codes and stand before
};
constexpr std::array kSpelled = {
    Spelled{"QLinearAdd", "Add", 2, 6},
    Spelled{"QLinearMul", "Mul", 2, 6},
    Spelled{"QLinearConcat", "Concat", 0, 0, "axis", 2},
    Spelled{"QLinearWhere", "Where", 2, 7, "", 1},
    Spelled{"QLinearReduceMean", "ReduceMean", 1, 3, "axes keepdims"},
    Spelled{"QLinearSigmoid", "Sigmoid", 1, 3},
    Spelled{"QLinearLeakyRelu", "LeakyRelu", 1, 3, "alpha"},
    Spelled{"QLinearGlobalAveragePool", "GlobalAveragePool", 1, 3},
    Spelled{"QLinearAveragePool", "AveragePool", 1, 3, "auto_pad count_include_pad kernel_shape pads strides"},
    Spelled{"QLinearSoftmax", "Softmax", 1, 3, "axis"},
};

class QLinearSpeller {
 public:
  explicit QLinearSpeller(passes::PassRun& run) : context_{run} {}

  void run() {
    for (const NodeId node : microsoft_nodes(context_.run)) {
      if (context_.run.rewriter().is_done()) return;
      const auto found = std::ranges::find(kSpelled, context_.model().text(context_.model()[node].op), &Spelled::name);
      if (found != kSpelled.end()) spell(node, *found);
      if (context_.model().text(context_.model()[node].op) == "QGemm") spell_gemm(node);
    }
  }

 private:
  std::vector<ir::Attribute> attributes_of(NodeId node, std::string_view names) const {
    const std::vector<std::string_view> known = split(names, ' ');
    std::vector<ir::Attribute> kept;
    for (const ir::Attribute& attribute : context_.model()[node].attributes) {
      if (std::ranges::find(known, context_.model().text(attribute.name())) != known.end()) kept.push_back(attribute);
    }
    return kept;
  }

  // True if the node computes the operator of floats in the model's version of ai.onnx.
  bool has_form(NodeId node, std::string_view op) const {
    const ops::Node facts = context_.run.facts(node);
    if (facts.integer("channels_last", 0) != 0) return false;
    if (op == "AveragePool") return facts.integer("ceil_mode", 0) == 0;
    if (op != "Softmax") return true;
    const bool is_over_one_axis = schema::imported_version(context_.model()) >= kFirstSoftmaxOfOneAxis;
    return is_over_one_axis == (facts.integer("opset") >= kFirstSoftmaxOfOneAxis);
  }

  void spell(NodeId node, const Spelled& as) {
    if (!has_form(node, as.op)) return;
    const std::optional<Codes> to = context_.quantizer(node, as.result);
    const auto count = static_cast<uint32_t>(context_.model()[node].operands.size());
    const uint32_t operands = as.operands == 0 ? (count - as.first) / 3 : as.operands;
    ir::Patch patch;
    std::vector<PatchValue> floats;
    if (as.op == "Where") floats.push_back(ir::operand(context_.model(), node, 0));
    for (uint32_t i = 0; i < operands; ++i) {
      const std::optional<Codes> codes = context_.codes(node, as.first + 3 * i);
      if (!codes || !codes->have_one_scale()) return;
      floats.push_back(CodeSpelling::dequantize(patch, *codes));
    }
    if (!to || floats.empty()) return;
    std::string_view attributes = as.attributes;
    if (as.op == "ReduceMean" && schema::imported_version(context_.model()) >= kFirstAxesAsInput) {
      const std::vector<int64_t> axes = context_.run.facts(node).integers("axes");
      floats.push_back(patch.add_constant(passes::integer_tensor(axes)));
      attributes = "keepdims";
    }
    commit(node, patch, {.op = as.op, .operands = floats, .attributes = attributes_of(node, attributes)}, to);
  }

  void spell_gemm(NodeId node) {
    const ops::Node facts = context_.run.facts(node);
    const std::optional<Codes> left = context_.codes(node, 0);
    const std::optional<Codes> right = context_.codes(node, 3);
    const std::optional<Codes> to = context_.quantizer(node, 7);
    const bool is_simple = facts.floating("alpha", 1) == 1 && !facts.flag("transA");
    if (!is_simple || !left || !left->have_one_scale() || !right) return;
    if (!to && ir::operand(context_.model(), node, 7)) return;
    const ir::ValueId bias = ir::operand(context_.model(), node, 6);
    const std::vector<double> sums = context_.numbers(bias);
    if (bias && (sums.empty() || (right->scales.size() > 1 && sums.size() != right->scales.size()))) return;
    ir::Patch patch;
    const std::optional<PatchValue> weights = context_.dequantize_right(patch, *right, facts.flag("transB") ? 0 : 1);
    if (!weights) return;
    std::vector<PatchValue> operands = {CodeSpelling::dequantize(patch, *left), *weights};
    if (bias) operands.push_back(patch.add_constant(bias_of(sums, *left, *right)));
    commit(node, patch, {.op = "Gemm", .operands = operands, .attributes = attributes_of(node, "transB")}, to);
  }

  // The operator, and codes of what it gives where they are wanted.
  void commit(NodeId node, ir::Patch& patch, ir::PatchNode made, const std::optional<Codes>& to) {
    made.name = context_.model()[node].name;
    const PatchValue floats = patch.add(std::move(made));
    patch.replace(ir::result(context_.model(), node), to ? CodeSpelling::quantize(patch, floats, *to) : floats);
    patch.remove(node);
    context_.run.rewriter().commit("{0} as what its codes stand for", patch);
  }

  mutable CodeSpelling context_;
};

}  // namespace

void spell_qlinear(ir::Model& model, ir::Rewriter& rewriter) {
  if (schema::imported_version(model) < kFirstQuantizers) return;
  const std::array<passes::Pass, 1> spell = {{{.name = "spell-qlinear",
                                               .summary = "operators of codes as operators of what they stand for",
                                               .pass_class = passes::PassClass::rounding,
                                               .run = [](passes::PassRun& run) { QLinearSpeller(run).run(); }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(spell);
}

}  // namespace assay::engine
