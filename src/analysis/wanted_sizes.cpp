#include "analysis/wanted_sizes.h"

#include <algorithm>
#include <set>

#include "ir/written.h"
#include "ops/eval.h"
#include "ops/traits.h"

namespace assay::analysis {
namespace {

constexpr int64_t kGreatestSize = 1 << 16;
constexpr uint64_t kMostElements = 64;  // of a tensor that says sizes

class Sizes {
 public:
  void add(int64_t size) {
    if (size > 1 && size <= kGreatestSize) sizes_.insert(size);
  }
  std::vector<int64_t> take() const { return {sizes_.begin(), sizes_.end()}; }

 private:
  std::set<int64_t> sizes_;
};

std::span<const int64_t> integers_of(const ir::Model& model, ir::NodeId node, std::string_view name) {
  const ir::Attribute* const found = model.find_attribute(model[node], name);
  return found != nullptr && found->type() == ir::AttributeType::integers ? found->integers()
                                                                          : std::span<const int64_t>();
}

// The shape of a window: of the attribute, or of the constant weight at operand 1.
std::vector<int64_t> window_of(const ir::Model& model, ir::NodeId node) {
  const std::span<const int64_t> kernel = integers_of(model, node, "kernel_shape");
  if (!kernel.empty()) return {kernel.begin(), kernel.end()};
  const ir::Node& facts = model[node];
  const ops::ProductKind product = ops::traits(model, node).product;
  const bool slides = product == ops::ProductKind::convolution || product == ops::ProductKind::transposed_convolution;
  if (!slides || facts.operands.size() < 2 || !facts.operands[1].value) return {};
  const ir::TensorId weight = model[facts.operands[1].value].constant;
  if (!weight || model[weight].tensor.shape().size() < 3) return {};
  const tensor::Shape& shape = model[weight].tensor.shape();
  return {shape.begin() + 2, shape.end()};
}

int64_t reach_of(const ir::Model& model, ir::NodeId node) {
  const std::vector<int64_t> window = window_of(model, node);
  const std::span<const int64_t> dilations = integers_of(model, node, "dilations");
  int64_t reach = 1;
  for (size_t i = 0; i < window.size(); ++i) {
    const int64_t dilation = i < dilations.size() ? dilations[i] : 1;
    if (window[i] > 0 && window[i] <= kGreatestSize && dilation > 0 && dilation <= kGreatestSize)
      reach = std::max(reach, dilation * (window[i] - 1) + 1);
  }
  return reach;
}

int64_t stride_of(const ir::Model& model, ir::NodeId node) {
  const std::span<const int64_t> strides = integers_of(model, node, "strides");
  return strides.empty() ? 1 : std::clamp<int64_t>(*std::ranges::max_element(strides), 1, kGreatestSize);
}

void add_elements(const tensor::Tensor& tensor, Sizes& sizes) {
  if (!tensor::is_integer(tensor.dtype()) || tensor.count() > kMostElements) return;
  int64_t product = 1;
  for (const int64_t element : ops::load_elements<int64_t>(tensor)) {
    sizes.add(element);
    if (element < kGreatestSize) sizes.add(element + 1);  // that an index reaches
    if (element > 0 && element <= kGreatestSize) product = std::min(product * element, kGreatestSize + 1);
  }
  sizes.add(product);
}

}  // namespace

std::vector<int64_t> usual_sizes(const ir::Model& model) {
  Sizes sizes;
  int64_t reach = 1, steps = 1;
  for (const ir::NodeId node : ir::nodes(model, model.main_graph())) {
    reach = std::max(reach, reach_of(model, node));
    steps = std::min(steps * stride_of(model, node), kGreatestSize + 1);
  }
  for (const int64_t size : {2, 3, 4, 5, 8, 12, 16, 32, 64, 128, 224, 256, 512, 1024, 4096, 16384}) sizes.add(size);
  for (const int64_t size : {reach, 2 * reach, steps, 2 * steps}) sizes.add(size);
  return sizes.take();
}

std::vector<int64_t> sizes_at(const ir::Model& model, const ops::Inference& inference, ir::NodeId node) {
  Sizes sizes;
  const int64_t written = ir::written_integer(model, model[node], "group").value_or(1);
  const int64_t groups = std::clamp<int64_t>(written, 1, kGreatestSize);
  for (const ir::Use& use : model[node].operands) {
    if (!use.value) continue;
    if (const tensor::Tensor* const constant = inference.constant(use.value)) {
      add_elements(*constant, sizes);
      for (const int64_t size : constant->shape()) {
        sizes.add(size);
        sizes.add(std::min(size, kGreatestSize + 1) * groups);
      }
    }
    for (const ops::Dim& dim : inference.type(use.value).dims.value_or(ops::Dims()))
      sizes.add(dim.number().value_or(0));
  }
  sizes.add(reach_of(model, node));
  return sizes.take();
}

}  // namespace assay::analysis
