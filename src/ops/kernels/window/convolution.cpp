#include "ops/kernels/window/convolution.h"

#include <algorithm>
#include <array>

#include "base/parallel.h"

namespace assay::ops {
namespace {

constexpr uint64_t kFewFilters = 4;  // of a group: not worth packing
constexpr uint64_t kRun = 1024;
constexpr uint64_t kBlock = 16;

// One group of channels of some images as the matrix whose rows are weights and whose columns are output places, those
// of one image after the other.
class Patches {
 public:
  Patches(const Convolution& what, const double* group)
      : window_(what.window),
        group_(group),
        in_plane_(what.in_plane()),
        out_plane_(what.out_plane()),
        image_(what.groups * what.channels * in_plane_),
        kernel_(what.taps() / what.channels) {
    is_plain_ = std::ranges::all_of(window_, [](const WindowAxis& axis) {
      return axis.kernel == 1 && axis.stride == 1 && axis.begin == 0 && axis.end == 0;
    });
  }

  void read(uint64_t row, uint64_t begin, std::span<double> out) const {
    for_each_image(begin, out, [&](uint64_t image, uint64_t first, std::span<double> part) {
      read_of(group_ + image * image_, row, first, part);
    });
  }

  // fn(image, first place, part of `run`) for each image that has places in the run.
  template <typename T, typename Fn>
  void for_each_image(uint64_t begin, std::span<T> run, Fn&& fn) const {
    while (!run.empty()) {
      const uint64_t first = begin % out_plane_;
      const std::span<T> part = run.first(std::min<uint64_t>(run.size(), out_plane_ - first));
      fn(begin / out_plane_, first, part);
      run = run.subspan(part.size());
      begin += part.size();
    }
  }

 private:
  void read_of(const double* group, uint64_t row, uint64_t begin, std::span<double> out) const {
    const double* plane = group + row / kernel_ * in_plane_;
    if (is_plain_) {
      std::copy_n(plane + begin, out.size(), out.begin());
      return;
    }
    const WindowAxis& line = window_.back();
    const auto length = static_cast<uint64_t>(line.out);
    const auto tap = static_cast<int64_t>(row % kernel_);
    while (!out.empty()) {
      const uint64_t column = begin % length;
      const std::span<double> run = out.first(std::min<uint64_t>(out.size(), length - column));
      const double* from = find_line(plane, begin / length, tap / line.kernel);
      read_line(from, line.place(static_cast<int64_t>(column), tap % line.kernel), run);
      out = out.subspan(run.size());
      begin += run.size();
    }
  }

  // The line of the input that the output line number `place` sees with an outer tap; nullptr in the padding.
  const double* find_line(const double* plane, uint64_t place, int64_t tap) const {
    uint64_t step = static_cast<uint64_t>(window_.back().in);
    for (size_t i = window_.size() - 1; i-- > 0;) {
      const WindowAxis& axis = window_[i];
      const int64_t at = axis.place(static_cast<int64_t>(place % static_cast<uint64_t>(axis.out)), tap % axis.kernel);
      if (at < 0 || at >= axis.in) return nullptr;
      plane += static_cast<uint64_t>(at) * step;
      step *= static_cast<uint64_t>(axis.in);
      place /= static_cast<uint64_t>(axis.out);
      tap /= axis.kernel;
    }
    return plane;
  }

  // Every stride-th element from `at` on, zeros beside the line.
  void read_line(const double* from, int64_t at, std::span<double> out) const {
    const WindowAxis& line = window_.back();
    const auto count = static_cast<int64_t>(out.size());
    if (!from) {
      std::ranges::fill(out, 0.0);
      return;
    }
    const auto steps_to = [&](int64_t place) {
      return std::clamp<int64_t>((place - at + line.stride - 1) / line.stride, 0, count);
    };
    const int64_t first = at < 0 ? steps_to(0) : 0;
    const int64_t last = at >= line.in ? first : std::max(first, steps_to(line.in));
    std::fill_n(out.begin(), first, 0.0);
    if (line.stride == 1) {
      std::copy_n(from + at + first, last - first, out.begin() + first);
    } else {
      for (int64_t i = first; i < last; ++i) out[static_cast<size_t>(i)] = from[at + i * line.stride];
    }
    std::fill(out.begin() + last, out.end(), 0.0);
  }

