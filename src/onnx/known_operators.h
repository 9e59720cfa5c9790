#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/diagnostics.h"
#include "ir/model.h"

namespace assay::onnx {

// A domain of ONNX itself and the newest operator-set version of it that is known here.
struct KnownDomain {
  std::string_view name;
  int64_t newest_version;
};

struct KnownOperator {
  std::string_view domain;
  std::string_view name;
  int64_t first_version;
};

inline constexpr int64_t kNewestIrVersion = 14;

std::span<const KnownDomain> known_domains();
std::span<const KnownOperator> known_operators();  // sorted by domain and name

// Reports operators and versions that no released ONNX has, domains that are not ONNX's, and domains that nodes use
// without an opset_import. Each once, with how often it occurs.
void check_operators(const ir::Model& model, Diagnostics& diagnostics);

}  // namespace assay::onnx
