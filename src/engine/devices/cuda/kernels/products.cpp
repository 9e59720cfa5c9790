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
    if (const auto found = this->find(layer, false); !found || !suits(found->product)) return {};
    auto found = this->find(layer, true);
    const bool is_constant = found->product.right.pointer.kind == Pointer::Kind::fixed;
    if (!is_constant || !found->site.find_walk(1)) return {};
    std::optional<Launch> launch = few_rows_launch(this->programs(), rows_of(found->product), std::move(found->site));
    if (!launch) return {};
    Launches launches;
    launches.constants = found->product.constants;
    launches.all.push_back(std::move(*launch));
    return make_kernel(std::move(launches));
  }

 private:
  static FewRows rows_of(const TileProduct& product) {
    return {.type = product.type,
            .rows = product.rows,
            .columns = product.columns,
            .depth = product.depth,
            .left = product.left.pointer,
            .left_row = product.left.along,
            .right = product.right.pointer,
            .right_column = product.right.along};
  }
  static bool suits(const TileProduct& product) {
    const bool is_plain = product.item_count() == 1 && !product.windows && !product.spread && product.left.depth == 1 &&
                          product.right.depth == 1 && product.right.along > 0;
    return is_plain && suits_few_rows(rows_of(product));
  }
};

}  // namespace

KernelFamily cuda_kernel_products() {
  return family_of<RowProducts<Windows>, RowProducts<Matrices>, Windows, Matrices>();
}

}  // namespace assay::engine::cuda
