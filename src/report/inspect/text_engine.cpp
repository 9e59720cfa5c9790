#include "report/inspect/text_engine.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

constexpr size_t kStep = 4;
constexpr size_t kGap = 17;  // from the longest name to the end of what a tensor is

std::string tuple_text(const std::vector<int64_t>& dims) {
  return fmt::format("({}{})", fmt::join(dims, ", "), dims.size() == 1 ? "," : "");
}

std::string shape_text(const results::ValueInfo& info) {
  std::vector<int64_t> dims;
  for (const results::ListedDim& dim : info.shape) dims.push_back(dim.value.value_or(-1));
  return tuple_text(dims);
}

std::string tensor_text(const results::EngineTensor& tensor) {
  std::string facts = tensor.info.type.empty() ? "" : fmt::format("dtype={}", tensor.info.type);
  if (tensor.info.ranked) facts += fmt::format(", shape={}", shape_text(tensor.info));
  if (!tensor.format.empty()) facts += fmt::format(", Format: {}", tensor.format);
  if (tensor.range) {
    facts += fmt::format(", min={:.2f}, max={:.2f}, avg={:.2f}", tensor.range->least, tensor.range->greatest,
                         tensor.range->mean);
  }
  return facts.empty() ? printable(tensor.info.name) : fmt::format("{} [{}]", printable(tensor.info.name), facts);
}

std::string tensors_text(const std::vector<results::EngineTensor>& tensors, size_t indent) {
  std::string text = "{";
  for (const results::EngineTensor& tensor : tensors) {
    if (text.size() > 1) text += ",\n" + std::string(indent + 1, ' ');
    text += tensor_text(tensor);
  }
  return text + "}";
}

class EngineText {
 public:
  EngineText(const results::EngineListing& listing, const TextEngineOptions& options)
      : listing_(listing), options_(options) {}

  std::string make() {
    const std::string_view kind = listing_.is_network ? "Network" : "Engine";
    line(0, fmt::format("==== TensorRT {} ====", kind));
    if (listing_.is_header) return header();
    line(0, fmt::format("Name: {} | Explicit Batch {}", printable(listing_.name), kind));
    boundary("Input", listing_.inputs);
    boundary("Output", listing_.outputs);
    if (listing_.is_network) {
      layers();
      text_.pop_back();
      return std::move(text_);
    }
    title("---- Memory ----");
    line(0, fmt::format("Device Memory: {} bytes", listing_.memory_bytes));
    if (!options_.is_as_there) {
      line(0,
           fmt::format("Weights: {} bytes | Packed Weights: {} bytes", listing_.weight_bytes, listing_.packed_bytes));
    }
    profiles();
    layers();
    if (!options_.is_as_there) build();
    text_.pop_back();
    return std::move(text_);
  }

 private:
  std::string header() {
    line(0, "Built by: " + printable(listing_.machine));
    if (!listing_.capabilities.empty()) line(0, "For GPUs of: " + join(listing_.capabilities, ", "));
    line(0, fmt::format("Size: {} bytes", listing_.file_bytes));
    text_.pop_back();
    return std::move(text_);
  }

  void line(size_t indent, std::string_view text) {
    text_.append(indent, ' ');
    text_ += text;
    text_ += '\n';
  }

  void title(std::string_view text) {
    text_ += '\n';
    line(0, text);
  }

  void boundary(std::string_view what, const std::vector<results::ValueInfo>& infos) {
    title(fmt::format("---- {} {} {}(s) ----", infos.size(), listing_.is_network ? "Network" : "Engine", what));
    std::vector<results::EngineTensor> tensors;
    for (const results::ValueInfo& info : infos) tensors.push_back({.info = info, .format = {}, .range = {}});
    line(0, tensors_text(tensors, 0));
  }

  void build() {
    title("---- Build ----");
    line(0, "Machine: " + printable(listing_.machine));
    if (!listing_.source.empty()) line(0, "Source: " + printable(listing_.source));
    if (!listing_.permissions.empty()) line(0, "Permitted: " + join(listing_.permissions, ", "));
    if (listing_.is_strict) line(0, "Strict: nothing but the order of sums changes bits");
  }

