#include <array>
#include <cstring>

#include "base/error.h"
#include "convert.h"
#include "tensor/dtype.h"

namespace assay::python {
namespace {

using tensor::DType;

struct Format {
  DType dtype;
  const char* code;
  size_t bytes;
};

// Codes of the module struct; the first one of a type is what we write.
constexpr std::array kFormats = {
    Format{DType::float32, "f", 4},      Format{DType::float64, "d", 8}, Format{DType::float16, "e", 2},
    Format{DType::int8, "b", 1},         Format{DType::uint8, "B", 1},   Format{DType::int16, "h", 2},
    Format{DType::uint16, "H", 2},       Format{DType::int32, "i", 4},   Format{DType::uint32, "I", 4},
    Format{DType::int64, "l", 8},        Format{DType::uint64, "L", 8},  Format{DType::int64, "q", 8},
    Format{DType::uint64, "Q", 8},       Format{DType::boolean, "?", 1}, Format{DType::complex64, "Zf", 8},
    Format{DType::complex128, "Zd", 16},
};

const Format* find_format(DType dtype) {
  for (const Format& format : kFormats) {
    if (format.dtype == dtype) return &format;
  }
  return nullptr;
}

DType dtype_of(const Py_buffer& view) {
  const char* code = view.format != nullptr ? view.format : "B";
  if (*code == '<' || *code == '=' || *code == '@') ++code;
  for (const Format& format : kFormats) {
    if (std::strcmp(format.code, code) == 0 && static_cast<size_t>(view.itemsize) == format.bytes) return format.dtype;
  }
  return DType::undefined;
}

// The memory of a Python object, held as long as a tensor needs it.
class HeldBuffer final : public tensor::Storage {
 public:
  explicit HeldBuffer(const Py_buffer& view) : view_(view) {}
  HeldBuffer(const HeldBuffer&) = delete;
  HeldBuffer& operator=(const HeldBuffer&) = delete;
  ~HeldBuffer() override {
    if (Py_IsInitialized() == 0) return;
    const Locked lock;
    PyBuffer_Release(&view_);
  }
  uint64_t size_bytes() const override { return static_cast<uint64_t>(view_.len); }
  tensor::Bytes bytes() const override { return {static_cast<const std::byte*>(view_.buf), size_bytes()}; }

