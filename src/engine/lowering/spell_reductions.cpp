#include "engine/lowering/spell_reductions.h"

#include <array>
#include <limits>
#include <numeric>
#include <set>

#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/rules.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;
using tensor::DType;

constexpr int64_t kFirstSumAxesAsInput = 13;  // of ReduceSum
constexpr int64_t kFirstAxesAsInput = 18;     // of the others
constexpr int64_t kFirstBroadcast = 8;        // of Max and Min

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
};

// Writes one node anew.
class Speller {
 public:
  Speller(Context& context, NodeId node)
      : context_(context), node_(node), version_(schema::imported_version(context.run.model())) {}

  // False: it stays as it is.
  bool read() {
    const ir::Model& model = context_.run.model();
    x_ = ir::operand(model, node_, 0);
    const std::optional<tensor::Shape> dims = context_.inferred.shape(x_);
    const bool is_known = dims && tensor::element_count(*dims).value_or(0) > 0;
    if (!is_known || model[node_].graph != model.main_graph() || version_ < kFirstBroadcast) return false;
    if (context_.inferred.dtype(x_) != DType::float32) return false;
    const ops::Node facts = context_.run.facts(node_);
    const bool has_axes = facts.has_attribute("axes") || ir::operand(model, node_, 1);
    const bool is_sum = model.text(model[node_].op) == "ReduceSum";
    const std::optional<std::vector<int64_t>> axes =
        passes::integers_of(context_.run, facts, 1, "axes", is_sum ? kFirstSumAxesAsInput : kFirstAxesAsInput);
    if ((has_axes && !axes) || facts.integer("noop_with_empty_axes", 0) != 0) return false;
    axes_ = axes.value_or(std::vector<int64_t>());
    if (axes_.empty()) {
      axes_.resize(dims->size());
      std::iota(axes_.begin(), axes_.end(), 0);
    }
    keeps_dims_ = facts.integer("keepdims", 1);
    find_runs(*dims);
    return !axes_.empty();
  }

  // One run of dims after the other, where they are no neighbours.
  void apart() {
    if (runs_.size() > 1) replace(reduced(context_.run.model().text(context_.run.model()[node_].op), x_, keeps_dims_));
  }

  void least() { replace(applied("Neg", {reduced("ReduceMax", applied("Neg", {x_}), keeps_dims_)})); }
  void sum_of_sizes() { replace(reduced("ReduceSum", applied("Abs", {x_}), keeps_dims_)); }
  void logarithm_of_sum() { replace(applied("Log", {reduced("ReduceSum", x_, keeps_dims_)})); }
  // Exponentials of infinite elements stay what they are: the greatest one that is subtracted is finite.
  void logarithm_of_exponentials() {
    constexpr float kGreatest = std::numeric_limits<float>::max();
    const PatchValue most = applied("Min", {reduced("ReduceMax", x_, 1), number(kGreatest)});
    const PatchValue top = applied("Max", {most, number(-kGreatest)});
    const PatchValue grown = applied("Exp", {applied("Sub", {x_, top})});
    const PatchValue logarithm = applied("Log", {reduced("ReduceSum", grown, keeps_dims_)});
    replace(applied("Add", {logarithm, keeps_dims_ != 0 ? top : squeezed(top)}));
  }

 private:
  PatchValue applied(std::string_view op, std::vector<PatchValue> operands) {
    return patch_.add({.op = op, .operands = std::move(operands)});
  }
  PatchValue number(float value) {
    return patch_.add_constant(tensor::make_tensor<float>(DType::float32, {}, std::vector<float>{value}));
  }
  // A node with axes, which are an operand from version `since` on.
  PatchValue along(ir::PatchNode made, const std::vector<int64_t>& axes, int64_t since) {
    if (version_ >= since)
      made.operands.push_back(patch_.add_constant(passes::integer_tensor(axes)));
    else
      made.attributes.push_back(passes::integers_attribute(context_.run, "axes", axes));
    return patch_.add(std::move(made));
  }
  // Dims that are reduced and have no other one between them, the last ones first; those of 1 go with any.
  void find_runs(const tensor::Shape& dims) {
    std::set<int64_t> axes;
    for (const int64_t axis : axes_) axes.insert(ops::normalize_axis(axis, static_cast<int64_t>(dims.size())));
    bool continues = false;
    for (auto i = static_cast<int64_t>(dims.size()); i-- > 0;) {
      const bool is_reduced = axes.contains(i);
      if (is_reduced && !continues) runs_.emplace_back();
      if (is_reduced) runs_.back().insert(runs_.back().begin(), i);
      continues = is_reduced || (continues && dims[static_cast<size_t>(i)] == 1);
    }
  }
  PatchValue reduced(std::string_view op, PatchValue value, int64_t keeps_dims) {
    if (runs_.size() <= 1) return reduced_along(op, axes_, value, keeps_dims);
    for (const std::vector<int64_t>& run : runs_) value = reduced_along(op, run, value, 1);
    return keeps_dims != 0 ? value : squeezed(value);
  }
  PatchValue reduced_along(std::string_view op, const std::vector<int64_t>& axes, PatchValue value,
                           int64_t keeps_dims) {
    const ir::Attribute keeps = ir::Attribute::of(context_.run.edit().intern("keepdims"), keeps_dims);
    return along({.op = op, .operands = {value}, .attributes = {keeps}}, axes,
                 op == "ReduceSum" ? kFirstSumAxesAsInput : kFirstAxesAsInput);
  }
  PatchValue squeezed(PatchValue value) {
    return along({.op = "Squeeze", .operands = {value}}, axes_, kFirstSumAxesAsInput);
  }
  void replace(PatchValue made) {
    patch_.replace(ir::result(context_.run.model(), node_), made);
    patch_.remove(node_);
    context_.run.rewriter().commit("{0} as a sum or a maximum", patch_);
  }

  Context& context_;
  NodeId node_;
  int64_t version_;
  ir::ValueId x_;
  std::vector<int64_t> axes_;
  std::vector<std::vector<int64_t>> runs_;
  int64_t keeps_dims_ = 1;
  ir::Patch patch_;
};

template <void (Speller::*kSpell)()>
void spell(Context& context, NodeId node) {
  Speller speller(context, node);
  if (speller.read()) (speller.*kSpell)();
}

constexpr std::array<passes::Rule<Context>, 7> kRules = {{
    {"ReduceSum", spell<&Speller::apart>},
    {"ReduceMean", spell<&Speller::apart>},
    {"ReduceMax", spell<&Speller::apart>},
    {"ReduceMin", spell<&Speller::least>},
    {"ReduceL1", spell<&Speller::sum_of_sizes>},
    {"ReduceLogSum", spell<&Speller::logarithm_of_sum>},
    {"ReduceLogSumExp", spell<&Speller::logarithm_of_exponentials>},
}};

}  // namespace

void spell_reductions(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {{{.name = "spell-reductions",
                                              .summary = "rarer reductions as sums and maxima",
                                              .pass_class = passes::PassClass::rounding,
                                              .run = [](passes::PassRun& run) {
                                                Context context{run, passes::Inferred(run)};
                                                passes::apply_rules(run, context, kRules);
                                              }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
