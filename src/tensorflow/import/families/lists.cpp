#include "tensorflow/import/lists.h"

#include <algorithm>
#include <array>
#include <limits>

#include "ir/queries.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

using tensor::DType;

// Arrays of the first generation have a handle, and a flow that goes from one operator to the next: the list is that.
bool is_array(const Site& site) { return site.node().op.starts_with("TensorArray"); }

const Item& list_of(Site& site, size_t operand) {
  const Item& item = site.item(is_array(site) ? site.input_count() - 1 : operand);
  if (!item.list) site.refuse("it works on a list whose making is not in the model");
  return item;
}

DType element_dtype(Site& site) {
  const DType dtype = site.type_attribute(is_array(site) ? "dtype" : "element_dtype", DType::undefined);
  if (dtype == DType::undefined || dtype == DType::string) {
    site.refuse("it makes a list of what is no tensor of numbers, as of strings or lists");
  }
  return dtype;
}

// Sizes that are written as integers, -1 for those that are not known; one -1 alone: not even how many there are.
std::optional<Sizes> sizes_of(Site& site, size_t operand) {
  const ir::ValueId value = site.input(operand);
  if (site.build().rank(value) == size_t{0}) return std::nullopt;
  std::optional<Sizes> sizes = site.build().partly_known_integers(value);
  if (!sizes) return std::nullopt;
  for (std::optional<int64_t>& size : *sizes) {
    if (size && *size < 0) size.reset();
  }
  return sizes;
}

Item new_list(Site& site, ir::ValueId count, std::optional<Sizes> dims) {
  Builder& build = site.build();
  Item item;
  item.list =
      List{.dtype = element_dtype(site), .dims = std::move(dims), .count = build.as_int64(build.reshape(count, {}))};
  return item;
}

void make_reserve(Site& site) { site.give(0, new_list(site, site.input(1), sizes_of(site, 0))); }
void make_empty(Site& site) { site.give(0, new_list(site, site.build().integer(0), sizes_of(site, 0))); }

void make_array(Site& site) {
  std::optional<Sizes> dims;
  if (site.has_attribute("element_shape")) {
    dims.emplace();
    for (const int64_t size : site.list("element_shape")) {
      dims->push_back(size < 0 ? std::nullopt : std::optional(size));
    }
  }
  site.give(0, Item{.value = {}, .codes = {}, .variable = site.node().name});
  site.give(1, new_list(site, site.input(0), std::move(dims)));
}

void make_from_tensor(Site& site) { site.give(0, as_list(site.build(), site.input(0))); }

void make_get(Site& site) {
  const Item& list = list_of(site, 0);
  site.give(0, site.add("Gather", {list_tensor(site.build(), list), site.input(1)}, {{"axis", int64_t{0}}}));
}

// A list that may grow has as many tensors as are needed to have one at the index.
ir::ValueId with_place(Site& site, ir::ValueId tensor, ir::ValueId index) {
  Builder& build = site.build();
  const Item list = as_list(build, tensor);
  const std::optional<Ints> known = build.known_integers(index);
  const std::optional<Ints> count = build.known_integers(list_count(build, list));
  if (known && count && known->front() < count->front()) return tensor;
  const ir::ValueId needed = site.add("Add", {index, build.integer(1)});
  const ir::ValueId missing = site.add("Sub", {needed, list_count(build, list)});
  const ir::ValueId zeros = list_zeros(build, list.list->dtype, site.add("Max", {missing, build.integer(0)}),
                                       sizes_behind_first(build, tensor));
  return site.add("Concat", {tensor, zeros}, {{"axis", int64_t{0}}});
}

void make_set(Site& site) {
  Builder& build = site.build();
  const Item& list = list_of(site, 0);
  const ir::ValueId element = site.input(2);
  const ir::ValueId index = build.as_int64(build.reshape(site.input(1), {}));
  if (list.list->is_collected) {
    Item item = list;
    item.list->written = element;
    item.list->index = index;
    return site.give(0, std::move(item));
  }
  const ir::ValueId row = site.add("Unsqueeze", {element, build.integers({0})});
  ir::ValueId base =
      list.value ? list.value : list_zeros(build, list.list->dtype, list.list->count, sizes_behind_first(build, row));
  const bool may_grow = site.attribute("resize_if_index_out_of_bounds", is_array(site) ? 1 : 0) != 0;
  if (may_grow) base = with_place(site, base, index);
  site.give(0, as_list(build, site.add("ScatterND", {base, build.reshape(index, {1, 1}), row})));
}

