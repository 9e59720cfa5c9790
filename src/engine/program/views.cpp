#include "engine/program/views.h"

#include <algorithm>

#include "ops/traits.h"
#include "tensor/elements.h"

namespace assay::engine {
namespace {

bool is_reshape(std::string_view op) { return ops::traits("", op).moves == ops::Moves::in_order; }

std::optional<std::vector<int64_t>> integers(const Layer& layer, uint32_t index) {
  const ir::ValueId value = layer.operand(layer.nodes[0], index);
  const tensor::Tensor* const constant = layer.constant(value);
  if (constant == nullptr || !tensor::is_integer(constant->dtype())) return std::nullopt;
  return tensor::load_elements<int64_t>(*constant);
}

Views reshape(const Layer& layer) {
  return {[out = layer.outputs[0]](const TensorDesc& operand) -> std::optional<View> {
    std::optional<TensorDesc> desc = find_reshaped(operand, out.dims);
    if (!desc) return std::nullopt;
    return View{std::move(*desc), 0};
  }};
}

Views transpose(const Layer& layer) {
  std::vector<int64_t> order = layer.facts(layer.nodes[0]).integers("perm");
  if (order.empty()) {
    for (size_t i = layer.inputs[0].dims.size(); i-- > 0;) order.push_back(static_cast<int64_t>(i));
  }
  return {[order](const TensorDesc& operand) {
    View view{{operand.dtype, {}, {}}, 0};
    for (const int64_t axis : order) {
      view.desc.dims.push_back(operand.dims[static_cast<size_t>(axis)]);
      view.desc.strides.push_back(operand.strides[static_cast<size_t>(axis)]);
    }
    return view;
  }};
}

// The begin of a result on each axis of the operand, and its steps there.
struct Window {
  std::vector<int64_t> starts;
  std::vector<int64_t> steps;
};

ViewOf window_view(const TensorDesc& out, Window window) {
  return [dims = out.dims, window = std::move(window)](const TensorDesc& operand) {
    View view{{operand.dtype, dims, operand.strides}, 0};
    for (size_t i = 0; i < dims.size(); ++i) {
      view.offset += window.starts[i] * operand.strides[i];
      view.desc.strides[i] *= window.steps[i];
    }
    return view;
  };
}

std::optional<Window> slice_window(const Layer& layer) {
  const tensor::Shape& dims = layer.inputs[0].dims;
  Window window{std::vector<int64_t>(dims.size(), 0), std::vector<int64_t>(dims.size(), 1)};
  constexpr int64_t kFirstWithInputs = 10;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const bool has_inputs = facts.version() >= kFirstWithInputs;
  const std::optional<std::vector<int64_t>> starts = has_inputs ? integers(layer, 1) : facts.integers("starts");
  if (!starts) return std::nullopt;
  std::vector<int64_t> axes(starts->size());
  for (size_t i = 0; i < axes.size(); ++i) axes[i] = static_cast<int64_t>(i);
  std::vector<int64_t> steps(starts->size(), 1);
  const auto read = [&](uint32_t index, const char* name, std::vector<int64_t>& into) {
    if (has_inputs && !layer.operand(layer.nodes[0], index).valid()) return true;
    if (!has_inputs && !facts.has_attribute(name)) return true;
    const std::optional<std::vector<int64_t>> given = has_inputs ? integers(layer, index) : facts.integers(name);
    if (given) into = *given;
    return given.has_value();
  };
  if (!read(3, "axes", axes) || (has_inputs && !read(4, "", steps))) return std::nullopt;
  if (axes.size() != starts->size() || steps.size() != starts->size()) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) {
    const auto axis = static_cast<size_t>(ops::normalize_axis(axes[i], static_cast<int64_t>(dims.size())));
    const int64_t from = (*starts)[i] < 0 ? (*starts)[i] + dims[axis] : (*starts)[i];
    window.starts[axis] = std::clamp<int64_t>(from, 0, steps[i] < 0 ? dims[axis] - 1 : dims[axis]);
    window.steps[axis] = steps[i];
  }
  return window;
}

std::optional<Views> slice(const Layer& layer) {
  std::optional<Window> window = slice_window(layer);
  if (!window || layer.outputs[0].count() == 0) return std::nullopt;
  return Views{window_view(layer.outputs[0], std::move(*window))};
}

// One row, whose index is known.
std::optional<Views> gather(const Layer& layer) {
  const std::optional<std::vector<int64_t>> index = integers(layer, 1);
  if (!index || index->size() != 1) return std::nullopt;
  const tensor::Shape& dims = layer.inputs[0].dims;
  const int64_t axis =
      ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 0), static_cast<int64_t>(dims.size()));
  const int64_t rows = dims[static_cast<size_t>(axis)];
  const int64_t row = index->front() < 0 ? index->front() + rows : index->front();
  if (row < 0 || row >= rows) return std::nullopt;
  return Views{[axis, row, dims = layer.outputs[0].dims](const TensorDesc& operand) {
    View view{{operand.dtype, dims, operand.strides}, row * operand.strides[static_cast<size_t>(axis)]};
    tensor::Shape& strides = view.desc.strides;
    const auto place = strides.erase(strides.begin() + axis);
    strides.insert(place, dims.size() - strides.size(), 0);
    return view;
  }};
}

