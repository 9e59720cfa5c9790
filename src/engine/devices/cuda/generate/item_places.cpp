#include "engine/devices/cuda/generate/item_places.h"

#include <fmt/format.h>

namespace assay::engine::cuda {

std::string item_places_text(const std::vector<int64_t>& items, const std::vector<PlacedMatrices>& all,
                             Launch& launch) {
  std::string fields = "struct Places {\n",
              body = "DEVICE Places places_of(const Params& p, uint32 rest) {\n  Places at;\n";
  for (const PlacedMatrices& placed : all) {
    fields += fmt::format("  int64 {};\n", placed.name);
    body += fmt::format("  at.{} = 0;\n", placed.name);
  }
  for (size_t dim = items.size(); dim-- > 0;) {
    const size_t divisor = launch.numbers.size();
    launch.add_divisor(items[dim]);
    body += fmt::format(
        "  {{\n    const uint32 q = quotient(rest, DIVISOR({0}));\n    const int64 i = rest - q * (uint32)p.n[{0}];\n"
        "    rest = q;\n",
        divisor);
    for (const PlacedMatrices& placed : all) {
      const std::vector<int64_t>& strides = placed.matrices.items;
      if (!placed.matrices.exist() || strides.size() <= dim || strides[dim] == 0) continue;
      body += fmt::format("    at.{} += i * p.n[{}];\n", placed.name, launch.numbers.size());
      launch.add(strides[dim]);
    }
    body += "  }\n";
  }
  return fields + "};\n" + body + "  return at;\n}\n";
}

}  // namespace assay::engine::cuda
