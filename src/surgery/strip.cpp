#include "surgery/strip.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/walk.h"
#include "surgery/sparsity/sparsity.h"
#include "surgery/sparsity/zero.h"
#include "surgery/strippable.h"

namespace assay::surgery {
namespace {

// The tensors that are 2:4 sparse along every axis that is summed over.
class SparseTensors {
 public:
  explicit SparseTensors(const ir::Model& model) {
    std::vector<results::SkippedWeight> skipped;
    for (const SparsityCandidate& candidate : eligible_weights(model, skipped)) {
      const ir::TensorEntry& entry = model[candidate.tensor];
      if (entry.stripped || !has_zero(entry.tensor.dtype(), false)) continue;
      const bool is_sparse = with_frame([&] { return fmt::format("weight `{}`", printable(candidate.name)); },
                                        [&] { return check_sparsity(model, candidate).sparse; });
      (is_sparse ? sparse_ : dense_).insert(candidate.tensor);
    }
  }
  bool contains(ir::TensorId tensor) const { return sparse_.contains(tensor) && !dense_.contains(tensor); }

 private:
  std::set<ir::TensorId> sparse_;
  std::set<ir::TensorId> dense_;
};

void note_unknown(const ir::Model& model, const std::set<std::string_view>& excluded, Diagnostics& findings) {
  std::set<std::string_view> unknown = excluded;
  for (const ir::ValueId id : ir::live_values(model)) {
    if (model[id].constant) unknown.erase(model.text(model[id].name));
  }
  for (const std::string_view name : unknown) {
    findings.warn("strip", std::string(name),
                  fmt::format("the model has no initializer `{}`, which the exclude list names", printable(name)));
  }
}

void mark_model(ir::Edit& edit) {
  std::string& doc = edit.header().doc;
  if (doc.find(ir::kWeightless) != std::string::npos) return;
  if (!doc.empty()) doc += '-';
  doc += ir::kWeightless;
}

}  // namespace

std::vector<StrippedWeight> strip(ir::Model& model, std::span<const std::string> excluded, Diagnostics& findings) {
  const std::set<std::string_view> names(excluded.begin(), excluded.end());
  note_unknown(model, names, findings);
  const SparseTensors sparse(model);
  ir::Edit edit(model);
  std::vector<StrippedWeight> done;
  for (const ir::ValueId id : strippable_weights(model)) {
    const ir::Value& value = model[id];
    if (model[value.constant].stripped || names.contains(model.text(value.name))) continue;
    const bool is_sparse = sparse.contains(value.constant);
    edit.strip_tensor(value.constant);
    edit.set_doc(value.constant, is_sparse ? kSparseMark : kStrippedMark);
    done.push_back({std::string(model.text(value.name)), is_sparse});
  }
  if (!done.empty()) mark_model(edit);
  return done;
}

}  // namespace assay::surgery
