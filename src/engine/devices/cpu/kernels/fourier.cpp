// DFT and STFT of float32: several lines at a time in float64, as the reference computes them.
#include "ops/kernels/elements/fourier.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/fourier/fourier_kernels.h"
#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/parts.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

// Places of numbers: of lines, of which `inner` follow each other at a distance of their own, and along a line.
struct LinePlaces {
  int64_t inner = 1, outer_step = 0, inner_step = 0, step = 1;
  int64_t parts = 1;  // of a number: a real one, and perhaps an imaginary one
  int64_t length = 1;

  int64_t first(int64_t line) const { return line / inner * outer_step + line % inner * inner_step; }
};

struct FourierForm {
  int64_t lines = 1, length = 1;
  bool is_inverse = false;
  bool mirrors = false;  // the second half of a line is the first one's mirror image
  bool has_window = false;
  LinePlaces from, to;
};

class FourierKernel final : public PlainKernel {
 public:
  explicit FourierKernel(const FourierForm& form)
      : form_(form),
        kernels_(fourier_kernels()),
        fourier_(static_cast<uint64_t>(form.length), form.is_inverse),
        lanes_(std::min<int64_t>(thread_count(), blocks())) {
    for (int64_t length = form.length, stride = 1; length > 1;) {
      const int64_t factor =
          length % 4 == 0 ? 4 : static_cast<int64_t>(fourier_.factor_of(static_cast<uint64_t>(length)));
      steps_.push_back({factor, length, stride});
      length /= factor;
      stride *= factor;
    }
  }

  uint64_t workspace_bytes() const override { return static_cast<uint64_t>(lanes_ * 2 * numbers()) * sizeof(double); }

  void run(const Arguments& arguments) const override {
    parallel_for(static_cast<uint64_t>(lanes_), 1, [&](uint64_t begin, uint64_t end) {
      for (auto lane = static_cast<int64_t>(begin); lane < static_cast<int64_t>(end); ++lane) {
        const auto [first, last] = lane_of(blocks(), lanes_, lane);
        double* const memory = host<double>(arguments.workspace) + lane * 2 * numbers();
        for (int64_t block = first; block < last; ++block) run_block(arguments, block * kernels_.lines, memory);
      }
    });
  }

 private:
  static constexpr int64_t kMostLines = 8;  // of any kernels

  int64_t blocks() const { return parts_of(form_.lines, kernels_.lines); }
  int64_t numbers() const { return form_.length * 2 * kernels_.lines; }

  void run_block(const Arguments& arguments, int64_t first, double* memory) const {
    const int64_t lines = std::min(kernels_.lines, form_.lines - first);
    double* x = memory;
    double* y = memory + numbers();
    read(arguments, first, lines, x);
    if (form_.mirrors) mirror(x);
    for (const FourierStep& step : steps_) {
      kernels_.step(step, fourier_.roots(), x, y);
      std::swap(x, y);
    }
    write(x, first, lines, host<float>(arguments.outputs[0]));
  }

  // Lines are cut or filled with zeros.
  void read(const Arguments& arguments, int64_t first, int64_t lines, double* x) const {
    const auto* const in = host<const float>(arguments.inputs[0]);
    const auto* const window = form_.has_window ? host<const float>(arguments.inputs[2]) : nullptr;
    const int64_t given = std::min(form_.from.length, form_.mirrors ? form_.length / 2 + 1 : form_.length);
    std::fill_n(x, given < form_.length || lines < kernels_.lines || form_.from.parts == 1 ? numbers() : 0, 0.0);
    std::array<int64_t, kMostLines> firsts{};
    for (int64_t line = 0; line < lines; ++line) firsts[static_cast<size_t>(line)] = form_.from.first(first + line);
    for (int64_t k = 0; k < given; ++k, x += 2 * kernels_.lines) {
      const double factor = window == nullptr ? 1 : static_cast<double>(window[k]);
      for (int64_t line = 0; line < lines; ++line) {
        const float* const number = in + firsts[static_cast<size_t>(line)] + k * form_.from.step;
        x[line] = static_cast<double>(number[0]) * factor;
        if (form_.from.parts == 2) x[kernels_.lines + line] = static_cast<double>(number[1]) * factor;
      }
    }
  }

  void mirror(double* x) const {
    const int64_t lines = kernels_.lines, number = 2 * lines;
    for (int64_t k = form_.length / 2 + 1; k < form_.length; ++k) {
      for (int64_t line = 0; line < lines; ++line) {
        x[k * number + line] = x[(form_.length - k) * number + line];
        x[k * number + lines + line] = -x[(form_.length - k) * number + lines + line];
      }
    }
    std::fill_n(x + lines, lines, 0.0);
    if (form_.length % 2 == 0) std::fill_n(x + form_.length / 2 * number + lines, lines, 0.0);
  }

  void write(const double* x, int64_t first, int64_t lines, float* out) const {
    const double scale = form_.is_inverse ? static_cast<double>(form_.length) : 1;
    for (int64_t k = 0; k < form_.to.length; ++k, x += 2 * kernels_.lines) {
      for (int64_t line = 0; line < lines; ++line) {
        float* const number = out + form_.to.first(first + line) + k * form_.to.step;
        number[0] = static_cast<float>(x[line] / scale);
        if (form_.to.parts == 2) number[1] = static_cast<float>(x[kernels_.lines + line] / scale);
      }
    }
  }

