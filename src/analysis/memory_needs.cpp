#include "analysis/memory_needs.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "analysis/cost.h"
#include "analysis/feedback.h"
#include "analysis/liveness.h"
#include "base/error.h"
#include "base/text.h"
#include "exec/feeds.h"

namespace assay::analysis {
namespace {

constexpr std::string_view kUnnamed = "?";

bool is_open(const exec::PortDim& dim) { return !dim.size; }

std::optional<FeedRules> rules_of(const ir::Model& model) {
  Diagnostics ignored;
  const std::variant<FeedRules, Error> rules =
      attempt([&] { return feed_rules(model, exec::signature_of(model), {}, ignored); });
  const FeedRules* found = std::get_if<FeedRules>(&rules);
  return found != nullptr && !found->caches.empty() ? std::optional(*found) : std::nullopt;
}

std::string last_dim(const exec::Signature& signature, const std::string& input) {
  const exec::Port* port = exec::find_port(signature.inputs, input);
  const bool has_dims = port != nullptr && port->type && !port->type->dims.empty();
  return has_dims && is_open(port->type->dims.back()) ? port->type->dims.back().text : "";
}

// The length of a mask is that of caches and ids together.
void settle_masks(const exec::Signature& signature, const FeedRules& rules, OpenSizes& sizes, int64_t other) {
  const auto size = [&](const std::string& name) {
    const auto found = sizes.find(name);
    return found == sizes.end() ? other : found->second;
  };
  const CacheFeed& cache = rules.caches.front();
  const exec::Port* port = exec::find_port(signature.inputs, cache.input);
  if (!cache.grows || port == nullptr) return;
  const std::string past = port->type->dims[*cache.axis].text;
  const std::string now = last_dim(signature, rules.ids);
  for (const StepInput& input : rules.inputs) {
    const std::string total = input.kind == StepInput::Kind::mask ? last_dim(signature, input.name) : "";
    if (total.empty() || total == past || total == now || size(past) < 0 || size(now) < 0) continue;
    sizes.emplace(total, size(past) + (now.empty() ? 1 : size(now)));
  }
}

std::set<std::string> open_dims(const exec::Signature& signature) {
  std::set<std::string> names;
  for (const exec::Port& input : signature.inputs) {
    if (!input.type || input.has_default) continue;
    for (const exec::PortDim& dim : input.type->dims) {
      if (is_open(dim)) names.insert(dim.text);
    }
  }
  return names;
}

// Sizes at which one node or another has the peak: all open dims small, middling and large, and each large alone.
std::vector<OpenSizes> samples(const ir::Model& model) {
  constexpr int64_t kSmall = 1;
  constexpr int64_t kLarge = 4096;
  const exec::Signature signature = exec::signature_of(model);
  const std::set<std::string> names = open_dims(signature);
  const std::optional<FeedRules> rules = rules_of(model);
  std::set<std::string> follow;  // lengths of masks
  if (rules) {
    OpenSizes found;
    settle_masks(signature, *rules, found, 0);
    for (const auto& [name, size] : found) follow.insert(name);
  }
  std::vector<OpenSizes> all;
  const auto add = [&](auto&& size_of) {
    OpenSizes sizes;
    for (const std::string& name : names) {
      if (!follow.contains(name)) sizes.emplace(name, size_of(name));
    }
    if (rules) settle_masks(signature, *rules, sizes, 0);
    all.push_back(std::move(sizes));
  };
  for (const int64_t size : {kSmall, int64_t{64}, kLarge}) add([&](const std::string&) { return size; });
  for (const std::string& large : names) {
    if (names.size() > 1 && !follow.contains(large))
      add([&](const std::string& name) { return name == large ? kLarge : kSmall; });
  }
  return all;
}

ops::Dim sum_of(const ir::Model& model, const ops::Inference& types, const std::vector<ir::ValueId>& values) {
  ops::Dim sum = 0;
  for (const ir::ValueId value : values) sum = sum + value_bytes(model, types, value);
  return sum;
}

uint64_t weight_bytes(const ir::Model& model) {
  uint64_t bytes = 0;
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    const ir::Value& value = model[ir::ValueId{i}];
    if (value.alive && value.constant.valid()) bytes += model[value.constant].tensor.size_bytes();
  }
  return bytes;
}

std::optional<results::CacheNeeds> cache_needs(const ir::Model& model, const ops::Inference& types) {
  const std::optional<FeedRules> rules = rules_of(model);
  if (!rules) return std::nullopt;
  ops::Dim bytes = 0;
  ops::Dim of_token = 0;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    const auto cache = std::ranges::find(rules->caches, model.text(model[input].name), &CacheFeed::input);
    if (cache == rules->caches.end()) continue;
    bytes = bytes + value_bytes(model, types, input);
    const ops::Type& type = types.type(input);
    if (!cache->grows || !type.dims || *cache->axis >= type.dims->size()) continue;
    ops::Dims rest = *type.dims;
    rest[*cache->axis] = 1;
    of_token = of_token + ceil_div(ops::product(rest) * ops::Dim(tensor::bit_width(type.dtype)), 8);
  }
  return results::CacheNeeds{rules->caches.size(), bytes.text(), of_token.text()};
}