 private:
  Py_buffer view_;
};

// Undefined: it is no buffer, or not laid out as ours.
tensor::Tensor borrowed(nb::handle object) {
  Py_buffer view;
  if (PyObject_GetBuffer(object.ptr(), &view, PyBUF_FORMAT | PyBUF_C_CONTIGUOUS) != 0) {
    PyErr_Clear();
    return {};
  }
  const DType dtype = dtype_of(view);
  tensor::Shape shape(view.shape, view.shape + view.ndim);
  auto storage = std::make_shared<HeldBuffer>(view);
  if (dtype == DType::undefined) return {};
  return {dtype, std::move(shape), std::move(storage)};
}

// What a buffer of an array says of it; lives as long as the buffer.
struct View {
  std::vector<Py_ssize_t> shape;
  std::vector<Py_ssize_t> strides;
};

std::unique_ptr<View> view_of(const Array& array, const Format* format, size_t bytes) {
  auto made = std::make_unique<View>();
  if (format != nullptr)
    made->shape.assign(array.tensor.shape().begin(), array.tensor.shape().end());
  else
    made->shape = {static_cast<Py_ssize_t>(bytes)};
  made->strides.resize(made->shape.size());
  auto stride = static_cast<Py_ssize_t>(format != nullptr ? format->bytes : 1);
  for (size_t i = made->shape.size(); i-- > 0;) {
    made->strides[i] = stride;
    stride *= made->shape[i];
  }
  return made;
}

// Elements without a code of their own are shown as bytes.
int get_buffer(PyObject* self, Py_buffer* view, int flags) try {
  const Array& array = *nb::inst_ptr<Array>(self);
  if ((flags & PyBUF_WRITABLE) != 0 && !array.is_writable) {
    PyErr_SetString(PyExc_BufferError, "the elements cannot be written");
    return -1;
  }
  static std::byte nothing[16] = {};  // where there are no elements
  const Format* const format = find_format(array.tensor.dtype());
  const tensor::Bytes bytes = unlocked([&] { return array.tensor.bytes(); });
  std::unique_ptr<View> made = view_of(array, format, bytes.size());
  const void* const data = bytes.empty() ? nothing : bytes.data();
  *view = {.buf = const_cast<void*>(data),  // NOLINT: written only if nobody else reads
           .obj = self,
           .len = static_cast<Py_ssize_t>(bytes.size()),
           .itemsize = static_cast<Py_ssize_t>(format != nullptr ? format->bytes : 1),
           .readonly = array.is_writable ? 0 : 1,
           .ndim = static_cast<int>(made->shape.size()),
           .format = const_cast<char*>(format != nullptr ? format->code : "B"),  // NOLINT: Python does not write it
           .shape = made->shape.data(),
           .strides = made->strides.data(),
           .suboffsets = nullptr,
           .internal = made.get()};
  made.release();  // NOLINT: release_buffer() has it now
  Py_INCREF(self);
  return 0;
} catch (const Error& error) {
  PyErr_SetString(PyExc_BufferError, error.line().c_str());
  return -1;
}

void release_buffer(PyObject*, Py_buffer* view) { delete static_cast<View*>(view->internal); }

PyType_Slot array_slots[] = {{Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)},
                             {Py_bf_releasebuffer, reinterpret_cast<void*>(release_buffer)},
                             {0, nullptr}};

Array make_array(nb::handle buffer, const std::string& type, std::vector<int64_t> shape) {
  const std::optional<DType> dtype = tensor::find_dtype(type);
  if (!dtype) fail(ErrorCode::usage, "there is no element type `{}`", type);
  const tensor::Tensor bytes = borrowed(buffer);
  if (!bytes.storage()) fail(ErrorCode::usage, "the elements are not in one piece");
  return {tensor::Tensor(*dtype, std::move(shape), bytes.storage()), false};
}

Array make_strings(std::vector<std::string> elements, std::vector<int64_t> shape) {
  const size_t count = elements.size();
  tensor::Tensor tensor(DType::string, std::move(shape), tensor::make_strings(std::move(elements)));
  if (tensor.count() != count) fail(ErrorCode::shape, "{} strings for {} elements", count, tensor.count());
  return {std::move(tensor), false};
}

}  // namespace

tensor::Tensor to_tensor(nb::handle object) {
  if (nb::isinstance<Array>(object)) return nb::cast<const Array&>(object).tensor;
  tensor::Tensor tensor = borrowed(object);
  if (tensor.dtype() != DType::undefined) return tensor;
  const nb::object made = nb::module_::import_("assay._arrays").attr("to_array")(object);
  if (nb::isinstance<Array>(made)) return nb::cast<const Array&>(made).tensor;
  return borrowed(made);
}

tensor::NamedData to_named_data(const nb::dict& values) {
  const auto held =
      nb::steal<nb::dict>(PyDict_Copy(values.ptr()));  // arrays of others may change it when they are read
  tensor::NamedData data;
  for (const auto [name, value] : held) {
    if (!nb::isinstance<nb::str>(name)) fail(ErrorCode::usage, "names of arrays are strings");
    data.push_back({nb::cast<std::string>(name), to_tensor(value)});
  }
  return data;
}

void bind_arrays(nb::module_& module) {
  nb::class_<Array>(module, "Array", nb::type_slots(array_slots))
      .def_prop_ro("type", [](const Array& self) { return tensor::name(self.tensor.dtype()); })
      .def_prop_ro("number", [](const Array& self) { return static_cast<int>(self.tensor.dtype()); })
      .def_prop_ro("shape", [](const Array& self) { return nb::tuple(nb::cast(self.tensor.shape())); })
      .def_prop_ro(
          "nbytes",
          [](const Array& self) { return tensor::packed_bytes(self.tensor.dtype(), self.tensor.count()).value_or(0); })
      .def("strings", [](const Array& self) {
        const auto strings = self.tensor.strings();
        return std::vector<std::string>(strings.begin(), strings.end());
      });
  module.def("make_array", make_array);
  module.def("make_strings", make_strings);
}

}  // namespace assay::python
