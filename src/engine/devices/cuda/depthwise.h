#pragma once

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/layers/convolution.h"

namespace assay::engine::cuda {

// True for a convolution of floats, each channel apart, whose data and result lie with channels last.
bool is_depthwise(const Layer& layer, const ConvolutionForm& form);

// Names for depthwise_window.cu: the picture, the filters, which become one of the constants, and where windows lie.
void write_windows(const Layer& layer, const ConvolutionForm& form, const Pointer& picture, KernelWriter& writer,
                   std::vector<Buffer>& constants);

// A layer that begins with such a convolution. Null: it is another one.
std::unique_ptr<Kernel> depthwise_kernel(Programs& programs, const Layer& layer);

}  // namespace assay::engine::cuda
