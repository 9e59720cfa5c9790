#include "ir/order.h"

#include <random>

#include <gtest/gtest.h>

#include "ir/edit.h"
#include "ir/verify.h"

namespace assay::ir {
namespace {

class Order : public testing::Test {
 protected:
  Order() { graph_ = edit_.add_graph(); }
  // Nodes whose labels a call changed besides that of the node itself.
  size_t relabelled(const std::vector<uint64_t>& before) const {
    size_t count = 0;
    for (uint32_t i = 0; i < before.size(); ++i) count += model_[NodeId{i}].order != before[i];
    return count;
  }
  std::vector<uint64_t> labels() const {
    std::vector<uint64_t> result;
    for (uint32_t i = 0; i < model_.node_slots(); ++i) result.push_back(model_[NodeId{i}].order);
    return result;
  }

  Model model_;
  Edit edit_{model_};
  GraphId graph_;
};

// check_structure fails unless the labels increase strictly along the list.
TEST_F(Order, labels_hold_for_100000_insertions_at_one_spot) {
  edit_.add_node(graph_, {});
  const NodeId end = edit_.add_node(graph_, {});
  for (int i = 0; i < 100'000; ++i) edit_.add_node(graph_, {}, end);
  check_structure(model_);
  EXPECT_EQ(model_[graph_].last, end);
}

TEST_F(Order, labels_hold_for_100000_insertions_at_the_front) {
  edit_.add_node(graph_, {});
  for (int i = 0; i < 100'000; ++i) edit_.add_node(graph_, {}, model_[graph_].first);
  check_structure(model_);
}

TEST_F(Order, labels_hold_for_100000_insertions_behind_one_node) {
  const NodeId first = edit_.add_node(graph_, {});
  edit_.add_node(graph_, {});
  for (int i = 0; i < 100'000; ++i) edit_.add_node(graph_, {}, model_[first].next);
  check_structure(model_);
}

TEST_F(Order, random_moves_keep_the_order) {
  std::vector<NodeId> ids;
  for (int i = 0; i < 500; ++i) ids.push_back(edit_.add_node(graph_, {}));
  std::mt19937 random(7);
  for (int i = 0; i < 50'000; ++i) {
    const NodeId moved = ids[random() % 20];
    const NodeId before = random() % 10 == 0 ? NodeId{} : ids[random() % ids.size()];
    edit_.move_before(moved, before);
    if (i % 1000 == 0) check_structure(model_);
    ASSERT_TRUE(!before || moved == before || model_.is_before(moved, before));
  }
  check_structure(model_);
}

// Work, not time: labels that move, summed over all insertions, grow like n log n.
TEST_F(Order, few_labels_move) {
  const NodeId end = edit_.add_node(graph_, {});
  size_t moved = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::vector<uint64_t> before = labels();
    edit_.add_node(graph_, {}, end);
    moved += relabelled(before);
  }
  EXPECT_LT(moved, 4000u * 60);
}

TEST_F(Order, appending_moves_no_label) {
  for (int i = 0; i < 100; ++i) edit_.add_node(graph_, {});
  const std::vector<uint64_t> before = labels();
  for (int i = 0; i < 100; ++i) edit_.add_node(graph_, {});
  EXPECT_EQ(relabelled(before), 0u);
}

}  // namespace
}  // namespace assay::ir
