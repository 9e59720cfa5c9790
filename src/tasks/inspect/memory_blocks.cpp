#include "tasks/inspect/memory_blocks.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "engine/program/memory_plan.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kAlignment = 64;

uint64_t bytes_of(const engine::LayerTensor& tensor) {
  uint64_t bits = tensor::bit_width(tensor.dtype);
  for (const int64_t dim : tensor.dims) bits *= static_cast<uint64_t>(std::max<int64_t>(dim, 0));
  return (bits + 7) / 8;
}

}  // namespace

std::vector<results::EngineBlock> memory_blocks(const std::vector<engine::LayerRecord>& layers,
                                                const std::vector<exec::Port>& outputs) {
  std::vector<results::EngineBlock> blocks;
  using Form = std::pair<std::string_view, std::string_view>;  // name and format: a copy lies elsewhere
  std::map<Form, size_t> known;
  for (size_t step = 0; step < layers.size(); ++step) {
    for (const engine::LayerTensor& tensor : layers[step].inputs) {
      if (const auto block = known.find({tensor.name, tensor.format}); block != known.end())
        blocks[block->second].last = step;
    }
    for (const engine::LayerTensor& tensor : layers[step].outputs) {
      const bool is_output = std::ranges::find(outputs, tensor.name, &exec::Port::name) != outputs.end();
      if (is_output || bytes_of(tensor) == 0 || !known.emplace(Form(tensor.name, tensor.format), blocks.size()).second)
        continue;
      blocks.push_back({.value = tensor.name, .first = step, .last = step, .bytes = bytes_of(tensor)});
    }
  }
  std::vector<engine::Lifetime> lifetimes;
  for (const results::EngineBlock& block : blocks) lifetimes.push_back({block.bytes, block.first, block.last});
  engine::plan_memory(lifetimes, kAlignment);
  for (size_t i = 0; i < blocks.size(); ++i) blocks[i].address = lifetimes[i].offset;
  return blocks;
}

}  // namespace assay::tasks
