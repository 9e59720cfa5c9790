// Softmax and normalisations over the innermost dims.
#include <algorithm>
#include <vector>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/middle_dim.h"
#include "engine/devices/cpu/rows/floats.h"
#include "engine/devices/cpu/rows/softmax_columns.h"
#include "engine/layers/form.h"

namespace assay::engine::cpu {
namespace {

constexpr int64_t kNormalizationGrain = 1 << 13;  // elements

struct Rows {
  int64_t count;
  int64_t inner;
};

// The dims from `axis` on are the row.
Rows rows_of(const tensor::Shape& dims, int64_t axis) {
  Rows rows{1, 1};
  for (size_t i = 0; i < dims.size(); ++i) (static_cast<int64_t>(i) < axis ? rows.count : rows.inner) *= dims[i];
  return rows;
}

bool is_plain_float(const TensorDesc& desc) {
  return is_float(desc.dtype) && has_layout(desc, Layout::plain) && desc.count() > 0;
}

// Calls fn(in, out) for every row in float32, whatever type is read and written.
template <typename Fn>
void for_rows(Rows rows, tensor::DType dtype, const Arguments& arguments, int data, Fn&& fn) {
  const auto* const in = host<const std::byte>(arguments.inputs[static_cast<size_t>(data)]);
  auto* const out = host<std::byte>(arguments.outputs[0]);
  const auto inner = static_cast<size_t>(rows.inner);
  const auto grain =
      static_cast<uint64_t>(std::max<int64_t>(1, kNormalizationGrain / std::max<int64_t>(rows.inner, 1)));
  parallel_for(static_cast<uint64_t>(rows.count), grain, [&](uint64_t begin, uint64_t end) {
    std::vector<float> tile(dtype == tensor::DType::float32 ? 0 : inner);
    for (uint64_t row = begin; row < end; ++row) {
      const uint64_t at = row * inner * static_cast<uint64_t>(float_bytes(dtype));
      const float* const from = read_floats(dtype, in + at, tile.data(), inner);
      float* const to = place_floats(dtype, out + at, tile.data());
      fn(from, to);
      write_floats(dtype, to, out + at, inner);
    }
  });
}

// Factors for the elements of a row, as float32.
std::vector<float> widened_row(tensor::DType dtype, Address address, int64_t count) {
  std::vector<float> row(static_cast<size_t>(count));
  const float* const read = read_floats(dtype, host<const std::byte>(address), row.data(), row.size());
  if (read != row.data()) std::copy_n(read, row.size(), row.data());
  return row;
}

class SoftmaxKernel final : public PlainKernel {
 public:
  SoftmaxKernel(Rows rows, tensor::DType dtype, bool is_log) : rows_(rows), dtype_(dtype), is_log_(is_log) {}
  void run(const Arguments& arguments) const override {
    const auto fn = is_log_ ? row_kernels().log_softmax : row_kernels().softmax;
    for_rows(rows_, dtype_, arguments, 0,
             [&](const float* in, float* out) { fn(in, out, static_cast<size_t>(rows_.inner)); });
  }

 private:
  Rows rows_;
  tensor::DType dtype_;
  bool is_log_;
};

class MiddleSoftmaxKernel final : public PlainKernel {
 public:
  MiddleSoftmaxKernel(const MiddleDim& dim, bool is_log) : dim_(dim), is_log_(is_log) {}
  void run(const Arguments& arguments) const override {
    const auto* const in = host<const float>(arguments.inputs[0]);
    auto* const out = host<float>(arguments.outputs[0]);
    dim_.for_columns<256>([&](int64_t first, int64_t columns) {
      softmax_columns().run(in + first, static_cast<size_t>(dim_.length), static_cast<size_t>(dim_.inner),
                            static_cast<size_t>(columns), is_log_, out + first);
    });
  }

 private:
  MiddleDim dim_;
  bool is_log_;
};

class Softmax final : public Implementation {
 public:
  std::string_view name() const override { return "softmax.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<SoftmaxForm>(layer);
    if (form == nullptr || !is_float(layer.inputs[0].dtype)) return {};
    const TensorDesc& in = layer.inputs[0];
    const bool is_log = form->is_log;
    if (form->flattens) {
      if (!is_plain_float(in) || !is_plain_float(layer.outputs[0])) return {};
      return std::make_unique<SoftmaxKernel>(rows_of(in.dims, form->axis), in.dtype, is_log);
    }
    if (!is_dense(in) || in.strides != layer.outputs[0].strides) return {};
    const MiddleDim dim(in, form->axis);
    if (dim.inner == 1) return std::make_unique<SoftmaxKernel>(Rows{dim.groups, dim.length}, in.dtype, is_log);
    if (in.dtype != tensor::DType::float32) return {};
    return std::make_unique<MiddleSoftmaxKernel>(dim, is_log);
  }
};

class NormalizationKernel final : public PlainKernel {
 public:
  NormalizationKernel(const NormForm& form, tensor::DType dtype) : form_(form), dtype_(dtype) {}
  void run(const Arguments& arguments) const override {
    std::vector<float> widened[2];
    const auto row_of = [&](int index, std::vector<float>& row) -> const float* {
      if (index < 0) return nullptr;
      const Address address = arguments.inputs[static_cast<size_t>(index)];
      if (dtype_ == tensor::DType::float32) return host<const float>(address);
      row = widened_row(dtype_, address, form_.inner);
      return row.data();
    };
    const float* const scale = row_of(form_.scale, widened[0]);
    const float* const shift = row_of(form_.shift, widened[1]);
    for_rows({form_.count, form_.inner}, dtype_, arguments, form_.data, [&](const float* in, float* out) {
      row_kernels().normalize(in, scale, shift, out, static_cast<size_t>(form_.inner), form_.epsilon, form_.is_rms);
    });
  }

 private:
  NormForm form_;
  tensor::DType dtype_;
};

class Normalization final : public Implementation {
 public:
  std::string_view name() const override { return "normalization.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<NormForm>(layer);
    if (form == nullptr || !is_plain_float(layer.outputs[0])) return {};
    for (const int input : {form->data, form->scale, form->shift}) {
      if (input < 0) continue;
      const TensorDesc& desc = layer.inputs[static_cast<size_t>(input)];
      if (!is_plain_float(desc) || desc.dtype != layer.outputs[0].dtype) return {};
    }
    return std::make_unique<NormalizationKernel>(*form, layer.outputs[0].dtype);
  }
};

}  // namespace

KernelFamily cpu_kernel_normalization() { return family_of<Softmax, Normalization>(); }

}  // namespace assay::engine::cpu
