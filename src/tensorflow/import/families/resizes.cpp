#include <array>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

// The size of the result with channels first: batch and channels stay.
ir::ValueId resized_sizes(Site& site, ir::ValueId first) {
  const std::optional<Sizes> before = site.build().sizes(first);
  const std::optional<Ints> wanted = site.build().known_integers(site.input(1));
  if (before && before->size() == 4 && (*before)[0] && (*before)[1] && wanted && wanted->size() == 2) {
    return site.build().integers({*(*before)[0], *(*before)[1], (*wanted)[0], (*wanted)[1]});
  }
  const ir::ValueId kept = site.add("Shape", {first}, {{"start", int64_t{0}}, {"end", int64_t{2}}});
  return site.add("Concat", {kept, site.build().as_int64(site.input(1))}, {{"axis", int64_t{0}}});
}

// The place of the center of a pixel of the result in the input.
std::string coordinates(const Site& site) {
  if (site.attribute("align_corners", 0) != 0) return "align_corners";
  return site.attribute("half_pixel_centers", 0) != 0 ? "half_pixel" : "asymmetric";
}

void resize(Site& site, NamedAttributes attributes) {
  attributes.emplace_back("coordinate_transformation_mode", coordinates(site));
  const ir::ValueId first = site.build().channels_first(site.input(0));
  const ir::ValueId result = site.add("Resize", {first, {}, {}, resized_sizes(site, first)}, attributes);
  site.give(0, site.build().channels_last(result));
}

void make_bilinear(Site& site) { resize(site, {{"mode", std::string("linear")}}); }

void make_nearest(Site& site) {
  const std::string rounding = coordinates(site) == "asymmetric" ? "floor" : "round_prefer_ceil";
  resize(site, {{"mode", std::string("nearest")}, {"nearest_mode", rounding}});
}

void make_bicubic(Site& site) {
  const bool is_half = site.attribute("half_pixel_centers", 0) != 0;
  NamedAttributes attributes = {{"mode", std::string("cubic")}, {"cubic_coeff_a", is_half ? -0.5F : -0.75F}};
  if (is_half) attributes.emplace_back("exclude_outside", int64_t{1});
  resize(site, std::move(attributes));
}

constexpr std::array kResizeRows = {
    Maker{"ResizeBicubic", "", make_bicubic},
    Maker{"ResizeBilinear", "RESIZE_BILINEAR", make_bilinear},
    Maker{"ResizeNearestNeighbor", "RESIZE_NEAREST_NEIGHBOR", make_nearest},
};

}  // namespace

Makers resize_makers() { return kResizeRows; }

}  // namespace assay::tensorflow
