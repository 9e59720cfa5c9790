#pragma once

#include <cstdint>

#include "formats/saved_data.h"

namespace assay {

// Reads every byte and string of saved data, so that all that is done late is done; returns their number.
inline uint64_t touch(const tensor::NamedData& arrays) {
  uint64_t count = 0;
  for (const tensor::NamedDatum& array : arrays) {
    const tensor::Tensor& tensor = array.value.tensor();
    if (tensor.dtype() == tensor::DType::string) {
      for (const std::string& text : tensor.strings()) count += text.size();
    } else {
      uint64_t sum = 0;
      for (const std::byte byte : tensor.bytes()) sum += std::to_integer<uint64_t>(byte);
      count += tensor.bytes().size() + (sum == ~uint64_t{0} ? 1 : 0);
    }
  }
  return count;
}

inline uint64_t touch(const formats::SavedData& data) {
  uint64_t count = 0;
  if (const auto* inputs = std::get_if<formats::SavedInputs>(&data)) {
    for (const tensor::NamedData& arrays : *inputs) count += touch(arrays);
    return count;
  }
  for (const formats::SavedRun& run : std::get<formats::SavedRuns>(data)) {
    for (const formats::SavedIteration& iteration : run.iterations) count += touch(iteration.outputs);
  }
  return count;
}

}  // namespace assay
