// Products of matrices and pictures: our own, and those of oneDNN, where it is installed.
#include "engine/devices/cpu/depthwise/depthwise_layers.h"
#include "engine/devices/cpu/onednn/kernels.h"
#include "engine/devices/cpu/processor.h"
#include "engine/devices/cpu/tiles/code_layers.h"
#include "engine/devices/cpu/tiles/selected_rows.h"
#include "engine/devices/cpu/tiles/tile_kernels.h"
#include "engine/devices/cpu/tiles/tiled_layers.h"
#include "engine/devices/cpu/winograd/exact_layers.h"
#include "engine/devices/cpu/winograd/winograd_layers.h"

namespace assay::engine::cpu {
namespace {

class OneDnn final : public Implementation {
 public:
  using Make = std::unique_ptr<Kernel> (*)(const onednn::Library&, const Layer&, std::string_view);
  using Variants = std::vector<std::string> (*)(const onednn::Library&, const Layer&);
  using Yields = bool (*)(const Layer&);
  OneDnn(std::string_view name, const onednn::Library& library, Make maker, Variants lister, Yields yielder)
      : name_(name), library_(library), make_(maker), variants_(lister), yields_(yielder) {}
  std::string_view name() const override { return name_; }
  std::vector<std::string> variants(const Layer& layer) const override { return variants_(library_, layer); }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view variant) const override {
    return make_(library_, layer, variant);
  }
  bool yields(const Layer& layer) const override { return yields_ != nullptr && yields_(layer); }

 private:
  std::string_view name_;
  const onednn::Library& library_;
  Make make_;
  Variants variants_;
  Yields yields_;  // null: never
};

Implementations make_product_kernels(const Libraries& libraries) {
  Implementations all;
  const auto add = [&](std::string_view name, OneDnn::Make maker, OneDnn::Variants lister, OneDnn::Yields yielder) {
    if (libraries.onednn == nullptr) return;
    all.push_back(std::make_unique<OneDnn>(name, *libraries.onednn, maker, lister, yielder));
  };
  const bool are_first = code_kernels(false).codes == 4;  // kernels of codes are mostly faster then
  all.push_back(winograd_layers());
  if (!are_first) all.push_back(exact_winograd_layers());
  all.push_back(depthwise_layers());
  all.push_back(tiled_pointwise());
  if (are_first) all.push_back(coded_convolutions());
  add("conv.onednn", onednn::make_convolution, onednn::convolution_variants, onednn::has_uneven_lanes);
  all.push_back(are_first ? exact_winograd_layers() : coded_convolutions());
  all.push_back(coded_convolutions_in_groups());
  all.push_back(tiled_windows());
  all.push_back(tiled_matrices());
  all.push_back(selected_products());
  const bool are_matrices_first = are_first && !has_amx_int8();
  if (are_matrices_first) all.push_back(coded_matrices());
  add("product.onednn", onednn::make_product, onednn::product_variants, nullptr);
  if (!are_matrices_first) all.push_back(coded_matrices());
  return all;
}

}  // namespace

KernelFamily cpu_kernel_products() { return {make_product_kernels}; }

}  // namespace assay::engine::cpu
