#pragma once

#include "results/fields/model.h"
#include "results/model_diff.h"

namespace assay::results {

template <>
struct Fields<FactChange> {
  static void of(auto& v, auto& change) {
    v("what", change.what);
    v("before", change.before);
    v("after", change.after);
    v.some("note", change.note);
  }
};

template <>
struct Fields<Rename> {
  static void of(auto& v, auto& rename) {
    v("before", rename.before);
    v("after", rename.after);
  }
};

inline constexpr auto kDescribeSides = [](auto& v, auto& sides) {
  v("before", sides.first);
  v("after", sides.second);
};

template <>
struct Fields<NodeDifference> {
  static void of(auto& v, auto& difference) {
    v("node", difference.node);
    v.some("other", difference.other);
    v("graph", difference.graph);
    v.some("changes", difference.changes);
  }
};

template <>
struct Fields<NodeRename> {
  static void of(auto& v, auto& rename) {
    Fields<Rename>::of(v, rename.name);
    v("op", rename.op);
    v("graph", rename.graph);
    v("outputs", rename.results);
  }
};

template <>
struct Fields<NodeDifferences> {
  static void of(auto& v, auto& nodes) {
    v("added", nodes.added);
    v("removed", nodes.removed);
    v("changed", nodes.changed);
    v("renamed", nodes.renamed);
    v("reordered", nodes.reordered);
  }
};

template <>
struct Fields<InterfaceDifferences> {
  static void of(auto& v, auto& differences) {
    v("added", differences.added);
    v("removed", differences.removed);
    v.list("changed", differences.changed, kDescribeSides);
    v("renamed", differences.renamed);
    v("rewired", differences.rewired);
    v("reordered", differences.reordered);
  }
};

template <>
struct Fields<TensorDistance> {
  static void of(auto& v, auto& distance) {
    v("count", distance.count);
    v("differing_count", distance.differing_count);
    v("first_differing_index", distance.first_differing);
    v.marked(distance.numeric, "max_abs", distance.max_abs);
    v.when(distance.numeric, "max_rel", distance.max_rel);
    v.when(distance.numeric, "mean_abs", distance.mean_abs);
    v.when(distance.numeric, "relative_norm", distance.relative_norm);
    v.when(distance.numeric, "nan_count_before", distance.nan_count_before);
    v.when(distance.numeric, "nan_count_after", distance.nan_count_after);
    v.when(distance.numeric, "inf_count_before", distance.inf_count_before);
    v.when(distance.numeric, "inf_count_after", distance.inf_count_after);
  }
};

template <>
struct Fields<WeightDifference> {
  static void of(auto& v, auto& weight) {
    v("before", weight.before);
    v("after", weight.after);
    v("within_tolerance", weight.within_tolerance);
    v.inlined("count", weight.distance);
  }
};

template <>
struct Fields<WeightDifferences> {
  static void of(auto& v, auto& weights) {
    v("compared_count", weights.compared_count);
    v("added", weights.added);
    v("removed", weights.removed);
    v("changed", weights.changed);
    v("renamed", weights.renamed);
    v("unread", weights.unread);
  }
};

template <>
struct Fields<FunctionDifference> {
  static void of(auto& v, auto& difference) {
    v("function", difference.function);
    v("changes", difference.changes);
  }
};

template <>
struct Fields<FunctionDifferences> {
  static void of(auto& v, auto& functions) {
    v("added", functions.added);
    v("removed", functions.removed);
    v("changed", functions.changed);
  }
};

template <>
struct Fields<ValueInfoDifferences> {
  static void of(auto& v, auto& infos) {
    v("added_count", infos.added_count);
    v("removed_count", infos.removed_count);
    v.list("changed", infos.changed, kDescribeSides);
  }
};

template <>
struct Fields<DifferenceCounts> {
  static void of(auto& v, auto& counts) {
    v("header", counts.header);
    v("inputs", counts.inputs);
    v("outputs", counts.outputs);
    v("nodes", counts.nodes);
    v("weights", counts.weights);
    v("functions", counts.functions);
    v("value_infos", counts.value_infos);
    v("names", counts.names);
  }
};

template <>
struct Fields<ModelDiff> {
  static constexpr std::string_view kCommand = "inspect diff";
  static void of(auto& v, auto& diff) {
    v("model_a", diff.path_a);
    v("model_b", diff.path_b);
    v("equal", diff.equal);
    v("same_bytes", diff.same_bytes);
    v("counts", diff.counts);
    v("header", diff.header);
    v("inputs", diff.inputs);
    v("outputs", diff.outputs);
    v("nodes", diff.nodes);
    v("weights", diff.weights);
    v("functions", diff.functions);
    v("value_infos", diff.value_infos);
    v("findings_a", diff.findings_a);
    v("findings_b", diff.findings_b);
    v("timings", diff.timings);
  }
};

}  // namespace assay::results
