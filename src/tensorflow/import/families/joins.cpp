#include <array>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

constexpr int64_t kMostParts = 1 << 16;

void concatenate(Site& site, Values parts, int64_t axis) {
  if (parts.size() == 1) return site.give(0, site.activated(parts.front()));
  site.give(0, site.activated(site.add("Concat", std::move(parts), {{"axis", axis}})));
}

// The axis stands first, or last, or is an option.
void make_concat_first(Site& site) {
  const Values all = site.inputs();
  concatenate(site, Values(all.begin() + 1, all.end()), site.integer(0, "axis"));
}

void make_concat(Site& site) {
  Values all = site.inputs();
  if (site.is_lite()) return concatenate(site, std::move(all), site.attribute("axis", 0));
  const int64_t axis = site.integer(all.size() - 1, "axis");
  all.pop_back();
  concatenate(site, std::move(all), axis);
}

void split(Site& site, ir::ValueId value, int64_t axis, const std::optional<Ints>& sizes, int64_t count) {
  if (count < 1 || count > kMostParts) fail(ErrorCode::parse, "it splits into {} parts", count);
  NodeRequest request{"Split", {value}, {{"axis", axis}}};
  if (sizes) {
    request.operands.push_back(site.build().integers(*sizes));
  } else {
    request.attributes.emplace_back("num_outputs", count);
  }
  const Values parts = site.build().add_many(request, static_cast<size_t>(count));
  for (size_t i = 0; i < parts.size(); ++i) site.give(i, parts[i]);
}

void make_split(Site& site) {
  split(site, site.input(1), site.integer(0, "axis"), std::nullopt, site.attribute("num_split", 1));
}

// One size may be -1: the rest.
void make_split_v(Site& site) {
  Ints sizes = site.integers(1, "sizes of parts");
  const int64_t axis = site.integer(2, "axis");
  const std::optional<Sizes> whole = site.build().sizes(site.input(0));
  int64_t rest = 0;
  if (whole) rest = (*whole)[static_cast<size_t>(site.axis(axis, whole->size()))].value_or(0);
  for (const int64_t size : sizes) rest -= size < 0 ? 0 : size;
  for (int64_t& size : sizes) {
    if (size >= 0) continue;
    if (rest < 0 || !whole) site.refuse("the size of the dimension that it splits is not known");
    size = rest;
  }
  split(site, site.input(0), axis, sizes, static_cast<int64_t>(sizes.size()));
}

void make_pack(Site& site) {
  const int64_t axis = site.attribute("axis", 0);
  Values parts;
  for (const ir::ValueId value : site.inputs()) {
    parts.push_back(site.add("Unsqueeze", {value, site.build().integers({axis})}));
  }
  concatenate(site, std::move(parts), axis);
}

void make_unpack(Site& site) {
  const int64_t axis = site.attribute("axis", 0);
  const int64_t count = site.attribute("num", 0);
  if (count < 1 || count > kMostParts) fail(ErrorCode::parse, "it splits into {} parts", count);
  for (int64_t i = 0; i < count; ++i) {
    const ir::ValueId part = site.add("Gather", {site.input(0), site.build().integer(i)}, {{"axis", axis}});
    site.give(static_cast<size_t>(i), part);
  }
}

constexpr std::array kJoinRows = {
    Maker{"Concat", "", make_concat_first},   Maker{"ConcatV2", "CONCATENATION", make_concat},
    Maker{"Pack", "PACK", make_pack},         Maker{"Split", "SPLIT", make_split},
    Maker{"SplitV", "SPLIT_V", make_split_v}, Maker{"Unpack", "UNPACK", make_unpack},
};

}  // namespace

Makers join_makers() { return kJoinRows; }

}  // namespace assay::tensorflow
