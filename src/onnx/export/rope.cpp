#include "onnx/export/rope.h"

#include <bit>

#include "tensor/storage_file.h"

namespace assay::onnx {
namespace {

uint64_t varint_size(uint64_t value) { return (static_cast<uint64_t>(std::bit_width(value | 1)) + 6) / 7; }

constexpr uint64_t kKernelCopyBytes = 1 << 20;  // shorter ranges are cheaper to write than to ask the kernel for

// The literals are written through a buffer, so that a million short pieces are not a million calls.
class Sink {
 public:
  Sink(OutputFile& file, const MappedFile* source) : file_(file), source_(source) {}

  void write(Bytes bytes) {
    if (bytes.size() >= kKernelCopyBytes) return write_long(bytes);
    buffer_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (buffer_.size() >= kKernelCopyBytes) flush();
  }
  void write(const tensor::Storage& storage) {
    if (storage.size_bytes() >= kKernelCopyBytes) {
      flush();
      return tensor::write_to(file_, storage);
    }
    storage.stream([this](Bytes bytes) { write(bytes); });
    storage.release();
  }
  void flush() {
    file_.write(buffer_);
    buffer_.clear();
  }

 private:
  void write_long(Bytes bytes) {
    flush();
    const Bytes whole = source_ ? source_->bytes() : Bytes{};
    const bool inside = bytes.data() >= whole.data() && bytes.data() + bytes.size() <= whole.data() + whole.size();
    if (!inside) return file_.write(bytes);
    file_.copy_from(*source_, static_cast<uint64_t>(bytes.data() - whole.data()), bytes.size());
  }

  OutputFile& file_;
  const MappedFile* source_;
  std::string buffer_;
};

}  // namespace

void Rope::borrow(Bytes bytes) {
  size_ += bytes.size();
  if (!pieces_.empty()) {
    Piece& last = pieces_.back();
    const bool adjacent = !last.is_literal && !last.storage && last.bytes.data() + last.bytes.size() == bytes.data();
    if (adjacent) {
      last.bytes = {last.bytes.data(), last.bytes.size() + bytes.size()};
      return;
    }
  }
  Piece& piece = pieces_.emplace_back();
  piece.bytes = bytes;
}

void Rope::borrow(tensor::StoragePtr storage) {
  size_ += storage->size_bytes();
  Piece& piece = pieces_.emplace_back();
  piece.storage = std::move(storage);
}

void Rope::literal(std::string_view text) {
  size_ += text.size();
  if (pieces_.empty() || !pieces_.back().is_literal) {
    Piece& piece = pieces_.emplace_back();
    piece.is_literal = true;
    piece.offset = literals_.size();
  }
  pieces_.back().size += text.size();
  literals_ += text;
}

void Rope::append(Rope&& other) {
  if (pieces_.empty()) {
    *this = std::move(other);
    return;
  }
  for (Piece& piece : other.pieces_) {
    if (piece.is_literal) {
      literal(std::string_view(other.literals_).substr(piece.offset, piece.size));
    } else if (piece.storage) {
      borrow(std::move(piece.storage));
    } else {
      borrow(piece.bytes);
    }
  }
}

void Rope::varint(uint64_t value) {
  char buffer[10];
  size_t size = 0;
  for (; value >= 0x80; value >>= 7) buffer[size++] = static_cast<char>(value | 0x80);
  buffer[size++] = static_cast<char>(value);
  literal({buffer, size});
}

void Rope::int_field(uint32_t field, int64_t value) {
  tag(field, 0);
  varint(static_cast<uint64_t>(value));
}

void Rope::float_field(uint32_t field, float value) {
  tag(field, 5);
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  literal({reinterpret_cast<const char*>(&bits), sizeof(bits)});
}

void Rope::text_field(uint32_t field, std::string_view text) {
  tag(field, 2);
  varint(text.size());
  literal(text);
}

uint64_t Rope::text_field_size(uint32_t field, std::string_view text) {
  return varint_size(uint64_t{field} << 3) + varint_size(text.size()) + text.size();
}

void Rope::message_field(uint32_t field, Rope&& content) {
  tag(field, 2);
  varint(content.size());
  append(std::move(content));
}

void Rope::stream(const Piece& piece, FunctionRef<void(Bytes)> sink) const {
  if (piece.is_literal) return sink(std::as_bytes(std::span(literals_).subspan(piece.offset, piece.size)));
  piece.storage ? piece.storage->stream(sink) : sink(piece.bytes);
}

std::vector<std::byte> Rope::to_bytes() const {
  std::vector<std::byte> result;
  result.reserve(size_);
  const auto append = [&result](Bytes bytes) { result.insert(result.end(), bytes.begin(), bytes.end()); };
  for (const Piece& piece : pieces_) stream(piece, append);
  return result;
}

void Rope::write_to(OutputFile& file, const MappedFile* source) const {
  Sink sink(file, source);
  for (const Piece& piece : pieces_) {
    if (piece.storage)
      sink.write(*piece.storage);
    else
      stream(piece, [&sink](Bytes bytes) { sink.write(bytes); });
  }
  sink.flush();
}

}  // namespace assay::onnx
