#include "engine/profile.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"

namespace assay::engine {
namespace {

// A bound of the profile, by the name of its setting.
struct Bound {
  std::string_view setting;
  const std::vector<exec::InputShape>& shapes;
};

[[noreturn]] void refuse(const Bound& bound, const std::string& message) {
  throw Error(ErrorCode::usage, message).about(std::string(bound.setting));
}

const exec::InputShape* find_shape(const Bound& bound, std::string_view input) {
  const exec::InputShape* found = nullptr;
  for (const exec::InputShape& shape : bound.shapes) {
    if (shape.pattern == input || matches_glob(shape.pattern, input)) found = &shape;
  }
  return found;
}

std::string shape_text(const tensor::Shape& shape) { return fmt::format("[{}]", fmt::join(shape, ",")); }

// The bound for this input: what was asked for, over what the model or the bound before says.
tensor::Shape bounded(const Bound& bound, const exec::Port& input, tensor::Shape before) {
  const exec::InputShape* const asked = find_shape(bound, input.name);
  if (asked == nullptr) return before;
  const exec::PortType& type = *input.type;
  if (type.ranked && asked->dims.size() != type.dims.size()) {
    refuse(bound, fmt::format("input `{}` has {} dims, the profile gives {}", printable(input.name), type.dims.size(),
                              asked->dims.size()));
  }
  before.resize(asked->dims.size(), 1);
  for (size_t i = 0; i < asked->dims.size(); ++i) {
    if (asked->dims[i] < 0) continue;
    const std::optional<int64_t> fixed = type.ranked ? type.dims[i].size : std::nullopt;
    if (fixed && *fixed != asked->dims[i]) {
      refuse(bound, fmt::format("input `{}`: the model fixes dim {} at {}, the profile asks for {}",
                                printable(input.name), i, *fixed, asked->dims[i]));
    }
    before[i] = asked->dims[i];
  }
  return before;
}

void check_order(const ShapeRange& range, std::string_view low, const tensor::Shape& least, const Bound& high,
                 const tensor::Shape& most) {
  bool is_ordered = least.size() == most.size();
  for (size_t i = 0; is_ordered && i < least.size(); ++i) is_ordered = least[i] <= most[i];
  if (is_ordered) return;
  refuse(high, fmt::format("input `{}`: the {} shape {} is beyond {}", printable(range.input), low, shape_text(least),
                           shape_text(most)));
}

void check_names(const exec::Signature& signature, const Bound& bound) {
  std::vector<std::string> names;
  for (const exec::Port& input : signature.inputs) names.push_back(input.name);
  for (const exec::InputShape& shape : bound.shapes) {
    const auto fits = [&](const std::string& name) {
      return name == shape.pattern || matches_glob(shape.pattern, name);
    };
    if (std::ranges::any_of(names, fits)) continue;
    const std::optional<std::string> near = did_you_mean(shape.pattern, names);
    refuse(bound, fmt::format("the model has no input `{}`{}", printable(shape.pattern),
                              near ? fmt::format("; did you mean `{}`?", printable(*near)) : ""));
  }
}

bool is_tensor(const exec::Port& input) { return input.type && input.type->kind == ir::TypeKind::tensor; }

}  // namespace

Profile make_profile(const exec::Signature& signature, const ProfileShapes& shapes) {
  const Bound least{"trt_min_shapes", shapes.least};
  const Bound best{"trt_opt_shapes", shapes.best};
  const Bound most{"trt_max_shapes", shapes.most};
  for (const Bound* bound : {&least, &best, &most}) check_names(signature, *bound);
  Profile profile;
  for (const exec::Port& input : signature.inputs) {
    const bool is_named = std::ranges::any_of(std::array{&least, &best, &most}, [&](const Bound* bound) {
      return find_shape(*bound, input.name) != nullptr;
    });
    if (!is_named) continue;
    if (!is_tensor(input)) {
      refuse(best, fmt::format("input `{}` is no tensor and has no shape", printable(input.name)));
    }
    tensor::Shape open;
    for (const exec::PortDim& dim : input.type->dims) open.push_back(dim.size.value_or(1));
    ShapeRange range{.input = input.name, .least = bounded(least, input, open), .best = {}, .most = {}};
    const bool has_middle = find_shape(best, input.name) != nullptr || find_shape(least, input.name) != nullptr;
    range.best = has_middle ? bounded(best, input, range.least) : bounded(most, input, range.least);
    range.most = bounded(most, input, range.best);
    check_order(range, "least", range.least, best, range.best);
    check_order(range, "best", range.best, most, range.most);
    profile.push_back(std::move(range));
  }
  return profile;
}

void check_shape(const Profile& profile, std::string_view input, const tensor::Shape& shape) {
  const auto range = std::ranges::find(profile, input, &ShapeRange::input);
  if (range == profile.end()) return;
  bool fits = shape.size() == range->least.size();
  for (size_t i = 0; fits && i < shape.size(); ++i) fits = range->least[i] <= shape[i] && shape[i] <= range->most[i];
  if (fits) return;
  fail(ErrorCode::usage, "input `{}`: the shape {} is outside the profile, {} to {}", printable(input),
       shape_text(shape), shape_text(range->least), shape_text(range->most));
}

}  // namespace assay::engine
