#include <algorithm>
#include <optional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inspect/model_diff/model_diff.h"
#include "ir/edit.h"
#include "ir/verify.h"

namespace assay::inspect {
namespace {

using ir::NodeId;
using ir::Symbol;
using ir::ValueId;

struct RandomNode {
  int op = 0;  // its number of operands is op % 3 + 1
  int64_t attribute = 0;
  std::vector<int> operands;  // below 0: input -1, …; then weights; then results of nodes before it
};

// A random graph as data, from which models are made that differ in what a test wants.
struct RandomGraph {
  static constexpr int kInputs = 3;
  static constexpr int kWeights = 6;
  std::vector<std::vector<float>> weights;
  std::vector<RandomNode> nodes;
};

RandomGraph random_graph(std::mt19937& random) {
  RandomGraph graph;
  for (int i = 0; i < RandomGraph::kWeights; ++i) graph.weights.push_back({static_cast<float>(random() % 3), 1, 2});
  const int count = 2 + static_cast<int>(random() % 40);
  for (int i = 0; i < count; ++i) {
    RandomNode node;
    node.op = static_cast<int>(random() % 5);
    node.attribute = static_cast<int64_t>(random() % 2);
    for (int k = 0; k < node.op % 3 + 1; ++k) {
      const int values = RandomGraph::kInputs + RandomGraph::kWeights + i;
      const int near = std::max(0, values - 6);  // mostly what is near, so that the graph is deep
      node.operands.push_back(random() % 3 > 0
                                  ? near + static_cast<int>(random() % static_cast<uint32_t>(values - near))
                                  : static_cast<int>(random() % static_cast<uint32_t>(values)));
    }
    graph.nodes.push_back(node);
  }
  return graph;
}

struct Variant {
  std::string prefix;      // of all names
  std::vector<int> order;  // of the nodes
  int dropped = -1;        // this node gives its first operand to its users
};

// Builds the model of a graph.
class Builder {
 public:
  Builder(const RandomGraph& graph, const Variant& variant) : graph_(graph), variant_(variant) {}

  ir::Model run() {
    edit_.header().ir_version = 8;
    main_ = edit_.add_graph();
    for (int i = 0; i < RandomGraph::kInputs; ++i) values_.push_back(edit_.add_input(main_, name("x", i), type()));
    for (const std::vector<float>& weight : graph_.weights) add_weight(weight);
    values_.resize(values_.size() + graph_.nodes.size());
    for (const int i : variant_.order) add_node(i);
    set_outputs();
    ir::check_structure(model_);
    return std::move(model_);
  }

 private:
  Symbol name(std::string_view kind, size_t index) {
    return edit_.intern(fmt::format("{}{}{}", variant_.prefix, kind, index));
  }
  ir::TypeId type() { return model_.types().tensor(tensor::DType::float32, {model_.dims().constant(3)}); }

  void add_weight(const std::vector<float>& weight) {
    ir::TensorEntry entry;
    entry.tensor = tensor::make_tensor<float>(tensor::DType::float32, {3}, weight);
    values_.push_back(edit_.add_initializer(main_, name("w", values_.size()), edit_.add_tensor(std::move(entry))));
  }

  size_t place_of(int node) const { return static_cast<size_t>(RandomGraph::kInputs + RandomGraph::kWeights + node); }

  void add_node(int index) {
    const RandomNode& node = graph_.nodes[static_cast<size_t>(index)];
    std::vector<ValueId> operands;
    for (const int operand : node.operands) operands.push_back(values_[static_cast<size_t>(operand)]);
    if (index == variant_.dropped) {
      values_[place_of(index)] = operands[0];
      return;
    }
    const std::array results = {name("t", place_of(index))};
    const std::array attributes = {ir::Attribute::of(edit_.intern("k"), node.attribute)};
    ir::NodeSpec spec;
    spec.op = edit_.intern(fmt::format("Op{}", node.op));
    spec.name = model_.text(name("n", static_cast<size_t>(index)));
    spec.operands = operands;
    spec.results = results;
    spec.attributes = attributes;
    values_[place_of(index)] = model_[edit_.add_node(main_, spec)].results[0];
    edit_.set_type(values_[place_of(index)], type());
  }

  // What nothing uses, in the order of the graph, so that no node is dead.
  void set_outputs() {
    std::vector<bool> used(values_.size());
    for (const RandomNode& node : graph_.nodes) {
      for (const int operand : node.operands) used[static_cast<size_t>(operand)] = true;
    }
    std::vector<ValueId> outputs;
    for (size_t i = place_of(0); i < values_.size(); ++i) {
      if (!used[i]) outputs.push_back(values_[i]);
    }
    edit_.set_outputs(main_, outputs);
  }

