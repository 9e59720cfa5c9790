#include "tensorflow/import/unknown.h"

#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

class Search {
 public:
  explicit Search(const SourceModel& source) : source_(source) {}

  void look_at(const SourceGraph& graph) {
    std::vector<bool> seen(graph.nodes.size());
    std::set<std::string_view> given;
    for (const SourcePort& port : graph.inputs) given.insert(port.value);
    std::vector<std::string_view> todo;
    for (const SourcePort& port : graph.outputs) todo.push_back(port.value);
    while (!todo.empty()) {
      const std::string_view value = todo.back();
      todo.pop_back();
      const std::optional<size_t> node = given.contains(value) ? std::nullopt : graph.producer(value);
      if (!node || seen[*node]) continue;
      seen[*node] = true;
      look_at(graph.nodes[*node]);
      todo.insert(todo.end(), graph.nodes[*node].inputs.begin(), graph.nodes[*node].inputs.end());
    }
  }

  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  void look_at(const SourceNode& node) {
    const bool is_known = find_maker(source_.is_lite, node.op) != nullptr || source_.functions.contains(node.op);
    if (!is_known) unknown_.insert(printable(node.op));
    enter(node.op);
    for (const auto& [name, value] : node.attributes) {
      if (const auto* text = std::get_if<std::string>(&value)) enter(*text);
    }
  }

  void enter(const std::string& function) {
    const auto found = source_.functions.find(function);
    if (found != source_.functions.end() && entered_.insert(function).second) look_at(found->second);
  }

  const SourceModel& source_;
  std::set<std::string> unknown_;
  std::set<std::string> entered_;
};

}  // namespace

void refuse_unknown(const SourceModel& source) {
  Search search(source);
  search.look_at(source.main);
  const std::vector<std::string> names(search.unknown().begin(), search.unknown().end());
  if (names.empty()) return;
  fail(ErrorCode::unsupported, "{} not imported: {}", names.size() == 1 ? "an operator is" : "operators are",
       join(names, ", "));
}

}  // namespace assay::tensorflow
