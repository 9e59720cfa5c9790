// Pools and resampling of pictures.
#include <algorithm>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kSamplingThreads = 256;
constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

void add_geometry(const PoolForm& form, KernelWriter& writer) {
  writer.divisor("kByChannels", form.channels);
  writer.divisor("kByWidth", form.out_width);
  writer.divisor("kByHeight", form.out_height);
  writer.number("kHeight", form.height);
  writer.number("kWidth", form.width);
  writer.number("kStrideY", form.stride_y);
  writer.number("kStrideX", form.stride_x);
  writer.number("kPadTop", form.pad_top);
  writer.number("kPadLeft", form.pad_left);
  writer.number("kDilationY", form.dilation_y);
  writer.number("kDilationX", form.dilation_x);
  writer.constant("kKernelHeight", form.kernel_height);
  writer.constant("kKernelWidth", form.kernel_width);
  writer.constant("kIsMaximum", form.is_maximum ? 1 : 0);
  writer.constant("kCountsPadding", form.counts_padding ? 1 : 0);
  writer.constant("kGivesPlaces", form.gives_places ? 1 : 0);
  writer.constant("kIsColumnMajor", form.is_column_major ? 1 : 0);
}

// The result of a window that sees only padding.
float least_number(tensor::DType dtype) {
  if (dtype == tensor::DType::int8) return std::numeric_limits<int8_t>::lowest();
  return dtype == tensor::DType::uint8 ? 0 : -std::numeric_limits<float>::infinity();
}

class Pool : public Operation {
 public:
  using Operation::Operation;

 protected:
  std::unique_ptr<Kernel> make_pool(const Layer& layer, const PoolForm& form, Layout layout) const {
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    const bool is_code = in.dtype == tensor::DType::int8 || in.dtype == tensor::DType::uint8;
    if (!is_short_float(in.dtype) && !(form.is_maximum && is_code)) return {};
    if (!has_layout(in, layout) || in.count() > kMostElements || out.count() > kMostElements || out.count() == 0) {
      return {};
    }
    for (const TensorDesc& desc : layer.outputs) {
      if (desc.exists() && !has_layout(desc, layout)) return {};
    }
    KernelWriter writer;
    writer.type("T", in.dtype);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kOut", "T", output_pointer(0));
    if (form.gives_places) writer.pointer("kPlaces", "int64", output_pointer(1));
    writer.number("kResults", out.count());
    writer.real("kLeast", least_number(in.dtype));
    writer.constant("kIsPlain", layout == Layout::plain ? 1 : 0);
    add_geometry(form, writer);
    // Channels that lie side by side are moved at once.
    const int64_t most = 128 / tensor::bit_width(in.dtype);
    const bool has_packs = layout != Layout::plain && !form.gives_places;
    const int64_t pack = has_packs ? std::gcd(form.channels, most) : 1;
    writer.constant("kPack", pack);
    return single(
        writer.finish(programs(), kSamplingThreads, blocks_for(out.count() / pack, kSamplingThreads), pool_text()));
  }
};

class PoolOfPixels final : public Pool {
 public:
  using Pool::Pool;
  std::string_view name() const override { return "pool.windows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PoolForm>(layer);
    return form == nullptr || form->gives_places ? nullptr : make_pool(layer, *form, Layout::channels_last);
  }
};

class PoolWithPlaces final : public Pool {
 public:
  using Pool::Pool;
  std::string_view name() const override { return "pool.places"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PoolForm>(layer);
    if (form == nullptr || !form->gives_places) return {};
    std::unique_ptr<Kernel> made = make_pool(layer, *form, Layout::plain);
    return made ? std::move(made) : make_pool(layer, *form, Layout::channels_last);
  }
};

ops::ResampledTerms terms_of(const ops::Node& facts, const ops::ResampledAxis& axis) {
  if (ops::resize_mode(facts) != ops::ResizeMode::nearest) return ops::resize_terms(facts, axis);
  ops::ResampledTerms terms;
  for (int64_t x = 0; x < axis.out; ++x) {
    const double place = ops::original_place(ops::resize_coordinate_mode(facts), axis, x);
    const int64_t element = ops::nearest_element(ops::resize_nearest_mode(facts, axis.scale), place, axis);
    terms.push_back({{static_cast<uint64_t>(element), 1.0}});
  }
  return terms;
}

// The elements and weights that make each place along a dim, all with as many terms.
struct TermTable {
  int64_t terms = 0;
  std::vector<int32_t> elements;
  std::vector<float> weights;

