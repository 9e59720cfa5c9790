#pragma once

#include <cstdint>
#include <optional>

namespace assay::passes {

struct OpsetOptions {
  std::optional<int64_t> version;  // of ai.onnx, to write the model in; unset: the newest
};

}  // namespace assay::passes
