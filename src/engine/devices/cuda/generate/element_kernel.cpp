#include "engine/devices/cuda/generate/element_kernel.h"

#include <fmt/format.h>

#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {

unsigned blocks_of(int64_t threads) { return static_cast<unsigned>((threads + kElementThreads - 1) / kElementThreads); }

std::optional<Launch> element_launch(Programs& programs, const ElementText& text,
                                     const std::vector<ElementOperand>& operands, const ElementOperand& result) {
  constexpr int64_t kMostPack = 8;
  ElementSite site(text, operands, result);
  if (!site.find_walk(kMostPack)) return std::nullopt;
  Launch launch;
  const int64_t count = result.desc.count();
  launch.threads = kElementThreads;
  launch.grid[0] = blocks_of(count / site.pack());
  launch.add(count);
  site.add_to(launch);
  std::string kernel = fmt::format("KERNEL({}) {{\n", kElementThreads);
  kernel +=
      fmt::format("  const uint32 first = (block_x() * {} + thread_index()) * {};\n", kElementThreads, site.pack());
  kernel += "  if (first >= (uint32)p.n[0]) return;\n" + site.offsets() + site.loads();
  if (site.pack() == 1) {
    kernel += site.body();
  } else {
    kernel += fmt::format("  Pack<{}, {}> out;\n#pragma unroll\n  for (int i = 0; i < {}; ++i) {{\n",
                          site.result_type(), site.pack(), site.pack());
    kernel += site.body() + fmt::format("    out.e[i] = {};\n  }}\n", site.narrowed());
  }
  kernel += site.store() + "}\n";
  launch.program = programs.get(std::string(elements_text()) + params_text(launch) + kernel);
  return launch;
}

}  // namespace assay::engine::cuda
