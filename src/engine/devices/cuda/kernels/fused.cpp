// Products of few rows that are normalised first, or of whose columns two halves go on together: by one kernel, or part
// by part.
#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/kernels_in_turn.h"
#include "engine/devices/cuda/tiles/compressed_layer.h"
#include "engine/devices/cuda/tiles/few_rows.h"
#include "engine/devices/cuda/tiles/float_products.h"
#include "engine/layers/form.h"

namespace assay::engine::cuda {
namespace {

constexpr std::string_view kApart = "apart";
constexpr std::string_view kRows = "rows";

class FusedProducts final : public Matrices {
 public:
  using Matrices::Matrices;
  std::string_view name() const override { return "product.fused"; }

  std::vector<std::string> variants(const Layer& layer) const override {
    const auto* const form = form_as<FusedProduct>(layer);
    if (form == nullptr) return {};
    std::vector<std::string> names = {std::string(kApart)};
    const FusedParts parts = parts_of(layer, *form);
    if (const std::optional<Rows> found = find_rows(parts, false); found && suits_few_rows(found->rows))
      names.insert(names.begin(), std::string(kRows));
    return names;
  }

  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    const auto* const form = form_as<FusedProduct>(layer);
    const bool is_known = variant.empty() || variant == kRows || variant == kApart;
    if (form == nullptr || !is_known) return {};
    const FusedParts parts = parts_of(layer, *form);
    std::unique_ptr<Kernel> together = variant == kApart ? nullptr : by_rows(parts);
    return together || variant == kRows ? std::move(together) : apart(parts);
  }

 private:
  // The product as one kernel multiplies it, and the inputs that it has.
  struct Rows {
    FewRows rows;
    ElementSite site;
    std::vector<Buffer> constants;
    std::vector<KernelOfPart::Input> inputs;
    bool has_bias = false;
  };

  std::optional<Rows> find_rows(const FusedParts& parts, bool packs) const {
    std::optional<Rows> made = find_product_of(parts.product.layer, packs);
    if (!made) return std::nullopt;
    made->inputs = inputs_of(parts.product);
    if (parts.norm && !add_norm(*parts.norm, *made)) return std::nullopt;
    if (parts.gates && !add_gates(parts, *made)) return std::nullopt;
    return made;
  }
  std::optional<Rows> find_product_of(const Layer& layer, bool packs) const {
    if (std::optional<Found> found = find(layer, packs)) {
      const std::optional<FewRows> rows = few_rows_of(found->product);
      if (!rows) return std::nullopt;
      constexpr size_t kDataAndWeights = 2;
      const bool has_bias = layer.inputs.size() > kDataAndWeights;
      return Rows{*rows, std::move(found->site), std::move(found->product.constants), {}, has_bias};
    }
    std::optional<CompressedLayer> found = find_layer_of_codes(layer);
    if (!found || layer.is_strict) return std::nullopt;
    Rows made{few_rows_of(*found), std::move(found->site), {}, {}, found->form.product.bias.valid()};
    made.rows.codes = compressed_operand(layer, found->form.product, packs);
    if (packs) made.constants.push_back(made.rows.codes->bytes);
    return made;
  }

  // The rows are what is normalised; factors become inputs behind the others.
  static bool add_norm(const LayerPart& part, Rows& made) {
    const NormForm norm = *form_as<NormForm>(part.layer);
    const TensorDesc& data = part.layer.inputs[static_cast<size_t>(norm.data)];
    if (data != part.layer.outputs[0] || data.dtype != made.rows.type || !has_layout(data, Layout::plain)) return false;
    for (KernelOfPart::Input& input : made.inputs) {
      if (input.of_layer == LayerPart::kMadeBefore) input.of_layer = part.inputs[static_cast<size_t>(norm.data)];
    }
    RowNorm row{
        .epsilon = norm.epsilon, .is_rms = norm.is_rms, .is_near = !part.layer.is_strict, .scale = {}, .shift = {}};
    for (const auto& [input, factors] : {std::pair(norm.scale, &row.scale), std::pair(norm.shift, &row.shift)}) {
      if (input < 0) continue;
      const TensorDesc& desc = part.layer.inputs[static_cast<size_t>(input)];
      const bool is_constant = part.layer.constants[static_cast<size_t>(input)] != nullptr;
      if (!is_constant || !is_short_float(desc.dtype) || !has_layout(desc, Layout::plain)) return false;
      *factors = {input_pointer(made.inputs.size()), desc.dtype};
      made.inputs.push_back({.of_layer = part.inputs[static_cast<size_t>(input)]});
    }
    made.rows.norm = row;
    return true;
  }
  static bool add_gates(const FusedParts& parts, Rows& made) {
    const bool are_read = parts.first_half >= 0 && parts.second_half >= 0;
    if (!are_read || made.has_bias || parts.product.layer.nodes.size() != 1) return false;
    std::optional<ElementSite> site = gated_site(*parts.gates, parts.first_half, parts.second_half, made.inputs.size());
    if (!site) return false;
    for (const KernelOfPart::Input& input : inputs_of(*parts.gates)) made.inputs.push_back(input);
    made.site = *std::move(site);
    made.rows.is_gated = true;
    return true;
  }

  std::unique_ptr<Kernel> by_rows(const FusedParts& parts) const {
    if (const std::optional<Rows> found = find_rows(parts, false); !found || !suits_few_rows(found->rows)) return {};
    std::optional<Rows> found = find_rows(parts, true);
    if (!found->site.find_walk(1)) return {};
    std::optional<Launch> launch = few_rows_launch(programs(), found->rows, std::move(found->site));
    if (!launch) return {};
    Launches launches;
    launches.constants = std::move(found->constants);
    launches.all.push_back(*std::move(launch));
    std::vector<KernelOfPart> whole;
    whole.push_back({make_kernel(std::move(launches)), std::move(found->inputs)});
    return in_turn(std::move(whole));
  }

  std::unique_ptr<Kernel> apart(const FusedParts& parts) const {
    std::vector<KernelOfPart> made;
    const auto add = [&](const LayerPart& part) -> KernelOfPart& {
      made.push_back({first_kernel(programs(), part.layer), inputs_of(part), part.layer.outputs[0].size_bytes()});
      return made.back();
    };
    if (parts.norm) add(*parts.norm);
    add(parts.product);
    if (parts.gates) {
      KernelOfPart& gates = add(*parts.gates);
      const TensorDesc& half = parts.gates->layer.outputs[0];
      if (parts.second_half >= 0) {
        gates.inputs[static_cast<size_t>(parts.second_half)].offset =
            static_cast<uint64_t>(half.dims.back() * tensor::bit_width(parts.product.layer.outputs[0].dtype) / 8);
      }
    }
    return in_turn(std::move(made));
  }
};

}  // namespace

KernelFamily cuda_kernel_fused() { return family_of<FusedProducts>(); }

}  // namespace assay::engine::cuda
