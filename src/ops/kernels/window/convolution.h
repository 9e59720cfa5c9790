#pragma once

#include <span>
#include <vector>

#include "ops/eval.h"
#include "ops/kernels/product/matrix_product.h"
#include "ops/kernels/window/window.h"

namespace assay::ops {

// The sizes and rules of one convolution. Input [batch, groups * channels, in...], weights [groups * filters, channels,
// kernel...], output [batch, groups * filters, out...].
struct Convolution {
  uint64_t batch = 0;
  uint64_t groups = 1;
  uint64_t channels = 0;  // of one group
  uint64_t filters = 0;   // of one group
  Window window;

  uint64_t in_plane() const;   // elements of one channel of the input
  uint64_t out_plane() const;  // and of the output
  uint64_t taps() const;       // weights of one filter
};

// Inferred dims of Conv and its kin: X at input 0, W at input `weights`, a bias for each filter at input `bias` if
// that is given. Sets output 0.
void infer_convolution(Infer& node, uint32_t weights, uint32_t bias);
Dim convolution_macs(const Infer& node, uint32_t weights);

// The facts of a node that infer_convolution has checked.
Convolution read_convolution(const Eval& node, uint32_t weights);

// Elements are sums over the weights of a filter in ascending order, padding being zeros that are multiplied too.
// `weights` reads filters as rows; `write` gets runs of output channel `row` = image * groups * filters + filter.
void convolve(const Convolution& what, std::span<const double> input, ReadRow weights, WriteRow write);

}  // namespace assay::ops
