#include "engine/devices/cuda/generate/followed.h"

#include <fmt/format.h>

namespace assay::engine::cuda {

namespace {

// The site of the nodes from `done` on; `given` makes what they are given of `plain`, of operands from number `inputs`
// of the chain on, and of numbers that it adds.
template <typename Given>
std::optional<ElementSite> site_of(const Layer& layer, size_t done, std::vector<ElementOperand> added,
                                   const Given& given) {
  const std::optional<Chain> chain = find_chain(layer, done, layer.result(layer.nodes[done - 1], 0));
  std::optional<ElementText> text = chain ? chain_text(layer, *chain) : std::nullopt;
  if (!text) return std::nullopt;
  std::vector<ElementOperand> operands;
  for (const int input : text->inputs) {
    operands.push_back({input_pointer(static_cast<size_t>(input)), layer.inputs[static_cast<size_t>(input)]});
  }
  text->statements = "    const float given = " + given(operands.size(), text->numbers) + ";\n" + text->statements;
  operands.insert(operands.end(), added.begin(), added.end());
  return ElementSite(std::move(*text), std::move(operands), {output_pointer(0), layer.outputs[0]});
}

// `Operands` and `operands_of`.
std::string operands_text(const ElementSite& site) {
  return "struct Operands {\n" + site.members() +
         fmt::format("}};\nDEVICE Operands operands_of(const Params& p, {}) {{\n", site.place()) + site.offsets() +
         site.raw_loads() + fmt::format("  return {{{}}};\n}}\n", site.members_list());
}

// These and `finish`, which knows the place of the results by `place`, or by the operands.
std::string halves_text(const ElementSite& site, std::string_view plain, std::string_view place = "",
                        std::string_view further = "") {
  return fmt::format("#define kTaken {}\n", site.pack()) + operands_text(site) +
         fmt::format(
             "DEVICE void finish(const Params& p{}, const Pack<{}, {}>& products, const Operands& operands{}) {{\n",
             place, plain, site.pack(), further) +
         (place.empty() ? "" : site.result_offset()) + site.references("operands") +
         site.results(fmt::format("    const {} plain = products.e[i];\n", plain)) + "}\n";
}

// `finished`, which computes neighbours and writes none.
std::string finished_text(const ElementSite& site) {
  return fmt::format(
             "DEVICE Pack<{0}, {1}> finished(const Params& p, const Pack<float, {1}>& products, const Operands& "
             "operands) {{\n",
             site.result_type(), site.neighbours()) +
         site.references("operands") + site.computed("    const float plain = products.e[i];\n") + "  return out;\n}\n";
}

}  // namespace

std::optional<ElementSite> followed_site(const Layer& layer, size_t done, const Bias& bias) {
  if (bias.input < 0) return site_of(layer, done, {}, [](size_t, auto&) { return std::string("plain"); });
  if (!is_read_as_float(bias.desc.dtype)) return std::nullopt;
  return site_of(layer, done, {{input_pointer(static_cast<size_t>(bias.input)), bias.desc}},
                 [](size_t first, auto&) { return fmt::format("plain + x{}", first); });
}

std::optional<ElementSite> scaled_followed_site(const Layer& layer, size_t done, const ElementOperand& factors,
                                                const ElementOperand& bias) {
  return site_of(layer, done, {factors, bias},
                 [](size_t first, auto&) { return fmt::format("plain * x{} + x{}", first, first + 1); });
}

std::optional<ElementSite> scaled_followed_site(const Layer& layer, size_t done, float factor) {
  return site_of(layer, done, {}, [&](size_t, auto& numbers) {
    numbers.push_back(factor);
    return fmt::format("plain * NUMBER(kNumbers + {})", numbers.size() - 1);
  });
}

std::optional<ElementSite> gated_site(const LayerPart& part, int first, int second, size_t begin) {
  const Layer& layer = part.layer;
  const std::optional<Chain> chain = find_chain(layer, 0, {});
  std::optional<ElementText> text = chain ? chain_text(layer, *chain) : std::nullopt;
  if (!text) return std::nullopt;
  std::vector<ElementOperand> operands;
  for (const int input : text->inputs) {
    const auto place = static_cast<size_t>(input);
    const std::string_view given = input == first ? "products.e[0]" : input == second ? "products.e[1]" : "";
    operands.push_back({given.empty() ? input_pointer(begin + place) : output_pointer(0), layer.inputs[place], given});
  }
  return ElementSite(*std::move(text), std::move(operands), {output_pointer(0), layer.outputs[0]});
}

Bias channel_bias(const Layer& layer, const ConvolutionForm& form) {
  if (form.bias < 0) return {};
  return {form.bias, along_channels(layer.inputs[static_cast<size_t>(form.bias)], layer.outputs[0])};
}

std::string finish_text(ElementSite site, Launch& launch, std::string_view plain) {
  site.add_to(launch);
  return halves_text(site, plain) + fmt::format(
                                        "DEVICE void finish(const Params& p, uint32 first, const Pack<{}, {}>& "
                                        "products) {{\n  finish(p, products, operands_of(p, first));\n}}\n",
                                        plain, site.pack());
}

std::string gated_finish_text(ElementSite site, Launch& launch) {
  site.add_to(launch);
  return operands_text(site) +
         "DEVICE void finish(const Params& p, const Pack<float, 2>& products, const Operands& operands) {\n" +
         site.references("operands") + site.results("") + "}\n";
}

std::string row_finish_text(ElementSite site, Launch& launch, int64_t columns) {
  site.use_rows(columns);
  site.add_to(launch);
  return halves_text(site, "float");
}

std::string slotted_finish_text(ElementSite site, Launch& launch, int64_t columns) {
  site.use_rows(columns);
  site.use_slots();
  site.add_to(launch);
  return fmt::format("DEVICE void fetch(const Params& p, {}, unsigned char* slots) {{\n", site.place()) +
         site.offsets() + site.fetches() + "}\n" +
         halves_text(site, "float", ", int row, int column", ", const unsigned char* slots");
}

std::string apart_text(ElementSite site, Launch& launch, int64_t columns) {
  site.use_rows(columns);
  site.compute_together(site.pack());
  site.add_to(launch);
  return "namespace apart {\n" + operands_text(site) + finished_text(site) + "}\n";
}

std::string paired_finish_text(ElementSite site, Launch& launch, int64_t columns) {
  site.use_rows(columns);
  site.add_to(launch);
  const std::string whole = fmt::format(
                                "#define kTaken {0}\ntypedef {1} Result;\nDEVICE void write(const Params& p, {2}, "
                                "const Pack<Result, {0}>& out) "
                                "{{\n",
                                site.pack(), site.result_type(), site.place()) +
                            site.result_offset() + site.store() + "}\n";
  site.compute_together(2);
  return whole + operands_text(site) + finished_text(site);
}

bool has_channels_last_order(const TensorDesc& out) {
  return memory_order(out) == memory_order(make_desc(out.dtype, out.dims, Layout::channels_last));
}

TensorDesc along_channels(const TensorDesc& vector, const TensorDesc& out) {
  TensorDesc desc{vector.dtype, tensor::Shape(out.dims.size() - 1, 1), tensor::Shape(out.dims.size() - 1, 0)};
  desc.dims[0] = vector.dims.back();
  desc.strides[0] = vector.strides.back();
  return desc;
}

}  // namespace assay::engine::cuda
