#include "report/inspect/json_diff.h"

#include "report/json_parts.h"

namespace assay::report {
namespace {

using results::FactChange;
using results::Rename;
using results::ValueInfo;

class DiffWriter {
 public:
  std::string write(const results::ModelDiff& diff);

 private:
  template <typename Items, typename Fn>
  void array(std::string_view key, const Items& items, Fn&& fn) {
    json_.key(key);
    json_.begin_array();
    for (const auto& item : items) fn(item);
    json_.end_array();
  }
  void text_or_null(std::string_view key, const std::optional<std::string>& text) {
    json_.key(key);
    text ? json_.value(*text) : json_.null();
  }

  void counts(const results::DifferenceCounts& counts);
  void change(const FactChange& change);
  void changes(std::string_view key, const std::vector<FactChange>& items) {
    array(key, items, [&](const FactChange& item) { change(item); });
  }
  void renames(std::string_view key, const std::vector<Rename>& items);
  void infos(std::string_view key, const std::vector<ValueInfo>& items) {
    array(key, items, [&](const ValueInfo& info) { write_value_info(json_, info); });
  }
  void info_pairs(std::string_view key, const std::vector<std::pair<ValueInfo, ValueInfo>>& items);
  void strings(std::string_view key, const std::vector<std::string>& items) {
    array(key, items, [&](const std::string& item) { json_.value(item); });
  }
  void interface(std::string_view key, const results::InterfaceDifferences& part);
  void node_list(std::string_view key, const std::vector<results::NodeDifference>& items);
  void nodes(const results::NodeDifferences& part);
  void weights(const results::WeightDifferences& part);
  void weight(const results::WeightDifference& weight);
  void distance(const results::TensorDistance& distance);
  void functions(const results::FunctionDifferences& part);
  void value_infos(const results::ValueInfoDifferences& part);

