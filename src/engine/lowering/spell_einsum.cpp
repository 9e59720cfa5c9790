#include "engine/lowering/spell_einsum.h"

#include <algorithm>
#include <array>
#include <map>
#include <numeric>
#include <set>

#include "ir/queries.h"
#include "ops/kernels/product/einsum_equation.h"
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
using ops::EinsumLabel;
using ops::EinsumTerm;
using tensor::DType;

constexpr int64_t kFirstAxesAsInput = 13;  // of ReduceSum
constexpr std::array<DType, 4> kTypes = {DType::float32, DType::float64, DType::int32, DType::int64};

struct Context {
  passes::PassRun& run;
  passes::Inferred inferred;
};

bool holds(const EinsumTerm& term, EinsumLabel label) { return std::ranges::find(term, label) != term.end(); }

// The labels of a term for which the condition holds.
template <typename Condition>
EinsumTerm labels_if(const EinsumTerm& term, Condition&& condition) {
  EinsumTerm found;
  std::ranges::copy_if(term, std::back_inserter(found), condition);
  return found;
}

EinsumTerm joined(std::initializer_list<EinsumTerm> terms) {
  EinsumTerm all;
  for (const EinsumTerm& term : terms) all.insert(all.end(), term.begin(), term.end());
  return all;
}

// A value with a label for each of its dims, none of which is 1.
struct Labelled {
  PatchValue value;
  EinsumTerm term;
};

// Builds a patch out of operands that are labelled.
class Speller {
 public:
  Speller(Context& context, std::map<EinsumLabel, int64_t> sizes)
      : context_(context), sizes_(std::move(sizes)), version_(schema::imported_version(context.run.model())) {}

  ir::Patch& patch() { return patch_; }

  // Without its dims of 1.
  Labelled labelled(ir::ValueId value, const EinsumTerm& term, const tensor::Shape& dims) {
    EinsumTerm kept;
    for (size_t i = 0; i < term.size(); ++i) {
      if (dims[i] != 1) kept.push_back(term[i]);
    }
    const bool is_whole = kept.size() == term.size();
    return {is_whole ? PatchValue(value) : reshaped(value, dims_of(kept)), kept};
  }

  // Summed over what is not in `wanted`.
  Labelled reduced(Labelled x, const std::set<EinsumLabel>& wanted) {
    std::vector<int64_t> axes;
    for (size_t i = 0; i < x.term.size(); ++i) {
      if (!wanted.contains(x.term[i])) axes.push_back(static_cast<int64_t>(i));
    }
    if (axes.empty()) return x;
    const ir::Attribute keeps = ir::Attribute::of(context_.run.edit().intern("keepdims"), int64_t{0});
    std::vector<PatchValue> operands = {x.value};
    std::vector<ir::Attribute> attributes = {keeps};
    if (version_ >= kFirstAxesAsInput)
      operands.push_back(patch_.add_constant(passes::integer_tensor(axes)));
    else
      attributes.push_back(passes::integers_attribute(context_.run, "axes", axes));
    const PatchValue sum =
        patch_.add({.op = "ReduceSum", .operands = std::move(operands), .attributes = std::move(attributes)});
    return {sum, labels_if(x.term, [&](EinsumLabel label) { return wanted.contains(label); })};
  }

  // The product of two, summed over labels that are not in `wanted`.
  Labelled multiplied(const Labelled& a, const Labelled& b, const std::set<EinsumLabel>& wanted) {
    const auto in = [](const EinsumTerm& term) { return [&](EinsumLabel label) { return holds(term, label); }; };
    const auto not_in = [](const EinsumTerm& term) { return [&](EinsumLabel label) { return !holds(term, label); }; };
    const EinsumTerm both = labels_if(a.term, in(b.term));
    const EinsumTerm items = labels_if(both, [&](EinsumLabel label) { return wanted.contains(label); });
    const EinsumTerm summed = labels_if(both, not_in(items));
    const EinsumTerm left = labels_if(a.term, not_in(b.term));
    const EinsumTerm right = labels_if(b.term, not_in(a.term));
    const PatchValue rows = matrices(a, items, left, summed);
    const PatchValue columns = matrices(b, items, summed, right);
    const PatchValue product = patch_.add({.op = summed.empty() ? "Mul" : "MatMul", .operands = {rows, columns}});
    const EinsumTerm term = joined({items, left, right});
    const bool is_matrix = left.size() == 1 && right.size() == 1;
    return {is_matrix ? product : reshaped(product, dims_of(term)), term};
  }

  PatchValue ordered(const Labelled& x, const EinsumTerm& order) {
    if (x.term == order) return x.value;
    std::vector<int64_t> places;
    for (const EinsumLabel label : order) {
      places.push_back(std::ranges::find(x.term, label) - x.term.begin());
    }
    return passes::add_transpose(context_.run, patch_, x.value, places);
  }

  PatchValue reshaped(PatchValue value, const tensor::Shape& dims) {
    return passes::add_reshape(patch_, value, {dims.begin(), dims.end()});
  }

 private:
  tensor::Shape dims_of(const EinsumTerm& term) const {
    tensor::Shape dims;
    for (const EinsumLabel label : term) dims.push_back(sizes_.at(label));
    return dims;
  }