  explicit TermTable(const ops::ResampledTerms& all) {
    for (const auto& own : all) terms = std::max(terms, static_cast<int64_t>(own.size()));
    for (const auto& own : all) {
      for (int64_t i = 0; i < terms; ++i) {
        const bool is_there = i < static_cast<int64_t>(own.size());
        const ops::ResampledTerm& term = own[static_cast<size_t>(is_there ? i : 0)];
        elements.push_back(static_cast<int32_t>(term.element));
        weights.push_back(is_there ? static_cast<float>(term.weight) : 0.0F);
      }
    }
  }
};

// The text of a resampling, dim by dim, with its tables.
class ResizeWriter {
 public:
  ResizeWriter(Programs& programs, const ops::Node& facts, const ResizeForm& form)
      : programs_(programs), facts_(facts), form_(form) {}

  Launches write(const TensorDesc& in, const TensorDesc& out) {
    writer_.type("T", in.dtype);
    writer_.pointer("kIn", "const T", input_pointer(0));
    writer_.pointer("kOut", "T", output_pointer(0));
    writer_.number("kResults", out.count());
    for (const size_t dim : inner_first(out)) add(dim, in.strides[dim], out.dims[dim]);
    writer_.text("DEVICE float sampled(const Params& p, uint32 rest) {\n  uint32 q;\n  const T* from = kIn;\n" +
                 places_ + "  float sum = 0;\n  const T* const outer = from;\n  const float weight = 1;\n" + loops_ +
                 "  sum += weight * widened(*outer);\n" + ends_ + "  return sum;\n}\n");
    launches_.all.push_back(
        writer_.finish(programs_, kSamplingThreads, blocks_for(out.count(), kSamplingThreads), resize_text()));
    return std::move(launches_);
  }

 private:
  void add(size_t dim, int64_t stride, int64_t extent) {
    const size_t at = writer_.launch().numbers.size();
    writer_.launch().add_divisor(extent);
    writer_.launch().add(stride);
    places_ += fmt::format(
        "  q = quotient(rest, DIVISOR({0}));\n  const int i{1} = (int)(rest - q * (uint32)p.n[{0}]);\n  rest = q;\n",
        at, dim);
    if (ops::is_unchanged(form_.axes[dim])) {
      places_ += fmt::format("  from += (int64)i{} * p.n[{}];\n", dim, at + 3);
      return;
    }
    const TermTable table(terms_of(facts_, form_.axes[dim]));
    const size_t pointer = add_table(table);
    loops_ += fmt::format(
        "  for (int t{0} = i{0} * {1}; t{0} < (i{0} + 1) * {1}; ++t{0}) {{\n"
        "    const T* const from{0} = outer + (int64)((const int*)p.at[{2}])[t{0}] * p.n[{3}];\n"
        "    const float weight{0} = weight * ((const float*)p.at[{4}])[t{0}];\n"
        "    const T* const outer = from{0};\n    const float weight = weight{0};\n",
        dim, table.terms, pointer, at + 3, pointer + 1);
    ends_ += "  }\n";
  }

  // Returns the place of the elements among the pointers; the weights follow.
  size_t add_table(const TermTable& table) {
    const size_t pointer = writer_.launch().pointers.size();
    for (const Buffer& buffer : {programs_.upload(std::as_bytes(std::span(table.elements))),
                                 programs_.upload(std::as_bytes(std::span(table.weights)))}) {
      writer_.launch().pointers.push_back(fixed_pointer(buffer.first));
      launches_.constants.push_back(buffer);
    }
    return pointer;
  }

  Programs& programs_;
  const ops::Node& facts_;
  const ResizeForm& form_;
  KernelWriter writer_;
  Launches launches_;
  std::string places_, loops_, ends_;
};

class Resize final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "resize.terms"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<ResizeForm>(layer);
    if (form == nullptr) return {};
    const TensorDesc& in = layer.inputs[0];
    const TensorDesc& out = layer.outputs[0];
    if (!is_short_float(in.dtype) || !is_dense(out) || in.count() > kMostElements || out.count() == 0 ||
        out.count() > kMostElements) {
      return {};
    }
    const ops::Node facts = layer.facts(layer.nodes[0]);
    return make_kernel(ResizeWriter(programs(), facts, *form).write(in, out));
  }
};

}  // namespace

KernelFamily cuda_kernel_sampling() { return family_of<PoolOfPixels, PoolWithPlaces, Resize>(); }

}  // namespace assay::engine::cuda
