#include "surgery/boundary_types.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ops/write_types.h"

namespace assay::surgery {
namespace {

using ir::DimId;
using ir::ValueId;

DimId dim_of(ir::Model& model, const BoundaryDim& dim) {
  if (const int64_t* number = std::get_if<int64_t>(&dim)) return model.dims().constant(*number);
  const std::string* const symbol = std::get_if<std::string>(&dim);
  return symbol ? model.dims().symbol(model.symbols().intern(*symbol)) : ir::kUnknownDim;
}

std::string text_of(const ir::Model& model, const std::vector<DimId>& dims) {
  std::vector<std::string> words;
  for (const DimId dim : dims) words.push_back(printable(model.dims().text(dim, model.symbols())));
  return fmt::format("[{}]", fmt::join(words, ", "));
}

bool contradict(const ir::Model& model, const std::vector<DimId>& a, const std::vector<DimId>& b) {
  if (a.size() != b.size()) return true;
  for (size_t i = 0; i < a.size(); ++i) {
    const std::optional<int64_t> x = model.dims().as_constant(a[i]);
    const std::optional<int64_t> y = model.dims().as_constant(b[i]);
    if (x && y && *x != *y) return true;
  }
  return false;
}

void check_dtype(const Boundary& boundary, const ir::Type& known) {
  if (!boundary.dtype || known.dtype == tensor::DType::undefined || *boundary.dtype == known.dtype) return;
  fail(ErrorCode::usage, "`{}` is {} in the model, {} was requested; expected the same type or `auto`",
       printable(boundary.name), tensor::name(known.dtype), tensor::name(*boundary.dtype));
}

void check_shape(const ir::Model& model, const Boundary& boundary, const ir::Type& asked, const ir::Type& known,
                 Diagnostics& findings) {
  if (!known.ranked || !asked.ranked || !contradict(model, asked.dims, known.dims)) return;
  findings.warn("extract", boundary.name,
                fmt::format("`{}` gets the shape {}, which contradicts {} in the model", printable(boundary.name),
                            text_of(model, asked.dims), text_of(model, known.dims)));
}

// Spreads marks from values to the results of the nodes that use them.
class Downstream {
 public:
  Downstream(const ir::Model& model, std::vector<ValueId> from) : model_(model), pending_(std::move(from)) {}

  std::vector<ValueId> run() {
    std::vector<ValueId> found;
    std::vector<bool> seen(model_.node_slots());
    while (!pending_.empty()) {
      const ValueId value = pending_.back();
      pending_.pop_back();
      for (const ir::Use& use : ir::uses(model_, value)) visit(use.user, seen, found);
    }
    return found;
  }

 private:
  // A body that uses a value makes all results of its node depend on it.
  void visit(ir::NodeId id, std::vector<bool>& seen, std::vector<ValueId>& found) {
    while (id && !seen[id.index]) {
      seen[id.index] = true;
      for (const ValueId result : model_[id].results) {
        if (!result) continue;
        found.push_back(result);
        pending_.push_back(result);
      }
      id = model_[model_[id].graph].parent;
    }
  }

  const ir::Model& model_;
  std::vector<ValueId> pending_;
};

bool is_complete(const ir::Model& model, ValueId value) {
  const ir::TypeId id = model[value].type;
  if (!id) return false;
  const ir::Type& type = model[id];
  return type.kind != ir::TypeKind::tensor || (type.ranked && type.dtype != tensor::DType::undefined);
}

}  // namespace

ir::TypeId known_type(ir::Model& model, ValueId id) {
  const ir::Value& value = model[id];
  if (value.type || !value.constant) return value.type;
  const ir::TensorEntry& entry = model[value.constant];
  const tensor::Shape& shape = entry.sparse ? entry.sparse->dims : entry.tensor.shape();
  std::vector<DimId> dims;
  for (const int64_t dim : shape) dims.push_back(model.dims().constant(dim));
  return model.types().tensor(entry.sparse ? entry.sparse->values.dtype() : entry.tensor.dtype(), std::move(dims));
}

ir::TypeId boundary_type(ir::Model& model, const Boundary& boundary, ir::TypeId known_id, Diagnostics& findings) {
  if (!boundary.dtype && !boundary.shape) return known_id;
  const ir::Type known = known_id ? model[known_id] : ir::Type();
  if (known.kind != ir::TypeKind::tensor) {
    fail(ErrorCode::usage, "`{}` is no tensor, so it has no shape and element type; expected `auto`",
         printable(boundary.name));
  }
  check_dtype(boundary, known);
  ir::Type type = known;
  if (boundary.dtype) type.dtype = *boundary.dtype;
  if (boundary.shape) {
    type.ranked = true;
    type.dims.clear();
    for (const BoundaryDim& dim : *boundary.shape) type.dims.push_back(dim_of(model, dim));
    check_shape(model, boundary, type, known, findings);
  }
  return model.types().intern(std::move(type));
}

void complete_outputs(ir::Model& model) {
  if (!model[model[model.main_graph()].outputs_node].dirty) return;
  ir::Edit edit(model);
  std::optional<ops::Inference> inference;
  for (const ir::Use& use : model.outputs(model.main_graph())) {
    if (!use.value) continue;
    if (!model[use.value].type && model[use.value].constant) edit.set_type(use.value, known_type(model, use.value));
    if (is_complete(model, use.value)) continue;
    if (!inference) inference.emplace(model).run();
    ops::write_type(*inference, model, use.value);
  }
}

std::vector<ops::InferenceFinding> renew_shapes(ir::Model& model, std::vector<ValueId> changed) {
  ir::Edit edit(model);
  ops::LiveInference live(edit);
  return renew_shapes(model, edit, live, std::move(changed));
}

std::vector<ops::InferenceFinding> renew_shapes(ir::Model& model, ir::Edit& edit, ops::LiveInference& live,
                                                std::vector<ValueId> changed) {
  std::vector<std::pair<ValueId, ir::TypeId>> said;
  for (const ValueId value : changed) said.emplace_back(value, model[value].type);
  const std::set<ValueId> kept(changed.begin(), changed.end());
  for (const ValueId value : Downstream(model, std::move(changed)).run()) {
    const ir::TypeId type = kept.contains(value) ? ir::TypeId{} : model[value].type;
    const bool has_shape = type && model[type].kind == ir::TypeKind::tensor && model[type].ranked;
    if (has_shape) edit.set_type(value, model.types().unranked_tensor(model[type].dtype));
  }
  const ops::Inference& inference = live.now();
  std::vector<ops::InferenceFinding> findings = inference.findings();
  ops::write_types(inference, model);
  for (const auto& [value, type] : said) edit.set_type(value, type);  // open dims stay unnamed
  return findings;
}

}  // namespace assay::surgery