void make_push(Site& site) {
  Builder& build = site.build();
  const Item& list = list_of(site, 0);
  if (list.list->is_collected) {
    Item item = list;
    item.list->written = site.input(1);
    return site.give(0, std::move(item));
  }
  const ir::ValueId row = site.add("Unsqueeze", {site.input(1), build.integers({0})});
  site.give(0, with_added(build, list, row));
}

void make_pop(Site& site) {
  Builder& build = site.build();
  const ir::ValueId tensor = list_tensor(build, list_of(site, 0));
  const ir::ValueId rest = site.add("Slice", {tensor, build.integers({0}), build.integers({-1})});
  site.give(0, as_list(build, rest));
  site.give(1, site.add("Gather", {tensor, build.integer(-1)}, {{"axis", int64_t{0}}}));
}

void make_stack(Site& site) { site.give(0, list_tensor(site.build(), list_of(site, 0))); }

// True if indices are 0, 1, 2, ... to the end of a list.
bool are_all(Site& site, ir::ValueId indices, ir::ValueId count) {
  Builder& build = site.build();
  const std::optional<Ints> known = build.known_integers(indices);
  if (known) {
    for (size_t i = 0; i < known->size(); ++i) {
      if ((*known)[i] != static_cast<int64_t>(i)) return false;
    }
    return build.known_integers(count) == Ints{static_cast<int64_t>(known->size())};
  }
  const ir::NodeId node = ir::producer(build.model(), indices);
  if (!node || !ir::is_op(build.model(), node, "Range")) return false;
  const auto operand = [&](uint32_t index) { return ir::operand(build.model(), node, index); };
  return build.known_integers(operand(0)) == Ints{0} && build.known_integers(operand(2)) == Ints{1} &&
         build.are_equal(operand(1), count);
}

void make_gather(Site& site) {
  Builder& build = site.build();
  const Item& list = list_of(site, 0);
  const ir::ValueId tensor = list_tensor(build, list);
  if (are_all(site, site.input(1), list_count(build, list))) return site.give(0, tensor);
  site.give(0, site.add("Gather", {tensor, site.input(1)}, {{"axis", int64_t{0}}}));
}

void scatter(Site& site, const Item& list, ir::ValueId rows, ir::ValueId indices) {
  Builder& build = site.build();
  const ir::ValueId index = are_all(site, indices, list_count(build, list)) ? ir::ValueId() : indices;
  site.give(0, with_written(build, list, rows, index));
}

// Without a number of tensors, the list ends with the last index.
void make_scatter(Site& site) {
  Builder& build = site.build();
  const ir::ValueId indices = build.as_int64(site.input(1));
  const std::optional<Ints> number = site.has(3) ? build.known_integers(site.input(3)) : Ints{-1};
  ir::ValueId count = site.has(3) ? site.input(3) : ir::ValueId();
  if (number && number->front() < 0) {
    count = site.add("Add", {site.add("ReduceMax", {indices}, {{"keepdims", int64_t{0}}}), build.integer(1)});
  }
  scatter(site, new_list(site, count, sizes_of(site, 2)), site.input(0), indices);
}

// Into a list that is there.
void make_scatter_into(Site& site) {
  const bool is_first = is_array(site);
  const ir::ValueId indices = site.build().as_int64(site.input(is_first ? 1 : 2));
  scatter(site, list_of(site, 0), site.input(is_first ? 2 : 1), indices);
}

// All tensors along their first dimension, and how long each is there.
void make_concat(Site& site) {
  Builder& build = site.build();
  const Item list = as_list(build, list_tensor(build, list_of(site, 0)));
  const ir::ValueId shape = site.add("Shape", {list.value}, {{"start", int64_t{1}}});
  const ir::ValueId behind =
      site.add("Slice", {shape, build.integers({1}), build.integers({std::numeric_limits<int64_t>::max()})});
  const ir::ValueId dims = site.add("Concat", {build.integers({-1}), behind}, {{"axis", int64_t{0}}});
  site.give(0, site.add("Reshape", {list.value, dims}));
  const ir::ValueId length = site.add("Gather", {shape, build.integer(0)}, {{"axis", int64_t{0}}});
  site.give(1, site.add("Expand", {length, build.reshape(list_count(build, list), {1})}));
}

