#pragma once

#include <algorithm>
#include <array>
#include <span>
#include <type_traits>
#include <vector>

#include "base/parallel.h"
#include "ops/eval.h"
#include "ops/kernels/elements/broadcast.h"

namespace assay::ops {

inline constexpr uint64_t kTile = 1024;  // elements that a loop converts, computes and stores at a time

// Fills the tensor of output 0 tile by tile: compute(begin, span of R) makes the elements from `begin` on.
template <typename R, typename Compute>
void store_tiles(Eval& node, Compute compute) {
  const DType stored = node.stored(node.out_dtype(0));
  const Shape shape = node.out_shape(0);
  const uint64_t count = node.out_count(0);
  std::vector<std::byte> bytes(tensor::packed_bytes(stored, count).value());
  parallel_for(count, 16 * kTile, [&](uint64_t begin, uint64_t end) {
    std::array<R, kTile> tile;
    for (uint64_t at = begin; at < end; at += kTile) {
      const std::span<R> part = std::span(tile).first(std::min(kTile, end - at));
      compute(at, part);
      tensor::store(stored, std::span<const R>(part), at, bytes);
    }
  });
  node.set_tensor(0, Tensor(stored, shape, tensor::make_owned(std::move(bytes))));
}

// output 0 = fn(input 0), fn(input 0, input 1) or fn(input 0, 1, 2), element by element with broadcasting. Inputs are
// read into carrier C, results leave in carrier R.
template <typename C, typename R = C, typename Fn>
void elementwise(Eval& node, Fn fn) {
  constexpr size_t kArity = std::is_invocable_v<Fn, C> ? 1 : std::is_invocable_v<Fn, C, C> ? 2 : 3;
  const Shape shape = node.out_shape(0);
  std::vector<BroadcastReader> readers;
  for (uint32_t i = 0; i < kArity; ++i) readers.emplace_back(node.tensor_in(i), shape);
  store_tiles<R>(node, [&](uint64_t begin, std::span<R> out) {
    std::array<std::array<C, kTile>, kArity> in;
    for (size_t i = 0; i < kArity; ++i) readers[i].read(begin, std::span(in[i]).first(out.size()));
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (kArity == 1) {
        out[i] = fn(in[0][i]);
      } else if constexpr (kArity == 2) {
        out[i] = fn(in[0][i], in[1][i]);
      } else {
        out[i] = fn(in[0][i], in[1][i], in[2][i]);
      }
    }
  });
}

// Applies fn in the carrier of input 0: it must take double, int64_t and uint64_t.
template <typename Fn>
void elementwise_any(Eval& node, Fn fn) {
  with_carrier(node.dtype(0), [&](auto zero) { elementwise<decltype(zero)>(node, fn); });
}

// Left fold of fn over all inputs, with broadcasting: Sum, Max and the like.
template <typename C, typename Fn>
void elementwise_fold(Eval& node, Fn fn) {
  const Shape shape = node.out_shape(0);
  std::vector<BroadcastReader> readers;
  for (uint32_t i = 0; i < node.input_count(); ++i) readers.emplace_back(node.tensor_in(i), shape);
  store_tiles<C>(node, [&](uint64_t begin, std::span<C> out) {
    std::array<C, kTile> next;
    readers[0].read(begin, out);
    for (size_t i = 1; i < readers.size(); ++i) {
      readers[i].read(begin, std::span(next).first(out.size()));
      for (size_t k = 0; k < out.size(); ++k) out[k] = fn(out[k], next[k]);
    }
  });
}

// Integer arithmetic that wraps where it overflows.
template <typename C>
C wrapping_add(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    return a + b;
  else
    return static_cast<C>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}
template <typename C>
C wrapping_subtract(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    return a - b;
  else
    return static_cast<C>(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
}
template <typename C>
C wrapping_multiply(C a, C b) {
  if constexpr (std::is_floating_point_v<C>)
    return a * b;
  else
    return static_cast<C>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}

}  // namespace assay::ops
