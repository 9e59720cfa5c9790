#include "engine/devices/cuda/generate/element_kernel.h"

#include <fmt/format.h>

#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {

unsigned blocks_of(int64_t threads) { return static_cast<unsigned>((threads + kElementThreads - 1) / kElementThreads); }

namespace {

// Statements that compute what a thread has of a result, if the launch is that far.
std::string result_text(ElementSite site, int64_t count, Launch& launch) {
  const size_t number = launch.numbers.size();
  launch.add(count);
  launch.add(static_cast<int64_t>(blocks_of(count / site.pack())));
  site.add_to(launch);
  return fmt::format(
             "  if (block < (uint32)p.n[{}]) {{\n  const uint32 first = (block * {} + thread_index()) * {};\n"
             "  if (first >= (uint32)p.n[{}]) return;\n",
             number + 1, kElementThreads, site.pack(), number) +
         site.offsets() + site.loads() + site.results("") +
         fmt::format("  return;\n  }}\n  block -= (uint32)p.n[{}];\n", number + 1);
}

}  // namespace

std::optional<Launch> element_launch(Programs& programs, std::span<const ElementResult> results) {
  constexpr int64_t kMostPack = 8;
  Launch launch;
  launch.threads = kElementThreads;
  launch.grid[0] = 0;
  std::string kernel = fmt::format("KERNEL({}) {{\n  uint32 block = block_x();\n", kElementThreads);
  for (const ElementResult& each : results) {
    ElementSite site(each.text, each.operands, each.result);
    if (!site.find_walk(kMostPack)) return std::nullopt;
    const int64_t count = each.result.desc.count();
    launch.grid[0] += blocks_of(count / site.pack());
    kernel += result_text(std::move(site), count, launch);
  }
  launch.program = programs.get(std::string(elements_text()) + params_text(launch) + kernel + "}\n");
  return launch;
}

std::optional<Launch> element_launch(Programs& programs, ElementText text, std::vector<ElementOperand> operands,
                                     const ElementOperand& result) {
  const ElementResult single{std::move(text), std::move(operands), result};
  return element_launch(programs, std::span(&single, 1));
}

}  // namespace assay::engine::cuda
