#include "collector.h"

#include <array>

#include <nanobind/ndarray.h>

#include "base/error.h"

namespace assay::python {
namespace {

using tensor::DType;

// A value on a device, whose session lives as long.
struct KeptArray {
  SessionPtr session;
  tensor::Tensor tensor;
  exec::DevicePlace place;
};

nb::dlpack::dtype dlpack_type(DType dtype) {
  using nb::dlpack::dtype_code;
  struct Row {
    DType type;
    dtype_code code;
  };
  constexpr std::array kRows = {Row{DType::float16, dtype_code::Float},  Row{DType::float32, dtype_code::Float},
                                Row{DType::float64, dtype_code::Float},  Row{DType::int8, dtype_code::Int},
                                Row{DType::int16, dtype_code::Int},      Row{DType::int32, dtype_code::Int},
                                Row{DType::int64, dtype_code::Int},      Row{DType::uint8, dtype_code::UInt},
                                Row{DType::uint16, dtype_code::UInt},    Row{DType::uint32, dtype_code::UInt},
                                Row{DType::uint64, dtype_code::UInt},    Row{DType::boolean, dtype_code::Bool},
                                Row{DType::bfloat16, dtype_code::Bfloat}};
  for (const Row& row : kRows) {
    if (row.type == dtype) {
      return {static_cast<uint8_t>(row.code), static_cast<uint8_t>(tensor::bit_width(dtype)), 1};
    }
  }
  fail(ErrorCode::unsupported, "DLPack has no elements of {}", tensor::name(dtype));
}

// A capsule of DLPack, which holds the array.
nb::object capsule_of(const nb::object& self) {
  const auto& array = nb::cast<const KeptArray&>(self);
  std::vector<size_t> shape;
  for (const int64_t dim : array.tensor.shape()) shape.push_back(static_cast<size_t>(dim));
  auto* const data = reinterpret_cast<void*>(array.place.address);  // NOLINT: an address of a card
  const nb::ndarray<> given(data, shape.size(), shape.data(), self, nullptr, dlpack_type(array.tensor.dtype()),
                            nb::device::cuda::value, array.place.device);
  return nb::cast(given, nb::rv_policy::reference);
}

Array on_host(const KeptArray& array) {
  const tensor::Bytes bytes = unlocked([&] { return array.tensor.bytes(); });
  return {tensor::Tensor(array.tensor.dtype(), array.tensor.shape(), tensor::make_owned({bytes.begin(), bytes.end()})),
          true};
}

}  // namespace

void Collector::accept(std::string_view name, const tensor::Datum& value) {
  if (!value.is_tensor()) fail(ErrorCode::unsupported, "the output `{}` is no tensor", std::string(name));
  const tensor::Tensor& given = value.tensor();
  Array array{given, false};
  const bool stays = of_device_ != nullptr && of_device_->place_of(given);
  if (!stays && given.dtype() != DType::string) {
    const tensor::Bytes bytes = given.bytes();
    array = {tensor::Tensor(given.dtype(), given.shape(), tensor::make_owned({bytes.begin(), bytes.end()})), true};
  }
  values_.insert_or_assign(std::string(name), std::move(array));
}

nb::dict Collector::take(const std::vector<std::string>& names, const SessionPtr& session) {
  nb::dict values;
  for (const std::string& name : names) {
    const Array& array = values_.at(name);
    const auto place = of_device_ == nullptr ? std::nullopt : of_device_->place_of(array.tensor);
    values[name.c_str()] = place ? nb::cast(KeptArray{session, array.tensor, *place}) : nb::cast(array);
  }
  return values;
}

void bind_kept_arrays(nb::module_& module) {
  nb::class_<KeptArray>(module, "KeptArray")
      .def_prop_ro("address", [](const KeptArray& self) { return self.place.address; })
      .def_prop_ro("device", [](const KeptArray& self) { return self.place.device; })
      .def_prop_ro("shape", [](const KeptArray& self) { return self.tensor.shape(); })
      .def_prop_ro("dtype", [](const KeptArray& self) { return tensor::name(self.tensor.dtype()); })
      .def("capsule", [](const nb::object& self) { return capsule_of(self); })
      .def("on_host", on_host);
}

}  // namespace assay::python
