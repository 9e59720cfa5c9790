#include "engine/devices/cuda/dynamic_codes.h"

#include <algorithm>

#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/devices/cuda/operation.h"
#include "engine/devices/cuda/text/texts.h"

namespace assay::engine::cuda {
namespace {

constexpr unsigned kThreads = 256;
constexpr int64_t kMostRanges = 256;

Launch launch(Programs& programs, const DynamicCodes& of, bool finds_range, int64_t ranges, int64_t blocks) {
  KernelWriter writer;
  writer.pointer("kIn", "const float", of.numbers);
  writer.pointer("kOut", "uint8", of.codes);
  writer.pointer("kScale", "float", of.scale);
  writer.pointer("kZero", "uint8", of.zero);
  writer.pointer("kLows", "float", workspace_pointer(of.workspace));
  writer.pointer("kHighs", "float", workspace_pointer(of.workspace + ranges * static_cast<int64_t>(sizeof(float))));
  writer.number("kElements", of.count);
  writer.number("kRanges", ranges);
  writer.constant("kFindsRange", finds_range ? 1 : 0);
  return writer.finish(programs, kThreads, blocks, dynamic_codes_text(), code_range_text());
}

}  // namespace

Launches dynamic_code_launches(Programs& programs, const DynamicCodes& of) {
  constexpr int64_t kEach = 4;
  const int64_t blocks = blocks_for(of.count, kThreads * kEach);
  const int64_t ranges = std::min(blocks, kMostRanges);
  Launches launches;
  launches.all.push_back(launch(programs, of, true, ranges, ranges));
  launches.all.push_back(launch(programs, of, false, ranges, blocks));
  launches.workspace_bytes = static_cast<uint64_t>(of.workspace) + 2 * kMostRanges * sizeof(float);
  return launches;
}

}  // namespace assay::engine::cuda
