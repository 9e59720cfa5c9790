#pragma once

#include "exec/library_search.h"

namespace assay::backends {

inline constexpr std::string_view kTensorRtHint =
    "`pip install tensorrt` brings one, or `pip install tensorrt-rtx` for RTX GPUs and for building without any";

// The Python package of TensorRT, or where there is none that of TensorRT-RTX. With ASSAY_USE_TENSORRT_RTX or
// POLYGRAPHY_USE_TENSORRT_RTX only the latter counts.
exec::FoundLibrary find_tensorrt(const exec::LibrarySearch& search);

}  // namespace assay::backends
