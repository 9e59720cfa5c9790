#include "tensorflow/import/lists.h"

#include <algorithm>
#include <limits>

namespace assay::tensorflow {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();

ir::ValueId joined(Builder& builder, Values parts) {
  if (parts.size() == 1) return parts.front();
  return builder.add({"Concat", std::move(parts), {{"axis", int64_t{0}}}});
}

ir::ValueId from_place(Builder& builder, ir::ValueId value, ir::ValueId begin) {
  return builder.add({"Slice", {value, begin, builder.integers({kEnd})}});
}

// Tensors that a list has beyond the first `count`.
ir::ValueId rest(Builder& builder, const Item& list, ir::ValueId written, ir::ValueId count) {
  if (list.value) return from_place(builder, list.value, builder.reshape(count, {1}));
  const ir::ValueId missing = builder.add({"Sub", {list_count(builder, list), count}});
  const ir::ValueId left = builder.add({"Max", {missing, builder.integer(0)}});
  return list_zeros(builder, list.list->dtype, left, sizes_behind_first(builder, written));
}

}  // namespace

ir::ValueId sizes_behind_first(Builder& builder, ir::ValueId tensor) {
  const std::optional<Sizes> sizes = builder.sizes(tensor);
  Ints known;
  for (size_t i = 1; sizes && i < sizes->size(); ++i) known.push_back((*sizes)[i].value_or(-1));
  const bool is_known = sizes && !sizes->empty() && std::ranges::find(known, -1) == known.end();
  return is_known ? builder.integers(known) : builder.add({"Shape", {tensor}, {{"start", int64_t{1}}}});
}

ir::ValueId list_zeros(Builder& builder, tensor::DType dtype, ir::ValueId count, ir::ValueId sizes) {
  const ir::ValueId first = builder.reshape(count, {1});
  return builder.add({"Expand", {builder.scalar(dtype, 0), joined(builder, {first, sizes})}});
}

ir::ValueId list_count(Builder& builder, const Item& item) {
  if (!item.value) return item.list->count;
  if (const std::optional<Sizes> sizes = builder.sizes(item.value); sizes && !sizes->empty() && sizes->front()) {
    return builder.integer(*sizes->front());
  }
  const ir::ValueId first = builder.add({"Shape", {item.value}, {{"start", int64_t{0}}, {"end", int64_t{1}}}});
  return builder.reshape(first, {});
}

ir::ValueId list_tensor(Builder& builder, const Item& item) {
  if (item.value) return item.value;
  if (item.list->is_collected) fail(ErrorCode::unsupported, "a list is read in the round that writes to it");
  Ints dims;
  for (const std::optional<int64_t>& size : item.list->dims.value_or(Sizes{std::nullopt})) {
    if (!size)
      fail(ErrorCode::unsupported, "a list is read before it is written, and does not say the sizes of its tensors");
    dims.push_back(*size);
  }
  return list_zeros(builder, item.list->dtype, item.list->count, builder.integers(dims));
}

Item as_list(Builder& builder, ir::ValueId tensor) {
  List list{.dtype = builder.dtype(tensor)};
  if (const std::optional<Sizes> sizes = builder.sizes(tensor); sizes && !sizes->empty()) {
    list.dims = Sizes(sizes->begin() + 1, sizes->end());
  }
  return {.value = tensor, .codes = {}, .variable = {}, .list = std::move(list)};
}

Item with_written(Builder& builder, const Item& list, ir::ValueId written, ir::ValueId index) {
  if (index) {
    const ir::ValueId base =
        list.value ? list.value
                   : list_zeros(builder, list.list->dtype, list.list->count, sizes_behind_first(builder, written));
    const ir::ValueId places = builder.add({"Unsqueeze", {builder.as_int64(index), builder.integers({-1})}});
    return as_list(builder, builder.add({"ScatterND", {base, places, written}}));
  }
  const ir::ValueId count = list_count(builder, as_list(builder, written));
  if (builder.are_equal(count, list_count(builder, list))) return as_list(builder, written);
  return as_list(builder, joined(builder, {written, rest(builder, list, written, count)}));
}

Item with_added(Builder& builder, const Item& list, ir::ValueId added) {
  const bool is_empty = !list.value && builder.known_integers(list.list->count) == Ints{0};
  if (is_empty) return as_list(builder, added);
  return as_list(builder, joined(builder, {list_tensor(builder, list), added}));
}

}  // namespace assay::tensorflow
