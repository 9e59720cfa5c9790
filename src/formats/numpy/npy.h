#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/files.h"
#include "tensor/tensor.h"

namespace assay::formats {

// NumPy's .npy: one array.

// Bytes that hold the header of any array we accept.
inline constexpr uint64_t kNpyLongestHeader = 64 << 10;

enum class NpyItem { number, code_points, characters };  // the last two: strings of `<U` and `|S`

struct NpyHeader {
  tensor::DType dtype = tensor::DType::undefined;
  NpyItem item = NpyItem::number;
  uint64_t item_bytes = 0;
  bool big_endian = false;
  bool fortran_order = false;
  tensor::Shape shape;
  uint64_t data_offset = 0;  // begin of the elements
  uint64_t data_bytes = 0;   // size of the elements
};

bool starts_as_npy(std::string_view start);
// The first bytes of an .npy, and from them where its elements start.
inline constexpr uint64_t kNpyFixedBytes = 12;
uint64_t npy_data_offset(std::string_view start);
// `start`: the first bytes of the array's file, at least its header. Error (parse) if it is damaged or holds
// objects.
NpyHeader parse_npy_header(std::string_view start);
// The array of a whole .npy whose first bytes are `start`. Elements that are not little-endian and row-major are
// converted when they are accessed.
tensor::Tensor npy_tensor(std::string_view start, tensor::StoragePtr whole);
tensor::Tensor npy_tensor(const std::shared_ptr<const MappedFile>& file, uint64_t offset, uint64_t size);

// A tensor as an .npy: the bytes before the elements, as NumPy writes them, and the elements. Refers to the tensor.
// Error (usage) for a type that NumPy does not have.
class NpyImage {
 public:
  explicit NpyImage(const tensor::Tensor& tensor);
  const std::string& header() const { return header_; }
  Bytes elements() const;
  uint64_t size() const { return header_.size() + elements().size(); }

 private:
  std::string header_;
  std::string text_;  // code points of strings
  Bytes elements_;
};

// `float32` -> `<f4`; empty for strings and for types that NumPy does not have.
std::string_view npy_descr(tensor::DType dtype);

// The header alone; `descr` in NumPy's words.
std::string npy_header_text(std::string_view descr, const tensor::Shape& shape);

}  // namespace assay::formats
