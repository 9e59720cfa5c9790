#include "engine/devices/cuda/summing.h"

#include <algorithm>

#include <fmt/format.h>

#include "engine/devices/cuda/generate/followed.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kThreadsOfSumming = 256;
constexpr int64_t kMostBlocksOfSumming = 256;

}  // namespace

std::string summed_text(const Summing& summing, Launch& launch) {
  return fmt::format("#define kReduction {}\n#define kAtOnce 4\n", summing.reduction) +
         finish_text(summing.site, launch);
}

Launch make_summing_launch(Programs& programs, const Summing& summing, const Pointer& part) {
  const auto pack = static_cast<unsigned>(summing.site.pack());
  const int64_t blocks = std::min(kMostBlocksOfSumming, blocks_for(summing.count, kThreadsOfSumming * pack));
  KernelWriter writer;
  writer.type("T", summing.dtype);
  for (int64_t rank = 0; rank < summing.ranks; ++rank) writer.launch().pointers.push_back(part);
  writer.number("kCount", summing.count);
  writer.number("kFirst", 0);
  writer.number("kBlocks", blocks);
  writer.constant("kRanks", summing.ranks);
  writer.text(summed_text(summing, writer.launch()));
  return writer.finish(programs, kThreadsOfSumming, blocks, collective_text(), reduced_text());
}

}  // namespace assay::engine::cuda
