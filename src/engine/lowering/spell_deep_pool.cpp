#include "engine/lowering/spell_deep_pool.h"

#include <algorithm>
#include <array>

#include "engine/lowering/list_or.h"
#include "ir/queries.h"
#include "passes/constants.h"
#include "passes/inferred.h"
#include "passes/pipelines.h"
#include "passes/reshapes.h"
#include "passes/rules.h"
#include "schema/imports.h"

namespace assay::engine {
namespace {

using ir::NodeId;
using ir::PatchValue;

struct PoolContext {
  passes::PassRun& run;
  passes::Inferred inferred;
};

struct DeepPool {
  tensor::Shape in, out;
  std::vector<int64_t> kernel, strides, dilations, pads;  // pads: none where the operator finds them by itself
};

std::optional<DeepPool> find_deep_pool(PoolContext& context, NodeId node) {
  const ir::Model& model = context.run.model();
  const std::optional<tensor::Shape> in = context.inferred.shape(ir::operand(model, node, 0));
  const std::optional<tensor::Shape> out = context.inferred.shape(ir::result(model, node));
  const ir::ValueId places = ir::result(model, node, 1);
  const bool gives_places = places && model[places].first_use != nullptr;
  if (!in || !out || in->size() != 5 || out->size() != 5 || gives_places) return std::nullopt;
  if (*tensor::element_count(*in) == 0 || *tensor::element_count(*out) == 0) return std::nullopt;
  const ops::Node facts = context.run.facts(node);
  std::vector<int64_t> kernel = facts.integers("kernel_shape");
  if (kernel.size() != 3) return std::nullopt;
  return DeepPool{*in,
                  *out,
                  std::move(kernel),
                  list_or(facts, "strides", 3, 1),
                  list_or(facts, "dilations", 3, 1),
                  facts.integers("pads")};
}

class PoolSpeller {
 public:
  PoolSpeller(PoolContext& context, NodeId node, const DeepPool& pool) : context_(context), node_(node), pool_(pool) {}

  void replace() {
    const ir::Model& model = context_.run.model();
    const tensor::Shape &in = pool_.in, &out = pool_.out;
    PatchValue value = ir::operand(model, node_, 0);
    if (changes(1) || changes(2)) {
      value = passes::add_reshape(patch_, turned(value), {in[0] * in[2], in[1], in[3], in[4]});
      value = pooled(value, {1, 2});
      value = turned(passes::add_reshape(patch_, value, {in[0], in[2], in[1], out[3], out[4]}));
    }
    if (changes(0)) value = pooled(passes::add_reshape(patch_, value, {in[0], in[1], in[2], out[3] * out[4]}), {0});
    patch_.replace(ir::result(model, node_), passes::add_reshape(patch_, value, out));
    patch_.remove(node_);
    context_.run.rewriter().commit("{0} as two over fewer dims", patch_);
  }

 private:
  // True if a dim has windows of more than one element, or leaves some out.
  bool changes(size_t dim) const {
    const bool is_padded = !pool_.pads.empty() && (pool_.pads[dim] != 0 || pool_.pads[dim + 3] != 0);
    return pool_.kernel[dim] != 1 || pool_.strides[dim] != 1 || is_padded;
  }

  // Slices and channels change places.
  PatchValue turned(PatchValue value) { return passes::add_transpose(context_.run, patch_, value, {0, 2, 1, 3, 4}); }
  // Over these of the three dims; a second one that is not named has windows of one element.
  PatchValue pooled(PatchValue value, const std::vector<size_t>& dims) {
    const auto numbers = [&](const std::vector<int64_t>& all, size_t offset, int64_t otherwise) {
      std::vector<int64_t> taken(2, otherwise);
      for (size_t i = 0; i < dims.size(); ++i) taken[i] = all[dims[i] + offset];
      return taken;
    };
    const ir::Model& model = context_.run.model();
    std::vector<ir::Attribute> attributes;
    for (const ir::Attribute& attribute : model[node_].attributes) {
      const std::string_view name = model.text(attribute.name());
      if (name == "kernel_shape" || name == "strides" || name == "dilations" || name == "pads") continue;
      attributes.push_back(attribute);
    }
    const auto add = [&](const char* name, const std::vector<int64_t>& list) {
      attributes.push_back(passes::integers_attribute(context_.run, name, list));
    };
    add("kernel_shape", numbers(pool_.kernel, 0, 1));
    add("strides", numbers(pool_.strides, 0, 1));
    if (std::ranges::any_of(pool_.dilations, [](int64_t dilation) { return dilation != 1; }))
      add("dilations", numbers(pool_.dilations, 0, 1));
    if (!pool_.pads.empty()) {
      std::vector<int64_t> pads = numbers(pool_.pads, 0, 0);
      const std::vector<int64_t> ends = numbers(pool_.pads, 3, 0);
      pads.insert(pads.end(), ends.begin(), ends.end());
      add("pads", pads);
    }
    return patch_.add({.op = model.text(model[node_].op),
                       .name = model[node_].name,
                       .operands = {value},
                       .attributes = std::move(attributes)});
  }

  PoolContext& context_;
  NodeId node_;
  const DeepPool& pool_;
  ir::Patch patch_;
};

// True for maxima and means, which may be those of some of the dims first.
bool is_in_steps(const ops::Traits& traits) {
  const bool is_between = traits.range == ops::ValueRange::first || traits.range == ops::ValueRange::first_or_zero;
  return traits.is(ops::Nature::pool) && is_between;
}

void spell_pool(PoolContext& context, NodeId node) {
  constexpr int64_t kFirstReshapeOfInputs = 5;
  if (schema::imported_version(context.run.model()) < kFirstReshapeOfInputs) return;
  if (const std::optional<DeepPool> pool = find_deep_pool(context, node)) PoolSpeller(context, node, *pool).replace();
}

}  // namespace

void spell_deep_pool(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-deep-pool",
        .summary = "pools over three dims as pools over fewer",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          PoolContext context{run, passes::Inferred(run)};
          passes::apply_rules(run, context, passes::rules_of<PoolContext>(is_in_steps, spell_pool));
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
