// Resize and Upsample of pictures, channels last.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"
#include "engine/devices/cpu/rows/floats.h"
#include "ops/kernels/window/resize_attributes.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

using Axis = ops::ResampledAxis;

constexpr int64_t kTile = 1024;  // channels at once
constexpr int64_t kGrain = 1 << 14;

// Of a row or column of the result: elements of the operand, and their weights.
struct Sources {
  std::vector<int64_t> places;
  std::vector<float> weights;
};

struct Geometry {
  int64_t batch, channels;
  Axis rows, columns;
  int64_t pixel_bytes;

  int64_t grain(int64_t each) const {
    return std::max<int64_t>(1, kGrain / std::max<int64_t>(1, columns.out * channels * each));
  }
  // Calls fn(image of the operand, row, row of the result).
  template <typename Fn>
  void for_rows(const Arguments& arguments, int64_t each, Fn&& fn) const {
    const auto* const in = host<const std::byte>(arguments.inputs[0]);
    auto* const out = host<std::byte>(arguments.outputs[0]);
    parallel_for(static_cast<uint64_t>(batch * rows.out), static_cast<uint64_t>(grain(each)),
                 [&](uint64_t begin, uint64_t end) {
                   for (auto i = static_cast<int64_t>(begin); i < static_cast<int64_t>(end); ++i) {
                     fn(in + i / rows.out * rows.in * columns.in * pixel_bytes, i % rows.out,
                        out + i * columns.out * pixel_bytes);
                   }
                 });
  }
};

class NearestKernel final : public PlainKernel {
 public:
  NearestKernel(const Geometry& geometry, std::vector<int64_t> rows, std::vector<int64_t> columns)
      : g_(geometry), rows_(std::move(rows)), columns_(std::move(columns)) {}
  void run(const Arguments& arguments) const override {
    const auto bytes = static_cast<size_t>(g_.pixel_bytes);
    g_.for_rows(arguments, 1, [&](const std::byte* image, int64_t row, std::byte* out) {
      const std::byte* const from = image + rows_[static_cast<size_t>(row)] * g_.columns.in * g_.pixel_bytes;
      for (const int64_t column : columns_) {
        std::memcpy(out, from + column * g_.pixel_bytes, bytes);
        out += bytes;
      }
    });
  }

 private:
  Geometry g_;
  std::vector<int64_t> rows_, columns_;
};

class FilteredKernel final : public PlainKernel {
 public:
  FilteredKernel(const Geometry& geometry, tensor::DType dtype, std::vector<Sources> rows, std::vector<Sources> columns)
      : g_(geometry), dtype_(dtype), rows_(std::move(rows)), columns_(std::move(columns)) {}
  void run(const Arguments& arguments) const override {
    g_.for_rows(arguments, 4, [&](const std::byte* image, int64_t row, std::byte* out) {
      for (const Sources& column : columns_) {
        for (int64_t first = 0; first < g_.channels; first += kTile) {
          const int64_t skipped = first * float_bytes(dtype_);
          const auto count = static_cast<size_t>(std::min(kTile, g_.channels - first));
          mix(image + skipped, rows_[static_cast<size_t>(row)], column, out + skipped, count);
        }
        out += g_.pixel_bytes;
      }
    });
  }

 private:
  void mix(const std::byte* image, const Sources& row, const Sources& column, std::byte* out, size_t count) const {
    float read[kTile];
    float mixed_tile[kTile];
    float* const mixed = place_floats(dtype_, out, mixed_tile);
    std::fill_n(mixed, count, 0.0F);
    for (size_t y = 0; y < row.places.size(); ++y) {
      const std::byte* const line = image + row.places[y] * g_.columns.in * g_.pixel_bytes;
      for (size_t x = 0; x < column.places.size(); ++x) {
        const float* const from = read_floats(dtype_, line + column.places[x] * g_.pixel_bytes, read, count);
        row_kernels().add_scaled(mixed, from, row.weights[y] * column.weights[x], count);
      }
    }
    write_floats(dtype_, mixed, out, count);
  }

  Geometry g_;
  tensor::DType dtype_;
  std::vector<Sources> rows_, columns_;
};