// Formulas at the nodes that have the peak for one sample or another, without those that another is never below.
std::vector<results::MemoryPeak> symbolic_peaks(const ir::Model& model, const ops::Inference& types,
                                                const Liveness& liveness) {
  std::vector<PeakPath> paths;
  for (const OpenSizes& sizes : samples(model)) {
    ops::Inference numbers(model, sized_types(model, sizes, 1));
    numbers.run();
    PeakPath path = liveness.peak(numbers);
    if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.push_back(std::move(path));
  }
  std::vector<std::pair<ops::Dim, PeakPath>> greatest;
  for (const PeakPath& path : paths) {
    const ops::Dim bytes = liveness.bytes_at(types, path);
    const auto covers = [](const ops::Dim& a, const ops::Dim& b) { return (a - b).is_non_negative(); };
    if (std::ranges::any_of(greatest, [&](const auto& other) { return covers(other.first, bytes); })) continue;
    std::erase_if(greatest, [&](const auto& other) { return covers(bytes, other.first); });
    greatest.emplace_back(bytes, path);
  }
  std::vector<results::MemoryPeak> peaks;
  for (const auto& [bytes, path] : greatest) peaks.push_back(liveness.at(types, path));
  return peaks;
}

void add_size(OpenSizes& sizes, const exec::PortDim& dim, int64_t size, const std::string& input) {
  if (!is_open(dim) || size < 0) return;
  const auto [at, is_new] = sizes.emplace(dim.text, size);
  if (is_new || at->second == size || dim.text == kUnnamed) return;
  throw Error(ErrorCode::usage, fmt::format("dim `{}` of input `{}` is {}, of another input {}", printable(dim.text),
                                            printable(input), size, at->second))
      .about("input_shapes");
}

}  // namespace

OpenSizes open_sizes(const ir::Model& model, const std::vector<exec::InputShape>& shapes) {
  OpenSizes sizes;
  if (shapes.empty()) return sizes;
  const exec::Signature signature = exec::signature_of(model);
  const exec::GenerateOptions options{.shapes = shapes};
  for (const exec::Port& input : signature.inputs) {
    if (!input.type) continue;
    const std::optional<tensor::Shape> shape = exec::asked_shape(input, options);
    for (size_t i = 0; shape && i < std::min(shape->size(), input.type->dims.size()); ++i)
      add_size(sizes, input.type->dims[i], (*shape)[i], input.name);
  }
  if (const std::optional<FeedRules> rules = rules_of(model)) settle_masks(signature, *rules, sizes, -1);
  return sizes;
}

ops::InputTypes sized_types(const ir::Model& model, const OpenSizes& sizes, std::optional<int64_t> other) {
  ops::InputTypes types;
  const exec::Signature signature = exec::signature_of(model);
  for (const ir::ValueId input : exec::required_inputs(model)) {
    const exec::Port& port = *exec::find_port(signature.inputs, model.text(model[input].name));
    if (!port.type || port.type->kind != ir::TypeKind::tensor || !port.type->ranked) continue;
    ops::Dims dims;
    for (const exec::PortDim& dim : port.type->dims) {
      const auto found = sizes.find(dim.text);
      if (dim.size)
        dims.emplace_back(*dim.size);
      else if (found != sizes.end() || other)
        dims.emplace_back(found != sizes.end() ? found->second : *other);
      else
        throw Error(ErrorCode::usage,
                    fmt::format("dim `{}` of input `{}` has no size", printable(dim.text), printable(port.name)))
            .remedied_by("input_shapes");
    }
    types.emplace(input, ops::Type::tensor(port.type->dtype, std::move(dims)));
  }
  return types;
}

results::MemoryNeeds memory_needs(const ir::Model& model, const ops::Inference& types, const OpenSizes& sizes) {
  const Liveness liveness(model);
  std::vector<ir::ValueId> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) outputs.push_back(use.value);
  results::MemoryNeeds needs;
  needs.weight_bytes = weight_bytes(model);
  needs.input_bytes = sum_of(model, types, exec::required_inputs(model)).text();
  needs.output_bytes = sum_of(model, types, outputs).text();
  needs.unknown_values = liveness.unknown_values(types);
  needs.peaks = symbolic_peaks(model, types, liveness);
  needs.caches = cache_needs(model, types);
  if (sizes.empty() && !open_dims(exec::signature_of(model)).empty()) return needs;
  ops::Inference numbers(model, sized_types(model, sizes));
  numbers.run();
  const PeakPath path = liveness.peak(numbers);
  needs.at = liveness.at(numbers, path);
  for (const auto& [name, size] : sizes) needs.sizes.push_back(fmt::format("{}={}", name, size));
  const int64_t inputs = sum_of(model, numbers, exec::required_inputs(model)).number().value_or(0);
  const int64_t peak = liveness.bytes_at(numbers, path).number().value_or(0);
  needs.total_bytes = needs.weight_bytes + static_cast<uint64_t>(inputs + peak);
  return needs;
}

}  // namespace assay::analysis
