#include "tensorflow/source/region.h"

#include <map>

#include <fmt/format.h>

namespace assay::tensorflow {
namespace {

std::multimap<size_t, size_t> users_of_nodes(const SourceGraph& graph) {
  std::multimap<size_t, size_t> users;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    for (const std::string& input : graph.nodes[i].inputs) {
      if (const std::optional<size_t> node = graph.producer(input)) users.emplace(*node, i);
    }
  }
  return users;
}

// Nodes of `moved` that nodes which stay, or outputs, need.
void keep_needed(const SourceGraph& graph, const Region& gone, Region& moved) {
  std::vector<std::string> todo;
  for (const SourcePort& port : graph.outputs) todo.push_back(port.value);
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (gone.contains(i) || moved.contains(i)) continue;
    todo.insert(todo.end(), graph.nodes[i].inputs.begin(), graph.nodes[i].inputs.end());
  }
  while (!todo.empty()) {
    const std::optional<size_t> node = graph.producer(todo.back());
    todo.pop_back();
    if (!node || moved.erase(*node) == 0) continue;
    todo.insert(todo.end(), graph.nodes[*node].inputs.begin(), graph.nodes[*node].inputs.end());
  }
}

}  // namespace

const SourceNode* producer_of(const SourceGraph& graph, std::string_view value) {
  const std::optional<size_t> node = graph.producer(value);
  return node ? &graph.nodes[*node] : nullptr;
}

std::string origin_of(const SourceGraph& graph, std::string value) {
  const SourceNode* node = producer_of(graph, value);
  for (size_t i = 0; i < graph.nodes.size() && node != nullptr && node->op == "Identity" && !node->inputs.empty();
       ++i) {
    value = node->inputs.front();
    node = producer_of(graph, value);
  }
  return value;
}

Region needed_for(const SourceGraph& graph, const std::vector<std::string>& values, const std::set<std::string>& ends) {
  Region region;
  std::vector<std::string> todo = values;
  while (!todo.empty()) {
    const std::string value = std::move(todo.back());
    todo.pop_back();
    const std::optional<size_t> node = ends.contains(value) ? std::nullopt : graph.producer(value);
    if (!node || !region.insert(*node).second) continue;
    todo.insert(todo.end(), graph.nodes[*node].inputs.begin(), graph.nodes[*node].inputs.end());
  }
  return region;
}

Region depending_on(const SourceGraph& graph, const Region& begin, std::string_view last) {
  const std::multimap<size_t, size_t> users = users_of_nodes(graph);
  Region region = begin;
  std::vector<size_t> todo(begin.begin(), begin.end());
  while (!todo.empty()) {
    const size_t node = todo.back();
    todo.pop_back();
    if (graph.nodes[node].op == last) continue;
    const auto [first, end] = users.equal_range(node);
    for (auto user = first; user != end; ++user) {
      if (region.insert(user->second).second) todo.push_back(user->second);
    }
  }
  return region;
}

SourceGraph function_of(const SourceGraph& graph, const Region& region, std::string name) {
  SourceGraph function;
  function.name = std::move(name);
  for (const size_t node : region) function.nodes.push_back(graph.nodes[node]);
  return function;
}

void replace_nodes(SourceGraph& graph, const Region& gone, Region moved, SourceNode added) {
  graph.nodes.push_back(std::move(added));
  keep_needed(graph, gone, moved);
  std::vector<SourceNode> left;
  for (size_t i = 0; i < graph.nodes.size(); ++i) {
    if (!gone.contains(i) && !moved.contains(i)) left.push_back(std::move(graph.nodes[i]));
  }
  graph.nodes = std::move(left);
  graph.index_producers();
}

std::string new_function_name(const SourceModel& model, const std::string& name) {
  std::string unique = name;
  for (uint64_t i = 1; model.functions.contains(unique); ++i) unique = fmt::format("{}_{}", name, i);
  return unique;
}

}  // namespace assay::tensorflow
