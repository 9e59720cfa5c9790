#include "engine/tactics.h"

#include <algorithm>
#include <optional>

#include "base/error.h"
#include "base/text.h"

namespace assay::engine {
namespace {

std::string tactic_name(const Implementation& implementation, std::string_view variant) {
  return variant.empty() ? std::string(implementation.name()) : fmt::format("{}:{}", implementation.name(), variant);
}

// Of what its elements span, gaps included.
uint64_t span_bytes(const TensorDesc& desc) {
  int64_t last = 0;
  for (size_t i = 0; i < desc.dims.size(); ++i) last += std::max<int64_t>(desc.dims[i] - 1, 0) * desc.strides[i];
  return static_cast<uint64_t>(last + 1) * tensor::bit_width(desc.dtype) / 8;
}

// Memory for a run of its own.
class Sample {
 public:
  Sample(const Device& device, const Layer& layer, uint64_t workspace_bytes) : device_(device) {
    for (size_t i = 0; i < layer.inputs.size(); ++i) {
      const tensor::Tensor* const constant = layer.constants[i];
      arguments_.inputs.push_back(constant != nullptr ? device.host(constant->bytes().data()) : place(layer.inputs[i]));
    }
    for (const TensorDesc& output : layer.outputs) arguments_.outputs.push_back(place(output));
    owned_.push_back(device.allocate(workspace_bytes));
    arguments_.workspace = *owned_.back();
  }
  const Arguments& arguments() const { return arguments_; }

 private:
  Address place(const TensorDesc& desc) {
    if (!desc.exists()) return {};
    owned_.push_back(device_.allocate_sample(desc.dtype, span_bytes(desc)));
    return *owned_.back();
  }

  const Device& device_;
  std::vector<std::shared_ptr<const Address>> owned_;
  Arguments arguments_;
};

}  // namespace

TacticSelector::TacticSelector(const Device& device, const TacticOptions& options)
    : device_(device),
      options_(options),
      cache_(options.cache ? options.cache : std::make_shared<TimingCache>()),
      machine_(options.measures ? device.fingerprint() : "") {}

std::string_view TacticSelector::replayed(const Layer& layer) const {
  const auto found = options_.replayed.find(layer_name(*layer.model, layer.node));
  return found == options_.replayed.end() ? std::string_view() : found->second;
}

bool TacticSelector::is_excluded(const Layer& layer, std::string_view tactic) const {
  if (!replayed(layer).empty()) return false;
  const std::string_view family = tactic.substr(0, tactic.find(':'));
  if (!options_.families.empty() && std::ranges::find(options_.families, family) == options_.families.end())
    return true;
  const auto is_it = [&](std::string_view name) {
    return tactic == name || (tactic.starts_with(name) && tactic[name.size()] == ':');
  };
  const auto own = options_.excluded_of.find(layer_name(*layer.model, layer.node));
  if (own != options_.excluded_of.end() && std::ranges::any_of(own->second, is_it)) return true;
  return std::ranges::any_of(options_.excluded, is_it);
}

std::vector<std::string> TacticSelector::variants(const Implementation& implementation, const Layer& layer) const {
  if (const std::string_view only = replayed(layer); !only.empty()) {
    const size_t colon = only.find(':');
    if (only.substr(0, colon) != implementation.name()) return {};
    return {std::string(colon == std::string_view::npos ? std::string_view() : only.substr(colon + 1))};
  }
  const bool has_exclusions = !options_.excluded.empty() || !options_.excluded_of.empty();
  if (options_.measures || has_exclusions) return implementation.variants(layer);
  return {""};
}

// Null: it is not to be used, or cannot compute the layer.
std::unique_ptr<Kernel> TacticSelector::make(const Implementation& implementation, const Layer& layer,
                                             std::string_view variant, std::string_view tactic) const {
  if (is_excluded(layer, tactic)) return nullptr;
  std::unique_ptr<Kernel> kernel = implementation.make(layer, variant);
  if (kernel && kernel->workspace_bytes() > options_.most_workspace_bytes) return nullptr;
  return kernel;
}

TacticSelector::Choice TacticSelector::choose(const Layer& layer) const {
  Choice best;
  uint64_t tried = 0;
  std::optional<double> least;  // of what was measured: a layer with one tactic needs none
  const std::string key = options_.measures ? layer_key(layer) : "";
  for (const Implementation* const implementation : device_.implementations()) {
    for (const std::string& variant : variants(*implementation, layer)) {
      Choice next{nullptr, tactic_name(*implementation, variant)};
      next.kernel = make(*implementation, layer, variant, next.tactic);
      if (!next.kernel) continue;
      if (!options_.measures) return next;
      if (!best.kernel) {
        best = std::move(next);
        continue;
      }
      if (options_.most_measured != 0 && ++tried >= options_.most_measured) return best;
      if (!least) least = seconds(layer, key, best);
      const double taken = seconds(layer, key, next);
      if (taken >= *least) continue;
      least = taken;
      best = std::move(next);
    }
  }
  return best;
}

double TacticSelector::seconds(const Layer& layer, const std::string& key, const Choice& choice) const {
  if (const std::optional<double> known = cache_->find(machine_, key, choice.tactic)) return *known;
  if (options_.is_cache_complete) {
    throw Error(ErrorCode::usage, fmt::format("the timing cache has no measurement of `{}` for the layer `{}`",
                                              choice.tactic, printable(layer_name(*layer.model, layer.node))))
        .about("error_on_timing_cache_miss");
  }
  const Sample sample(device_, layer, choice.kernel->workspace_bytes());
  const std::unique_ptr<Call> call = choice.kernel->bind(sample.arguments());
  const double taken = device_.measure(*call, options_.seconds_per_tactic);
  cache_->add(machine_, key, choice.tactic, taken);
  return cache_->find(machine_, key, choice.tactic).value_or(taken);  // as later builds will find it
}

}  // namespace assay::engine
