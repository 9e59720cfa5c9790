#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "base/files.h"

namespace assay::formats {

// The pixels of a picture, row by row, channel behind channel.
struct Picture {
  uint32_t width = 0;
  uint32_t height = 0;
  uint32_t channels = 0;
  std::vector<uint8_t> bytes;
};

// A PNG as grey (1 channel) or as red, green and blue (3); transparency is left out. Error (parse) for another file.
Picture read_png(const std::shared_ptr<const MappedFile>& file, uint32_t channels);

}  // namespace assay::formats
