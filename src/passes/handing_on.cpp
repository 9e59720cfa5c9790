#include "passes/handing_on.h"

namespace assay::passes {
namespace {

constexpr std::string_view kCast = "Cast";
constexpr std::string_view kIdentity = "Identity";

ir::NodeId add(ir::Edit& edit, const HandedOn& place, std::string_view op, std::span<const ir::Attribute> attributes) {
  ir::NodeSpec spec;
  spec.op = edit.intern(op);
  spec.operands = {&place.value, 1};
  spec.results = {&place.result, 1};
  spec.attributes = attributes;
  return edit.add_node(place.graph, spec, place.before);
}

}  // namespace

ir::NodeId add_identity(ir::Edit& edit, const HandedOn& place) { return add(edit, place, kIdentity, {}); }

ir::NodeId add_cast(ir::Edit& edit, const HandedOn& place, tensor::DType to) {
  const ir::Attribute type = ir::Attribute::of(edit.intern("to"), static_cast<int64_t>(to));
  return add(edit, place, kCast, {&type, 1});
}

const schema::Schema* cast_schema(int64_t version) { return schema::find_schema("", kCast, version); }

void make_identity(ir::Edit& edit, ir::NodeId node) {
  const ir::ValueId from = edit.model()[node].operands[0].value;
  edit.set_op(node, edit.intern(kIdentity));
  edit.set_attributes(node, {});
  edit.set_operands(node, {&from, 1});
}

}  // namespace assay::passes
