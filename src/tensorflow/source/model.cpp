#include "tensorflow/source/model.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::tensorflow {
namespace {

// The node of `node:1`.
std::string_view node_of(std::string_view value) { return value.substr(0, value.rfind(':')); }

}  // namespace

std::string SourceNode::output(size_t index) const {
  if (!outputs.empty()) return index < outputs.size() ? outputs[index] : std::string();
  return fmt::format("{}:{}", name, index);
}

void SourceGraph::index_producers() {
  producers_.clear();
  for (size_t i = 0; i < nodes.size(); ++i) {
    std::vector<std::string> given = nodes[i].outputs;
    if (given.empty()) given.push_back(nodes[i].name);
    for (const std::string& value : given) {
      if (value.empty() || producers_.emplace(value, i).second) continue;
      fail(ErrorCode::parse, "two nodes give `{}`", printable(value));
    }
  }
}

std::optional<size_t> SourceGraph::producer(std::string_view value) const {
  auto found = producers_.find(value);
  if (found == producers_.end()) found = producers_.find(node_of(value));
  return found == producers_.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace assay::tensorflow
