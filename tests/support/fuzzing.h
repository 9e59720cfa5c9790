#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include "onnx/import.h"
#include "onnx/text.h"

// What fuzz targets share.
namespace assay::testing_support {

// What a fuzzer takes for a crash, unless the condition holds.
inline void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s\n", what);
  std::abort();
}

// The same number for the same bytes.
inline uint32_t seed_of(Bytes bytes) {
  uint32_t hash = 2166136261u;
  for (const std::byte byte : bytes) hash = (hash ^ std::to_integer<uint32_t>(byte)) * 16777619u;
  return hash;
}

// The bytes as a model: its text where they begin with `<`, else a file.
inline ir::Model model_of(Bytes bytes, Diagnostics& findings) {
  if (!bytes.empty() && bytes[0] == std::byte{'<'}) {
    return onnx::parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, findings);
  }
  onnx::ImportOptions options;
  options.ignore_external_data = true;
  return onnx::import_document(onnx::Document(MappedFile::from_bytes(bytes, "source")), options, findings);
}

}  // namespace assay::testing_support
