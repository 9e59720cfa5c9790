#include "tensorflow/import/unknown.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

bool is_type_of_strings(const std::string& name, const SourceAttribute& value) {
  const bool is_type = name.starts_with('T') || name.ends_with("type") || name == "SrcT" || name == "DstT";
  const auto* const type = std::get_if<int64_t>(&value);
  return is_type && type != nullptr && *type == static_cast<int64_t>(DType::string);
}

bool is_string(const SourceGraph& graph, const std::string& value) {
  const auto declared = graph.values.find(value);
  return declared != graph.values.end() && declared->second.dtype == DType::string;
}

bool works_on_strings(const SourceGraph& graph, const SourceNode& node) {
  if (node.op.find("String") != std::string::npos) return true;
  const auto is_one = [&](const std::string& value) { return is_string(graph, value); };
  return std::ranges::any_of(node.attributes,
                             [](const auto& each) { return is_type_of_strings(each.first, each.second); }) ||
         std::ranges::any_of(node.inputs, is_one) || std::ranges::any_of(node.outputs, is_one);
}

// Reasons for which values cannot be imported: operators that nobody knows how to make, and strings.
class Search {
 public:
  explicit Search(const SourceModel& source) : source_(source) {}

  // Looks at all nodes that values need.
  void look_at(const SourceGraph& graph, std::vector<std::string> todo) {
    std::set<std::string_view> given;
    for (const SourcePort& port : graph.inputs) given.insert(port.value);
    std::set<std::string> seen;
    while (!todo.empty()) {
      const std::string value = std::move(todo.back());
      todo.pop_back();
      if (!seen.insert(value).second) continue;
      if (is_string(graph, value)) note_strings(value, "");
      const std::optional<size_t> number = given.contains(value) ? std::nullopt : graph.producer(value);
      if (!number) continue;
      const SourceNode& node = graph.nodes[*number];
      look_at(graph, node, value);
      todo.insert(todo.end(), node.inputs.begin(), node.inputs.end());
    }
  }

  bool found() const { return !unknown_.empty() || !strings_.empty(); }
  // One line about all.
  std::string text() const {
    const std::vector<std::string> names(unknown_.begin(), unknown_.end());
    const std::string operators =
        fmt::format("{} not imported: {}", names.size() == 1 ? "an operator is" : "operators are", join(names, ", "));
    if (strings_.empty()) return operators;
    const std::string strings = fmt::format("{} strings, which are not imported", strings_);
    return names.empty() ? strings : fmt::format("{}; {}", strings, operators);
  }
  bool found_strings() const { return !strings_.empty(); }

 private:
  void look_at(const SourceGraph& graph, const SourceNode& node, const std::string& value) {
    const bool is_plain = node.op == "PartitionedCall" || node.op == "StatefulPartitionedCall";
    const bool is_call = source_.functions.contains(node.op);
    if (is_call) return enter(node.op, output_number(node, value));
    if (!is_plain && works_on_strings(graph, node)) {
      note_strings(node.name.empty() ? value : node.name, node.op);
    } else if (find_maker(source_.is_lite, node.op) == nullptr) {
      unknown_.insert(printable(node.op));
    }
    for (const auto& [name, attribute] : node.attributes) {
      const auto* const text = std::get_if<std::string>(&attribute);
      if (text != nullptr) enter(*text, is_plain ? output_number(node, value) : std::nullopt);
    }
  }

  // The nodes nearest to the outputs are met first.
  void note_strings(const std::string& name, const std::string& op) {
    if (!strings_.empty()) return;
    strings_ = op.empty() ? fmt::format("`{}` holds", printable(name))
                          : fmt::format("`{}` ({}) works on", printable(name), printable(op));
  }

  void enter(const std::string& name, std::optional<size_t> output) {
    const auto found = source_.functions.find(name);
    if (found == source_.functions.end()) return;
    const SourceGraph& function = found->second;
    for (size_t i = 0; i < function.outputs.size(); ++i) {
      const bool is_wanted = !output || *output == i;
      if (is_wanted && entered_.emplace(name, i).second) look_at(function, {function.outputs[i].value});
    }
  }

  static std::optional<size_t> output_number(const SourceNode& node, const std::string& value) {
    constexpr size_t kMostOutputs = 4096;
    for (size_t i = 0; i < kMostOutputs; ++i) {
      const std::string name = node.output(i);
      if (name == value) return i;
      if (name.empty()) break;
    }
    return std::nullopt;
  }

  const SourceModel& source_;
  std::set<std::string> unknown_;
  std::string strings_;  // the node, as the begin of a sentence
  std::set<std::pair<std::string, size_t>> entered_;
};

}  // namespace

void refuse_unknown(const SourceModel& source) {
  std::vector<std::string> outputs;
  for (size_t i = source.main.outputs.size(); i-- > 0;) outputs.push_back(source.main.outputs[i].value);
  Search all(source);
  all.look_at(source.main, outputs);
  if (!all.found()) return;
  std::vector<std::string> good;
  for (const SourcePort& port : source.main.outputs) {
    Search search(source);
    search.look_at(source.main, {port.value});
    if (!search.found()) good.push_back(fmt::format("`{}`", printable(port.name)));
  }
  if (!good.empty()) {
    constexpr size_t kMost = 10;
    if (good.size() > kMost) good.resize(kMost);
    throw Error(ErrorCode::unsupported, fmt::format("{}; {} can be chosen", all.text(), join(good, ", ")))
        .remedied_by("tf_outputs");
  }
  if (!all.found_strings()) fail(ErrorCode::unsupported, "{}", all.text());
  fail(ErrorCode::unsupported, "{}; export the part of the model that works on numbers alone", all.text());
}

}  // namespace assay::tensorflow
