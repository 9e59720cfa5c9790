#pragma once

#include <algorithm>

#include "base/error.h"
#include "ops/dim.h"

namespace assay::ops {

// Error where dims that were computed from numbers are not numbers: they do not fit 64 bits.
inline void require_known(std::span<const Dim> from, std::span<const Dim> result) {
  const auto is_number = [](const Dim& dim) { return dim.is_number(); };
  if (!std::ranges::all_of(from, is_number) || std::ranges::all_of(result, is_number)) return;
  fail(ErrorCode::limit, "what follows from dims {} does not fit 64 bits", text(from));
}

}  // namespace assay::ops
