#pragma once

#include "engine/devices/cuda/tiles/tiled.h"

namespace assay::engine::cuda {

// Products of matrices of floats.
class Matrices : public Tiled {
 public:
  using Tiled::Tiled;
  std::string_view name() const override { return "product.tiles"; }

 protected:
  std::optional<Found> find(const Layer& layer, bool packs) const override;
};

// Convolutions of floats as such products.
class Windows : public Tiled {
 public:
  using Tiled::Tiled;
  std::string_view name() const override { return "conv.tiles"; }

 protected:
  std::optional<Found> find(const Layer& layer, bool packs) const override;
};

}  // namespace assay::engine::cuda