  FourierForm form_;
  const FourierKernels& kernels_;
  ops::Fourier fourier_;
  int64_t lanes_;
  std::vector<FourierStep> steps_;
};

// The number that an operand always is; nullopt: it is computed.
std::optional<int64_t> number_of(const Layer& layer, size_t input, int64_t otherwise) {
  if (input >= layer.inputs.size() || !layer.inputs[input].exists()) return otherwise;
  if (layer.constants[input] == nullptr) return std::nullopt;
  return tensor::load_elements<int64_t>(*layer.constants[input]).front();
}

bool has_floats(const Layer& layer) {
  const bool are_floats = layer.inputs[0].dtype == tensor::DType::float32;
  return layer.is_single() && are_floats && layer.lies_plainly() && layer.outputs[0].count() > 0 &&
         layer.inputs[0].count() > 0;
}

// Lines along an axis of numbers whose parts are the last dim.
LinePlaces places_along(const TensorDesc& desc, size_t axis) {
  const auto begin = desc.dims.begin() + static_cast<ptrdiff_t>(axis);
  const int64_t inner = std::accumulate(begin + 1, desc.dims.end() - 1, int64_t{1}, std::multiplies<>());
  const int64_t parts = desc.dims.back();
  return {.inner = inner,
          .outer_step = *begin * inner * parts,
          .inner_step = parts,
          .step = inner * parts,
          .parts = parts,
          .length = *begin};
}

std::optional<FourierForm> find_lines(const Layer& layer) {
  constexpr int64_t kFirstAxisAsInput = 20;
  const ops::Node facts = layer.facts(layer.nodes[0]);
  const std::optional<int64_t> written =
      facts.version() < kFirstAxisAsInput ? facts.integer("axis", 1) : number_of(layer, 2, -2);
  const std::optional<int64_t> length = number_of(layer, 1, 0);
  if (!written || !length) return std::nullopt;
  const tensor::Shape& in = layer.inputs[0].dims;
  const auto axis = static_cast<size_t>(ops::normalize_axis(*written, static_cast<int64_t>(in.size())));
  const bool is_inverse = facts.flag("inverse"), is_onesided = facts.flag("onesided");
  FourierForm form{.is_inverse = is_inverse,
                   .mirrors = is_onesided && is_inverse,
                   .from = places_along(layer.inputs[0], axis),
                   .to = places_along(layer.outputs[0], axis)};
  form.lines = layer.inputs[0].count() / (form.from.length * form.from.parts);
  form.length = !is_onesided || is_inverse ? form.to.length : *length > 0 ? *length : form.from.length;
  return form;
}

std::optional<FourierForm> find_frames(const Layer& layer) {
  const tensor::Shape& in = layer.inputs[0].dims;
  const tensor::Shape& out = layer.outputs[0].dims;
  const bool has_window = layer.inputs.size() > 2 && layer.inputs[2].exists();
  if (has_window && layer.inputs[2].dtype != tensor::DType::float32) return std::nullopt;
  const std::optional<int64_t> step = number_of(layer, 1, 1);
  const std::optional<int64_t> length = number_of(layer, 3, has_window ? layer.inputs[2].count() : in[1]);
  if (!step || !length) return std::nullopt;
  const int64_t parts = in.size() == 2 ? 1 : in[2];
  return FourierForm{.lines = out[0] * out[1],
                     .length = *length,
                     .has_window = has_window,
                     .from = {.inner = out[1],
                              .outer_step = in[1] * parts,
                              .inner_step = *step * parts,
                              .step = parts,
                              .parts = parts,
                              .length = *length},
                     .to = {.inner = out[1],
                            .outer_step = out[1] * out[2] * 2,
                            .inner_step = out[2] * 2,
                            .step = 2,
                            .parts = 2,
                            .length = out[2]}};
}

// Far more work than numbers, as of large prime lengths, is left to the reference, which counts it.
bool takes_too_long(const FourierForm& form) {
  constexpr int64_t kMostSteps = 4096;  // for each number of a line
  return *ops::fourier_macs(ops::Dim(form.length)).number() / form.length > kMostSteps;
}

class Lines final : public Implementation {
 public:
  std::string_view name() const override { return "fourier.lines"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    constexpr int64_t kMostNumbers = 1 << 16;  // of which a thread keeps two times eight
    const bool is_lines = layer.starts_with("DFT");
    if ((!is_lines && !layer.starts_with("STFT")) || !has_floats(layer)) return {};
    const std::optional<FourierForm> form = is_lines ? find_lines(layer) : find_frames(layer);
    const bool is_known = form && form->length <= kMostNumbers && !takes_too_long(*form);
    return is_known ? std::make_unique<FourierKernel>(*form) : nullptr;
  }
};

}  // namespace

KernelFamily cpu_kernel_fourier() { return family_of<Lines>(); }

}  // namespace assay::engine::cpu
