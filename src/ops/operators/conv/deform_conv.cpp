#include <algorithm>
#include <cmath>

#include "base/parallel.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/kernels/window/convolution.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void check_side_input(const Infer& node, uint32_t input, const Dim& channels, const Dims& out) {
  if (!node.is_ranked(input)) return;
  node.require_rank(input, static_cast<int64_t>(out.size()));
  const Dims& dims = node.dims(input);
  unify(dims[0], out[0], "batch sizes");
  unify(dims[1], channels, "channels of offsets or mask and what the kernel asks for");
  for (size_t i = 2; i < out.size(); ++i) unify(dims[i], out[i], "dims of offsets or mask and of the output");
}

void infer_deform_conv(Infer& node) {
  infer_convolution(node, 1, 3);
  const int64_t groups = node.integer("offset_group");
  if (groups < 1) fail(ErrorCode::shape, "attribute `offset_group` is {}", groups);
  if (!node.is_ranked(0) || !node.is_ranked(1)) return;
  const Dim& channels = node.dims(0)[1];
  if (channels.is_number() && *channels.number() % groups != 0) {
    fail(ErrorCode::shape, "offset_group {} does not divide {} channels", groups, channels.text());
  }
  const Dims out = *node.output(0).type.dims;
  const Dim taps = Dim(groups) * product(spatial(node.dims(1)));
  check_side_input(node, 2, taps * Dim(node.rank(0) - 2), out);
  check_side_input(node, 4, taps, out);
}

// The value between the elements of a plane: linear along every axis, zero beyond the border.
double interpolate(const double* plane, const Window& window, const std::vector<double>& at) {
  double sum = 0;
  for (uint64_t corner = 0; corner < uint64_t{1} << window.size(); ++corner) {
    double weight = 1;
    int64_t place = 0;
    bool is_inside = true;
    for (size_t i = 0; i < window.size(); ++i) {
      const double low = std::floor(at[i]);
      const bool is_high = (corner >> (window.size() - 1 - i) & 1) != 0;
      const double index = is_high ? low + 1 : low;
      is_inside = is_inside && index >= 0 && index < static_cast<double>(window[i].in);
      weight *= is_high ? at[i] - low : 1 - (at[i] - low);
      place = place * window[i].in + (is_inside ? static_cast<int64_t>(index) : 0);
    }
    if (is_inside) sum += weight * plane[place];
  }
  return sum;
}

class Deformed {
 public:
  explicit Deformed(Eval& node)
      : what_(read_convolution(node, 1)),
        input_(node.load<double>(0)),
        offsets_(node.load<double>(2)),
        mask_(node.has(4) ? node.load<double>(4) : std::vector<double>()),
        offset_groups_(static_cast<uint64_t>(node.integer("offset_group"))),
        kernel_(what_.taps() / std::max<uint64_t>(what_.channels, 1)) {}

  const Convolution& what() const { return what_; }

  // One group of an image as the matrix of what each weight is multiplied with in each window.
  std::vector<double> patches(uint64_t group) const {
    std::vector<double> matrix(what_.taps() * what_.out_plane());
    const uint64_t image = group / what_.groups;
    parallel_for(what_.taps(), 1, [&](uint64_t row, uint64_t) {
      const uint64_t channel = group % what_.groups * what_.channels + row / kernel_;
      fill_row(image, channel, row % kernel_, matrix.data() + row * what_.out_plane());
    });
    return matrix;
  }

 private:
  void fill_row(uint64_t image, uint64_t channel, uint64_t tap, double* row) const {
    const Window& window = what_.window;
    const uint64_t channels = what_.groups * what_.channels;
    const double* plane = input_.data() + (image * channels + channel) * what_.in_plane();
    const uint64_t offset_group = channel / (channels / offset_groups_);
    const uint64_t side = ((image * offset_groups_ + offset_group) * kernel_ + tap) * what_.out_plane();
    std::vector<double> at(window.size());
    for (uint64_t o = 0; o < what_.out_plane(); ++o) {
      uint64_t index = o;
      uint64_t k = tap;
      for (size_t i = window.size(); i-- > 0;) {
        const uint64_t base = side * window.size() - tap * what_.out_plane() * window.size() +
                              (tap * window.size() + i) * what_.out_plane();
        at[i] =
            static_cast<double>(window[i].place(static_cast<int64_t>(index % static_cast<uint64_t>(window[i].out)),
                                                static_cast<int64_t>(k % static_cast<uint64_t>(window[i].kernel)))) +
            offsets_[base + o];
        index /= static_cast<uint64_t>(window[i].out);
        k /= static_cast<uint64_t>(window[i].kernel);
      }
      row[o] = interpolate(plane, window, at) * (mask_.empty() ? 1 : mask_[side + o]);
    }
  }

  Convolution what_;
  std::vector<double> input_, offsets_, mask_;
  uint64_t offset_groups_;
  uint64_t kernel_;
};

void eval_deform_conv(Eval& node) {
  const Deformed deformed(node);
  const Convolution& what = deformed.what();
  const std::vector<double> weights = node.load<double>(1);
  const uint64_t filters = what.groups * what.filters;
  const std::vector<double> bias = node.has(3) ? node.load<double>(3) : std::vector<double>(filters);
  const ProductSize size{what.filters, what.out_plane(), what.taps()};
  std::vector<double> out(node.out_count(0));
  for (uint64_t group = 0; group < what.batch * what.groups && !out.empty(); ++group) {
    const std::vector<double> patches = deformed.patches(group);
    const uint64_t filter = group % what.groups * what.filters;
    matrix_product(
        size,
        [&](uint64_t row, uint64_t begin, std::span<double> to) {
          std::copy_n(weights.data() + (filter + row) * size.depth + begin, to.size(), to.begin());
        },
        [&](uint64_t row, uint64_t begin, std::span<double> to) {
          std::copy_n(patches.data() + row * size.columns + begin, to.size(), to.begin());
        },
        [&](uint64_t row, uint64_t begin, std::span<const double> values) {
          double* to = out.data() + (group * what.filters + row) * size.columns + begin;
          for (const double value : values) *to++ = value + bias[filter + row];
        });
  }
  node.store(0, std::move(out));
}

}  // namespace

OperatorRows operator_conv_deform_conv() {
  static constexpr Operator kRows[] = {
      {.name = "DeformConv",
       .since = 19,
       .traits = {Nature::product},
       .infer = infer_deform_conv,
       .eval = eval_deform_conv,
       .macs = [](const Infer& node) { return convolution_macs(node, 1); }},
  };
  return kRows;
}

}  // namespace assay::ops
