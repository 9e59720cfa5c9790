#include "engine/program/profile.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "tensor/convert.h"
#include "tensor/elements.h"

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

// The bounds of an input's elements, if these are bounded: as they were asked for.
tensor::Shape bounded_values(const Bound& bound, const exec::Port& input, tensor::Shape before) {
  const exec::InputShape* const asked = find_shape(bound, input.name);
  if (asked == nullptr) return before;
  const exec::PortType& type = *input.type;
  const std::optional<int64_t> declared = type.dims.empty() ? 1 : type.dims[0].size;
  const auto count = static_cast<int64_t>(asked->dims.size());
  if (type.ranked && declared && *declared != count) {
    refuse(bound, fmt::format("input `{}` decides shapes and has {} elements, the profile gives {}",
                              printable(input.name), *declared, count));
  }
  if (std::ranges::any_of(asked->dims, [](int64_t element) { return element < 0; })) {
    refuse(bound, fmt::format("input `{}`: the profile gives an element below 0", printable(input.name)));
  }
  return asked->dims;
}

// The bound for this input: what was asked for, over what the model or the bound before says.
tensor::Shape bounded(const Bound& bound, const exec::Port& input, tensor::Shape before) {
  if (input.is_shape) return bounded_values(bound, input, std::move(before));
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

// The part of a tensor that the range bounds: its shape or its elements.
tensor::Shape bounded_part(const ShapeRange& range, const tensor::Tensor& value) {
  return range.is_values ? tensor::load_elements<int64_t>(tensor::converted(value, tensor::DType::int64))
                         : value.shape();
}

// The way in which the feeds are outside; nullopt: they are not.
std::optional<std::string> find_misfit(const Profile& profile, std::string_view which,
                                       std::span<const exec::Feed> feeds) {
  for (const exec::Feed& feed : feeds) {
    const auto range = std::ranges::find(profile, feed.name, &ShapeRange::input);
    if (range == profile.end() || !feed.value.is_tensor()) continue;
    const tensor::Shape found = bounded_part(*range, feed.value.tensor());
    bool fits = found.size() == range->least.size();
    for (size_t i = 0; fits && i < found.size(); ++i) fits = range->least[i] <= found[i] && found[i] <= range->most[i];
    if (fits) continue;
    return fmt::format("input `{}`: the {} {} is outside {}, {} to {}", printable(feed.name),
                       range->is_values ? "value" : "shape", shape_text(found), which, shape_text(range->least),
                       shape_text(range->most));
  }
  return std::nullopt;
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
    ShapeRange range{
        .input = input.name, .is_values = input.is_shape, .least = bounded(least, input, open), .best = {}, .most = {}};
    const bool has_least = find_shape(least, input.name) != nullptr;
    const bool has_middle = has_least || find_shape(best, input.name) != nullptr;
    if (input.is_shape && !has_least) range.least = bounded(has_middle ? best : most, input, open);
    range.best = has_middle ? bounded(best, input, range.least) : bounded(most, input, range.least);
    range.most = bounded(most, input, range.best);
    check_order(range, "least", range.least, best, range.best);
    check_order(range, "best", range.best, most, range.most);
    profile.push_back(std::move(range));
  }
  return profile;
}

std::vector<Profile> make_profiles(const exec::Signature& signature, std::span<const ProfileShapes> shapes) {
  std::vector<Profile> profiles;
  for (const ProfileShapes& asked : shapes) profiles.push_back(make_profile(signature, asked));
  if (profiles.empty()) profiles.emplace_back();
  return profiles;
}

void check_feeds(std::span<const Profile> profiles, std::optional<size_t> chosen, std::span<const exec::Feed> feeds) {
  if (chosen || profiles.size() == 1) {
    const size_t number = chosen.value_or(0);
    const std::string which = profiles.size() == 1 ? "the profile" : fmt::format("profile {}", number);
    if (const auto misfit = find_misfit(profiles[number], which, feeds)) fail(ErrorCode::usage, "{}", *misfit);
    return;
  }
  std::vector<std::string> misfits;
  for (size_t i = 0; i < profiles.size(); ++i) {
    std::optional<std::string> misfit = find_misfit(profiles[i], fmt::format("profile {}", i), feeds);
    if (!misfit) return;
    misfits.push_back(std::move(*misfit));
  }
  fail(ErrorCode::usage, "no profile takes the inputs: {}", join(misfits, "; "));
}

}  // namespace assay::engine
