#include "convert/precision/clip_casts.h"

#include <cmath>
#include <limits>
#include <optional>

#include <fmt/format.h>

#include "convert/precision/float_values.h"
#include "convert/precision/half_kernels.h"
#include "ir/naming.h"
#include "schema/imports.h"
#include "schema/schema.h"
#include "tensor/casts.h"

namespace assay::convert {
namespace {

using tensor::DType;

// The greatest number of a float type that numbers are cut to; nothing: of no other.
std::optional<double> greatest(DType dtype) {
  if (dtype == DType::float32) return std::numeric_limits<float>::max();
  if (dtype == DType::float16 || dtype == DType::bfloat16) return largest_half(dtype);
  return std::nullopt;
}

// The number of type `from` next to `bound` that is not beyond it.
double bound_in(DType from, double bound) {
  constexpr double kStep = 1.0 / 256;  // of bfloat16
  return from == DType::bfloat16 ? bound * (1 - kStep) : bound;
}

class CastClipper {
 public:
  CastClipper(const ir::Model& model, ir::Rewriter& rewriter, const FloatModel& floats)
      : model_(model), rewriter_(rewriter), floats_(floats), clip_(find_clip()) {}

  // Clips a Cast. Returns the reason for leaving it as it is; empty: it was clipped.
  std::string clip(ir::NodeId cast) {
    const ops::Callee& callee = floats_.callees[cast];
    const ir::Node& node = model_[cast];
    const bool is_cast = callee.schema && !callee.function && callee.schema->domain.empty() &&
                         callee.schema->name == "Cast" && !node.results.empty() && node.results[0];
    if (!is_cast) return "it is no Cast";
    const DType from = floats_.dtypes[node.operands[0].value.index];
    const DType to = floats_.dtypes[node.results[0].index];
    const std::optional<double> bound = greatest(to);
    if (!bound) return fmt::format("numbers are not cut to the range of {}", tensor::name(to));
    if (from == DType::undefined) return "the type of what it casts is not known";
    if (!can_overflow(from, *bound))
      return fmt::format("{} holds every number of {}", tensor::name(to), tensor::name(from));
    if (!clip_ || (clip_->inputs[0].types.tensors & schema::set_of(from)) == 0)
      return fmt::format("the model's operator set has no Clip of {}", tensor::name(from));
    if (!rewriter_.commit("clip what is cast to 16 bits", patch(cast, from, bound_in(from, *bound))))
      return "it comes after the last step";
    return {};
  }

 private:
  const schema::Schema* find_clip() const {
    const int64_t version = schema::imported_version(model_);
    return version == 0 ? nullptr : schema::find_schema("", "Clip", version);
  }

  static bool can_overflow(DType from, double bound) {
    if (tensor::is_integer(from)) return std::ldexp(1.0, static_cast<int>(tensor::bit_width(from))) - 1 > bound;
    if (from == DType::float64) return true;
    const std::optional<double> own = greatest(from);
    return own && *own > bound;
  }

  static tensor::Tensor scalar(DType dtype, double number) {
    std::vector<std::byte> bytes((tensor::bit_width(dtype) + 7) / 8);
    tensor::store(dtype, std::span<const double>(&number, 1), 0, bytes);
    return tensor::make_tensor<std::byte>(dtype, {}, bytes);
  }

  std::string name_for(ir::NodeId cast, std::string_view what) const {
    return fmt::format("{}_{}", ir::known_name(model_, cast), what);
  }

  ir::Patch patch(ir::NodeId cast, DType from, double bound) {
    const ir::ValueId source = model_[cast].operands[0].value;
    ir::Patch patch;
    ir::PatchNode node{.op = "Clip",
                       .name = model_.text(ir::fresh_name(rewriter_.edit(), name_for(cast, "clip"))),
                       .operands = {source},
                       .result_types = {model_[source].type}};
    const bool is_unsigned = tensor::kind(from) == tensor::DTypeKind::unsigned_integer;
    const double least = is_unsigned ? 0 : -bound;
    if (clip_->inputs.size() > 1) {
      node.operands.push_back(patch.add_constant(scalar(from, least), name_for(cast, "least")));
      node.operands.push_back(patch.add_constant(scalar(from, bound), name_for(cast, "greatest")));
    } else {
      ir::Edit& edit = rewriter_.edit();
      node.attributes.push_back(ir::Attribute::of(edit.intern("min"), static_cast<float>(least)));
      node.attributes.push_back(ir::Attribute::of(edit.intern("max"), static_cast<float>(bound)));
    }
    patch.set_operand(cast, 0, patch.add(std::move(node)));
    patch.insert_before(cast);
    return patch;
  }

  const ir::Model& model_;
  ir::Rewriter& rewriter_;
  const FloatModel& floats_;
  const schema::Schema* clip_;
};

}  // namespace

std::vector<Layer> clip_casts(ir::Model& model, ir::Rewriter& rewriter, const std::vector<std::string>& names,
                              Diagnostics& findings) {
  std::vector<Layer> layers;
  const FloatModel floats(model, DType::float16);
  const std::vector<bool> named = match::named_nodes(model, floats.nodes, names, findings);
  CastClipper clipper(model, rewriter, floats);
  for (const ir::NodeId node : floats.nodes) {
    if (named[node.index]) layers.push_back(make_layer(model, node, clipper.clip(node)));
  }
  return layers;
}

}  // namespace assay::convert
