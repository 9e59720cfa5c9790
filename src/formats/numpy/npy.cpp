#include "formats/numpy/npy.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/code_points.h"
#include "formats/lazy_storage.h"

namespace assay::formats {

namespace {

using tensor::DType;

// Elements of `item` bytes in Fortran order, put in C order.
void reorder(const std::byte* from, const tensor::Shape& shape, uint64_t item, std::byte* to) {
  const size_t rank = shape.size();
  std::vector<uint64_t> strides(rank, item);
  for (size_t axis = 1; axis < rank; ++axis) strides[axis] = strides[axis - 1] * static_cast<uint64_t>(shape[axis - 1]);
  tensor::Shape index(rank, 0);
  for (uint64_t place = 0;; to += item) {
    std::memcpy(to, from + place, item);
    size_t axis = rank;
    while (axis-- > 0) {
      place += strides[axis];
      if (++index[axis] < shape[axis]) break;
      place -= strides[axis] * static_cast<uint64_t>(shape[axis]);
      index[axis] = 0;
    }
    if (axis == static_cast<size_t>(-1)) return;
  }
}

void swap_units(std::span<std::byte> bytes, uint64_t unit) {
  for (uint64_t i = 0; i + unit <= bytes.size(); i += unit) std::reverse(&bytes[i], &bytes[i] + unit);
}

// Bytes that are swapped as one: complex numbers have two, strings one for each code point.
uint64_t swap_unit(const NpyHeader& header) {
  if (header.item == NpyItem::code_points) return 4;
  return tensor::kind(header.dtype) == tensor::DTypeKind::complex ? header.item_bytes / 2 : header.item_bytes;
}

bool needs_reorder(const NpyHeader& header) {
  const auto long_dims = std::ranges::count_if(header.shape, [](int64_t dim) { return dim > 1; });
  return header.fortran_order && long_dims > 1 && header.data_bytes > 0;
}

void put_in_order(const NpyHeader& header, Bytes from, std::span<std::byte> to) {
  if (needs_reorder(header))
    reorder(from.data(), header.shape, header.item_bytes, to.data());
  else
    std::ranges::copy(from, to.begin());
  if (header.big_endian) swap_units(to, swap_unit(header));
}

// One string; numpy fills the items up with zeros.
std::string read_string(Bytes item, NpyItem kind) {
  std::string text;
  if (kind == NpyItem::characters) {
    text.assign(reinterpret_cast<const char*>(item.data()), item.size());
    return text.substr(0, text.find_last_not_of('\0') + 1);
  }
  std::vector<uint32_t> points(item.size() / 4);
  if (!points.empty()) std::memcpy(points.data(), item.data(), item.size());
  while (!points.empty() && points.back() == 0) points.pop_back();
  for (const uint32_t point : points) append_utf8(point, text);
  return text;
}

std::vector<std::string> read_strings(const NpyHeader& header, uint64_t count, Bytes bytes) {
  std::vector<std::string> strings(count);
  for (uint64_t i = 0; i < count; ++i) {
    strings[i] = read_string(bytes.subspan(i * header.item_bytes, header.item_bytes), header.item);
  }
  return strings;
}

std::u32string padded_points(std::span<const std::string> strings, size_t& width) {
  std::vector<std::u32string> all;
  width = 1;
  for (const std::string& text : strings) {
    all.push_back(code_points(text));
    width = std::max(width, all.back().size());
  }
  std::u32string points;
  for (std::u32string& text : all) points += text.append(width - text.size(), U'\0');
  return points;
}

}  // namespace

tensor::Tensor npy_tensor(std::string_view start, tensor::StoragePtr whole) {
  const NpyHeader header = parse_npy_header(start);
  const uint64_t size = whole->size_bytes();
  if (size < header.data_offset || size - header.data_offset != header.data_bytes) {
    fail(ErrorCode::parse, "npy: {} bytes of elements, but its header says {}",
         size < header.data_offset ? 0 : size - header.data_offset, header.data_bytes);
  }
  tensor::StoragePtr elements = make_part(std::move(whole), header.data_offset, header.data_bytes);
  if (header.big_endian || needs_reorder(header)) {
    elements = make_lazy(header.data_bytes, [header, elements](std::span<std::byte> out) {
      put_in_order(header, elements->bytes(), out);
    });
  }
  if (header.dtype != DType::string) return tensor::Tensor(header.dtype, header.shape, std::move(elements));
  const uint64_t count = *tensor::element_count(header.shape);
  // Strings of no width take no bytes, so nothing in the file bounds their number.
  if (header.item_bytes == 0 && count > 0) fail(ErrorCode::parse, "npy: {} strings of no width", count);
  const auto read = [header, count, elements] { return read_strings(header, count, elements->bytes()); };
  return tensor::Tensor(DType::string, header.shape, make_lazy_strings(count, read));
}

tensor::Tensor npy_tensor(const std::shared_ptr<const MappedFile>& file, uint64_t offset, uint64_t size) {
  const Bytes bytes = file->bytes().subspan(offset, size);
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const NpyHeader header = parse_npy_header(text);
  const bool is_plain = header.dtype != DType::string && !header.big_endian && !needs_reorder(header);
  const uint64_t rest = size - header.data_offset;
  if (!is_plain || rest != header.data_bytes) return npy_tensor(text, tensor::make_mapped(file, offset, size));
  return tensor::Tensor(header.dtype, header.shape, tensor::make_mapped(file, offset + header.data_offset, rest));
}

NpyImage::NpyImage(const tensor::Tensor& tensor) {
  if (tensor.dtype() == DType::string) {
    size_t width = 0;
    const std::u32string points = padded_points(tensor.strings(), width);
    text_.assign(reinterpret_cast<const char*>(points.data()), points.size() * sizeof(char32_t));
    header_ = npy_header_text(fmt::format("<U{}", width), tensor.shape());
    return;
  }
  const std::string_view descr = npy_descr(tensor.dtype());
  if (descr.empty()) fail(ErrorCode::usage, "numpy has no type {}", tensor::name(tensor.dtype()));
  header_ = npy_header_text(descr, tensor.shape());
  elements_ = tensor.bytes().first(*tensor::packed_bytes(tensor.dtype(), tensor.count()));
}

Bytes NpyImage::elements() const { return text_.empty() ? elements_ : std::as_bytes(std::span(text_)); }

}  // namespace assay::formats
