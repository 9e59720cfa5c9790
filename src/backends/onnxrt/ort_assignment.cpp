#include "backends/onnxrt/ort_assignment.h"

#include <span>

#include <fmt/format.h>

#include "base/error.h"

namespace assay::backends::ort {
namespace {

template <typename Object>
std::string text_of(const Library& library, Call<const Object*, const char**> entry, const Object* object) {
  const char* text = nullptr;
  library.call(entry, object, &text);
  return text != nullptr ? text : "";
}

void add_nodes(const Library& library, const EpAssignedSubgraph* subgraph, std::vector<exec::AssignedNode>& nodes) {
  const EpAssignedNode* const* first = nullptr;
  size_t count = 0;
  library.call(kGetSubgraphNodes, subgraph, &first, &count);
  const std::string provider = text_of(library, kGetSubgraphProvider, subgraph);
  for (const EpAssignedNode* const node : std::span(first, count)) {
    const std::string domain = text_of(library, kGetAssignedDomain, node);
    const std::string op = text_of(library, kGetAssignedOp, node);
    nodes.push_back(
        {provider, text_of(library, kGetAssignedName, node), domain.empty() ? op : fmt::format("{}::{}", domain, op)});
  }
}

}  // namespace

void note_assignment(const Library& library, SessionOptions* options) {
  if (library.minor_version() < kFirstWithAssignment) {
    fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime {} does not tell which provider computes a node, 1.{} does",
         library.version(), kFirstWithAssignment);
  }
  library.call(kAddConfigEntry, options, "session.record_ep_graph_assignment_info", "1");
}

std::vector<exec::AssignedNode> read_assignment(const Library& library, const Session* session) {
  const EpAssignedSubgraph* const* first = nullptr;
  size_t count = 0;
  library.call(kGetAssignment, session, &first, &count);
  std::vector<exec::AssignedNode> nodes;
  for (const EpAssignedSubgraph* const subgraph : std::span(first, count)) add_nodes(library, subgraph, nodes);
  return nodes;
}

}  // namespace assay::backends::ort
