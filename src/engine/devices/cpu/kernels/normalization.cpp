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

// The types of what is read and written.
struct Types {
  tensor::DType in, out;
};

// Calls fn(in, out) for every row in float32, whatever type is read and written.
template <typename Fn>
void for_rows(Rows rows, Types types, const Arguments& arguments, int data, Fn&& fn) {
  const auto* const in = host<const std::byte>(arguments.inputs[static_cast<size_t>(data)]);
  auto* const out = host<std::byte>(arguments.outputs[0]);
  const auto inner = static_cast<size_t>(rows.inner);
  const auto grain =
      static_cast<uint64_t>(std::max<int64_t>(1, kNormalizationGrain / std::max<int64_t>(rows.inner, 1)));
  parallel_for(static_cast<uint64_t>(rows.count), grain, [&](uint64_t begin, uint64_t end) {
    const bool has_tile = types.in != tensor::DType::float32 || types.out != tensor::DType::float32;
    std::vector<float> tile(has_tile ? inner : 0);
    for (uint64_t row = begin; row < end; ++row) {
      const uint64_t at = row * inner;
      const float* const from =
          read_floats(types.in, in + at * static_cast<uint64_t>(float_bytes(types.in)), tile.data(), inner);
      std::byte* const place = out + at * static_cast<uint64_t>(float_bytes(types.out));
      float* const to = place_floats(types.out, place, tile.data());
      fn(from, to);
      write_floats(types.out, to, place, inner);
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
    for_rows(rows_, {dtype_, dtype_}, arguments, 0,
             [&](const float* in, float* out) { fn(in, out, static_cast<size_t>(rows_.inner)); });
  }

 private:
  Rows rows_;
  tensor::DType dtype_;
  bool is_log_;
};

class MiddleSoftmaxKernel final : public PlainKernel {
 public:
  MiddleSoftmaxKernel(const MiddleDim& dim, tensor::DType dtype, bool is_log)
      : dim_(dim), dtype_(dtype), is_log_(is_log) {}
  void run(const Arguments& arguments) const override {
    if (dtype_ != tensor::DType::float32) return run_widened(arguments);
    const auto* const in = host<const float>(arguments.inputs[0]);
    auto* const out = host<float>(arguments.outputs[0]);
    dim_.for_columns<256>(
        [&](int64_t first, int64_t columns) { run_columns(in + first, dim_.inner, columns, out + first); });
  }

 private:
  void run_columns(const float* in, int64_t row, int64_t columns, float* out) const {
    softmax_columns().run(in, static_cast<size_t>(dim_.length), static_cast<size_t>(row), static_cast<size_t>(columns),
                          is_log_, out);
  }

  // Columns are computed where they are float32, side by side.
  void run_widened(const Arguments& arguments) const {
    const int64_t bytes = float_bytes(dtype_);
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    dim_.for_columns<64>([&](int64_t first, int64_t columns) {
      const auto count = static_cast<size_t>(columns);
      std::vector<float> tile(static_cast<size_t>(dim_.length) * count);
      for (int64_t r = 0; r < dim_.length; ++r)
        load_floats(dtype_, in + (first + r * dim_.inner) * bytes, tile.data() + r * columns, count);
      run_columns(tile.data(), columns, columns, tile.data());
      for (int64_t r = 0; r < dim_.length; ++r)
        store_floats(dtype_, tile.data() + r * columns, out + (first + r * dim_.inner) * bytes, count);
    });
  }

  MiddleDim dim_;
  tensor::DType dtype_;
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
    return std::make_unique<MiddleSoftmaxKernel>(dim, in.dtype, is_log);
  }
};

class NormalizationKernel final : public PlainKernel {
 public:
  // The types are those of inputs, and of the result.
  NormalizationKernel(const NormForm& form, std::vector<tensor::DType> inputs, tensor::DType out)
      : form_(form), inputs_(std::move(inputs)), out_(out) {}
  void run(const Arguments& arguments) const override {
    std::vector<float> widened[2];
    const auto row_of = [&](int index, std::vector<float>& row) -> const float* {
      if (index < 0) return nullptr;
      const Address address = arguments.inputs[static_cast<size_t>(index)];
      const tensor::DType dtype = inputs_[static_cast<size_t>(index)];
      if (dtype == tensor::DType::float32) return host<const float>(address);
      row = widened_row(dtype, address, form_.inner);
      return row.data();
    };
    const float* const scale = row_of(form_.scale, widened[0]);
    const float* const shift = row_of(form_.shift, widened[1]);
    const Types types{inputs_[static_cast<size_t>(form_.data)], out_};
    for_rows({form_.count, form_.inner}, types, arguments, form_.data, [&](const float* in, float* out) {
      row_kernels().normalize(in, scale, shift, out, static_cast<size_t>(form_.inner), form_.epsilon, form_.is_rms);
    });
  }

 private:
  NormForm form_;
  std::vector<tensor::DType> inputs_;
  tensor::DType out_;
};

class Normalization final : public Implementation {
 public:
  std::string_view name() const override { return "normalization.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<NormForm>(layer);
    if (form == nullptr || !is_plain_float(layer.outputs[0])) return {};
    std::vector<tensor::DType> types;
    for (const TensorDesc& desc : layer.inputs) types.push_back(desc.dtype);
    for (const int input : {form->data, form->scale, form->shift})
      if (input >= 0 && !is_plain_float(layer.inputs[static_cast<size_t>(input)])) return {};
    return std::make_unique<NormalizationKernel>(*form, std::move(types), layer.outputs[0].dtype);
  }
};

}  // namespace

KernelFamily cpu_kernel_normalization() { return family_of<Softmax, Normalization>(); }

}  // namespace assay::engine::cpu
