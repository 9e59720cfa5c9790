#include <algorithm>

#include "base/parallel.h"
#include "ops/kernels/elements/known_dims.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/kernels/window/convolution.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

constexpr uint64_t kMostProducts = 1 << 22;  // doubles that are kept before they are spread

// One axis the other way round: `in` windows are spread over `out` places.
struct Spread {
  std::vector<int64_t> output_padding;
  std::vector<int64_t> output_shape;  // of the spatial axes; empty: follows from the rest
};

std::vector<int64_t> padding_of(const Node& node, size_t axes) {
  std::vector<int64_t> padding = node.integers("output_padding");
  if (!node.has_attribute("output_padding")) padding.assign(axes, 0);
  const bool fits = padding.size() == axes && std::ranges::all_of(padding, [](int64_t entry) {
                      return entry >= 0 && entry < (int64_t{1} << 31);
                    });
  if (!fits) fail(ErrorCode::shape, "attribute `output_padding` must have {} entries, none negative", axes);
  return padding;
}

// Some models write batch and channels into the attribute too.
std::vector<int64_t> wanted_shape(const Node& node, size_t axes) {
  std::vector<int64_t> shape = node.integers("output_shape");
  if (shape.size() == axes + 2) shape.erase(shape.begin(), shape.begin() + 2);
  if (!shape.empty() && shape.size() != axes) {
    fail(ErrorCode::shape, "attribute `output_shape` has {} entries for {} spatial axes", shape.size(), axes);
  }
  for (const int64_t size : shape) {
    if (size < 0 || size > (int64_t{1} << 31))
      fail(ErrorCode::shape, "attribute `output_shape` has an entry of {}", size);
  }
  return shape;
}

// All that windows reach along an axis, without what the padding takes away.
Dim reach_of(const WindowRules& rules, const Spread& spread, size_t axis, const Dim& in, const Dim& kernel) {
  return Dim(rules.strides[axis]) * (in - Dim(1)) + Dim(spread.output_padding[axis]) +
         (kernel - Dim(1)) * Dim(rules.dilations[axis]) + Dim(1);
}

// SAME takes as much away as makes the result a stride for each element; it never adds anything.
Dim out_dim(const WindowRules& rules, const Spread& spread, size_t axis, const Dim& in, const Dim& kernel) {
  if (!spread.output_shape.empty()) return spread.output_shape[axis];
  const Dim reach = reach_of(rules, spread, axis, in, kernel);
  if (rules.auto_pad == AutoPad::same_upper || rules.auto_pad == AutoPad::same_lower) {
    return min(in * Dim(rules.strides[axis]), reach);
  }
  const size_t axes = rules.strides.size();
  return reach - Dim(rules.pads[axis]) - Dim(rules.pads[axis + axes]);
}

Dims kernel_of(const Infer& node, size_t axes) {
  const std::vector<int64_t> written = node.integers("kernel_shape");
  Dims kernel = written.empty() ? Dims(axes) : dims_of(written);
  if (!written.empty()) check_kernel(written, axes);
  for (size_t i = 0; i < axes && node.is_ranked(1); ++i) {
    kernel[i] = unify(kernel[i], node.dims(1)[i + 2], "kernel sizes of attribute and weights");
    if (kernel[i].is_number()) check_kernel({*kernel[i].number()}, 1);
  }
  return kernel;
}

Dim filters_of(const Infer& node) {
  const int64_t group = node.integer("group");
  if (group < 1) fail(ErrorCode::shape, "attribute `group` is {}", group);
  if (!node.is_ranked(1)) return {};
  const Dim channels =
      node.is_ranked(0) ? unify(node.dims(0)[1], node.dims(1)[0], "channels of input and weights") : node.dims(1)[0];
  if (channels.is_number() && *channels.number() % group != 0) {
    fail(ErrorCode::shape, "group {} does not divide {} channels", group, channels.text());
  }
  const Dim filters = node.dims(1)[1] * Dim(group);
  node.require_rank(2, 1);
  if (node.is_ranked(2)) unify(node.dims(2)[0], filters, "filters and the length of the bias");
  return filters;
}

