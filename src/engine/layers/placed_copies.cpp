#include "engine/layers/placed_copies.h"

#include "ops/kernels/movement/places.h"

namespace assay::engine {
namespace {

// An element of depth and of space by the same dims: [image, block row, block column, channel, row, column].
TensorDesc deep_desc(const TensorDesc& desc, int64_t block, bool is_depth_first) {
  const int64_t channels = desc.dims[1] / (block * block);
  const int64_t channel = is_depth_first ? desc.strides[1] : block * block * desc.strides[1];
  const int64_t column = is_depth_first ? channels * desc.strides[1] : desc.strides[1];
  return {desc.dtype,
          {desc.dims[0], block, block, channels, desc.dims[2], desc.dims[3]},
          {desc.strides[0], block * column, column, channel, desc.strides[2], desc.strides[3]}};
}

TensorDesc wide_desc(const TensorDesc& desc, int64_t block) {
  return {desc.dtype,
          {desc.dims[0], block, block, desc.dims[1], desc.dims[2] / block, desc.dims[3] / block},
          {desc.strides[0], desc.strides[2], desc.strides[3], desc.strides[1], block * desc.strides[2],
           block * desc.strides[3]}};
}

}  // namespace

std::vector<CopyPart> concat_copies(const Layer& layer) {
  const TensorDesc& out = layer.outputs[0];
  const auto axis = static_cast<size_t>(
      ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 1), static_cast<int64_t>(out.dims.size())));
  std::vector<CopyPart> parts;
  int64_t at = 0;
  for (size_t i = 0; i < layer.inputs.size(); ++i) {
    const TensorDesc& from = layer.inputs[i];
    if (from.dtype != out.dtype || from.dims.size() != out.dims.size()) return {};
    parts.push_back({i, from, {out.dtype, from.dims, out.strides}, at * out.strides[axis]});
    at += from.dims[axis];
  }
  return parts;
}

std::vector<CopyPart> block_copies(const Layer& layer, bool is_to_space) {
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const int64_t block = facts.integer("blocksize", 1);
  const TensorDesc& in = layer.inputs[0];
  const TensorDesc& out = layer.outputs[0];
  if (tensor::bit_width(in.dtype) % 8 != 0 || in.count() == 0) return {};
  const bool is_depth_first = facts.string("mode", "DCR") == "DCR";
  const TensorDesc deep = deep_desc(is_to_space ? in : out, block, is_depth_first);
  const TensorDesc wide = wide_desc(is_to_space ? out : in, block);
  return {{0, is_to_space ? deep : wide, is_to_space ? wide : deep, 0}};
}

}  // namespace assay::engine