  void profiles() {
    const size_t tensors = listing_.inputs.size() + listing_.outputs.size();
    title(fmt::format("---- {} Profile(s) ({} Tensor(s) Each) ----", listing_.profiles.size(), tensors));
    for (size_t i = 0; i < listing_.profiles.size(); ++i) {
      if (i > 0) text_ += '\n';
      line(0, fmt::format("- Profile: {}", i));
      profile(listing_.profiles[i]);
    }
  }

  void profile(const results::EngineProfile& profile) {
    size_t longest = 0;
    for (const auto* infos : {&listing_.inputs, &listing_.outputs}) {
      for (const results::ValueInfo& info : *infos) longest = std::max(longest, printable(info.name).size());
    }
    const auto begin = [&](const std::string& name, std::string_view what, size_t index) {
      return fmt::format("Tensor: {:<{}}{:>{}}, Index: {} | ", printable(name), longest, what, kGap, index);
    };
    size_t index = 0;
    for (const results::EngineRange& range : profile.inputs) {
      const std::string what = range.is_values ? "Values" : "Shapes";
      line(kStep, begin(range.input, "(Input)", index++) +
                      (range.is_any ? fmt::format("{}: any", what)
                                    : fmt::format("{}: min={}, opt={}, max={}", what, tuple_text(range.least),
                                                  tuple_text(range.best), tuple_text(range.most))));
    }
    for (const results::ValueInfo& output : listing_.outputs) {
      line(kStep, begin(output.name, "(Output)", index++) + "Shape: " + shape_text(output));
    }
  }

  void layers() {
    const bool is_one = listing_.profiles.size() == 1;
    const auto planned = std::ranges::find(listing_.profiles, true, &results::EngineProfile::is_planned);
    const size_t count = planned == listing_.profiles.end() ? 0 : planned->layers.size();
    title(fmt::format("---- {} Layer(s){} ----", count, is_one ? "" : " Per Profile"));
    if (planned == listing_.profiles.end()) line(0, "They are made when shapes come");
    if (!options_.layers) return;
    for (size_t i = 0; i < listing_.profiles.size(); ++i) {
      if (!is_one) line(0, fmt::format("- Profile: {}", i));
      const std::vector<results::EngineLayer>& layers = listing_.profiles[i].layers;
      for (size_t number = 0; number < layers.size(); ++number) {
        layer(layers[number], number, is_one ? 0 : kStep);
        if (number + 1 < layers.size()) text_ += '\n';
      }
      unplanned(listing_.profiles[i].unplanned, is_one ? 0 : kStep);
      if (i + 1 < listing_.profiles.size()) text_ += '\n';
    }
  }

  void unplanned(const std::vector<results::UnplannedNode>& nodes, size_t indent) {
    if (nodes.empty()) return;
    text_ += '\n';
    line(indent, fmt::format("---- {} Node(s) Folded, Removed, Or Only A View ----", nodes.size()));
    for (const results::UnplannedNode& node : nodes) {
      line(indent, fmt::format("{} [Op: {}]", printable(node.name), printable(node.op)));
    }
  }

  void layer(const results::EngineLayer& layer, size_t number, size_t indent) {
    const std::string name = printable(layer.name.empty() ? layer.outputs.front().info.name : layer.name);
    line(indent, fmt::format("Layer {:<4} | {} [Op: {}]", number, name, printable(layer.op)));
    line(indent + kStep, tensors_text(layer.inputs, indent + kStep));
    line(indent + kStep, " -> " + tensors_text(layer.outputs, indent + kStep + 4));
    if (!options_.attributes) return;
    line(indent + kStep, "---- Attributes ----");
    std::vector<std::string> origins;
    for (const std::string& origin : layer.origins) origins.push_back(printable(origin));
    if (!origins.empty()) line(indent + kStep, fmt::format("{}.Origin = {}", name, join(origins, ", ")));
    if (!layer.tactic.empty()) line(indent + kStep, fmt::format("{}.Tactic = {}", name, printable(layer.tactic)));
  }

  const results::EngineListing& listing_;
  const TextEngineOptions options_;
  std::string text_;
};

}  // namespace

std::string engine_text(const results::EngineListing& listing, const TextEngineOptions& options) {
  return EngineText(listing, options).make();
}

}  // namespace assay::report
