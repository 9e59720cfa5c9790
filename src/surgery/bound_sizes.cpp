#include "surgery/bound_sizes.h"

#include <array>
#include <string>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/constants.h"
#include "ir/naming.h"
#include "ops/eval.h"
#include "schema/imports.h"

namespace assay::surgery {
namespace {

constexpr int64_t kFirstIntegerMin = 12;  // the opset

void bound_size(ir::Model& model, const SizeBound& item) {
  const ir::Value value = model[item.value];
  const std::string name(model.text(value.name));
  if (!value.producer.valid()) fail(ErrorCode::usage, "`{}` is not computed: it needs no bound", printable(name));
  const tensor::DType dtype = value.type.valid() ? model[value.type].dtype : tensor::DType::undefined;
  const tensor::DTypeKind kind = tensor::kind(dtype);
  const bool is_number = kind == tensor::DTypeKind::signed_integer || kind == tensor::DTypeKind::unsigned_integer ||
                         kind == tensor::DTypeKind::floating;
  if (!is_number) fail(ErrorCode::usage, "`{}` is no tensor of numbers: it cannot be bounded", printable(name));
  ir::Edit edit(model);
  const ir::Symbol bound_name = ir::fresh_name(edit, name + "_upper_bound");
  const ir::ValueId bound = ir::add_initializer(
      edit, {value.graph, bound_name, ops::make_rounded(dtype, {}, std::vector<int64_t>{item.bound})});
  const std::array results = {value.name};
  const std::array operands = {item.value, bound};
  ir::NodeSpec spec;
  spec.op = edit.intern("Min");
  spec.name = edit.keep("onnx_graphsurgeon_min_" + name);
  spec.results = results;
  const ir::NodeId min = edit.add_node(value.graph, spec, model[value.producer].next);
  edit.set_type(model[min].results[0], value.type);
  edit.replace_uses(item.value, model[min].results[0]);
  edit.set_operands(min, operands);
  edit.rename(item.value, ir::fresh_name(edit, name + "_copy"));
}

}  // namespace

void bound_sizes(ir::Model& model, std::span<const SizeBound> bounds) {
  const int64_t opset = schema::imported_version(model);
  if (!bounds.empty() && opset < kFirstIntegerMin) {
    fail(ErrorCode::unsupported, "the model has opset {}: bounds for sizes need {}, whose Min has integers", opset,
         kFirstIntegerMin);
  }
  for (const SizeBound& item : bounds) bound_size(model, item);
}

}  // namespace assay::surgery
