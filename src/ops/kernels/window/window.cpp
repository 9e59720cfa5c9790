#include "ops/kernels/window/window.h"

#include <algorithm>

#include "ops/kernels/elements/known_dims.h"

namespace assay::ops {
namespace {

constexpr int64_t kMost = int64_t{1} << 31;  // of every number, so that what is computed from them fits 64 bits

std::vector<int64_t> list_of(const Node& node, std::string_view name, size_t length, int64_t otherwise, int64_t least) {
  const std::vector<int64_t> written = node.integers(name);
  if (!node.has_attribute(name)) return std::vector<int64_t>(length, otherwise);
  if (written.size() != length) {
    fail(ErrorCode::shape, "attribute `{}` has {} entries, expected {}", name, written.size(), length);
  }
  for (const int64_t entry : written) {
    if (entry < least || entry > kMost) fail(ErrorCode::shape, "attribute `{}` has an entry of {}", name, entry);
  }
  return written;
}

AutoPad auto_pad_of(const Node& node) {
  const std::string_view word = node.string("auto_pad", "NOTSET");
  if (word == "NOTSET" || word.empty()) return AutoPad::notset;
  if (word == "SAME_UPPER") return AutoPad::same_upper;
  if (word == "SAME_LOWER") return AutoPad::same_lower;
  if (word == "VALID") return AutoPad::valid;
  fail(ErrorCode::shape, "attribute `auto_pad` is `{}`, expected NOTSET, SAME_UPPER, SAME_LOWER or VALID", word);
}

bool is_same(AutoPad mode) { return mode == AutoPad::same_upper || mode == AutoPad::same_lower; }

}  // namespace

WindowRules read_window_rules(const Node& node, size_t axes) {
  WindowRules rules;
  rules.strides = list_of(node, "strides", axes, 1, 1);
  rules.dilations = list_of(node, "dilations", axes, 1, 1);
  rules.auto_pad = auto_pad_of(node);
  rules.pads = list_of(node, "pads", 2 * axes, 0, 0);
  if (rules.auto_pad != AutoPad::notset) rules.pads.assign(2 * axes, 0);
  rules.has_ceil_mode = node.flag("ceil_mode");
  return rules;
}

void check_kernel(const std::vector<int64_t>& kernel, size_t axes) {
  if (kernel.size() != axes) fail(ErrorCode::shape, "the kernel has {} axes, the input has {}", kernel.size(), axes);
  for (const int64_t size : kernel) {
    if (size < 1 || size > kMost) fail(ErrorCode::shape, "the kernel has a size of {}", size);
  }
}

std::vector<int64_t> read_kernel(const Node& node, size_t axes) {
  std::vector<int64_t> kernel = node.integers("kernel_shape");
  check_kernel(kernel, axes);
  return kernel;
}

// A window that would begin in the padding after the input does not count.
Dims window_counts(const WindowRules& rules, std::span<const Dim> in, std::span<const Dim> kernel) {
  Dims counts;
  for (size_t i = 0; i < in.size(); ++i) {
    const int64_t stride = rules.strides[i];
    if (is_same(rules.auto_pad)) {
      counts.push_back(ceil_div(in[i], stride));
      continue;
    }
    const Dim padded = in[i] + Dim(rules.pads[i]) + Dim(rules.pads[i + in.size()]);
    const Dim reach = (kernel[i] - Dim(1)) * Dim(rules.dilations[i]) + Dim(1);
    const Dim room = padded - reach;
    if (room.is_number() && *room.number() < 0) {
      fail(ErrorCode::shape, "a kernel that reaches over {} is larger than the padded axis of {}", reach.text(),
           padded.text());
    }
    if (rules.has_ceil_mode) {
      counts.push_back(min(ceil_div(room, stride) + Dim(1), ceil_div(in[i] + Dim(rules.pads[i]), stride)));
    } else {
      counts.push_back(floor_div(room, stride) + Dim(1));
    }
  }
  if (std::ranges::all_of(kernel, [](const Dim& size) { return size.is_number(); })) require_known(in, counts);
  return counts;
}

Window make_window(const WindowRules& rules, std::span<const int64_t> in, std::span<const int64_t> kernel) {
  const Dims counts = window_counts(rules, dims_of(in), dims_of(kernel));
  Window window(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    WindowAxis& axis = window[i];
    axis = {in[i],         counts[i].number().value_or(0), kernel[i], rules.strides[i], rules.dilations[i],
            rules.pads[i], rules.pads[i + in.size()]};
    if (!is_same(rules.auto_pad)) continue;
    const int64_t total = std::max<int64_t>((axis.out - 1) * axis.stride + axis.reach() - axis.in, 0);
    axis.begin = rules.auto_pad == AutoPad::same_upper ? total / 2 : total - total / 2;
    axis.end = total - axis.begin;
  }
  return window;
}

void infer_pool(Infer& node) {
  require_spatial(node);
  if (!node.is_ranked(0)) return;
  const Dims& in = node.dims(0);
  const size_t axes = in.size() - 2;
  const Dims kernel = dims_of(read_kernel(node, axes));
  Dims out = {in[0], in[1]};
  for (const Dim& count : window_counts(read_window_rules(node, axes), spatial(in), kernel)) out.push_back(count);
  node.set_dims(1, out);
  node.set_dims(0, std::move(out));
}

namespace {

Dim work_of_windows(const Infer& node, size_t first_axis) {
  if (!node.is_ranked(0) || !node.output(0).type.dims) return {};
  const std::vector<int64_t> kernel = read_kernel(node, node.dims(0).size() - 2);
  Dim window = 1;
  for (size_t i = 0; i < kernel.size(); ++i) window = window * min(kernel[i], node.dims(0)[first_axis + i]);
  return product(*node.output(0).type.dims) * window;
}

}  // namespace

Dim pool_work(const Infer& node) { return work_of_windows(node, 2); }
Dim pool_work_channels_last(const Infer& node) { return work_of_windows(node, 1); }

void require_spatial(const Infer& node, uint32_t input) {
  if (!node.is_ranked(input) || node.rank(input) >= 3) return;
  fail(ErrorCode::shape, "input {} must have batch, channels and at least one more axis, its shape is {}", input,
       text(node.dims(input)));
}

}  // namespace assay::ops