// Parts of a tensor that are equally long.
void make_split(Site& site) {
  Builder& build = site.build();
  const Ints lengths = site.integers(2, "lengths of parts");
  const bool are_equal = !lengths.empty() && std::ranges::count(lengths, lengths.front()) == std::ssize(lengths);
  if (!are_equal) site.refuse("it makes a list of parts that are not equally long");
  const ir::ValueId value = site.input(is_array(site) ? 1 : 0);
  const ir::ValueId first = build.integers({std::ssize(lengths), lengths.front()});
  const ir::ValueId dims = site.add("Concat", {first, sizes_behind_first(build, value)}, {{"axis", int64_t{0}}});
  site.give(0, as_list(build, site.add("Reshape", {value, dims})));
}

void make_length(Site& site) {
  site.give(0, site.build().cast(list_count(site.build(), list_of(site, 0)), DType::int32));
}

void make_element_shape(Site& site) {
  Builder& build = site.build();
  const Item& list = list_of(site, 0);
  const DType dtype = site.type_attribute("shape_type", DType::int32);
  if (list.value) return site.give(0, build.cast(sizes_behind_first(build, list.value), dtype));
  if (!list.list->dims) return site.give(0, build.cast(build.integer(-1), dtype));
  Ints sizes;
  for (const std::optional<int64_t>& size : *list.list->dims) sizes.push_back(size.value_or(-1));
  site.give(0, build.cast(build.integers(sizes), dtype));
}

void make_resize(Site& site) {
  Builder& build = site.build();
  Item list = list_of(site, 0);
  const ir::ValueId size = build.as_int64(build.reshape(site.input(1), {}));
  if (!list.value) {
    list.list->count = size;
    return site.give(0, std::move(list));
  }
  const ir::ValueId last = site.add("Sub", {size, build.integer(1)});
  const ir::ValueId grown = with_place(site, list.value, last);
  site.give(0, as_list(build, site.add("Slice", {grown, build.integers({0}), build.reshape(size, {1})})));
}

void make_join(Site& site) {
  Builder& build = site.build();
  site.give(0, with_added(build, list_of(site, 0), list_tensor(build, list_of(site, 1))));
}

constexpr std::array kListRows = {
    Maker{"EmptyTensorList", "", make_empty},
    Maker{"TensorArrayConcatV3", "", make_concat},
    Maker{"TensorArrayGatherV3", "", make_gather},
    Maker{"TensorArrayReadV3", "", make_get},
    Maker{"TensorArrayScatterV3", "", make_scatter_into},
    Maker{"TensorArraySizeV3", "", make_length},
    Maker{"TensorArraySplitV3", "", make_split},
    Maker{"TensorArrayV3", "", make_array},
    Maker{"TensorArrayWriteV3", "", make_set},
    Maker{"TensorListConcat", "", make_concat},
    Maker{"TensorListConcatLists", "", make_join},
    Maker{"TensorListConcatV2", "", make_concat},
    Maker{"TensorListElementShape", "", make_element_shape},
    Maker{"TensorListFromTensor", "", make_from_tensor},
    Maker{"TensorListGather", "", make_gather},
    Maker{"TensorListGetItem", "", make_get},
    Maker{"TensorListLength", "", make_length},
    Maker{"TensorListPopBack", "", make_pop},
    Maker{"TensorListPushBack", "", make_push},
    Maker{"TensorListReserve", "", make_reserve},
    Maker{"TensorListResize", "", make_resize},
    Maker{"TensorListScatter", "", make_scatter},
    Maker{"TensorListScatterIntoExistingList", "", make_scatter_into},
    Maker{"TensorListScatterV2", "", make_scatter},
    Maker{"TensorListSetItem", "", make_set},
    Maker{"TensorListSplit", "", make_split},
    Maker{"TensorListStack", "", make_stack},
};

}  // namespace

Makers list_makers() { return kListRows; }

}  // namespace assay::tensorflow