  const RandomGraph& graph_;
  const Variant& variant_;
  ir::Model model_;
  ir::Edit edit_{model_};
  ir::GraphId main_;
  std::vector<ValueId> values_;
};

ir::Model build(const RandomGraph& graph, const Variant& variant) { return Builder(graph, variant).run(); }

std::vector<int> file_order(const RandomGraph& graph) {
  std::vector<int> order(graph.nodes.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
  return order;
}

// Another topological order.
std::vector<int> shuffled_order(const RandomGraph& graph, std::mt19937& random) {
  std::vector<int> rest = file_order(graph);
  std::vector<bool> done(graph.nodes.size());
  std::vector<int> order;
  const auto is_ready = [&](int index) {
    return std::ranges::all_of(graph.nodes[static_cast<size_t>(index)].operands, [&](int operand) {
      const int node = operand - RandomGraph::kInputs - RandomGraph::kWeights;
      return node < 0 || done[static_cast<size_t>(node)];
    });
  };
  while (!rest.empty()) {
    const size_t at = random() % rest.size();
    if (!is_ready(rest[at])) continue;
    done[static_cast<size_t>(rest[at])] = true;
    order.push_back(rest[at]);
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return order;
}

class ModelDiffProperty : public testing::TestWithParam<uint32_t> {
 protected:
  ModelDiffProperty() : random_(GetParam()), graph_(random_graph(random_)) {
    before_ = {"", file_order(graph_)};
    after_ = {random_() % 2 ? "other_" : "", shuffled_order(graph_, random_)};
  }

  int random_node() { return static_cast<int>(random_() % graph_.nodes.size()); }

  // Two weights that nothing uses cannot be told apart once they are renamed.
  std::optional<size_t> used_weight() const {
    for (const RandomNode& node : graph_.nodes) {
      for (const int operand : node.operands) {
        const int weight = operand - RandomGraph::kInputs;
        if (weight >= 0 && weight < RandomGraph::kWeights) return static_cast<size_t>(weight);
      }
    }
    return {};
  }

  std::mt19937 random_;
  RandomGraph graph_;
  Variant before_;
  Variant after_;
};

TEST_P(ModelDiffProperty, renaming_and_reordering_are_seen_through) {
  const results::ModelDiff d = diff_models(build(graph_, before_), build(graph_, after_), {.ignore_names = true});
  EXPECT_TRUE(d.equal);
  EXPECT_EQ(d.nodes.renamed.size(), after_.prefix.empty() ? 0 : graph_.nodes.size());
}

TEST_P(ModelDiffProperty, one_attribute) {
  const ir::Model a = build(graph_, before_);
  graph_.nodes[static_cast<size_t>(random_node())].attribute += 7;
  const results::ModelDiff d = diff_models(a, build(graph_, after_), {.ignore_names = true});
  EXPECT_EQ(d.counts.nodes, 1u);
  ASSERT_EQ(d.nodes.changed.size(), 1u);
  ASSERT_EQ(d.nodes.changed[0].changes.size(), 1u);
  EXPECT_EQ(d.nodes.changed[0].changes[0].what, "attribute `k`");
  EXPECT_EQ(d.counts.weights, 0u);
}

TEST_P(ModelDiffProperty, one_weight) {
  const std::optional<size_t> weight = used_weight();
  if (!weight) GTEST_SKIP() << "no node uses a weight";
  const ir::Model a = build(graph_, before_);
  graph_.weights[*weight][2] = 50;
  const results::ModelDiff d = diff_models(a, build(graph_, after_), {.ignore_names = true});
  EXPECT_EQ(d.counts.nodes, 0u);
  ASSERT_EQ(d.weights.changed.size(), 1u);
  EXPECT_EQ(d.weights.changed[0].distance->max_abs, 48);
  EXPECT_EQ(d.counts.weights, 1u);
}

// The node is like no other: else leaving out another one may explain the same difference.
TEST_P(ModelDiffProperty, one_node_less) {
  const int dropped = random_node();
  graph_.nodes[static_cast<size_t>(dropped)].attribute = 99;
  after_.dropped = dropped;
  const results::ModelDiff d = diff_models(build(graph_, before_), build(graph_, after_), {.ignore_names = true});
  ASSERT_EQ(d.nodes.removed.size(), 1u);
  EXPECT_EQ(d.nodes.removed[0].node,
            fmt::format("node `n{}` (Op{})", dropped, graph_.nodes[static_cast<size_t>(dropped)].op));
  EXPECT_EQ(d.nodes.added.size(), 0u);
  size_t users = 0;
  for (const RandomNode& node : graph_.nodes) {
    users += std::ranges::count(node.operands, dropped + RandomGraph::kInputs + RandomGraph::kWeights) > 0;
  }
  EXPECT_EQ(d.nodes.changed.size(), users);
}

// After a failure: --gtest_filter=*/SEED
INSTANTIATE_TEST_SUITE_P(Seeds, ModelDiffProperty, testing::Range(0u, 300u),
                         [](const testing::TestParamInfo<uint32_t>& seed) { return fmt::format("{}", seed.param); });

}  // namespace
}  // namespace assay::inspect
