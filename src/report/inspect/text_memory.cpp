#include "report/inspect/text_memory.h"

#include <cstdlib>

#include <fmt/format.h>

#include "base/text.h"

namespace assay::report {
namespace {

// `1.5 MiB (1572864 bytes)` of a number, formulas as they are.
std::string bytes_text(const std::string& bytes) {
  const bool is_number = !bytes.empty() && bytes.find_first_not_of("0123456789") == std::string::npos;
  if (!is_number) return printable(bytes) + " bytes";
  return fmt::format("{} ({} bytes)", human_bytes(std::strtoull(bytes.c_str(), nullptr, 10)), bytes);
}

std::string largest_text(const results::MemoryPeak& peak) {
  std::vector<std::string> values;
  for (const results::LiveValue& value : peak.largest)
    values.push_back(fmt::format("{} {}", printable(value.name), printable(value.bytes)));
  return fmt::format("        at {}: {}\n", printable(peak.node), join(values, ", "));
}

std::string peaks_text(const results::MemoryNeeds& needs) {
  std::string text;
  for (const results::MemoryPeak& peak : needs.peaks) {
    const std::string_view lead = needs.peaks.size() == 1 ? "activations at their peak"
                                  : text.empty()          ? "activations at their peak, the greatest of"
                                                          : "and";
    text += fmt::format("    {}: {}\n{}", lead, bytes_text(peak.bytes), largest_text(peak));
  }
  return text;
}

}  // namespace

std::string memory_text(const results::MemoryNeeds& needs) {
  std::string text = "Memory of a run:\n";
  text += fmt::format("    weights: {}\n", bytes_text(fmt::format("{}", needs.weight_bytes)));
  text +=
      fmt::format("    inputs: {}\n    outputs: {}\n", bytes_text(needs.input_bytes), bytes_text(needs.output_bytes));
  text += peaks_text(needs);
  if (needs.caches) {
    text += fmt::format("    caches: {} of {}; each token adds {}\n", needs.caches->count,
                        bytes_text(needs.caches->bytes), bytes_text(needs.caches->bytes_per_token));
  }
  if (needs.unknown_values > 0)
    text += fmt::format("    not counted: {} value(s) whose sizes only data decides\n", needs.unknown_values);
  if (needs.at && !needs.sizes.empty()) {
    text += fmt::format("    for {}: activations {}\n{}", printable(join(needs.sizes, ", ")),
                        bytes_text(needs.at->bytes), largest_text(*needs.at));
  }
  if (needs.total_bytes) {
    text +=
        fmt::format("    together with weights and inputs: {}\n", bytes_text(fmt::format("{}", *needs.total_bytes)));
  }
  if (needs.engine) {
    text += fmt::format("    the engine: {} for values and kernels, {} for weights in its forms\n",
                        bytes_text(fmt::format("{}", needs.engine->arena_bytes)),
                        bytes_text(fmt::format("{}", needs.engine->packed_bytes)));
  }
  return text;
}

}  // namespace assay::report
