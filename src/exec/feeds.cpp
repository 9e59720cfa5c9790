#include "exec/feeds.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::exec {
namespace {

using tensor::Datum;

const Datum* find(const tensor::NamedData& data, std::string_view name) {
  const auto found = std::ranges::find(data, name, &tensor::NamedDatum::name);
  return found == data.end() ? nullptr : &found->value;
}

std::string names_text(const tensor::NamedData& data) {
  std::vector<std::string> names;
  for (const tensor::NamedDatum& item : data) names.push_back("`" + printable(item.name) + "`");
  return names.empty() ? "nothing" : join(names, ", ");
}

std::string declared_shape(const PortType& type) {
  std::vector<std::string> dims;
  for (const PortDim& dim : type.dims) dims.push_back(dim.text);
  return "[" + join(dims, ",") + "]";
}

void check_dims(const PortType& type, const std::string& name, const tensor::Shape& shape) {
  bool fits = type.dims.size() == shape.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) {
    const int64_t declared = type.dims[i].size.value_or(-1);
    fits = declared < 0 || declared == shape[i];
  }
  if (fits) return;
  fail(ErrorCode::usage, "input `{}`: the model declares the shape {}, given is [{}]", name, declared_shape(type),
       fmt::join(shape, ","));
}

void check_type(const PortType& type, const std::string& name, const Datum& value) {
  if (type.kind == ir::TypeKind::optional) {
    if (!value.is_none() && !type.element.empty()) check_type(type.element.front(), name, value);
    return;
  }
  if (type.kind == ir::TypeKind::sequence && value.is_sequence()) return;
  if (type.kind == ir::TypeKind::map && value.is_map()) return;
  if (type.kind != ir::TypeKind::tensor || !value.is_tensor()) {
    fail(ErrorCode::usage, "input `{}`: the model declares another kind of value", name);
  }
  if (tensor::is_known(type.dtype) && value.declared() != type.dtype) {
    fail(ErrorCode::usage, "input `{}`: the model declares {}, given is {}", name, tensor::name(type.dtype),
         tensor::name(value.declared()));
  }
  if (type.ranked) check_dims(type, name, value.tensor().shape());
}

}  // namespace

std::vector<ir::ValueId> required_inputs(const ir::Model& model) {
  std::vector<ir::ValueId> inputs;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    if (!model[input].constant.valid()) inputs.push_back(input);
  }
  return inputs;
}

std::vector<Feed> check_feeds(const Signature& signature, const tensor::NamedData& given, Diagnostics& findings) {
  std::vector<Feed> feeds;
  for (const Port& input : signature.inputs) {
    const Datum* value = find(given, input.name);
    if (value == nullptr && input.has_default) continue;
    if (value == nullptr) {
      fail(ErrorCode::usage, "input `{}` of the model is not given; given: {}", printable(input.name),
           names_text(given));
    }
    if (input.type) check_type(*input.type, printable(input.name), *value);
    feeds.push_back({input.name, *value});
  }
  for (const tensor::NamedDatum& item : given) {
    if (find(feeds, item.name) != nullptr) continue;
    findings.warn("extra_input", item.name,
                  fmt::format("`{}` is given, but it is no input of the model", printable(item.name)));
  }
  return feeds;
}

}  // namespace assay::exec
