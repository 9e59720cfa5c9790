#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/function_ref.h"
#include "engine/devices/cpu/winograd/transforms.h"
#include "engine/layers/conv_geometry.h"

namespace assay::engine::cpu {

// The division of a layer's work. In stages, all tiles become terms before lanes divide their products by panels, so
// that the weights are read once. Otherwise lanes divide the tiles and take some at a time from pixels to pixels.
struct WinogradPlan {
  const WinogradForm* form = nullptr;
  bool in_stages = false;

  std::string name() const;  // `lanes/4`
};

// Tiles over the results of a convolution.
struct WinogradTiles {
  int64_t out, down, across, count;

  WinogradTiles(const ConvGeometry& g, const WinogradForm& form)
      : out(static_cast<int64_t>(form.out)),
        down((g.out_height + out - 1) / out),
        across((g.out_width + out - 1) / out),
        count(g.batch * down * across) {}

  struct Place {
    int64_t image, y, x;  // of the first pixel of the result
  };
  Place place_of(int64_t tile) const {
    return {tile / (down * across), tile / across % down * out, tile % across * out};
  }
};

// True if a form computes it.
bool fits_winograd(const ConvGeometry& g);
// The plans of some forms that may be worth measuring.
std::vector<WinogradPlan> winograd_plans(const ConvGeometry& g, std::span<const WinogradForm> forms);
// That of the name; empty: the one that is taken unmeasured. Nullopt: there is none that is exact enough, or nothing is
// gained.
std::optional<WinogradPlan> winograd_plan(const ConvGeometry& g, std::span<const WinogradForm> forms,
                                          std::string_view name, FunctionRef<bool(const WinogradForm&)> is_exact);

}  // namespace assay::engine::cpu
