// TreeEnsembleRegressor and TreeEnsembleClassifier: a thread a row.
#include "engine/layers/trees.h"

#include <algorithm>
#include <limits>

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "ops/kernels/ml/tree_models.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

// Tables of trees.cu.
struct NodeEntry {
  double value = 0;
  int32_t feature = 0, test = 0, when_true = 0, when_false = 0, missing_is_true = 0, unused = 0;
};
struct WeightEntry {
  double weight = 0;
  int32_t target = 0, unused = 0;
};
struct Tables {
  std::vector<NodeEntry> nodes;
  std::vector<WeightEntry> weights;

  explicit Tables(const ops::TreeEnsemble& ensemble) {
    for (const ops::TreeNode& node : ensemble.nodes) {
      NodeEntry entry{node.value,
                      static_cast<int32_t>(node.feature),
                      static_cast<int32_t>(node.test),
                      static_cast<int32_t>(node.when_true),
                      static_cast<int32_t>(node.when_false),
                      node.missing_is_true ? 1 : 0,
                      0};
      if (node.test == ops::TreeTest::leaf) {
        entry.when_true = static_cast<int32_t>(weights.size());
        for (const auto& [target, weight] : node.weights) weights.push_back({weight, static_cast<int32_t>(target), 0});
        entry.when_false = static_cast<int32_t>(weights.size());
      }
      nodes.push_back(entry);
    }
  }
};

// Facts of both operators.
struct Ensemble {
  const ops::TreeEnsemble& trees;
  ops::TreeAggregate aggregate;
  ops::PostTransform transform;
  std::vector<double> base;
  std::vector<int64_t> labels;  // of a classifier
  bool is_binary = false;
  bool are_positive = false;
};

class Trees final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "trees.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const TreeOperator op = tree_operator(layer);
    if (op == TreeOperator::none) return {};
    const ops::Node facts = layer.facts(layer.nodes[0]);
    if (op == TreeOperator::regressor) {
      const ops::RegressionTrees trees(facts);
      return make_rows(layer, {trees.ensemble(), trees.aggregate(), trees.transform(), trees.base(), {}});
    }
    const ops::ClassificationTrees trees(facts);
    if (trees.labels().are_texts()) return {};
    return make_rows(layer, {trees.ensemble(), ops::TreeAggregate::sum, trees.transform(), trees.base(),
                             trees.labels().numbers, trees.is_binary(), trees.weights_are_positive()});
  }

 private:
  static bool has_text(const Ensemble& ensemble) {
    using ops::PostTransform;
    const bool is_known = ensemble.transform == PostTransform::none || ensemble.transform == PostTransform::softmax ||
                          ensemble.transform == PostTransform::logistic;
    return is_known && std::ranges::none_of(ensemble.trees.nodes, [](const ops::TreeNode& node) {
             return node.test == ops::TreeTest::member;
           });
  }

  std::unique_ptr<Kernel> make_rows(const Layer& layer, const Ensemble& ensemble) const {
    constexpr unsigned kThreads = 128;
    const TensorDesc& in = layer.inputs[0];
    if (!has_text(ensemble) || in.count() > kMostElements) return {};
    ensemble.trees.check(in.dims.back());
    const int64_t rows = in.count() / in.dims.back(), targets = ensemble.trees.targets;
    const bool is_classifier = !ensemble.labels.empty();
    Launches launches;
    KernelWriter writer;
    writer.text("struct Node;\nstruct Weight;\n#define kNone float_of_bits(0x7fc00000u)\n");
    writer.pointer("kIn", "const float", input_pointer(0));
    writer.pointer("kOut", "float", output_pointer(is_classifier ? 1 : 0));
    writer.pointer("kLabels", "int64", output_pointer(0));
    writer.pointer("kScores", "double", workspace_pointer());
    add_tables(ensemble, writer, launches);
    writer.number("kRows", rows);
    writer.number("kWidth", in.dims.back());
    writer.number("kTargets", targets);
    writer.number("kTrees", static_cast<int64_t>(ensemble.trees.roots.size()));
    writer.number("kBases", static_cast<int64_t>(ensemble.base.size()));
    writer.constant("kAggregate", static_cast<int64_t>(ensemble.aggregate));
    writer.constant("kTransform", static_cast<int64_t>(ensemble.transform));
    writer.constant("kIsClassifier", is_classifier ? 1 : 0);
    writer.constant("kIsBinary", ensemble.is_binary ? 1 : 0);
    writer.constant("kArePositive", ensemble.are_positive ? 1 : 0);
    launches.workspace_bytes = static_cast<uint64_t>(rows * targets) * sizeof(double);
    launches.all.push_back(writer.finish(programs(), kThreads, blocks_for(rows, kThreads), trees_text()));
    return make_kernel(std::move(launches));
  }

  // Adds what trees.cu reads; each table has an entry at least.
  void add_tables(const Ensemble& ensemble, KernelWriter& writer, Launches& launches) const {
    const auto add = [&](std::string_view name, std::string_view type, auto table) {
      table.resize(std::max<size_t>(table.size(), 1));
      launches.constants.push_back(programs().upload(std::as_bytes(std::span(table))));
      writer.pointer(name, type, fixed_pointer(launches.constants.back().first));
    };
    const Tables tables(ensemble.trees);
    add("kNodes", "const Node", tables.nodes);
    add("kWeights", "const Weight", tables.weights);
    add("kRoots", "const int", ensemble.trees.roots);
    add("kBase", "const double", ensemble.base);
    add("kNames", "const int64", ensemble.labels);
  }
};

}  // namespace

KernelFamily cuda_kernel_trees() { return family_of<Trees>(); }

}  // namespace assay::engine::cuda
