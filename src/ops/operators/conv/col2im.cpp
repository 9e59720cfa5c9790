#include <complex>

#include "base/parallel.h"
#include "ops/kernels/elements/elementwise.h"
#include "ops/kernels/elements/known_dims.h"
#include "ops/kernels/window/window.h"
#include "ops/operator.h"

namespace assay::ops {
namespace {

void require_list(const Infer& node, uint32_t input) {
  node.require_rank(input, 1);
  const std::optional<Elements> known = node.elements(input);
  if (!known) return;
  for (const Dim& size : known->items) {
    if (size.is_number() && *size.number() < 1) {
      fail(ErrorCode::shape, "input {} has a size of {}", input, size.text());
    }
  }
}

// Windows of the image, times the elements of a block, must be what the input holds.
void check_counts(const Infer& node, const Dims& image, const Dims& block) {
  const Dim& held = node.dims(0)[1];
  const Dim taps = product(block);
  require_known(block, std::span(&taps, 1));
  if (taps.is_number() && held.is_number() && *held.number() % *taps.number() != 0) {
    fail(ErrorCode::shape, "blocks of {} elements do not divide {} rows", taps.text(), held.text());
  }
  const Dim windows = product(window_counts(read_window_rules(node, image.size()), image, block));
  unify(node.dims(0)[2], windows, "the columns of the input and the blocks of the image");
}

void infer_col2im(Infer& node) {
  node.require_rank(0, 3);
  require_list(node, 1);
  require_list(node, 2);
  const std::optional<Elements> image = node.elements(1);
  const std::optional<Elements> block = node.elements(2);
  if (!image || !block) return;
  if (image->items.size() != block->items.size() || image->items.empty()) {
    fail(ErrorCode::shape, "the image has {} axes, the block has {}", image->items.size(), block->items.size());
  }
  if (node.is_ranked(0)) check_counts(node, image->items, block->items);
  const std::optional<std::vector<int64_t>> taps = numbers(block->items);
  const Dim count = taps ? product(dims_of(*taps)) : Dim();
  const bool is_whole = node.is_ranked(0) && count.is_number();
  Dims out = {node.is_ranked(0) ? node.dims(0)[0] : Dim(),
              is_whole ? floor_div(node.dims(0)[1], *count.number()) : Dim()};
  out.insert(out.end(), image->items.begin(), image->items.end());
  node.set_dims(0, std::move(out));
}

template <typename C>
C sum_of(const C& a, const C& b) {
  if constexpr (std::is_integral_v<C>)
    return wrapping_add(a, b);
  else
    return a + b;
}

// Adds one column row, the elements that one tap takes from every window, to the image plane.
template <typename C>
void add_row(const Window& window, uint64_t tap, const C* row, uint64_t windows, C* plane) {
  for (uint64_t w = 0; w < windows; ++w) {
    uint64_t k = tap;
    uint64_t o = w;
    int64_t place = 0;
    int64_t step = 1;
    bool is_inside = true;
    for (size_t i = window.size(); i-- > 0;) {
      const WindowAxis& axis = window[i];
      const int64_t at = axis.place(static_cast<int64_t>(o % static_cast<uint64_t>(axis.out)),
                                    static_cast<int64_t>(k % static_cast<uint64_t>(axis.kernel)));
      is_inside = is_inside && at >= 0 && at < axis.in;
      place += at * step;
      step *= axis.in;
      o /= static_cast<uint64_t>(axis.out);
      k /= static_cast<uint64_t>(axis.kernel);
    }
    if (is_inside) plane[place] = sum_of(plane[place], row[w]);
  }
}

template <typename C>
void eval_as(Eval& node) {
  const std::vector<C> columns = node.load<C>(0);
  const std::vector<int64_t> image = node.integers_in(1);
  const std::vector<int64_t> block = node.integers_in(2);
  const Window window = make_window(read_window_rules(node, image.size()), image, block);
  const auto taps = static_cast<uint64_t>(*product(dims_of(block)).number());
  const auto plane = static_cast<uint64_t>(*product(dims_of(image)).number());
  const auto windows = static_cast<uint64_t>(node.shape(0)[2]);
  std::vector<C> out(node.out_count(0));
  parallel_for(out.size() / plane, 1, [&](uint64_t index, uint64_t) {
    for (uint64_t k = 0; k < taps; ++k) {
      add_row(window, k, columns.data() + (index * taps + k) * windows, windows, out.data() + index * plane);
    }
  });
  node.store(0, std::move(out));
}

void eval_col2im(Eval& node) {
  if (tensor::kind(node.dtype(0)) == tensor::DTypeKind::complex) return eval_as<std::complex<double>>(node);
  with_carrier(node.dtype(0), [&](auto zero) { eval_as<decltype(zero)>(node); });
}

}  // namespace

OperatorRows operator_conv_col2im() {
  static constexpr Operator kRows[] = {
      {.name = "Col2Im",
       .since = 18,
       .traits = {Nature::reduction, {.rounding = RoundingClass::exact, .sizes = {1}}},
       .infer = infer_col2im,
       .eval = eval_col2im},
  };
  return kRows;
}

}  // namespace assay::ops
