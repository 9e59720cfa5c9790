#pragma once

#include <string>
#include <utility>
#include <vector>

#include "tensor/storage.h"

namespace assay::onnx {

// Data that lies in another file, as the text says it key by key: `["location": "w.bin", "offset": "0"]`. A text has no
// folder, so that asking for the data is an Error (io).
class TextExternalStorage final : public tensor::Storage {
 public:
  using Entries = std::vector<std::pair<std::string, std::string>>;
  TextExternalStorage(Entries entries, uint64_t size_bytes) : entries_(std::move(entries)), size_bytes_(size_bytes) {}

  uint64_t size_bytes() const override { return size_bytes_; }
  tensor::Bytes bytes() const override;
  const Entries& entries() const { return entries_; }
  std::string location() const;  // empty where the text has none

 private:
  Entries entries_;
  uint64_t size_bytes_;
};

}  // namespace assay::onnx
