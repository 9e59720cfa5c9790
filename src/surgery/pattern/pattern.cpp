#include "surgery/pattern/pattern.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "base/text.h"

namespace assay::surgery {
namespace {

constexpr size_t kMostNodes = 256;

class PatternCheck {
 public:
  explicit PatternCheck(const Pattern& pattern) : pattern_(pattern) {}

  void run() {
    if (pattern_.nodes.empty()) fail(ErrorCode::parse, "the pattern has no nodes");
    if (pattern_.nodes.size() > kMostNodes) fail(ErrorCode::limit, "the pattern has more than {} nodes", kMostNodes);
    if (pattern_.outputs.empty()) fail(ErrorCode::parse, "the pattern has no outputs");
    define_all();
    for (const PatternNode& node : pattern_.nodes) check_node(node);
    for (const std::string& output : pattern_.outputs) check_output(output);
    for (const PluginAttribute& attribute : pattern_.attributes) check_attribute(attribute);
    check_connected();
  }

 private:
  static constexpr size_t kOutside = static_cast<size_t>(-1);  // inputs and constants

  void define(const std::string& name, size_t node) {
    if (name.empty()) return;
    if (!definers_.emplace(name, node).second) {
      fail(ErrorCode::parse, "the pattern defines `{}` twice", printable(name));
    }
  }

  void define_all() {
    for (const std::string& name : pattern_.inputs) define(name, kOutside);
    for (const std::string& name : pattern_.constants) define(name, kOutside);
    for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
      for (const std::string& name : pattern_.nodes[i].outputs) define(name, i);
    }
  }

  void check_known(const std::string& name) const {
    if (definers_.contains(name)) return;
    std::vector<std::string> known;
    for (const auto& [other, node] : definers_) known.push_back(other);
    const std::optional<std::string> near = did_you_mean(name, known);
    fail(ErrorCode::parse, "the pattern does not define `{}`{}", printable(name),
         near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
  }

  void check_node(const PatternNode& node) const {
    const std::string label = node.ops.empty() ? "" : printable(node.ops.front());
    if (node.ops.empty()) fail(ErrorCode::parse, "a node of the pattern has no op");
    if (node.outputs.empty() || node.outputs[0].empty()) {
      fail(ErrorCode::parse, "the node `{}` of the pattern needs a name for its first output", label);
    }
    for (const std::string& input : node.inputs) {
      if (!input.empty()) check_known(input);
    }
    const size_t left_out = static_cast<size_t>(std::ranges::count(node.inputs, ""));
    if (node.is_commutative && (node.inputs.size() != 2 || left_out > 0)) {
      fail(ErrorCode::parse, "the node `{}` of the pattern is commutative and has {} inputs, expected 2", label,
           node.inputs.size() - left_out);
    }
    const bool passes_through = node.outputs.size() == 1 && !node.inputs.empty() && !node.inputs[0].empty();
    if (node.is_optional && !passes_through) {
      fail(ErrorCode::parse, "the node `{}` of the pattern is optional: it needs a first input and one output", label);
    }
  }

  void check_output(const std::string& output) const {
    check_known(output);
    if (definers_.at(output) == kOutside) {
      fail(ErrorCode::parse, "`{}` is an output of the pattern, and no node of it computes it", printable(output));
    }
  }

  void check_attribute(const PluginAttribute& attribute) const {
    if (attribute.node.empty()) return;
    if (std::ranges::find(pattern_.nodes, attribute.node, &PatternNode::name) != pattern_.nodes.end()) return;
    fail(ErrorCode::parse, "the attribute `{}` is taken from `{}`, and no node of the pattern has this name",
         printable(attribute.name), printable(attribute.node));
  }

  // All nodes hang together through values.
  void check_connected() const {
    std::vector<bool> is_reached(pattern_.nodes.size());
    is_reached[definers_.at(pattern_.outputs[0])] = true;
    for (bool grows = true; grows;) {
      grows = false;
      for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
        if (is_reached[i] || !touches(i, is_reached)) continue;
        is_reached[i] = grows = true;
      }
    }
    const auto left = std::ranges::find(is_reached, false);
    if (left == is_reached.end()) return;
    const PatternNode& node = pattern_.nodes[static_cast<size_t>(left - is_reached.begin())];
    fail(ErrorCode::parse, "the node `{}` of the pattern shares no value with the others", printable(node.ops.front()));
  }

  bool touches(size_t node, const std::vector<bool>& is_reached) const {
    for (size_t i = 0; i < pattern_.nodes.size(); ++i) {
      if (is_reached[i] && shares_value(pattern_.nodes[i], pattern_.nodes[node])) return true;
    }
    return false;
  }

  static bool shares_value(const PatternNode& a, const PatternNode& b) {
    const auto holds = [](const std::vector<std::string>& names, const std::string& name) {
      return !name.empty() && std::ranges::find(names, name) != names.end();
    };
    const auto reads = [&](const std::string& name) { return holds(a.inputs, name) || holds(a.outputs, name); };
    return std::ranges::any_of(b.inputs, reads) || std::ranges::any_of(b.outputs, reads);
  }

  const Pattern& pattern_;
  std::map<std::string, size_t> definers_;
};

}  // namespace

void check_pattern(const Pattern& pattern) { PatternCheck(pattern).run(); }

}  // namespace assay::surgery