  const Window& window_;
  const double* group_;
  uint64_t in_plane_;
  uint64_t out_plane_;
  uint64_t image_;  // elements
  uint64_t kernel_;
  bool is_plain_;
};

// sums += factor * values, for blocks of a length that the compiler vectorizes.
void add_scaled(double* sums, double factor, const double* values, uint64_t blocks) {
  for (uint64_t b = 0; b < blocks; ++b, sums += kBlock, values += kBlock) {
    for (uint64_t i = 0; i < kBlock; ++i) sums[i] += factor * values[i];
  }
}

// Convolves directly for a few filters: the sums of matrix_product in the same order.
void convolve_group_directly(const Convolution& what, const Patches& patches, uint64_t filter, ReadRow weights,
                             uint64_t row, WriteRow write) {
  std::vector<double> factors(what.taps());
  std::array<double, kRun> patch;
  std::array<double, kRun> sums;
  for (uint64_t f = 0; f < what.filters; ++f) {
    weights(filter + f, 0, factors);
    for (uint64_t begin = 0; begin < what.out_plane(); begin += kRun) {
      const uint64_t count = std::min(kRun, what.out_plane() - begin);
      const uint64_t blocks = (count + kBlock - 1) / kBlock;
      sums.fill(0);
      patch.fill(0);
      for (uint64_t k = 0; k < factors.size(); ++k) {
        patches.read(k, begin, std::span(patch).first(count));
        add_scaled(sums.data(), factors[k], patch.data(), blocks);
      }
      write(row + f, begin, std::span<const double>(sums).first(count));
    }
  }
}

// The output of a group without channels.
void write_zeros(const Convolution& what, uint64_t images, uint64_t row, WriteRow write) {
  const std::vector<double> zeros(what.out_plane());
  for (uint64_t image = 0; image < images; ++image) {
    for (uint64_t f = 0; f < what.filters; ++f) write(row + image * what.groups * what.filters + f, 0, zeros);
  }
}

Dims kernel_dims(const Infer& node, uint32_t weights, size_t axes) {
  const std::vector<int64_t> written = node.integers("kernel_shape");
  Dims kernel = written.empty() ? Dims(axes) : dims_of(written);
  if (!written.empty()) check_kernel(written, axes);
  if (!node.is_ranked(weights)) return kernel;
  const std::span<const Dim> own = spatial(node.dims(weights));
  for (size_t i = 0; i < axes; ++i) kernel[i] = unify(kernel[i], own[i], "kernel sizes of attribute and weights");
  for (const Dim& size : kernel) {
    if (size.is_number()) check_kernel({*size.number()}, 1);
  }
  return kernel;
}

void check_channels(const Infer& node, uint32_t weights, uint32_t bias) {
  const int64_t group = node.integer("group");
  if (group < 1) fail(ErrorCode::shape, "attribute `group` is {}", group);
  const Dims& w = node.dims(weights);
  const Dim channels = w[1] * Dim(group);
  if (node.is_ranked(0) && node.dims(0)[1].is_number() && channels.is_number() && !channels.equals(node.dims(0)[1])) {
    fail(ErrorCode::shape, "{} groups of {} channels do not make the input's {} channels", group, w[1].text(),
         node.dims(0)[1].text());
  }
  if (w[0].is_number() && *w[0].number() % group != 0) {
    fail(ErrorCode::shape, "group {} does not divide {} filters", group, w[0].text());
  }
  node.require_rank(bias, 1);
  if (node.is_ranked(bias)) unify(node.dims(bias)[0], w[0], "filters and the length of the bias");
}

}  // namespace

uint64_t Convolution::in_plane() const {
  uint64_t count = 1;
  for (const WindowAxis& axis : window) count *= static_cast<uint64_t>(axis.in);
  return count;
}

uint64_t Convolution::out_plane() const {
  uint64_t count = 1;
  for (const WindowAxis& axis : window) count *= static_cast<uint64_t>(axis.out);
  return count;
}

uint64_t Convolution::taps() const {
  uint64_t count = channels;
  for (const WindowAxis& axis : window) count *= static_cast<uint64_t>(axis.kernel);
  return count;
}

void infer_convolution(Infer& node, uint32_t weights, uint32_t bias) {
  require_spatial(node);
  require_spatial(node, weights);
  const bool has_weights = node.is_ranked(weights);
  if (node.is_ranked(0)) node.require_rank(weights, node.rank(0));
  if (has_weights) check_channels(node, weights, bias);
  if (!node.is_ranked(0) && !has_weights) return;
  const size_t axes = static_cast<size_t>(node.rank(node.is_ranked(0) ? 0 : weights)) - 2;
  const Dims kernel = kernel_dims(node, weights, axes);
  const WindowRules rules = read_window_rules(node, axes);
  const Dims in = node.is_ranked(0) ? node.dims(0) : Dims(axes + 2);
  Dims out = {in[0], has_weights ? node.dims(weights)[0] : Dim()};
  for (const Dim& count : window_counts(rules, spatial(in), kernel)) out.push_back(count);
  node.set_dims(0, std::move(out));
}

Dim convolution_macs(const Infer& node, uint32_t weights) {
  if (!node.is_ranked(weights) || !node.output(0).type.dims) return {};
  return product(*node.output(0).type.dims) * product(std::span(node.dims(weights)).subspan(1));
}

Convolution read_convolution(const Eval& node, uint32_t weights) {
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(weights);
  Convolution what;
  what.batch = static_cast<uint64_t>(x[0]);
  what.groups = static_cast<uint64_t>(node.integer("group"));
  what.channels = static_cast<uint64_t>(w[1]);
  what.filters = static_cast<uint64_t>(w[0]) / what.groups;
  what.window = make_window(read_window_rules(node, x.size() - 2), spatial(x), spatial(w));
  return what;
}

void convolve(const Convolution& what, std::span<const double> input, ReadRow weights, WriteRow write) {
  if (what.filters == 0 || what.batch * what.out_plane() == 0) return;
  const bool is_direct = what.filters <= kFewFilters && what.groups > 1;
  const uint64_t images = is_direct ? 1 : what.batch;  // at once: weights are packed for all of them
  const ProductSize size{what.filters, images * what.out_plane(), what.taps()};
  const auto group = [&](uint64_t index, uint64_t) {
    const uint64_t filter = index % what.groups * what.filters;
    const uint64_t row = index * what.filters;
    if (what.channels == 0) return write_zeros(what, images, row, write);
    const Patches patches(what, input.data() + index * what.channels * what.in_plane());
    if (is_direct) return convolve_group_directly(what, patches, filter, weights, row, write);
    matrix_product(
        size, [&](uint64_t r, uint64_t begin, std::span<double> out) { weights(filter + r, begin, out); },
        [&](uint64_t r, uint64_t begin, std::span<double> out) { patches.read(r, begin, out); },
        [&](uint64_t r, uint64_t begin, std::span<const double> values) {
          patches.for_each_image(begin, values, [&](uint64_t image, uint64_t first, std::span<const double> part) {
            write(row + r + image * what.groups * what.filters, first, part);
          });
        });
  };
  const uint64_t count = what.batch / images * what.groups;
  if (count >= uint64_t{2} * thread_count()) return parallel_for(count, 1, group);
  for (uint64_t index = 0; index < count; ++index) group(index, index + 1);
}

}  // namespace assay::ops
