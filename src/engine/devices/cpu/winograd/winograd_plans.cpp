#include "engine/devices/cpu/winograd/winograd_plans.h"

#include <algorithm>

#include <fmt/core.h>

namespace assay::engine::cpu {
namespace {

// In multiplications.
double cost(const ConvGeometry& g, int64_t terms, int64_t rows, const WinogradForm& form) {
  return static_cast<double>(terms) * (static_cast<double>(rows) + form.reading) *
         static_cast<double>(g.channels * g.out_channels);
}
// With weights that are read as fast.
double cost_of_direct(const ConvGeometry& g, const WinogradForm& form) {
  return cost(g, g.kernel_height * g.kernel_width, g.batch * g.out_height * g.out_width, form);
}
// With what the transforms take for each term of a channel.
double cost_of(const ConvGeometry& g, const WinogradForm& form) {
  constexpr double kTransform = 16;
  const double products = cost(g, static_cast<int64_t>(form.terms()), WinogradTiles(g, form).count, form);
  return products *
         (1 + kTransform / static_cast<double>(g.channels) + kTransform / static_cast<double>(g.out_channels));
}

std::optional<WinogradPlan> first_guess(const ConvGeometry& g, std::span<const WinogradForm> forms,
                                        FunctionRef<bool(const WinogradForm&)> is_exact) {
  constexpr int64_t kLeastChannels = 32;
  constexpr int64_t kFewTiles = 64;
  if (std::min(g.channels, g.out_channels) < kLeastChannels) return std::nullopt;
  double least = cost_of_direct(g, forms[0]);
  std::optional<WinogradPlan> best;
  for (const WinogradPlan& plan : winograd_plans(g, forms)) {
    const bool is_few = WinogradTiles(g, *plan.form).count <= kFewTiles;
    if (plan.in_stages != is_few || cost_of(g, *plan.form) >= least || !is_exact(*plan.form)) continue;
    least = cost_of(g, *plan.form);
    best = plan;
  }
  return best;
}

}  // namespace

std::string WinogradPlan::name() const { return fmt::format("{}/{}", in_stages ? "stages" : "lanes", form->out); }

bool fits_winograd(const ConvGeometry& g) {
  const bool is_3x3 = g.kernel_height == 3 && g.kernel_width == 3 && g.groups == 1 && !g.is_transposed;
  const bool is_dense = g.dilation_y == 1 && g.dilation_x == 1;
  const auto step = static_cast<int64_t>(kWinogradChannels);
  return is_3x3 && is_dense && g.stride_y == g.stride_x && g.channels % step == 0 && g.out_channels % step == 0;
}

std::vector<WinogradPlan> winograd_plans(const ConvGeometry& g, std::span<const WinogradForm> forms) {
  constexpr double kHopeless = 2;
  constexpr int64_t kManyTiles = 512;  // whose terms leave all caches between stages
  std::vector<WinogradPlan> plans;
  for (const WinogradForm& form : forms) {
    if (static_cast<int64_t>(form.stride) != g.stride_x || cost_of(g, form) > kHopeless * cost_of_direct(g, form))
      continue;
    plans.push_back({&form, false});
    if (WinogradTiles(g, form).count <= kManyTiles) plans.push_back({&form, true});
  }
  return plans;
}

std::optional<WinogradPlan> winograd_plan(const ConvGeometry& g, std::span<const WinogradForm> forms,
                                          std::string_view name, FunctionRef<bool(const WinogradForm&)> is_exact) {
  if (name.empty()) return first_guess(g, forms, is_exact);
  const std::vector<WinogradPlan> plans = winograd_plans(g, forms);
  const auto found = std::ranges::find(plans, name, &WinogradPlan::name);
  return found == plans.end() || !is_exact(*found->form) ? std::nullopt : std::optional(*found);
}

}  // namespace assay::engine::cpu
