// Products by oneDNN, where it is installed.
#include "engine/devices/cpu/onednn/kernels.h"

namespace assay::engine::cpu {
namespace {

class OneDnn final : public Implementation {
 public:
  using Make = std::unique_ptr<Kernel> (*)(const onednn::Library&, const Layer&);
  OneDnn(std::string_view name, const onednn::Library& library, Make maker)
      : name_(name), library_(library), make_(maker) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override { return make_(library_, layer); }

 private:
  std::string_view name_;
  const onednn::Library& library_;
  Make make_;
};

Implementations make_all(const Libraries& libraries) {
  Implementations all;
  if (libraries.onednn == nullptr) return all;
  all.push_back(std::make_unique<OneDnn>("conv.onednn", *libraries.onednn, onednn::make_convolution));
  all.push_back(std::make_unique<OneDnn>("product.onednn", *libraries.onednn, onednn::make_product));
  return all;
}

}  // namespace

KernelFamily cpu_kernel_products() { return {make_all}; }

}  // namespace assay::engine::cpu
