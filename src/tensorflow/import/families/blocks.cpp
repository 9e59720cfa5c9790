#include <algorithm>
#include <array>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

// Blocks of pixels to channels, and back; the order of channels is the same in ONNX.
void make_depth(Site& site) {
  const int64_t size = site.attribute("block_size", 0);
  if (size < 1) fail(ErrorCode::parse, "its blocks have no size");
  if (site.text("data_format", "NHWC") == "NCHW") {
    return site.give(0, site.add(site.target(), {site.input(0)}, {{"blocksize", size}}));
  }
  const ir::ValueId first = site.build().channels_first(site.input(0));
  site.give(0, site.build().channels_last(site.add(site.target(), {first}, {{"blocksize", size}})));
}

// The sizes and the rest that both ways between space and batch need; one size may be unknown, and is -1.
struct Blocks {
  Ints shape;
  Ints edges;
  Ints sizes;
};

Blocks blocks_of(Site& site) {
  Blocks blocks{.shape = site.integers(1, "shape of blocks"), .edges = site.integers(2, "padding"), .sizes = {}};
  const std::optional<Sizes> sizes = site.build().sizes(site.input(0));
  if (!sizes) site.refuse("the number of dimensions of an operand is not known");
  for (const std::optional<int64_t>& size : *sizes) blocks.sizes.push_back(size.value_or(-1));
  if (std::ranges::count(blocks.sizes, -1) > 1) site.refuse("more than one size of its operand is not known");
  if (blocks.edges.size() != 2 * blocks.shape.size() || blocks.sizes.size() <= blocks.shape.size()) {
    fail(ErrorCode::parse, "its blocks have {} dimensions, and its padding {} numbers", blocks.shape.size(),
         blocks.edges.size());
  }
  if (std::ranges::any_of(blocks.shape, [](int64_t size) { return size < 1; })) {
    fail(ErrorCode::parse, "its blocks have no size");
  }
  return blocks;
}

// [batch, height, width, …] -> [block * batch, height / block, width / block, …]
void make_space_to_batch(Site& site) {
  const Blocks blocks = blocks_of(site);
  const size_t count = blocks.shape.size();
  const size_t rank = blocks.sizes.size();
  Ints pads(2 * rank);
  Ints split = {blocks.sizes[0]};
  Ints joined = {blocks.sizes[0]};
  Ints order;
  for (size_t i = 0; i < count; ++i) {
    pads[i + 1] = blocks.edges[2 * i];
    pads[i + 1 + rank] = blocks.edges[2 * i + 1];
    const int64_t size = blocks.sizes[i + 1];
    const int64_t parts = size < 0 ? -1 : (size + pads[i + 1] + pads[i + 1 + rank]) / blocks.shape[i];
    split.insert(split.end(), {parts, blocks.shape[i]});
    joined.push_back(parts);
    if (joined[0] > 0) joined[0] *= blocks.shape[i];
    order.push_back(2 * static_cast<int64_t>(i) + 2);
  }
  order.push_back(0);
  for (size_t i = 0; i < count; ++i) order.push_back(2 * static_cast<int64_t>(i) + 1);
  for (size_t i = count + 1; i < rank; ++i) {
    order.push_back(static_cast<int64_t>(split.size()));
    split.push_back(blocks.sizes[i]);
    joined.push_back(blocks.sizes[i]);
  }
  ir::ValueId x = site.input(0);
  if (std::ranges::any_of(pads, [](int64_t pad) { return pad != 0; })) {
    x = site.add("Pad", {x, site.build().integers(pads)});
  }
  x = site.build().transpose(site.build().reshape(x, split), order);
  site.give(0, site.build().reshape(x, joined));
}

// [block * batch, height, width, …] -> [batch, height * block, width * block, …], and edges are cut.
void make_batch_to_space(Site& site) {
  const Blocks blocks = blocks_of(site);
  const auto count = static_cast<int64_t>(blocks.shape.size());
  int64_t area = 1;
  for (const int64_t size : blocks.shape) area *= size;
  const int64_t batch = blocks.sizes[0] < 0 ? -1 : blocks.sizes[0] / area;
  Ints split = blocks.shape;
  split.push_back(batch);
  split.insert(split.end(), blocks.sizes.begin() + 1, blocks.sizes.end());
  Ints order = {count};
  Ints joined = {batch};
  Ints begins;
  Ints ends;
  Ints axes;
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<size_t>(i);
    const int64_t size = blocks.sizes[at + 1];
    order.insert(order.end(), {count + 1 + i, i});
    joined.push_back(size < 0 ? -1 : size * blocks.shape[at]);
    begins.push_back(blocks.edges[2 * at]);
    ends.push_back(blocks.edges[2 * at + 1] == 0 ? INT64_MAX : -blocks.edges[2 * at + 1]);
    axes.push_back(i + 1);
  }
  for (size_t i = static_cast<size_t>(count) + 1; i < blocks.sizes.size(); ++i) {
    order.push_back(count + static_cast<int64_t>(i));
    joined.push_back(blocks.sizes[i]);
  }
  Builder& build = site.build();
  ir::ValueId x = build.reshape(build.transpose(build.reshape(site.input(0), split), order), joined);
  if (std::ranges::any_of(blocks.edges, [](int64_t edge) { return edge != 0; })) {
    x = site.add("Slice", {x, build.integers(begins), build.integers(ends), build.integers(axes)});
  }
  site.give(0, x);
}

constexpr std::array kBlockRows = {
    Maker{"BatchToSpaceND", "BATCH_TO_SPACE_ND", make_batch_to_space},
    Maker{"DepthToSpace", "DEPTH_TO_SPACE", make_depth, "DepthToSpace"},
    Maker{"SpaceToBatchND", "SPACE_TO_BATCH_ND", make_space_to_batch},
    Maker{"SpaceToDepth", "SPACE_TO_DEPTH", make_depth, "SpaceToDepth"},
};

}  // namespace

Makers block_makers() { return kBlockRows; }

}  // namespace assay::tensorflow
