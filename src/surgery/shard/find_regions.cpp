#include "surgery/shard/find_regions.h"

#include "base/error.h"
#include "ir/verify.h"
#include "surgery/shard/rules.h"

namespace assay::surgery {
namespace {

using ir::NodeId;

class RegionFinder {
 public:
  RegionFinder(const ShapeFacts& facts, int64_t ranks) : facts_(facts), ranks_(ranks) {}

  std::vector<Region> run() {
    for (const NodeId node : ir::nodes(facts_.model(), facts_.model().main_graph())) {
      if (is_root(facts_, node)) try_root(node);
    }
    return std::move(regions_);
  }

  std::vector<LeftWhole> left() const {
    std::vector<LeftWhole> left;
    for (const NodeId node : ir::nodes(facts_.model(), facts_.model().main_graph())) {
      const bool is_attention_node = is_attention(facts_, node);
      if (split_.contains(node) || (!is_attention_node && !reasons_.contains(node))) continue;
      const auto reason = reasons_.find(node);
      left.push_back({ir::describe(facts_.model(), node),
                      reason == reasons_.end() ? "no product with constant weights reads its result" : reason->second,
                      is_attention_node});
    }
    return left;
  }

 private:
  void try_root(NodeId node) {
    Region region(facts_, ranks_, node);
    try {
      region.find(roots_);
    } catch (const Error& error) {
      if (error.code() == ErrorCode::usage) throw;
      reasons_.emplace(node, error.line());
      for (const NodeId attention : region.attentions()) reasons_.emplace(attention, error.line());
      return;
    }
    roots_.insert(node);
    split_.insert(node);
    split_.insert(region.nodes().begin(), region.nodes().end());
    regions_.push_back(std::move(region));
  }

  const ShapeFacts& facts_;
  int64_t ranks_;
  std::vector<Region> regions_;
  std::set<NodeId> roots_;
  std::set<NodeId> split_;
  std::map<NodeId, std::string> reasons_;  // of nodes that were tried
};

}  // namespace

std::vector<Region> find_regions(const ShapeFacts& facts, int64_t ranks, std::vector<LeftWhole>& left) {
  RegionFinder finder(facts, ranks);
  std::vector<Region> regions = finder.run();
  left = finder.left();
  return regions;
}

}  // namespace assay::surgery