void infer_conv_transpose(Infer& node) {
  require_spatial(node);
  require_spatial(node, 1);
  if (!node.is_ranked(0)) return;
  node.require_rank(1, node.rank(0));
  const size_t axes = static_cast<size_t>(node.rank(0)) - 2;
  const WindowRules rules = read_window_rules(node, axes);
  const Spread spread{padding_of(node, axes), wanted_shape(node, axes)};
  const Dims kernel = kernel_of(node, axes);
  Dims out = {node.dims(0)[0], filters_of(node)};
  for (size_t i = 0; i < axes; ++i) out.push_back(out_dim(rules, spread, i, node.dims(0)[i + 2], kernel[i]));
  Dims known = node.dims(0);
  known.insert(known.end(), kernel.begin(), kernel.end());
  if (node.is_ranked(1)) known.push_back(node.dims(1)[1]);
  require_known(known, out);
  node.set_dims(0, std::move(out));
}

// The window of the convolution that this is the transpose of: `in` is the output here.
Window window_of(const Eval& node) {
  const Shape& in = node.shape(0);
  const Shape out = node.out_shape(0);
  const size_t axes = in.size() - 2;
  const WindowRules rules = read_window_rules(node, axes);
  const Spread spread{padding_of(node, axes), wanted_shape(node, axes)};
  const bool is_same = rules.auto_pad == AutoPad::same_upper || rules.auto_pad == AutoPad::same_lower;
  Window window(axes);
  for (size_t i = 0; i < axes; ++i) {
    WindowAxis& axis = window[i];
    axis = {out[i + 2],         in[i + 2],     node.shape(1)[i + 2], rules.strides[i],
            rules.dilations[i], rules.pads[i], rules.pads[i + axes]};
    if (spread.output_shape.empty() && !is_same) continue;
    const int64_t reach = reach_of(rules, spread, i, axis.out, axis.kernel).number().value_or(0);
    const int64_t total = std::max<int64_t>(reach - axis.in, 0);
    axis.begin = rules.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
  }
  return window;
}

// Adds, for each tap in ascending order, the products of one filter to the places where the windows put them.
void spread_products(const Window& window, const double* products, uint64_t windows, double* plane) {
  uint64_t taps = 1;
  for (const WindowAxis& axis : window) taps *= static_cast<uint64_t>(axis.kernel);
  for (uint64_t k = 0; k < taps; ++k) {
    for (uint64_t o = 0; o < windows; ++o) {
      uint64_t tap = k;
      uint64_t index = o;
      int64_t place = 0;
      int64_t step = 1;
      bool is_inside = true;
      for (size_t i = window.size(); i-- > 0;) {
        const WindowAxis& axis = window[i];
        const int64_t at = axis.place(static_cast<int64_t>(index % static_cast<uint64_t>(axis.out)),
                                      static_cast<int64_t>(tap % static_cast<uint64_t>(axis.kernel)));
        is_inside = is_inside && at >= 0 && at < axis.in;
        place += at * step;
        step *= axis.in;
        index /= static_cast<uint64_t>(axis.out);
        tap /= static_cast<uint64_t>(axis.kernel);
      }
      if (is_inside) plane[place] += products[k * windows + o];
    }
  }
}

Convolution facts_of(const Eval& node) {
  Convolution what;
  what.window = window_of(node);
  what.batch = static_cast<uint64_t>(node.shape(0)[0]);
  what.groups = static_cast<uint64_t>(node.integer("group"));
  what.channels = static_cast<uint64_t>(node.shape(1)[0]) / what.groups;
  what.filters = static_cast<uint64_t>(node.shape(1)[1]);
  return what;
}

