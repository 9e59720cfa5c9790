#pragma once

#include <filesystem>
#include <vector>

#include "exec/session.h"

namespace assay::backends::ort {

// The layers in a profile of ONNX Runtime, each with its median over all runs but the first. Error (io, parse) for
// other files.
std::vector<exec::LayerSeconds> read_profile(const std::filesystem::path& path);

}  // namespace assay::backends::ort
