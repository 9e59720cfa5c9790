#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/files.h"
#include "base/large_memory.h"
#include "tensor/storage.h"

namespace assay::onnx {

// The bytes of a message to be written, as a list of pieces: short literal text of our own, and ranges that are
// borrowed from mapped files or tensors. Weights are never copied into it. What is borrowed must live until it is
// written.
class Rope {
 public:
  uint64_t size() const { return size_; }

  void borrow(Bytes bytes);
  void borrow(tensor::StoragePtr storage);  // bytes are asked for when they are written
  void literal(std::string_view text);
  void append(Rope&& other);

  void varint(uint64_t value);
  void tag(uint32_t field, uint8_t wire_type) { varint(uint64_t{field} << 3 | wire_type); }
  void int_field(uint32_t field, int64_t value);
  void float_field(uint32_t field, float value);
  void text_field(uint32_t field, std::string_view text);
  void message_field(uint32_t field, Rope&& content);
  // The size of a text field.
  static uint64_t text_field_size(uint32_t field, std::string_view text);

  std::vector<std::byte> to_bytes() const;
  // Copies ranges of `source` inside the kernel where they are long.
  void write_to(OutputFile& file, const MappedFile* source) const;

 private:
  struct Piece {
    Bytes bytes;          // of borrowed bytes
    uint64_t offset = 0;  // of literals
    uint64_t size = 0;
    tensor::StoragePtr storage;  // of tensors
    bool is_literal = false;
  };

  void stream(const Piece& piece, FunctionRef<void(Bytes)> sink) const;

  std::string literals_;
  LargeVector<Piece> pieces_;
  uint64_t size_ = 0;
};

}  // namespace assay::onnx