// From [channel, filter, tap] to [filter, tap, channel], all channels of a group together.
std::vector<double> turn_weights(const std::vector<double>& weights, const Convolution& what, uint64_t taps) {
  std::vector<double> turned(weights.size());
  const uint64_t rows = what.filters * taps;
  const uint64_t group = what.channels * rows;
  for (uint64_t i = 0; i < weights.size(); ++i) {
    const uint64_t channel = i % group / rows;
    turned[i / group * group + i % rows * what.channels + channel] = weights[i];
  }
  return turned;
}

class Transposed {
 public:
  explicit Transposed(const Eval& node)
      : what_(facts_of(node)), input_(node.tensor_in(0)), windows_(what_.out_plane()), plane_(what_.in_plane()) {
    for (const WindowAxis& axis : what_.window) taps_ *= static_cast<uint64_t>(axis.kernel);
    weights_ = turn_weights(node.load<double>(1), what_, taps_);
  }

  // Every filter gets, for each tap and window, the sum over the channels; these are then spread over its plane.
  void run(std::vector<double>& out) {
    const uint64_t step = std::max<uint64_t>(kMostProducts / std::max<uint64_t>(taps_ * windows_, 1), 1);
    for (uint64_t group = 0; group < what_.batch * what_.groups; ++group) {
      for (uint64_t first = 0; first < what_.filters; first += step) {
        const uint64_t count = std::min(step, what_.filters - first);
        multiply(group, first, count);
        parallel_for(count, 1, [&](uint64_t f, uint64_t) {
          spread_products(what_.window, products_.data() + f * taps_ * windows_, windows_,
                          out.data() + (group * what_.filters + first + f) * plane_);
        });
      }
    }
  }

 private:
  void multiply(uint64_t group, uint64_t first, uint64_t count) {
    const ProductSize size{count * taps_, windows_, what_.channels};
    products_.resize(size.rows * size.columns);
    const uint64_t row = (group % what_.groups * what_.filters + first) * taps_;
    const uint64_t channel = group * what_.channels;
    matrix_product(
        size,
        [&](uint64_t r, uint64_t begin, std::span<double> to) {
          std::copy_n(weights_.data() + (row + r) * size.depth + begin, to.size(), to.begin());
        },
        [&](uint64_t c, uint64_t begin, std::span<double> to) {
          tensor::load(input_.dtype(), input_.bytes(), (channel + c) * windows_ + begin, to);
        },
        [&](uint64_t r, uint64_t begin, std::span<const double> values) {
          std::ranges::copy(values, products_.begin() + static_cast<ptrdiff_t>(r * windows_ + begin));
        });
  }

  Convolution what_;
  const Tensor& input_;
  uint64_t windows_;
  uint64_t plane_;
  uint64_t taps_ = 1;
  std::vector<double> weights_;
  std::vector<double> products_;
};

void eval_conv_transpose(Eval& node) {
  std::vector<double> out(node.out_count(0));
  if (!out.empty()) {
    Transposed(node).run(out);
    const std::vector<double> bias = node.has(2) ? node.load<double>(2) : std::vector<double>();
    const Shape shape = node.out_shape(0);
    const uint64_t plane = out.size() / static_cast<uint64_t>(shape[0] * shape[1]);
    for (uint64_t i = 0; i < out.size() && !bias.empty(); ++i) out[i] += bias[i / plane % bias.size()];
  }
  node.store(0, std::move(out));
}

Dim macs_of_conv_transpose(const Infer& node) {
  if (!node.is_ranked(0) || !node.is_ranked(1)) return {};
  return product(node.dims(0)) * product(std::span(node.dims(1)).subspan(1));
}

}  // namespace

OperatorRows operator_conv_conv_transpose() {
  static constexpr Operator kRows[] = {
      {.name = "ConvTranspose",
       .traits = {Nature::product, {.product = ProductKind::transposed_convolution, .has_bias = true}},
       .infer = infer_conv_transpose,
       .eval = eval_conv_transpose,
       .macs = macs_of_conv_transpose},
  };
  return kRows;
}

}  // namespace assay::ops
