#pragma once

#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/files.h"

namespace assay::tensorflow {

// Elements of a vector of a FlatBuffer: numbers, or places of tables and texts.
struct FlatVector {
  uint64_t begin = 0;
  uint64_t count = 0;
};

// A FlatBuffer, read where it lies. Every place is checked against the end; Error (parse) for one beyond it.
class FlatBuffer {
 public:
  explicit FlatBuffer(Bytes bytes) : bytes_(bytes) {}

  template <typename T>
  T number(uint64_t at) const {
    require(at, sizeof(T));
    T value{};
    std::memcpy(&value, bytes_.data() + at, sizeof(T));
    return value;
  }
  // The place that the offset there leads to.
  uint64_t follow(uint64_t at) const { return at + number<uint32_t>(at); }
  uint64_t root() const { return follow(0); }
  uint64_t size() const { return bytes_.size(); }

  // The place of a field of a table; 0: it is left out.
  uint64_t field(uint64_t table, unsigned number) const;
  template <typename T>
  T scalar(uint64_t table, unsigned number, T otherwise) const {
    const uint64_t at = field(table, number);
    return at == 0 ? otherwise : this->number<T>(at);
  }
  std::string_view text(uint64_t table, unsigned number) const;
  // A vector whose elements take that many bytes each; empty if it is left out.
  FlatVector vector(uint64_t table, unsigned number, uint64_t element_bytes) const;
  uint64_t table_at(const FlatVector& vector, uint64_t index) const { return follow(vector.begin + index * 4); }

 private:
  void require(uint64_t at, uint64_t size) const;

  Bytes bytes_;
};

}  // namespace assay::tensorflow
