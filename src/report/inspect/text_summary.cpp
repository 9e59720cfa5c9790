#include <algorithm>
#include <array>
#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"
#include "report/inspect/text_memory.h"
#include "report/inspect/text_model.h"

namespace assay::report {
namespace {

// `1,234,567`
std::string grouped(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, 1, ',');
  }
  return text;
}

std::string opsets_text(const std::vector<std::pair<std::string, int64_t>>& opsets) {
  std::string text;
  for (const auto& [domain, version] : opsets) {
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", domain.empty() ? "ai.onnx" : printable(domain), version);
  }
  return text;
}

void facts(const results::ModelOverview& overview, std::string& out) {
  out += fmt::format("IR Version: {} | Opsets: {}\n", overview.ir_version, opsets_text(overview.opset_imports));
  if (!overview.producer_name.empty()) {
    out += printable(fmt::format("Producer: {} {}", overview.producer_name, overview.producer_version));
    while (out.ends_with(' ')) out.pop_back();
    out += '\n';
  }
  if (!overview.domain.empty() || overview.model_version != 0) {
    out += fmt::format("Domain: {} | Model Version: {}\n", printable(overview.domain), overview.model_version);
  }
  for (const auto& [key, value] : overview.metadata) {
    out += fmt::format("Metadata: {} = {}\n", printable(key), printable(value));
  }
}

std::string weight_text(const results::WeightCount& count) {
  return fmt::format("{} in {} tensor(s), {}", grouped(count.elements), count.tensors, human_bytes(count.bytes));
}

void weights(const results::ModelOverview& overview, std::string& out) {
  out += fmt::format("Parameters: {}, {}", grouped(overview.parameter_count), human_bytes(overview.parameter_bytes));
  if (overview.external_bytes > 0) out += fmt::format(", {} of it external", human_bytes(overview.external_bytes));
  out += '\n';
  for (const auto& [dtype, count] : overview.weights) out += fmt::format("    {}: {}\n", dtype, weight_text(count));
  if (overview.constants.tensors > 0)
    out += fmt::format("    in Constant nodes: {}\n", weight_text(overview.constants));
}

void operators(const results::ModelOverview& overview, std::string& out) {
  std::vector<std::pair<std::string, uint64_t>> ops(overview.op_histogram.begin(), overview.op_histogram.end());
  std::ranges::stable_sort(ops, [](const auto& a, const auto& b) { return a.second > b.second; });
  out += fmt::format("Operators: {} in {} node(s)\n", ops.size(), overview.total_node_count);
  size_t width = 0;
  for (const auto& [op, count] : ops) width = std::max(width, op.size());
  for (const auto& [op, count] : ops) out += fmt::format("    {:<{}}  {}\n", printable(op), width, count);
}

std::string function_text(const results::FunctionListing& function) {
  std::string attributes;
  if (!function.attributes.empty()) attributes = fmt::format("<{}>", join(function.attributes, ", "));
  return printable(fmt::format("{}::{}{}{}({}) -> ({}), {} node(s)", function.domain, function.name,
                               function.overload.empty() ? "" : ":" + function.overload, attributes,
                               join(function.inputs, ", "), join(function.outputs, ", "), function.node_count));
}

void quantization(const results::QuantizationSummary& summary, std::string& out) {
  if (summary.empty()) return;
  out += fmt::format("Quantization: {} quantize, {} dequantize, {} quantized operator(s)\n", summary.quantize_nodes,
                     summary.dequantize_nodes, summary.quantized_op_nodes);
  if (summary.weight_types.empty()) return;
  std::string types;
  for (const auto& [dtype, count] : summary.weight_types) {
    types += fmt::format("{}{} {}", types.empty() ? "" : ", ", count, dtype);
  }
  out += fmt::format("    weights: {} (per tensor {}, per axis {}, blocked {})\n", types, summary.per_tensor,
                     summary.per_axis, summary.blocked);
}

// Parts that only a provider of ONNX Runtime can run.
void compiled_parts(const results::ModelOverview& overview, std::string& out) {
  if (overview.compiled.empty()) return;
  out += fmt::format("Compiled Parts: {}\n", overview.compiled.size());
  for (const results::CompiledPart& part : overview.compiled) {
    std::string facts = part.provider.empty() ? "an unknown provider" : printable(part.provider);
    if (!part.version.empty()) facts += fmt::format(" {}", printable(part.version));
    if (!part.hardware.empty()) facts += fmt::format(", for {}", printable(part.hardware));
    if (!part.name.empty()) facts += fmt::format(", part `{}`", printable(part.name));
    const std::string code = !part.has_code      ? "code in another node"
                             : part.file.empty() ? human_bytes(part.bytes) + " inside"
                                                 : fmt::format("in `{}`", printable(part.file));
    out += fmt::format("    `{}`: {}, {}\n", printable(part.node), facts, code);
  }
}

// `4.11 GMACs (4113744896)`, `912 MACs`
std::string macs_text(const std::string& macs) {
  constexpr std::array kUnits = {"k", "M", "G", "T", "P"};
  if (macs.size() < 4 || macs.find_first_not_of("0123456789") != std::string::npos) return macs + " MACs";
  double value = std::strtod(macs.c_str(), nullptr);
  size_t unit = 0;
  for (value /= 1000; value >= 999.5 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  return fmt::format("{:.3g} {}MACs ({})", value, kUnits[unit], macs);
}

}  // namespace

std::string cost_text(const results::Cost& cost) {
  return fmt::format("{}, {} bytes", macs_text(cost.macs), cost.bytes);
}

std::string summary_text(const results::ModelOverview& overview) {
  std::string out = "---- Summary ----\n";
  facts(overview, out);
  weights(overview, out);
  operators(overview, out);
  if (overview.cost) out += fmt::format("Cost: {}\n", cost_text(*overview.cost));
  if (overview.memory) out += memory_text(*overview.memory);
  if (!overview.functions.empty()) out += fmt::format("Functions: {}\n", overview.functions.size());
  for (const results::FunctionListing& function : overview.functions) {
    out += fmt::format("    {}\n", function_text(function));
  }
  quantization(overview.quantization, out);
  compiled_parts(overview, out);
  return out;
}

}  // namespace assay::report