  JsonReport report_{"inspect diff"};
  JsonWriter& json_ = report_.json;
};

void DiffWriter::counts(const results::DifferenceCounts& counts) {
  json_.key("counts");
  json_.begin_object();
  json_.field("header", counts.header);
  json_.field("inputs", counts.inputs);
  json_.field("outputs", counts.outputs);
  json_.field("nodes", counts.nodes);
  json_.field("weights", counts.weights);
  json_.field("functions", counts.functions);
  json_.field("value_infos", counts.value_infos);
  json_.field("names", counts.names);
  json_.end_object();
}

void DiffWriter::change(const FactChange& change) {
  json_.begin_object();
  json_.field("what", change.what);
  text_or_null("before", change.before);
  text_or_null("after", change.after);
  if (!change.note.empty()) json_.field("note", change.note);
  json_.end_object();
}

void DiffWriter::renames(std::string_view key, const std::vector<Rename>& items) {
  array(key, items, [&](const Rename& rename) {
    json_.begin_object();
    json_.field("before", rename.before);
    json_.field("after", rename.after);
    json_.end_object();
  });
}

void DiffWriter::info_pairs(std::string_view key, const std::vector<std::pair<ValueInfo, ValueInfo>>& items) {
  array(key, items, [&](const std::pair<ValueInfo, ValueInfo>& item) {
    json_.begin_object();
    json_.key("before");
    write_value_info(json_, item.first);
    json_.key("after");
    write_value_info(json_, item.second);
    json_.end_object();
  });
}

void DiffWriter::interface(std::string_view key, const results::InterfaceDifferences& part) {
  json_.key(key);
  json_.begin_object();
  infos("added", part.added);
  infos("removed", part.removed);
  info_pairs("changed", part.changed);
  renames("renamed", part.renamed);
  changes("rewired", part.rewired);
  json_.field("reordered", part.reordered);
  json_.end_object();
}

void DiffWriter::node_list(std::string_view key, const std::vector<results::NodeDifference>& items) {
  array(key, items, [&](const results::NodeDifference& node) {
    json_.begin_object();
    json_.field("node", node.node);
    if (!node.other.empty()) json_.field("other", node.other);
    json_.field("graph", node.graph);
    if (!node.changes.empty()) changes("changes", node.changes);
    json_.end_object();
  });
}

void DiffWriter::nodes(const results::NodeDifferences& part) {
  json_.key("nodes");
  json_.begin_object();
  node_list("added", part.added);
  node_list("removed", part.removed);
  node_list("changed", part.changed);
  array("renamed", part.renamed, [&](const results::NodeRename& node) {
    json_.begin_object();
    json_.field("before", node.name.before);
    json_.field("after", node.name.after);
    json_.field("op", node.op);
    json_.field("graph", node.graph);
    renames("outputs", node.results);
    json_.end_object();
  });
  json_.field("reordered", part.reordered);
  json_.end_object();
}

void DiffWriter::distance(const results::TensorDistance& distance) {
  json_.field("count", distance.count);
  json_.field("differing_count", distance.differing_count);
  array("first_differing_index", distance.first_differing, [&](int64_t place) { json_.value(place); });
  if (!distance.numeric) return;
  json_.field("max_abs", distance.max_abs);
  json_.field("max_rel", distance.max_rel);
  json_.field("mean_abs", distance.mean_abs);
  json_.field("relative_norm", distance.relative_norm);
  json_.field("nan_count_before", distance.nan_count_before);
  json_.field("nan_count_after", distance.nan_count_after);
  json_.field("inf_count_before", distance.inf_count_before);
  json_.field("inf_count_after", distance.inf_count_after);
}

void DiffWriter::weight(const results::WeightDifference& weight) {
  json_.begin_object();
  json_.key("before");
  write_value_info(json_, weight.before);
  json_.key("after");
  write_value_info(json_, weight.after);
  json_.field("within_tolerance", weight.within_tolerance);
  if (weight.distance) distance(*weight.distance);
  json_.end_object();
}

void DiffWriter::weights(const results::WeightDifferences& part) {
  json_.key("weights");
  json_.begin_object();
  json_.field("compared_count", part.compared_count);
  infos("added", part.added);
  infos("removed", part.removed);
  array("changed", part.changed, [&](const results::WeightDifference& item) { weight(item); });
  renames("renamed", part.renamed);
  strings("unread", part.unread);
  json_.end_object();
}

void DiffWriter::functions(const results::FunctionDifferences& part) {
  json_.key("functions");
  json_.begin_object();
  strings("added", part.added);
  strings("removed", part.removed);
  array("changed", part.changed, [&](const results::FunctionDifference& item) {
    json_.begin_object();
    json_.field("function", item.function);
    changes("changes", item.changes);
    json_.end_object();
  });
  json_.end_object();
}

void DiffWriter::value_infos(const results::ValueInfoDifferences& part) {
  json_.key("value_infos");
  json_.begin_object();
  json_.field("added_count", part.added_count);
  json_.field("removed_count", part.removed_count);
  info_pairs("changed", part.changed);
  json_.end_object();
}

std::string DiffWriter::write(const results::ModelDiff& diff) {
  json_.field("model_a", diff.path_a);
  json_.field("model_b", diff.path_b);
  json_.field("equal", diff.equal);
  json_.field("same_bytes", diff.same_bytes);
  counts(diff.counts);
  changes("header", diff.header);
  interface("inputs", diff.inputs);
  interface("outputs", diff.outputs);
  nodes(diff.nodes);
  weights(diff.weights);
  functions(diff.functions);
  value_infos(diff.value_infos);
  report_.write_findings("findings_a", diff.findings_a);
  report_.write_findings("findings_b", diff.findings_b);
  return report_.end(diff.timings);
}

}  // namespace

std::string diff_json(const results::ModelDiff& diff) { return DiffWriter().write(diff); }

}  // namespace assay::report
