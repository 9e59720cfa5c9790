#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace assay::formats {

// Facts in the header of an engine of TensorRT, or of TensorRT-RTX, which its library wrote into a file.
struct TensorRtPlan {
  bool is_rtx = false;
  std::string version;                    // of the library that built it: `1.7.1.116`
  std::vector<std::string> capabilities;  // of GPUs that it is for, as far as the header says: `8.9`, `later`
  uint64_t file_bytes = 0;
};

// Nullopt: the file is no such engine. Error (parse): it is one, and is cut off.
std::optional<TensorRtPlan> read_tensorrt_plan(const std::filesystem::path& path);

}  // namespace assay::formats
