// Softmax, normalisations, reductions and places of extremes: rows of elements that become others, or one number.
#include <algorithm>
#include <limits>

#include "engine/devices/cuda/generate/element_site.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();
constexpr unsigned kThreadsOfResults = 256;

bool is_plain_float(const TensorDesc& desc) {
  return is_short_float(desc.dtype) && has_layout(desc, Layout::plain) && desc.count() > 0 &&
         desc.count() <= kMostElements;
}

class Softmax final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "softmax.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<SoftmaxForm>(layer);
    const TensorDesc& in = layer.inputs[0];
    if (form == nullptr || !is_plain_float(in) || layer.outputs[0] != in) return {};
    int64_t outer = 1, length = 1, inner = 1;
    for (int64_t i = 0; i < static_cast<int64_t>(in.dims.size()); ++i) {
      const int64_t dim = in.dims[static_cast<size_t>(i)];
      (i < form->axis ? outer : i == form->axis || form->flattens ? length : inner) *= dim;
    }
    KernelWriter writer;
    writer.type("T", in.dtype);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kOut", "T", output_pointer(0));
    writer.number("kLength", length);
    writer.divisor("kInner", inner);
    writer.constant("kIsLog", form->is_log ? 1 : 0);
    return single(writer.finish(programs(), threads_of_row(length), outer * inner, softmax_text(), rows_text()));
  }
};

// Facts that norm.cu is told.
struct NormSettings {
  int64_t rows = 1, length = 1;
  float epsilon = 0;
  bool is_rms = false;
  int data = 0, scale = -1, shift = -1;
  int64_t groups = 0, per_group = 1, per_number = 1;  // groups 0: factors by element
};

// Packs of 16 bytes that a lane holds where a warp has a row; 0: rows are too long for that, or have no whole packs.
int64_t held_packs(const NormSettings& norm, tensor::DType dtype) {
  constexpr int64_t kMostHeld = 32;  // of a lane
  const int64_t pack = 128 / tensor::bit_width(dtype), most = kMostHeld / pack;
  const int64_t packs = (norm.length + 32 * pack - 1) / (32 * pack);
  return norm.groups == 0 && norm.length % pack == 0 && packs <= most ? packs : 0;
}

void write_numbers(const NormSettings& norm, KernelWriter& writer) {
  writer.number("kLength", norm.length);
  writer.real("kEpsilon", norm.epsilon);
  writer.real("kShare", 1.0F / static_cast<float>(norm.length));
  writer.constant("kIsRms", norm.is_rms ? 1 : 0);
}

std::unique_ptr<Kernel> make_norm(Programs& programs, const Layer& layer, const NormSettings& norm) {
  const auto desc_of = [&](int input) {
    return input < 0 ? layer.inputs[static_cast<size_t>(norm.data)] : layer.inputs[static_cast<size_t>(input)];
  };
  const TensorDesc& in = desc_of(norm.data);
  for (const int input : {norm.data, norm.scale, norm.shift}) {
    if (!is_plain_float(desc_of(input))) return {};
  }
  if (layer.outputs.size() != 1 || layer.outputs[0] != in) return {};
  KernelWriter writer;
  writer.type("T", in.dtype);
  writer.type("Scale", desc_of(norm.scale).dtype);
  writer.type("Shift", desc_of(norm.shift).dtype);
  writer.pointer("kIn", "const T", input_pointer(static_cast<size_t>(norm.data)));
  writer.pointer("kOut", "T", output_pointer(0));
  writer.pointer("kScale", "const Scale", input_pointer(static_cast<size_t>(std::max(norm.scale, 0))));
  writer.pointer("kShift", "const Shift", input_pointer(static_cast<size_t>(std::max(norm.shift, 0))));
  writer.constant("kIsNear", is_half(in.dtype) && !layer.is_strict ? 1 : 0);
  write_numbers(norm, writer);
  writer.constant("kHasScale", norm.scale >= 0 ? 1 : 0);
  writer.constant("kHasShift", norm.shift >= 0 ? 1 : 0);
  writer.constant("kIsByGroup", norm.groups > 0 ? 1 : 0);
  writer.number("kGroups", std::max<int64_t>(norm.groups, 1));
  writer.number("kPerGroup", norm.per_group);
  writer.divisor("kPerNumber", norm.per_number);
  const int64_t packs = held_packs(norm, in.dtype);
  const auto is_constant = [&](int input) {
    return input < 0 || layer.constants[static_cast<size_t>(input)] != nullptr;
  };
  writer.number("kRows", norm.rows);
  writer.constant("kHeldPacks", packs);
  writer.constant("kReadsEarly", is_constant(norm.scale) && is_constant(norm.shift) ? 1 : 0);
  if (packs == 0) {
    return single(writer.finish(programs, threads_of_row(norm.length), norm.rows, norm_text(), rows_text()));
  }
  constexpr unsigned kThreads = 128;
  const int64_t blocks = blocks_for(norm.rows, kThreads / 32);
  return single(writer.finish(programs, kThreads, blocks, norm_text(), rows_text()));
}

