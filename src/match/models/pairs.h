#pragma once

#include <utility>
#include <vector>

#include "match/models/keys.h"
#include "match/models/match_models.h"

namespace assay::match {

// Outputs that correspond, by position.
using OutputPairs = std::vector<std::pair<size_t, size_t>>;

// The nodes of two graphs that correspond so far, and how one pair leads to others along the edges.
class GraphPairs {
 public:
  GraphPairs(const MatchSide& a, const MatchSide& b, std::pair<ir::GraphId, ir::GraphId> graphs, Matching& matching)
      : a_(a), b_(b), graph_a_(graphs.first), graph_b_(graphs.second), matching_(matching) {}

  // True if the node belongs to the graph and has no counterpart yet.
  bool is_open_a(ir::NodeId node) const;
  bool is_open_b(ir::NodeId node) const;
  ir::NodeId counterpart(ir::NodeId a) const { return matching_.nodes_in_b[a.index]; }

  void match(ir::NodeId a, ir::NodeId b);
  // Inputs that correspond, and these outputs, lead to nodes.
  void link_interface(const OutputPairs& outputs);
  // Matches producers and users of what corresponds where the nodes are the same by themselves and no other pair is
  // possible.
  void spread();
  // Like spread, but from all pairs on, and for nodes that have less in common: with kNothing, an operand and users of
  // the result.
  void spread_from_start(Parts parts);
  bool has_same_users(ir::NodeId a, ir::NodeId b) const;
  bool shares_operand(ir::NodeId a, ir::NodeId b) const;

  size_t count() const { return count_; }
  size_t same_name_count() const { return same_name_count_; }

 private:
  // Values that correspond, or would if their producers did.
  struct Link {
    ir::ValueId a;
    ir::ValueId b;
    bool to_users;
  };

  void spread_to(Parts parts, size_t& done);
  void follow(const Link& link, Parts parts);
  void follow_producers(const Link& link, Parts parts);
  void follow_users(const Link& link, Parts parts);

  const MatchSide& a_;
  const MatchSide& b_;
  ir::GraphId graph_a_;
  ir::GraphId graph_b_;
  Matching& matching_;
  std::vector<Link> links_;
  size_t spread_ = 0;  // links followed
  size_t count_ = 0;
  size_t same_name_count_ = 0;
  std::vector<Keyed> users_a_;
  std::vector<Keyed> users_b_;
};

}  // namespace assay::match
