#include "scene/scopes.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <unordered_map>

#include "base/error.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/wire.h"
#include "scene/tree.h"

namespace assay::scene {
namespace {

constexpr uint32_t kDocumentation = 6;  // fields of a node that models do not keep
constexpr uint32_t kMetadata = 9;
constexpr size_t kMostScopes = 64;

onnx::Message source_of(const ir::Model& model, const ir::Node& node) {
  if (!model.source() || !node.source.present) return {};
  const Bytes file = model.source()->bytes();
  if (node.source.offset > file.size() || node.source.size > file.size() - node.source.offset) return {};
  const Bytes whole = file.subspan(node.source.offset, node.source.size);
  return {.bytes = whole.subspan(std::min<size_t>(node.source.header, whole.size())), .origin = file.data()};
}

// Calls fn for the fields of that number in the node's part of the file; false where that is damaged, and has fewer.
template <typename Fn>
bool for_each_field(const onnx::Message& message, uint32_t number, Fn&& fn) {
  try {
    onnx::FieldReader reader(message);
    for (onnx::Field field; reader.next(field);) {
      if (field.number == number && field.type == onnx::WireType::bytes) fn(field);
    }
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string text_of(const onnx::Field& field) {
  return {reinterpret_cast<const char*>(field.payload.data()), field.payload.size()};
}

// The texts of a list as Python prints it: ['', 'layer1', 'layer1.0'].
std::vector<std::string> python_texts(std::string_view list) {
  std::vector<std::string> texts;
  for (size_t at = 0; (at = list.find_first_of("'\"", at)) != std::string_view::npos;) {
    const size_t end = list.find(list[at], at + 1);
    if (end == std::string_view::npos) break;
    texts.emplace_back(list.substr(at + 1, end - at - 1));
    at = end + 1;
  }
  return texts;
}

// Whole paths, each within the one before, to the last parts: `layer1`, `layer1.0` become `layer1`, `0`.
std::vector<std::string> last_parts(std::vector<std::string> paths) {
  if (!paths.empty()) paths.pop_back();  // of the node itself
  std::vector<std::string> parts;
  std::string before;
  for (const std::string& path : paths) {
    if (path.empty()) continue;
    const bool is_inside = !before.empty() && path.starts_with(before + ".");
    parts.push_back(is_inside ? path.substr(before.size() + 1) : path);
    before = path;
  }
  return parts;
}

// `/: main.Model/layer1: torch.nn.Sequential/conv: aten.convolution`.
std::vector<std::string> namespace_paths(std::string_view text) {
  std::vector<std::string> paths;
  for (const std::string_view part : split(text, '/')) paths.emplace_back(part.substr(0, part.find(':')));
  return paths;
}

std::optional<std::vector<std::string>> noted_scopes(const ir::Model& model, ir::NodeId node) {
  std::optional<std::vector<std::string>> scopes;
  for (const auto& [key, value] : node_metadata(model, node)) {
    if (key == "pkg.torch.onnx.name_scopes") return last_parts(python_texts(value));
    if (key == "namespace") scopes = last_parts(namespace_paths(value));
  }
  return scopes;
}

std::vector<std::string> named_scopes(std::string_view name) {
  const char separator = name.find('/') != std::string_view::npos ? '/' : '.';
  std::vector<std::string> parts;
  for (const std::string_view part : split(name, separator)) {
    if (!part.empty()) parts.emplace_back(part);
  }
  if (!parts.empty()) parts.pop_back();
  return parts;
}

// The groups that scopes make, while nodes are put into them.
class Grouping {
 public:
  Grouping(const ir::Model& model, Tree& tree) : model_(model), tree_(tree) {}
  void run();

 private:
  uint32_t group(const std::vector<std::string>& scopes);
  uint32_t group_of(ir::NodeId node);
  void adopt(uint32_t entry);
  void meet(uint32_t entry, std::optional<uint32_t>& common) const;
  void drop_small_groups();

  const ir::Model& model_;
  Tree& tree_;
  uint32_t first_group_ = 0;
  std::unordered_map<std::string, uint32_t> groups_;  // by whole path
  // By what stands before the last part of a name; names live as long as the model.
  std::unordered_map<std::string_view, uint32_t> known_;
  std::pair<std::string_view, uint32_t> last_;  // of them: most nodes stand in the group of the node before
};

uint32_t Grouping::group(const std::vector<std::string>& scopes) {
  uint32_t parent = 0;
  std::string path;
  for (size_t i = 0; i < std::min(scopes.size(), kMostScopes); ++i) {
    path += scopes[i];
    path += '\0';
    const auto [entry, is_new] = groups_.try_emplace(path, 0);
    if (is_new) entry->second = tree_.add(parent, ItemKind::group, tree_.keep(scopes[i]));
    parent = entry->second;
  }
  return parent;
}

uint32_t Grouping::group_of(ir::NodeId node) {
  const std::string_view name = model_[node].name;
  if (const std::optional<std::vector<std::string>> noted = noted_scopes(model_, node)) return group(*noted);
  const size_t end = name.find_last_of(name.find('/') != std::string_view::npos ? '/' : '.');
  if (end == std::string_view::npos) return 0;
  if (end > 0 && name.substr(0, end) == last_.first) return last_.second;
  const auto [entry, is_new] = known_.try_emplace(name.substr(0, end), 0);
  if (is_new) entry->second = group(named_scopes(name));
  last_ = *entry;
  return entry->second;
}

// The innermost group that holds both.
void Grouping::meet(uint32_t entry, std::optional<uint32_t>& common) const {
  uint32_t other = tree_.entries[entry].parent;
  if (!common) common = other;
  const auto depth = [&](uint32_t at) {
    size_t count = 0;
    for (; at != kNoItem; at = tree_.entries[at].parent) ++count;
    return count;
  };
  size_t a = depth(*common);
  size_t b = depth(other);
  while (*common != other) {
    if (a >= b)
      common = tree_.entries[*common].parent, --a;
    else
      other = tree_.entries[other].parent, --b;
  }
}

// A node that nothing is noted of joins the group that all its neighbours are in.
void Grouping::adopt(uint32_t entry) {
  const ir::Node& node = model_[tree_.entries[entry].node];
  std::optional<uint32_t> common;
  const auto see = [&](ir::NodeId other) {
    const uint32_t item = other ? tree_.item_of_node[other.index] : kNoItem;
    if (item != kNoItem && common != 0u) meet(item, common);
  };
  for (const ir::Use& use : node.operands) {
    if (use.value) see(model_[use.value].producer);
  }
  for (const ir::ValueId result : node.results) {
    if (!result) continue;
    for (const ir::Use& use : ir::uses(model_, result)) see(use.user);
  }
  if (common && tree_.entries[*common].kind == ItemKind::group) tree_.entries[entry].parent = *common;
}

// A group of one node is that node; a group of one group is both, with both names.
void Grouping::drop_small_groups() {
  struct Kept {
    uint32_t count = 0;
    uint64_t sum = 0;  // of the children's numbers: the child where there is one
  };
  std::vector<Kept> kept(tree_.entries.size());
  for (uint32_t i = 1; i < tree_.entries.size(); ++i) {
    Kept& group = kept[tree_.entries[i].parent];
    ++group.count;
    group.sum += i;
  }
  for (auto group = static_cast<uint32_t>(tree_.entries.size()); group-- > first_group_;) {
    Entry& entry = tree_.entries[group];
    if (kept[group].count > 1) continue;
    entry.is_dropped = true;
    Kept& around = kept[entry.parent];
    around.sum += kept[group].sum - group;  // the child, if there is one, in the place of the group
    if (kept[group].count == 0) {
      --around.count;
      continue;
    }
    const auto only = static_cast<uint32_t>(kept[group].sum);
    Entry& child = tree_.entries[only];
    child.parent = entry.parent;
    if (only >= first_group_) child.label = tree_.keep(std::string(entry.label) + "/" + std::string(child.label));
  }
}

void Grouping::run() {
  const auto count = static_cast<uint32_t>(tree_.entries.size());
  first_group_ = count;
  std::vector<uint32_t> unnamed;
  for (uint32_t i = 1; i < count; ++i) {
    if (tree_.entries[i].parent != 0 || !tree_.entries[i].node) continue;
    const uint32_t group = group_of(tree_.entries[i].node);
    tree_.entries[i].parent = group;
    if (group == 0) unnamed.push_back(i);
  }
  if (tree_.entries.size() == count) return;
  for (const uint32_t entry : unnamed) adopt(entry);
  tree_.set_orders();
  drop_small_groups();
}

}  // namespace

std::vector<std::pair<std::string, std::string>> node_metadata(const ir::Model& model, ir::NodeId node) {
  std::vector<std::pair<std::string, std::string>> notes;
  const onnx::Message message = source_of(model, model[node]);
  for_each_field(message, kMetadata, [&](const onnx::Field& field) {
    std::pair<std::string, std::string> note;
    const onnx::Message entry = child(message, field);
    for_each_field(entry, 1, [&](const onnx::Field& key) { note.first = text_of(key); });
    for_each_field(entry, 2, [&](const onnx::Field& value) { note.second = text_of(value); });
    notes.push_back(std::move(note));
  });
  return notes;
}

std::string node_documentation(const ir::Model& model, ir::NodeId node) {
  std::string text;
  for_each_field(source_of(model, model[node]), kDocumentation,
                 [&](const onnx::Field& field) { text = text_of(field); });
  return text;
}

std::vector<std::string> node_scopes(const ir::Model& model, ir::NodeId node) {
  return noted_scopes(model, node).value_or(named_scopes(model[node].name));
}

void group_by_scopes(const ir::Model& model, Tree& tree) { Grouping(model, tree).run(); }

}  // namespace assay::scene
