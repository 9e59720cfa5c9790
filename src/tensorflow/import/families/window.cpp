#include "tensorflow/import/families/window.h"

#include <algorithm>
#include <array>

namespace assay::tensorflow {
namespace {

constexpr std::array<std::string_view, 3> kEndings = {"_d", "_h", "_w"};

// The numbers of an attribute for the dimensions between batch and channels: TensorFlow lists all dimensions, TFLite
// has an option for each.
Ints spatial_numbers(Site& site, const Window& window, const std::string& list, const std::string& option) {
  const Ints given = site.list(list);
  if (!given.empty()) {
    if (given.size() != window.spatial + 2) fail(ErrorCode::parse, "`{}` has {} items", list, given.size());
    const auto begin = given.begin() + (window.is_first ? 2 : 1);
    return {begin, begin + static_cast<ptrdiff_t>(window.spatial)};
  }
  Ints found;
  for (size_t i = kEndings.size() - window.spatial; i < kEndings.size(); ++i) {
    found.push_back(site.attribute(option + std::string(kEndings[i]), 1));
  }
  return found;
}

Ints explicit_pads(Site& site, const Window& window) {
  const Ints given = site.list("explicit_paddings");
  if (given.size() != 2 * (window.spatial + 2)) {
    fail(ErrorCode::parse, "`explicit_paddings` has {} items", given.size());
  }
  Ints pads(2 * window.spatial);
  for (size_t i = 0; i < window.spatial; ++i) {
    const size_t dim = i + (window.is_first ? 2 : 1);
    pads[i] = given[2 * dim];
    pads[i + window.spatial] = given[2 * dim + 1];
  }
  return pads;
}

// SAME: as many outputs as steps fit into the input, and the rest of the padding at the end.
std::optional<Ints> same_pads(Site& site, const Window& window, ir::ValueId input) {
  const std::optional<Sizes> sizes = site.build().sizes(input);
  if (!sizes || sizes->size() != window.spatial + 2) return std::nullopt;
  Ints pads(2 * window.spatial);
  for (size_t i = 0; i < window.spatial; ++i) {
    const std::optional<int64_t> size = (*sizes)[i + 2];
    if (!size) return std::nullopt;
    const int64_t steps = (*size + window.strides[i] - 1) / window.strides[i];
    const int64_t reach = (window.kernel[i] - 1) * window.dilations[i] + 1;
    const int64_t total = std::max<int64_t>((steps - 1) * window.strides[i] + reach - *size, 0);
    pads[i] = total / 2;
    pads[i + window.spatial] = total - total / 2;
  }
  return pads;
}

}  // namespace

NamedAttributes Window::attributes() const {
  NamedAttributes made = {{"kernel_shape", kernel}, {"strides", strides}};
  if (std::ranges::any_of(dilations, [](int64_t each) { return each != 1; })) made.emplace_back("dilations", dilations);
  return made;
}

Window window_of(Site& site, size_t spatial) {
  Window window{.spatial = spatial, .is_first = site.text("data_format", "NHWC").starts_with("NC")};
  window.strides = spatial_numbers(site, window, "strides", "stride");
  window.dilations = spatial_numbers(site, window, "dilations", "dilation");
  window.kernel = spatial_numbers(site, window, "ksize", "filter");
  for (const Ints* numbers : {&window.strides, &window.dilations, &window.kernel}) {
    constexpr int64_t kMost = int64_t{1} << 24;
    const auto is_odd = [](int64_t each) { return each < 1 || each > kMost; };
    if (std::ranges::any_of(*numbers, is_odd)) fail(ErrorCode::parse, "a window has no size, or no steps");
  }
  return window;
}

void add_padding(Site& site, const Window& window, ir::ValueId input, NamedAttributes& attributes) {
  const std::string padding = site.text("padding", "VALID");
  if (padding == "VALID") return;
  if (padding == "EXPLICIT") return attributes.emplace_back("pads", explicit_pads(site, window)), void();
  if (padding != "SAME") site.refuse("its padding is not imported");
  if (const std::optional<Ints> pads = same_pads(site, window, input)) {
    attributes.emplace_back("pads", *pads);
  } else {
    attributes.emplace_back("auto_pad", std::string("SAME_UPPER"));
  }
}

ir::ValueId enter_window(Site& site, const Window& window, ir::ValueId value) {
  return window.is_first ? value : site.build().channels_first(value);
}

ir::ValueId leave_window(Site& site, const Window& window, ir::ValueId value) {
  return window.is_first ? value : site.build().channels_last(value);
}

}  // namespace assay::tensorflow
