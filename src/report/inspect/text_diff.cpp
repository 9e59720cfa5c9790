#include "report/inspect/text_diff.h"

#include <fmt/format.h>

#include "base/text.h"
#include "report/inspect/text_model.h"

namespace assay::report {
namespace {

using results::FactChange;
using results::Rename;
using results::ValueInfo;

constexpr size_t kMostEntries = 100;  // of one block

// One block under its title; entries beyond the limit are counted.
class Block {
 public:
  explicit Block(std::string_view title) : text_(fmt::format("---- {} ----\n", title)) {}

  // True if there is room for one more entry.
  bool open() { return ++count_ <= kMostEntries; }
  void line(std::string_view text) { text_ += fmt::format("{}\n", text); }
  void entry(std::string_view text) {
    if (open()) line(text);
  }
  // Nothing where there are no entries.
  std::string take() {
    if (count_ == 0) return "";
    if (count_ > kMostEntries) line(fmt::format("… {} more are in the JSON report", count_ - kMostEntries));
    return text_ + "\n";
  }

 private:
  std::string text_;
  size_t count_ = 0;
};

std::string info_text(const ValueInfo& info) {
  const std::string text = tensors_text({info});
  return text.substr(1, text.size() - 2);
}

std::string rename_text(const Rename& rename) {
  return fmt::format("`{}` -> `{}`", printable(rename.before), printable(rename.after));
}

std::string side_text(const std::optional<std::string>& text) {
  return text && !text->empty() ? printable(*text) : "(none)";
}

std::string change_text(const FactChange& change) {
  return fmt::format("{}: {} -> {}{}", printable(change.what), side_text(change.before), side_text(change.after),
                     change.note.empty() ? "" : fmt::format(" ({})", change.note));
}

std::string header_block(const results::ModelDiff& diff) {
  Block block("Header");
  for (const FactChange& change : diff.header) block.entry("~ " + change_text(change));
  return block.take();
}

void interface_lines(std::string_view word, const results::InterfaceDifferences& part, Block& block) {
  for (const ValueInfo& info : part.added) block.entry(fmt::format("+ {} {}", word, info_text(info)));
  for (const ValueInfo& info : part.removed) block.entry(fmt::format("- {} {}", word, info_text(info)));
  for (const auto& [before, after] : part.changed) {
    block.entry(fmt::format("~ {} {} -> {}", word, info_text(before), info_text(after)));
  }
  for (const FactChange& change : part.rewired) block.entry(fmt::format("~ {} {}", word, change_text(change)));
  for (const Rename& rename : part.renamed) block.entry(fmt::format("= {} {}", word, rename_text(rename)));
  if (part.reordered) block.entry(fmt::format("~ {}s are in another order", word));
}

std::string interface_block(const results::ModelDiff& diff) {
  Block block("Inputs/Outputs");
  interface_lines("input", diff.inputs, block);
  interface_lines("output", diff.outputs, block);
  return block.take();
}

std::string node_text(const results::NodeDifference& node) {
  std::string text = node.node;
  if (!node.other.empty()) text += " -> " + node.other;
  if (!node.graph.empty()) text += ", in " + node.graph;
  return text;
}

std::string renamed_node_text(const results::NodeRename& node) {
  const std::string op = printable(node.op);
  const bool same_name = node.name.before == node.name.after;
  const std::string name = same_name ? fmt::format("`{}`", printable(node.name.before)) : rename_text(node.name);
  std::string text = same_name && node.name.before.empty() ? op : fmt::format("{} ({})", name, op);
  for (size_t i = 0; i < node.results.size(); ++i) {
    text += fmt::format("{} {}", i == 0 ? ", tensors" : ",", rename_text(node.results[i]));
  }
  return node.graph.empty() ? text : fmt::format("{}, in {}", text, node.graph);
}

std::string node_block(const results::NodeDifferences& nodes) {
  Block block(fmt::format("Nodes: {} added, {} removed, {} changed, {} renamed", nodes.added.size(),
                          nodes.removed.size(), nodes.changed.size(), nodes.renamed.size()));
  if (nodes.reordered) block.entry("= nodes are in another order");
  for (const results::NodeDifference& node : nodes.added) block.entry("+ " + node_text(node));
  for (const results::NodeDifference& node : nodes.removed) block.entry("- " + node_text(node));
  for (const results::NodeDifference& node : nodes.changed) {
    if (!block.open()) continue;
    block.line("~ " + node_text(node));
    for (const FactChange& change : node.changes) block.line("    " + change_text(change));
  }
  for (const results::NodeRename& node : nodes.renamed) block.entry("= " + renamed_node_text(node));
  return block.take();
}

std::string place_text(const std::vector<int64_t>& index) {
  return index.empty() ? "" : fmt::format(", the first at [{}]", fmt::join(index, ", "));
}

std::string specials_text(std::string_view word, uint64_t before, uint64_t after) {
  return before == 0 && after == 0 ? "" : fmt::format(", {} {} -> {}", word, before, after);
}

std::string distance_text(const results::TensorDistance& distance) {
  std::string text = fmt::format("{} of {} elements differ{}", distance.differing_count, distance.count,
                                 place_text(distance.first_differing));
  if (!distance.numeric) return text;
  text += fmt::format(", max abs {:.6g}, max rel {:.6g}, mean abs {:.6g}, relative norm {:.3g}", distance.max_abs,
                      distance.max_rel, distance.mean_abs, distance.relative_norm);
  text += specials_text("NaN", distance.nan_count_before, distance.nan_count_after);
  return text + specials_text("inf", distance.inf_count_before, distance.inf_count_after);
}

std::string weight_text(const results::WeightDifference& weight) {
  if (!weight.distance) return fmt::format("~ {} -> {}", info_text(weight.before), info_text(weight.after));
  const std::string_view mark = weight.within_tolerance ? "=" : "~";
  return fmt::format("{} {}: {}", mark, info_text(weight.before), distance_text(*weight.distance));
}

std::string weight_block(const results::ModelDiff& diff) {
  const results::WeightDifferences& weights = diff.weights;
  Block block(fmt::format("Weights: {} added, {} removed, {} changed, {} renamed", weights.added.size(),
                          weights.removed.size(), weights.changed.size(), weights.renamed.size()));
  for (const ValueInfo& info : weights.added) block.entry("+ " + info_text(info));
  for (const ValueInfo& info : weights.removed) block.entry("- " + info_text(info));
  for (const results::WeightDifference& weight : weights.changed) block.entry(weight_text(weight));
  for (const Rename& rename : weights.renamed) block.entry("= " + rename_text(rename));
  return block.take();
}

std::string function_block(const results::FunctionDifferences& functions) {
  Block block(fmt::format("Functions: {} added, {} removed, {} changed", functions.added.size(),
                          functions.removed.size(), functions.changed.size()));
  for (const std::string& function : functions.added) block.entry("+ " + printable(function));
  for (const std::string& function : functions.removed) block.entry("- " + printable(function));
  for (const results::FunctionDifference& function : functions.changed) {
    if (!block.open()) continue;
    block.line("~ " + printable(function.function));
    for (const FactChange& change : function.changes) block.line("    " + change_text(change));
  }
  return block.take();
}

std::string value_info_block(const results::ValueInfoDifferences& infos) {
  Block block(fmt::format("Value Info: {} changed", infos.changed.size()));
  for (const auto& [before, after] : infos.changed) {
    block.entry(fmt::format("~ {} -> {}", info_text(before), info_text(after)));
  }
  if (infos.added_count > 0) block.entry(fmt::format("= {} only in the second model", infos.added_count));
  if (infos.removed_count > 0) block.entry(fmt::format("= {} only in the first model", infos.removed_count));
  return block.take();
}

// `, 2 nodes` where there are any.
std::string counted(uint64_t count, std::string_view word) {
  return count == 0 ? "" : fmt::format(", {} {}{}", count, word, count == 1 ? "" : "s");
}

std::string equal_verdict(const results::ModelDiff& diff) {
  std::string notes;
  if (diff.same_bytes) notes += ", same bytes";
  if (diff.nodes.reordered) notes += ", nodes in another order";
  notes += counted(diff.counts.names, "ignored name");
  notes += counted(diff.weights.changed.size(), "weight within the tolerance");
  notes += counted(diff.weights.unread.size(), "unread weight");
  return notes.empty() ? "Models are equal" : fmt::format("Models are equal ({})", notes.substr(2));
}

}  // namespace

std::string diff_text(const results::ModelDiff& diff) {
  std::string text = header_block(diff) + interface_block(diff) + node_block(diff.nodes) + weight_block(diff) +
                     function_block(diff.functions) + value_info_block(diff.value_infos);
  while (text.ends_with('\n')) text.pop_back();
  return text;
}

std::string diff_verdict(const results::ModelDiff& diff) {
  if (diff.equal) return equal_verdict(diff);
  const results::DifferenceCounts& counts = diff.counts;
  const std::string parts = counted(counts.header, "header") + counted(counts.inputs, "input") +
                            counted(counts.outputs, "output") + counted(counts.nodes, "node") +
                            counted(counts.weights, "weight") + counted(counts.functions, "function") +
                            counted(counts.value_infos, "value info");
  if (parts.empty()) return fmt::format("Models differ: only in {}", counted(counts.names, "name").substr(2));
  const std::string names = diff.ignores_names ? "" : counted(counts.names, "name");
  return fmt::format("Models differ: {}", (parts + names).substr(2));
}

}  // namespace assay::report
