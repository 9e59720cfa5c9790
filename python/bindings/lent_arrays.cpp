#include "lent_arrays.h"

#include <algorithm>
#include <array>

#include <nanobind/ndarray.h>

#include "base/error.h"
#include "base/text.h"

namespace assay::python {
namespace {

using tensor::DType;

// An array of somebody else as its protocol tells it.
struct CardArray {
  uintptr_t address = 0;
  DType type = DType::undefined;
  tensor::Shape shape;
  std::vector<int64_t> strides;  // in elements; empty: contiguous
};

// Types by their kind, as numpy writes it (bfloat16: V), and bits.
DType find_type(char kind, uint32_t bits) {
  struct Row {
    DType type;
    char kind;
  };
  constexpr std::array kRows = {Row{DType::float16, 'f'}, Row{DType::float32, 'f'}, Row{DType::float64, 'f'},
                                Row{DType::int8, 'i'},    Row{DType::int16, 'i'},   Row{DType::int32, 'i'},
                                Row{DType::int64, 'i'},   Row{DType::uint8, 'u'},   Row{DType::uint16, 'u'},
                                Row{DType::uint32, 'u'},  Row{DType::uint64, 'u'},  Row{DType::boolean, 'b'},
                                Row{DType::bfloat16, 'V'}};
  for (const Row& row : kRows) {
    if (row.kind == kind && tensor::bit_width(row.type) == bits) return row.type;
  }
  return DType::undefined;
}

CardArray told_by_interface(const nb::dict& told) {
  const auto type = nb::cast<std::string>(told["typestr"]);  // `<f4`
  CardArray array{
      .address = nb::cast<uintptr_t>(told["data"][0]),
      .type = type.size() < 3 ? DType::undefined : find_type(type[1], 8 * static_cast<uint32_t>(type[2] - '0')),
      .shape = nb::cast<std::vector<int64_t>>(told["shape"]),
      .strides = {}};
  const nb::object strides = told.contains("strides") ? nb::object(told["strides"]) : nb::none();
  if (strides.is_none()) return array;
  for (const int64_t stride : nb::cast<std::vector<int64_t>>(strides)) {
    array.strides.push_back(stride * 8 / std::max(static_cast<int64_t>(tensor::bit_width(array.type)), int64_t{8}));
  }
  return array;
}

CardArray told_by_dlpack(const nb::ndarray<nb::ro, nb::device::cuda>& given) {
  constexpr std::string_view kKinds = "iuf?Vcb";  // by code
  const nb::dlpack::dtype type = given.dtype();
  CardArray array{.address = reinterpret_cast<uintptr_t>(given.data()),  // NOLINT: of a card
                  .type = type.code < kKinds.size() ? find_type(kKinds[type.code], type.bits) : DType::undefined,
                  .shape = {},
                  .strides = {}};
  for (size_t dim = 0; dim < given.ndim(); ++dim) {
    array.shape.push_back(static_cast<int64_t>(given.shape(dim)));
    array.strides.push_back(given.stride(dim));
  }
  return array;
}

CardArray told_by(const std::string& name, nb::handle value) {
  constexpr const char* kInterface = "__cuda_array_interface__";
  if (nb::hasattr(value, kInterface)) return told_by_interface(nb::cast<nb::dict>(value.attr(kInterface)));
  nb::ndarray<nb::ro, nb::device::cuda> given;
  if (!nb::try_cast(value, given)) fail(ErrorCode::usage, "`{}` is no array on a card", printable(name));
  return told_by_dlpack(given);
}

bool is_contiguous(const CardArray& array) {
  int64_t expected = 1;
  for (size_t dim = array.strides.size(); dim-- > 0;) {
    if (array.shape[dim] != 1 && array.strides[dim] != expected) return false;
    expected *= array.shape[dim];
  }
  return true;
}

}  // namespace

bool is_on_card(nb::handle value) {
  constexpr int kCuda = 2;
  if (PyObject_CheckBuffer(value.ptr()) != 0) return false;
  if (nb::hasattr(value, "__dlpack_device__")) return nb::cast<int>(value.attr("__dlpack_device__")()[0]) == kCuda;
  return nb::hasattr(value, "__cuda_array_interface__");
}

tensor::Tensor lent_tensor(const exec::Session& session, const std::string& name, nb::handle value) {
  const exec::Port* const port = exec::find_port(session.signature().inputs, name);
  if (port == nullptr || !port->type) fail(ErrorCode::usage, "there is no input `{}`", printable(name));
  CardArray array = told_by(name, value);
  if (array.type != port->type->dtype) {
    fail(ErrorCode::usage, "`{}` has elements of {}, the model takes {}", printable(name), tensor::name(array.type),
         tensor::name(port->type->dtype));
  }
  if (!is_contiguous(array)) fail(ErrorCode::usage, "`{}` is not contiguous in the card's memory", printable(name));
  const uint64_t count = tensor::element_count(array.shape).value_or(0);
  tensor::StoragePtr storage = session.lent(array.address, count * tensor::bit_width(array.type) / 8);
  if (!storage && count != 0) {
    fail(ErrorCode::unsupported,
         "`{}` lies on a card, and the session computes on the processor: copy it to the host, or ask for the device "
         "cuda",
         printable(name));
  }
  if (!storage) storage = tensor::make_owned({});
  return {array.type, std::move(array.shape), std::move(storage)};
}

}  // namespace assay::python