// Rows and columns as the model asks for; nullopt: data decides, or it is a way of counting that only the reference
// has.
std::optional<std::vector<Axis>> plan_of(const Layer& layer, const ops::Node& facts) {
  const tensor::Shape& in = layer.inputs[0].dims;
  const tensor::Shape& out = layer.outputs[0].dims;
  if (ops::resize_coordinate_mode(facts) == "tf_crop_and_resize") return std::nullopt;
  if (ops::resize_aspect_policy(facts) != "stretch") return std::nullopt;
  std::vector<Axis> plan(in.size());
  for (size_t i = 0; i < in.size(); ++i) {
    plan[i] = {in[i], out[i], static_cast<double>(out[i]) / static_cast<double>(in[i])};
  }
  const ops::ResizeInputs places = ops::resize_inputs(facts);
  const auto numbers_of = [&](uint32_t input) -> std::optional<std::vector<double>> {
    const ir::ValueId value = input == ops::ResizeInputs::kNone ? ir::ValueId() : layer.operand(layer.nodes[0], input);
    if (!value.valid()) return std::vector<double>();
    const tensor::Tensor* const constant = layer.constant(value);
    return constant == nullptr ? std::nullopt : std::optional(tensor::load_elements<double>(*constant));
  };
  const std::optional<std::vector<double>> sizes = numbers_of(places.sizes);
  std::optional<std::vector<double>> scales = numbers_of(places.scales);
  if (!sizes || !scales) return std::nullopt;
  if (!sizes->empty()) return plan;
  if (places.scales == ops::ResizeInputs::kNone) scales = ops::written_scales(facts);
  const std::vector<int64_t> axes = ops::resized_axes(facts, static_cast<int64_t>(in.size()));
  if (scales->size() != axes.size()) return std::nullopt;
  for (size_t i = 0; i < axes.size(); ++i) plan[static_cast<size_t>(axes[i])].scale = (*scales)[i];
  return plan;
}

std::vector<int64_t> nearest(const ops::Node& facts, const Axis& axis) {
  std::vector<int64_t> places;
  for (int64_t x = 0; x < axis.out; ++x) {
    const double place = ops::original_place(ops::resize_coordinate_mode(facts), axis, x);
    const bool is_same = axis.in == axis.out && axis.scale == 1;
    places.push_back(is_same ? x : ops::nearest_element(ops::resize_nearest_mode(facts, axis.scale), place, axis));
  }
  return places;
}

std::vector<Sources> filtered(const ops::Node& facts, const Axis& axis) {
  const ops::Filter filter{ops::resize_mode(facts) == ops::ResizeMode::cubic, facts.floating("cubic_coeff_a", -0.75),
                           facts.integer("antialias", 0) != 0, facts.integer("exclude_outside", 0) != 0};
  std::vector<Sources> all;
  for (int64_t x = 0; x < axis.out; ++x) {
    if (axis.in == axis.out && axis.scale == 1) {
      all.push_back({{x}, {1}});
      continue;
    }
    const ops::Taps taps = ops::taps_at(filter, ops::original_place(ops::resize_coordinate_mode(facts), axis, x), axis);
    Sources& made = all.emplace_back();
    for (size_t k = 0; k < taps.weights.size(); ++k) {
      if (taps.weights[k] == 0) continue;
      made.places.push_back(std::clamp<int64_t>(taps.first + static_cast<int64_t>(k), 0, axis.in - 1));
      made.weights.push_back(static_cast<float>(taps.weights[k]));
    }
  }
  return all;
}

class Resize final : public Implementation {
 public:
  std::string_view name() const override { return "resize.channels_last"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_resize = layer.starts_with("Resize") || layer.starts_with("Upsample");
    if (!is_resize || !layer.is_single() || layer.inputs[0].dims.size() != 4) return {};
    const TensorDesc& in = layer.inputs[0];
    for (const TensorDesc& desc : {in, layer.outputs[0]}) {
      const bool has_whole_bytes = tensor::bit_width(desc.dtype) % 8 == 0;
      if (!has_whole_bytes || !has_layout(desc, Layout::channels_last) || desc.count() == 0) return {};
    }
    const ops::Node facts = layer.facts(layer.nodes[0]);
    const std::optional<std::vector<Axis>> plan = plan_of(layer, facts);
    if (!plan) return {};
    for (const size_t kept : {0U, 1U}) {
      if ((*plan)[kept].in != (*plan)[kept].out || (*plan)[kept].scale != 1) return {};
    }
    const Geometry geometry{in.dims[0], in.dims[1], (*plan)[2], (*plan)[3],
                            in.dims[1] * tensor::bit_width(in.dtype) / 8};
    if (ops::resize_mode(facts) == ops::ResizeMode::nearest) {
      return std::make_unique<NearestKernel>(geometry, nearest(facts, (*plan)[2]), nearest(facts, (*plan)[3]));
    }
    if (!is_float(in.dtype)) return {};
    return std::make_unique<FilteredKernel>(geometry, in.dtype, filtered(facts, (*plan)[2]),
                                            filtered(facts, (*plan)[3]));
  }
};

Implementations make_all(const Libraries&) {
  Implementations all;
  all.push_back(std::make_unique<Resize>());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_resize() { return {make_all}; }

}  // namespace assay::engine::cpu
