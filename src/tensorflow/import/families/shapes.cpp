#include <algorithm>
#include <array>
#include <numeric>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

void make_reshape(Site& site) {
  const ir::ValueId x = site.input(0);
  if (!site.has(1)) return site.give(0, site.build().reshape(x, site.list("new_shape")));
  const std::optional<Ints> known = site.build().known_integers(site.input(1));
  if (known && std::ranges::find(*known, 0) == known->end()) return site.give(0, site.build().reshape(x, *known));
  const NamedAttributes attributes = known ? NamedAttributes{{"allowzero", int64_t{1}}} : NamedAttributes();
  site.give(0, site.add("Reshape", {x, site.build().as_int64(site.input(1))}, attributes));
}

void make_squeeze(Site& site) {
  Values operands = {site.input(0)};
  const Ints dims = site.list("squeeze_dims");
  if (!dims.empty()) operands.push_back(site.build().integers(dims));
  site.give(0, site.add("Squeeze", operands));
}

void make_expand_dims(Site& site) {
  const ir::ValueId axis = site.build().reshape(site.build().as_int64(site.input(1)), {1});
  site.give(0, site.add("Unsqueeze", {site.input(0), axis}));
}

void make_shape(Site& site) {
  const ir::ValueId shape = site.add("Shape", {site.input(0)});
  site.give(0, site.build().cast(shape, site.type_attribute("out_type", DType::int32)));
}

void make_shapes(Site& site) {
  for (size_t i = 0; i < site.input_count(); ++i) {
    const ir::ValueId shape = site.add("Shape", {site.input(i)});
    site.give(i, site.build().cast(shape, site.type_attribute("out_type", DType::int32)));
  }
}

void make_size(Site& site) {
  const ir::ValueId size = site.add("Size", {site.input(0)});
  site.give(0, site.build().cast(size, site.type_attribute("out_type", DType::int32)));
}

void make_rank(Site& site) {
  const ir::ValueId shape = site.add("Shape", {site.input(0)});
  site.give(0, site.build().cast(site.add("Size", {shape}), DType::int32));
}

void make_transpose(Site& site) {
  const Ints order = site.integers(1, "order of dimensions");
  Ints sorted = order;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i) {
    if (sorted[i] != static_cast<int64_t>(i)) fail(ErrorCode::parse, "the order of dimensions is none");
  }
  site.give(0, site.build().transpose(site.input(0), order));
}

void make_tile(Site& site) { site.give(0, site.add("Tile", {site.input(0), site.build().as_int64(site.input(1))})); }

void make_broadcast_to(Site& site) {
  site.give(0, site.add("Expand", {site.input(0), site.build().as_int64(site.input(1))}));
}

void make_fill(Site& site) { site.give(0, site.add("Expand", {site.input(1), site.build().as_int64(site.input(0))})); }

void make_range(Site& site) { site.give(0, site.add("Range", {site.input(0), site.input(1), site.input(2)})); }

// Rows of two numbers for each dimension, as ONNX wants them: all begins, then all ends.
ir::ValueId pads_of(Site& site) {
  const ir::ValueId pads = site.build().as_int64(site.input(1));
  if (const std::optional<Ints> known = site.build().known_integers(pads)) {
    Ints sorted;
    for (const size_t first : {size_t{0}, size_t{1}}) {
      for (size_t i = first; i < known->size(); i += 2) sorted.push_back((*known)[i]);
    }
    return site.build().integers(sorted);
  }
  return site.build().reshape(site.build().transpose(pads, {1, 0}), {-1});
}

void make_pad(Site& site) {
  Values operands = {site.input(0), pads_of(site)};
  if (site.has(2)) operands.push_back(site.build().reshape(site.input(2), {}));
  site.give(0, site.add("Pad", operands));
}

// Indices that go on beyond the ends as in a mirror, with the items at the ends twice.
Ints mirrored(int64_t size, int64_t before, int64_t after) {
  Ints indices;
  for (int64_t i = before; i-- > 0;) indices.push_back(i);
  for (int64_t i = 0; i < size; ++i) indices.push_back(i);
  for (int64_t i = 0; i < after; ++i) indices.push_back(size - 1 - i);
  return indices;
}

void make_symmetric_pad(Site& site) {
  constexpr int64_t kMostIndices = int64_t{1} << 24;
  const Ints pads = site.integers(1, "padding");
  ir::ValueId x = site.input(0);
  const std::optional<Sizes> sizes = site.build().sizes(x);
  for (size_t axis = 0; 2 * axis + 1 < pads.size(); ++axis) {
    const int64_t before = pads[2 * axis];
    const int64_t after = pads[2 * axis + 1];
    if (before == 0 && after == 0) continue;
    const std::optional<int64_t> size = sizes && axis < sizes->size() ? (*sizes)[axis] : std::nullopt;
    if (!size || *size > kMostIndices) site.refuse("it mirrors a dimension whose size is not known");
    if (before < 0 || after < 0 || before > *size || after > *size)
      fail(ErrorCode::parse, "it mirrors more than there is");
    x = site.add("Gather", {x, site.build().integers(mirrored(*size, before, after))},
                 {{"axis", static_cast<int64_t>(axis)}});
  }
  site.give(0, x);
}

void make_mirror_pad(Site& site) {
  if (site.text("mode", "REFLECT") == "SYMMETRIC") return make_symmetric_pad(site);
  site.give(0, site.add("Pad", {site.input(0), pads_of(site)}, {{"mode", std::string("reflect")}}));
}

constexpr std::array kShapeRows = {
    Maker{"BroadcastTo", "BROADCAST_TO", make_broadcast_to},
    Maker{"ExpandDims", "EXPAND_DIMS", make_expand_dims},
    Maker{"Fill", "FILL", make_fill},
    Maker{"MirrorPad", "MIRROR_PAD", make_mirror_pad},
    Maker{"Pad", "PAD", make_pad},
    Maker{"PadV2", "PADV2", make_pad},
    Maker{"Range", "RANGE", make_range},
    Maker{"Rank", "RANK", make_rank},
    Maker{"Reshape", "RESHAPE", make_reshape},
    Maker{"Shape", "SHAPE", make_shape},
    Maker{"ShapeN", "", make_shapes},
    Maker{"Size", "", make_size},
    Maker{"Squeeze", "SQUEEZE", make_squeeze},
    Maker{"Tile", "TILE", make_tile},
    Maker{"Transpose", "TRANSPOSE", make_transpose},
};

}  // namespace

Makers shape_makers() { return kShapeRows; }

}  // namespace assay::tensorflow
