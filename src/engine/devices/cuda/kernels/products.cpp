// Products of matrices of floats, and convolutions as such products.
#include "engine/devices/cuda/tiles/few_rows.h"
#include "engine/devices/cuda/tiles/float_products.h"

namespace assay::engine::cuda {
namespace {

// Either kind of product with few rows.
template <typename Kind>
class RowProducts final : public Kind {
 public:
  using Kind::Kind;
  std::string_view name() const override { return "product.rows"; }
  std::vector<std::string> variants(const Layer&) const override { return {}; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const auto found = this->find(layer, false);
    const std::optional<FewRows> rows = found ? few_rows_of(found->product) : std::nullopt;
    if (!rows || !suits_few_rows(*rows)) return {};
    auto packed = this->find(layer, true);
    const bool is_constant = packed->product.right.pointer.kind == Pointer::Kind::fixed;
    if (!is_constant || !packed->site.find_walk(1)) return {};
    std::optional<Launch> launch =
        few_rows_launch(this->programs(), *few_rows_of(packed->product), std::move(packed->site));
    if (!launch) return {};
    Launches launches;
    launches.constants = packed->product.constants;
    launches.all.push_back(std::move(*launch));
    return make_kernel(std::move(launches));
  }
};

}  // namespace

KernelFamily cuda_kernel_products() {
  return family_of<RowProducts<Windows>, RowProducts<Matrices>, Windows, Matrices>();
}

}  // namespace assay::engine::cuda
