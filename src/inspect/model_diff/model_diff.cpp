#include "inspect/model_diff/model_diff.h"

#include <cstring>

#include "inspect/model_diff/parts.h"

namespace assay::inspect {
namespace {

using results::DifferenceCounts;
using results::ModelDiff;

bool has_external_weights(const ir::Model& model) {
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) {
    if (!model[ir::TensorId{i}].external_location.empty()) return true;
  }
  return false;
}

// Equal files have equal weights only where all weights are in them.
bool have_same_bytes(const ir::Model& a, const ir::Model& b) {
  if (!a.source() || !b.source() || a.is_edited() || b.is_edited()) return false;
  const Bytes bytes_a = a.source()->bytes();
  const Bytes bytes_b = b.source()->bytes();
  if (bytes_a.size() != bytes_b.size() || has_external_weights(a)) return false;
  return std::memcmp(bytes_a.data(), bytes_b.data(), bytes_a.size()) == 0;
}

uint64_t count_interface(const results::InterfaceDifferences& part) {
  return part.added.size() + part.removed.size() + part.changed.size() + part.rewired.size() + part.reordered;
}

uint64_t count_weights(const results::WeightDifferences& part) {
  uint64_t count = part.added.size() + part.removed.size();
  for (const results::WeightDifference& weight : part.changed) count += !weight.within_tolerance;
  return count;
}

DifferenceCounts count_differences(const ModelDiff& diff) {
  DifferenceCounts counts;
  counts.header = diff.header.size();
  counts.inputs = count_interface(diff.inputs);
  counts.outputs = count_interface(diff.outputs);
  counts.nodes = diff.nodes.added.size() + diff.nodes.removed.size() + diff.nodes.changed.size();
  counts.weights = count_weights(diff.weights);
  counts.functions = diff.functions.added.size() + diff.functions.removed.size() + diff.functions.changed.size();
  counts.value_infos = diff.value_infos.changed.size();
  counts.names = diff.nodes.renamed.size() + diff.inputs.renamed.size() + diff.outputs.renamed.size() +
                 diff.weights.renamed.size();
  return counts;
}

uint64_t total(const DifferenceCounts& counts) {
  return counts.header + counts.inputs + counts.outputs + counts.nodes + counts.weights + counts.functions +
         counts.value_infos;
}

}  // namespace

ModelDiff diff_models(const ir::Model& a, const ir::Model& b, const DiffOptions& options) {
  ModelDiff diff;
  diff.ignores_names = options.ignore_names;
  diff.same_bytes = have_same_bytes(a, b);
  if (diff.same_bytes) return diff;
  const match::Matching matching = match::match_models(a, b);
  const DiffContext context = {a, b, matching, options};
  diff_header(context, diff);
  diff_interfaces(context, diff);
  diff_nodes(context, diff);
  diff_value_infos(context, diff);
  diff_weights(context, diff);
  diff_functions(context, diff);
  diff.counts = count_differences(diff);
  diff.equal = total(diff.counts) == 0 && (options.ignore_names || diff.counts.names == 0);
  return diff;
}

}  // namespace assay::inspect
