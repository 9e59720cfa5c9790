#include <algorithm>
#include <array>

#include "tensorflow/import/families/window.h"
#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

// The sizes of weights, in the order that the file has them.
Ints weight_sizes(Site& site, size_t operand, size_t rank) {
  const std::optional<Sizes> sizes = site.build().sizes(site.input(operand));
  if (!sizes || sizes->size() != rank) site.refuse("the shape of its weights is not known, or of another rank");
  Ints known;
  for (const std::optional<int64_t>& size : *sizes) {
    if (!size) site.refuse("the shape of its weights is not known");
    if (*size < 1) fail(ErrorCode::parse, "its weights are empty");
    known.push_back(*size);
  }
  return known;
}

int64_t channels_of(Site& site, ir::ValueId first, int64_t otherwise) {
  const std::optional<Sizes> sizes = site.build().sizes(first);
  return sizes && sizes->size() > 1 && (*sizes)[1] ? *(*sizes)[1] : otherwise;
}

struct Convolution {
  Window window;
  ir::ValueId input;    // channels first
  ir::ValueId weights;  // in the order of ONNX
  int64_t groups = 1;
};

void finish(Site& site, const Convolution& made, std::optional<size_t> bias) {
  NamedAttributes attributes = made.window.attributes();
  if (made.groups != 1) attributes.emplace_back("group", made.groups);
  add_padding(site, made.window, made.input, attributes);
  Values operands = {made.input, made.weights};
  if (bias && site.has(*bias)) operands.push_back(site.input(*bias));
  const ir::ValueId result = site.add("Conv", operands, attributes);
  site.give(0, site.activated(leave_window(site, made.window, result)));
}

// Weights [spatial..., in, out]; in TFLite [out, spatial..., in].
void make_convolution(Site& site, size_t spatial) {
  const Ints sizes = weight_sizes(site, 1, spatial + 2);
  Convolution made{.window = window_of(site, spatial), .input = {}, .weights = {}};
  made.input = enter_window(site, made.window, site.input(0));
  const bool is_lite = site.is_lite() && spatial == 2;
  const auto begin = sizes.begin() + (is_lite ? 1 : 0);
  made.window.kernel = {begin, begin + static_cast<ptrdiff_t>(spatial)};
  const auto last = static_cast<int64_t>(spatial) + 1;
  Ints order = is_lite ? Ints{0, last} : Ints{last, last - 1};
  for (size_t i = 0; i < spatial; ++i) order.push_back(static_cast<int64_t>(i) + (is_lite ? 1 : 0));
  made.weights = site.weights(1, order);
  const int64_t taken = sizes[static_cast<size_t>(order[1])];
  made.groups = std::max<int64_t>(channels_of(site, made.input, taken) / taken, 1);
  finish(site, made, 2);
}

void make_conv2d(Site& site) { make_convolution(site, 2); }
void make_conv3d(Site& site) { make_convolution(site, 3); }

// Weights [height, width, in, multiplier]; in TFLite [1, height, width, in * multiplier].
void make_depthwise(Site& site) {
  const Ints sizes = weight_sizes(site, 1, 4);
  Convolution made{.window = window_of(site, 2), .input = {}, .weights = {}};
  made.input = enter_window(site, made.window, site.input(0));
  if (site.is_lite()) {
    made.window.kernel = {sizes[1], sizes[2]};
    made.weights = site.weights(1, {3, 0, 1, 2});
    const int64_t multiplier = std::max<int64_t>(site.attribute("depth_multiplier", 1), 1);
    made.groups = channels_of(site, made.input, std::max<int64_t>(sizes[3] / multiplier, 1));
  } else {
    made.window.kernel = {sizes[0], sizes[1]};
    const ir::ValueId moved = site.build().transpose(site.input(1), {2, 3, 0, 1});
    made.weights = site.build().reshape(moved, {sizes[2] * sizes[3], 1, sizes[0], sizes[1]});
    made.groups = sizes[2];
  }
  finish(site, made, 2);
}

// The padding that makes an output of this size, of which the forward convolution would have made the input.
void add_transposed_padding(Site& site, const Convolution& made, const std::optional<Ints>& wanted,
                            NamedAttributes& attributes) {
  const size_t spatial = made.window.spatial;
  const std::optional<Sizes> sizes = site.build().sizes(made.input);
  const bool is_same = site.text("padding", "VALID") == "SAME";
  Ints pads(2 * spatial);
  Ints more(spatial);
  for (size_t i = 0; i < spatial; ++i) {
    const int64_t stride = made.window.strides[i];
    const int64_t reach = (made.window.kernel[i] - 1) * made.window.dilations[i] + 1;
    const std::optional<int64_t> size = sizes && sizes->size() == spatial + 2 ? (*sizes)[i + 2] : std::nullopt;
    int64_t total = is_same ? reach - stride : std::min<int64_t>(reach - stride, 0);
    if (size && wanted) total = (*size - 1) * stride + reach - (*wanted)[i];
    more[i] = std::max<int64_t>(-total, 0);
    pads[i] = std::max<int64_t>(total, 0) / 2;
    pads[i + spatial] = std::max<int64_t>(total, 0) - pads[i];
  }
  attributes.emplace_back("pads", pads);
  if (std::ranges::any_of(more, [](int64_t each) { return each != 0; }))
    attributes.emplace_back("output_padding", more);
}

// Operands: sizes of the output, weights [height, width, out, in] or in TFLite [out, height, width, in], input, bias.
void make_transposed_convolution(Site& site) {
  const Ints sizes = weight_sizes(site, 1, 4);
  Convolution made{.window = window_of(site, 2), .input = {}, .weights = {}};
  made.input = enter_window(site, made.window, site.input(2));
  const size_t begin = site.is_lite() ? 1 : 0;
  made.window.kernel = {sizes[begin], sizes[begin + 1]};
  made.weights = site.weights(1, site.is_lite() ? Ints{3, 0, 1, 2} : Ints{3, 2, 0, 1});
  if (site.text("padding", "VALID") == "EXPLICIT") site.refuse("its explicit padding is not imported");
  std::optional<Ints> wanted;
  const std::optional<Sizes> given = site.build().partly_known_integers(site.input(0));
  const size_t place = made.window.is_first ? 2 : 1;
  if (given && given->size() == 4 && (*given)[place] && (*given)[place + 1]) {
    wanted = Ints{*(*given)[place], *(*given)[place + 1]};
  }
  NamedAttributes attributes = made.window.attributes();
  add_transposed_padding(site, made, wanted, attributes);
  Values operands = {made.input, made.weights};
  if (site.has(3)) operands.push_back(site.input(3));
  const ir::ValueId result = site.add("ConvTranspose", operands, attributes);
  site.give(0, site.activated(leave_window(site, made.window, result)));
}

constexpr std::array kConvolutionRows = {
    Maker{"Conv2D", "CONV_2D", make_conv2d},
    Maker{"Conv2DBackpropInput", "TRANSPOSE_CONV", make_transposed_convolution},
    Maker{"Conv3D", "CONV_3D", make_conv3d},
    Maker{"DepthwiseConv2dNative", "DEPTHWISE_CONV_2D", make_depthwise},
};

}  // namespace

Makers convolution_makers() { return kConvolutionRows; }

}  // namespace assay::tensorflow