Views split(const Layer& layer) {
  const tensor::Shape& dims = layer.inputs[0].dims;
  const int64_t axis =
      ops::normalize_axis(layer.facts(layer.nodes[0]).integer("axis", 0), static_cast<int64_t>(dims.size()));
  Views views;
  int64_t at = 0;
  for (const TensorDesc& out : layer.outputs) {
    Window window{std::vector<int64_t>(dims.size(), 0), std::vector<int64_t>(dims.size(), 1)};
    window.starts[static_cast<size_t>(axis)] = at;
    at += out.dims[static_cast<size_t>(axis)];
    views.push_back(window_view(out, std::move(window)));
  }
  return views;
}

Views expand(const Layer& layer) {
  return {[dims = layer.outputs[0].dims](const TensorDesc& operand) {
    View view{{operand.dtype, dims, tensor::Shape(dims.size(), 0)}, 0};
    const size_t missing = dims.size() - operand.dims.size();
    for (size_t i = missing; i < dims.size(); ++i) {
      if (operand.dims[i - missing] != 1) view.desc.strides[i] = operand.strides[i - missing];
    }
    return view;
  }};
}

// True if data decides the shape of what would be a view; what the model declares for it may be wrong.
bool is_shape_computed(const Layer& layer, std::string_view op) {
  if (!ops::traits("", op).sizes.contains(1) || op == "Slice") return false;
  return layer.operand(layer.nodes[0], 1).valid() && !integers(layer, 1);
}

// True if a Resize leaves everything where it is. Cubic sums may be others.
bool is_unresized(const Layer& layer) {
  constexpr int64_t kFirstWithSizes = 11;
  if (layer.inputs[0].dims != layer.outputs[0].dims) return false;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const bool is_crop = facts.string("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
  if (is_crop || facts.string("mode", "nearest") == "cubic") return false;
  const bool has_sizes = facts.version() >= kFirstWithSizes;
  if (has_sizes && layer.operand(layer.nodes[0], 3).valid())
    return layer.constant(layer.operand(layer.nodes[0], 3)) != nullptr;
  const tensor::Tensor* const scales = layer.constant(layer.operand(layer.nodes[0], has_sizes ? 2 : 1));
  const auto is_one = [](double scale) { return scale == 1; };
  return scales != nullptr && std::ranges::all_of(tensor::load_elements<double>(*scales), is_one);
}

}  // namespace

std::optional<Views> find_views(const Layer& layer) {
  if (!layer.is_single() || layer.inputs.empty() || layer.inputs[0].count() == 0) return std::nullopt;
  const bool are_all_there = std::ranges::all_of(layer.outputs, &TensorDesc::exists);
  if (!are_all_there || layer.outputs.empty() || layer.outputs[0].dtype != layer.inputs[0].dtype) return std::nullopt;
  const std::string_view op = layer.op(layer.nodes[0]);
  if (!layer.starts_with(op) || is_shape_computed(layer, op)) return std::nullopt;
  if (is_reshape(op)) return reshape(layer);
  if (op == "Transpose") return transpose(layer);
  if (op == "Slice") return slice(layer);
  if (op == "Gather") return gather(layer);
  if (op == "Split") return split(layer);
  if (op == "Expand") return expand(layer);
  if (op == "Resize" && is_unresized(layer)) return reshape(layer);
  return std::nullopt;
}

TensorDesc desc_to_show(const Layer& layer, const TensorDesc& operand) {
  return is_reshape(layer.op(layer.nodes[0])) ? make_reshapable(operand, layer.outputs[0].dims) : layer.inputs[0];
}

}  // namespace assay::engine