  // A matrix for each of the items.
  PatchValue matrices(const Labelled& x, const EinsumTerm& items, const EinsumTerm& rows, const EinsumTerm& columns) {
    const PatchValue value = ordered(x, joined({items, rows, columns}));
    if (rows.size() == 1 && columns.size() == 1) return value;
    tensor::Shape dims = dims_of(items);
    for (const EinsumTerm& term : {rows, columns}) {
      const tensor::Shape sizes = dims_of(term);
      dims.push_back(std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies<>()));
    }
    return reshaped(value, dims);
  }

  Context& context_;
  std::map<EinsumLabel, int64_t> sizes_;
  int64_t version_;
  ir::Patch patch_;
};

// The shapes of the operands; empty: some are not known, or hold nothing.
std::vector<tensor::Shape> shapes_of(Context& context, NodeId node) {
  std::vector<tensor::Shape> shapes;
  for (const ir::Use& use : context.run.model()[node].operands) {
    const std::optional<tensor::Shape> shape = context.inferred.shape(use.value);
    if (!shape || std::ranges::find(*shape, 0) != shape->end()) return {};
    shapes.push_back(*shape);
  }
  return shapes;
}

bool has_repeated(EinsumTerm term) {
  std::ranges::sort(term);
  return std::ranges::adjacent_find(term) != term.end();
}

ops::EinsumLabels read_labels(Context& context, NodeId node, const std::vector<tensor::Shape>& shapes) {
  std::vector<int64_t> ranks;
  for (const tensor::Shape& shape : shapes) ranks.push_back(static_cast<int64_t>(shape.size()));
  return ops::einsum_labels(context.run.facts(node).string("equation"), ranks);
}

std::map<EinsumLabel, int64_t> sizes_of(const ops::EinsumLabels& labels, const std::vector<tensor::Shape>& shapes) {
  std::map<EinsumLabel, int64_t> sizes;
  for (size_t i = 0; i < shapes.size(); ++i) {
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      int64_t& size = sizes.try_emplace(labels.inputs[i][d], 1).first->second;
      size = std::max(size, shapes[i][d]);
    }
  }
  return sizes;
}

// The first operand with each of the others in turn.
Labelled multiply_all(Speller& speller, const std::vector<Labelled>& operands, const EinsumTerm& output) {
  Labelled result;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::set<EinsumLabel> later(output.begin(), output.end());
    for (size_t k = i + 1; k < operands.size(); ++k) later.insert(operands[k].term.begin(), operands[k].term.end());
    if (i == 0) {
      result = speller.reduced(operands[0], later);
      continue;
    }
    std::set<EinsumLabel> wanted = later;
    wanted.insert(result.term.begin(), result.term.end());
    Labelled left = std::move(result);
    Labelled right = speller.reduced(operands[i], wanted);
    // The operand whose label comes first in the output gives the rows.
    const auto first = std::ranges::find_if(
        output, [&](EinsumLabel label) { return holds(left.term, label) != holds(right.term, label); });
    if (first != output.end() && holds(right.term, *first)) std::swap(left, right);
    result = speller.multiplied(left, right, later);
  }
  return result;
}

void spell(Context& context, NodeId node) {
  const ir::Model& model = context.run.model();
  const ir::ValueId out = ir::result(model, node);
  const std::vector<tensor::Shape> shapes = shapes_of(context, node);
  if (shapes.empty() || std::ranges::find(kTypes, context.inferred.dtype(out)) == kTypes.end()) return;
  const ops::EinsumLabels labels = read_labels(context, node, shapes);
  if (has_repeated(labels.output) || std::ranges::any_of(labels.inputs, has_repeated)) return;
  const std::map<EinsumLabel, int64_t> sizes = sizes_of(labels, shapes);
  Speller speller(context, sizes);
  std::vector<Labelled> operands;
  for (size_t i = 0; i < shapes.size(); ++i) {
    operands.push_back(speller.labelled(model[node].operands[i].value, labels.inputs[i], shapes[i]));
  }
  const EinsumTerm kept = labels_if(labels.output, [&](EinsumLabel label) { return sizes.at(label) != 1; });
  PatchValue made = speller.ordered(multiply_all(speller, operands, kept), kept);
  if (kept.size() != labels.output.size() || !made.is_new())
    made = speller.reshaped(made, *context.inferred.shape(out));
  speller.patch().replace(out, made);
  speller.patch().remove(node);
  context.run.rewriter().commit("{0} as products of matrices", speller.patch());
}

}  // namespace

void spell_einsum(ir::Model& model, ir::Rewriter& rewriter) {
  const std::array<passes::Pass, 1> pass = {
      {{.name = "spell-einsum",
        .summary = "Einsum as products of matrices",
        .pass_class = passes::PassClass::rounding,
        .run = [](passes::PassRun& run) {
          Context context{run, passes::Inferred(run)};
          passes::apply_rules(run, context, std::array{passes::Rule<Context>{"Einsum", spell}});
        }}}};
  passes::Pipeline(model, rewriter, passes::Options()).run(pass);
}

}  // namespace assay::engine
