#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "tensor/shape.h"

namespace assay::engine {

// Numbers of eight bytes, and texts with their lengths, in a row.
class RecordWriter {
 public:
  RecordWriter& number(uint64_t value);
  RecordWriter& text(std::string_view value);
  RecordWriter& texts(std::span<const std::string> values);
  RecordWriter& shape(const tensor::Shape& shape);
  std::vector<std::byte> take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
};

// Reads them in the order in which they were written. Error (parse) where something else is found.
class RecordReader {
 public:
  explicit RecordReader(Bytes bytes) : rest_(bytes) {}

  uint64_t number();
  bool truth();
  std::string text();
  std::vector<std::string> texts();
  tensor::Shape shape();
  // The number of items that follow, of `least_bytes` at least.
  uint64_t count(uint64_t least_bytes = sizeof(uint64_t));
  void finish() const;
  [[noreturn]] void refuse() const;

 private:
  Bytes take(uint64_t size);
  Bytes rest_;
};

}  // namespace assay::engine