class Norm final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "normalization.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (const auto* const form = form_as<NormForm>(layer)) {
      return make_norm(programs(), layer,
                       {.rows = form->count,
                        .length = form->inner,
                        .epsilon = form->epsilon,
                        .is_rms = form->is_rms,
                        .data = form->data,
                        .scale = form->scale,
                        .shift = form->shift});
    }
    const auto* const form = form_as<ChannelNormForm>(layer);
    if (form == nullptr) return {};
    return make_norm(programs(), layer,
                     {.rows = form->batch * form->groups,
                      .length = form->per_group() * form->pixels,
                      .epsilon = static_cast<float>(form->epsilon),
                      .data = form->data,
                      .scale = form->scale,
                      .shift = form->shift,
                      .groups = form->groups,
                      .per_group = form->per_group() / form->per_number,
                      .per_number = form->pixels * form->per_number});
  }
};

class Reduce final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "reduction.rows"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<Reduction>(layer);
    if (form == nullptr) return {};
    const Layer chain = layer.is_single() ? layer : without_last(layer);
    const TensorDesc in = layer.is_single() ? layer.inputs[0] : chain.outputs[0];
    const TensorDesc& out = layer.outputs[0];
    if (!is_short_float(in.dtype) || !is_short_float(out.dtype) || in.count() == 0 || out.count() == 0) return {};
    const std::optional<ReductionExtents> extents = reduction_extents(in, out, form->axes);
    std::optional<ElementSite> site = elements(layer, chain, in);
    if (!extents || !site || !site->find_walk(1)) return {};
    KernelWriter writer;
    site->add_to(writer.launch());
    writer.type("Out", out.dtype);
    writer.pointer("kOut", "Out", output_pointer(0));
    writer.number("kReduced", extents->reduced);
    writer.number("kResults", extents->outer * extents->inner);
    writer.divisor("kInner", extents->inner);
    writer.constant("kKind", static_cast<int64_t>(form->kind));
    writer.constant("kIsRow", extents->inner == 1 ? 1 : 0);
    writer.text("DEVICE float element(const Params& p, uint32 first) {\n" + site->offsets() + site->loads() +
                site->body() + "  return made;\n}\n");
    const bool is_row = extents->inner == 1;
    const int64_t results = extents->outer * extents->inner;
    const unsigned threads = is_row ? threads_of_row(extents->reduced) : 32 * warps_of(results, extents->reduced);
    return single(
        writer.finish(programs(), threads, is_row ? results : blocks_for(results, 32), reduction_text(), rows_text()));
  }

 private:
  // Warps that share the elements of a result, so that all processors have threads enough.
  unsigned warps_of(int64_t results, int64_t reduced) const {
    constexpr int64_t kThreadsOfProcessor = 1024, kLeastElements = 8;
    const int64_t wanted = programs().card().multiprocessors() * kThreadsOfProcessor / results;
    int64_t warps = 1;
    while (warps < 32 && warps < wanted && 2 * warps * kLeastElements <= reduced) warps *= 2;
    return static_cast<unsigned>(warps);
  }
  // The elements that are reduced.
  static std::optional<ElementSite> elements(const Layer& layer, const Layer& chain, const TensorDesc& in) {
    std::optional<ElementText> text;
    if (layer.is_single()) {
      text = ElementText{.inputs = {0}, .statements = "    const float made = x0;\n", .numbers = {}, .type = in.dtype};
    } else {
      const std::optional<Chain> found = find_chain(chain, 0, {});
      if (found) text = chain_text(chain, *found);
    }
    if (!text) return std::nullopt;
    std::vector<ElementOperand> operands;
    for (const int input : text->inputs) {
      operands.push_back({input_pointer(static_cast<size_t>(input)), layer.inputs[static_cast<size_t>(input)]});
    }
    return ElementSite(std::move(*text), std::move(operands), {output_pointer(0), in});
  }
};

class Places final : public Operation {
 public:
  using Operation::Operation;
  std::string_view name() const override { return "reduction.places"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto* const form = form_as<PlacesForm>(layer);
    if (form == nullptr) return {};
    const TensorDesc& in = layer.inputs[0];
    const bool is_known = has_layout(in, Layout::plain) && has_layout(layer.outputs[0], Layout::plain) &&
                          in.count() > 0 && in.count() <= kMostElements && !element_type(in.dtype).empty();
    if (!is_known) return {};
    int64_t outer = 1, inner = 1;
    for (size_t i = 0; i < in.dims.size(); ++i) {
      if (i != form->axis) (i < form->axis ? outer : inner) *= in.dims[i];
    }
    KernelWriter writer;
    writer.type("T", in.dtype);
    writer.pointer("kIn", "const T", input_pointer(0));
    writer.pointer("kOut", "int64", output_pointer(0));
    writer.number("kReduced", in.dims[form->axis]);
    writer.number("kResults", outer * inner);
    writer.divisor("kInner", inner);
    writer.constant("kIsFloat", is_short_float(in.dtype) ? 1 : 0);
    writer.constant("kIsMaximum", form->is_maximum ? 1 : 0);
    writer.constant("kTakesLast", form->takes_last ? 1 : 0);
    constexpr int64_t kLong = 64;
    const bool is_row = inner == 1 && in.dims[form->axis] >= kLong;
    writer.constant("kIsRow", is_row ? 1 : 0);
    const unsigned threads = is_row ? threads_of_row(in.dims[form->axis]) : kThreadsOfResults;
    return single(
        writer.finish(programs(), threads, is_row ? outer : blocks_for(outer * inner, threads), places_text()));
  }
};

}  // namespace

KernelFamily cuda_kernel_rows() { return family_of<Softmax, Norm, Reduce, Places>(); }

}  // namespace assay::engine::cuda
