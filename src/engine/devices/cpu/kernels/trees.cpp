// TreeEnsembleRegressor and TreeEnsembleClassifier, whose trees are read once.
#include "engine/layers/trees.h"

#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "ops/kernels/ml/tree_models.h"

namespace assay::engine::cpu {
namespace {

constexpr uint64_t kTreesGrain = 1 << 12;  // nodes that are visited

class TreeKernel : public PlainKernel {
 public:
  TreeKernel(const TensorDesc& in, uint64_t walk)
      : rows_(static_cast<uint64_t>(in.dims.size() == 2 ? in.dims[0] : 1)),
        width_(static_cast<size_t>(in.dims.back())),
        grain_(std::max<uint64_t>(1, kTreesGrain / std::max<uint64_t>(walk, 1))) {}

  void run(const Arguments& arguments) const override {
    const auto* const in = host<const float>(arguments.inputs[0]);
    parallel_for(rows_, grain_, [&](uint64_t begin, uint64_t end) {
      std::vector<double> row(width_);
      for (uint64_t r = begin; r < end; ++r) {
        std::copy_n(in + r * width_, width_, row.begin());
        run_row(arguments, r, row);
      }
    });
  }

 private:
  virtual void run_row(const Arguments& arguments, uint64_t index, std::span<const double> row) const = 0;

  uint64_t rows_;
  size_t width_;
  uint64_t grain_;
};

class RegressionKernel final : public TreeKernel {
 public:
  RegressionKernel(const TensorDesc& in, ops::RegressionTrees trees)
      : TreeKernel(in, trees.ensemble().longest_walk()), trees_(std::move(trees)) {}

 private:
  void run_row(const Arguments& arguments, uint64_t index, std::span<const double> row) const override {
    std::ranges::copy(trees_.scores(row), host<float>(arguments.outputs[0]) + index * trees_.targets());
  }
  ops::RegressionTrees trees_;
};

class ClassificationKernel final : public TreeKernel {
 public:
  ClassificationKernel(const TensorDesc& in, ops::ClassificationTrees trees)
      : TreeKernel(in, trees.ensemble().longest_walk()), trees_(std::move(trees)) {}

 private:
  void run_row(const Arguments& arguments, uint64_t index, std::span<const double> row) const override {
    int64_t place = 0;
    std::ranges::copy(trees_.scores(row, place), host<float>(arguments.outputs[1]) + index * trees_.targets());
    int64_t& label = host<int64_t>(arguments.outputs[0])[index];
    label = place < 0 ? static_cast<int64_t>(place == ops::kYes) : trees_.labels().numbers[static_cast<size_t>(place)];
  }
  ops::ClassificationTrees trees_;
};

class Trees final : public Implementation {
 public:
  std::string_view name() const override { return "trees.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const TreeOperator op = tree_operator(layer);
    if (op == TreeOperator::none) return {};
    const TensorDesc& in = layer.inputs[0];
    const ops::Node facts = layer.facts(layer.nodes[0]);
    if (op == TreeOperator::regressor) {
      return std::make_unique<RegressionKernel>(in, ops::RegressionTrees(facts));
    }
    ops::ClassificationTrees trees(facts);
    if (trees.labels().are_texts()) return {};
    return std::make_unique<ClassificationKernel>(in, std::move(trees));
  }
};

}  // namespace

KernelFamily cpu_kernel_trees() { return family_of<Trees>(); }

}  // namespace assay::engine::cpu
