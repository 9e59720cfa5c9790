#include "formats/torch/torch_tensor.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "formats/lazy_storage.h"
#include "formats/numpy/zip.h"
#include "formats/torch/pickle.h"

namespace assay::formats {
namespace {

using FilePtr = std::shared_ptr<const MappedFile>;
using Kind = PickleValue::Kind;
using tensor::DType;

constexpr std::string_view kPickle = "data.pkl";

struct TypeName {
  std::string_view name;
  DType dtype;
};

// Classes of storages, and types of tensors whose storage has none.
constexpr std::array kTypes = {TypeName{"torch FloatStorage", DType::float32},
                               TypeName{"torch DoubleStorage", DType::float64},
                               TypeName{"torch HalfStorage", DType::float16},
                               TypeName{"torch BFloat16Storage", DType::bfloat16},
                               TypeName{"torch LongStorage", DType::int64},
                               TypeName{"torch IntStorage", DType::int32},
                               TypeName{"torch ShortStorage", DType::int16},
                               TypeName{"torch CharStorage", DType::int8},
                               TypeName{"torch ByteStorage", DType::uint8},
                               TypeName{"torch BoolStorage", DType::boolean},
                               TypeName{"torch ComplexFloatStorage", DType::complex64},
                               TypeName{"torch ComplexDoubleStorage", DType::complex128},
                               TypeName{"torch uint16", DType::uint16},
                               TypeName{"torch uint32", DType::uint32},
                               TypeName{"torch uint64", DType::uint64},
                               TypeName{"torch float8_e4m3fn", DType::float8e4m3fn},
                               TypeName{"torch float8_e4m3fnuz", DType::float8e4m3fnuz},
                               TypeName{"torch float8_e5m2", DType::float8e5m2},
                               TypeName{"torch float8_e5m2fnuz", DType::float8e5m2fnuz}};

[[noreturn]] void fail_other(std::string_view seen) {
  fail(ErrorCode::parse, "it is no plain tensor ({}); save NumPy arrays", printable(seen));
}

const PickleValue& item(const PickleValue& value, size_t index, Kind kind) {
  if (index >= value.items.size() || value.items[index]->kind != kind) fail_other("its description");
  return *value.items[index];
}

std::vector<int64_t> integers(const PickleValue& tuple) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < tuple.items.size(); ++i) numbers.push_back(item(tuple, i, Kind::integer).number);
  return numbers;
}

// The layout of a tensor's elements.
struct Layout {
  DType dtype = DType::undefined;
  std::string key;  // of the storage
  int64_t offset = 0;
  tensor::Shape shape;
  std::vector<int64_t> strides;

  uint64_t width() const { return tensor::bit_width(dtype) / 8; }

  bool is_row_major() const {
    int64_t expected = 1;
    for (size_t i = shape.size(); i-- > 0;) {
      if (shape[i] != 1 && strides[i] != expected) return false;
      expected *= shape[i];
    }
    return true;
  }

  // Behind the last element, where there is one.
  std::optional<uint64_t> end() const {
    int64_t last = offset;
    for (size_t i = 0; i < shape.size(); ++i) {
      int64_t step = 0;
      if (strides[i] < 0 || __builtin_mul_overflow(shape[i] - 1, strides[i], &step)) return std::nullopt;
      if (__builtin_add_overflow(last, step, &last)) return std::nullopt;
    }
    if (offset < 0 || last < 0) return std::nullopt;
    return static_cast<uint64_t>(last) + 1;
  }
};

DType dtype_of(const PickleValue& call, std::string_view storage_class) {
  constexpr size_t kType = 7;  // of _rebuild_tensor_v3
  const bool has_type = call.items.size() > kType && call.items[kType]->kind == Kind::global;
  const std::string_view name = has_type ? std::string_view(call.items[kType]->text) : storage_class;
  const auto found = std::ranges::find(kTypes, name, &TypeName::name);
  if (found == kTypes.end()) fail_other(name);
  return found->dtype;
}

// The layout in the call that makes the tensor.
Layout layout_of(const PickleValue& call) {
  const PickleValue& callee = item(call, 0, Kind::global);
  if (callee.text == "torch._utils _rebuild_parameter") return layout_of(item(call, 1, Kind::call));
  if (callee.text != "torch._utils _rebuild_tensor_v2" && callee.text != "torch._utils _rebuild_tensor_v3") {
    fail_other(callee.text);
  }
  const PickleValue& id = item(item(call, 1, Kind::persistent), 0, Kind::tuple);
  Layout layout;
  layout.dtype = dtype_of(call, item(id, 1, Kind::global).text);
  layout.key = item(id, 2, Kind::text).text;
  layout.offset = item(call, 2, Kind::integer).number;
  layout.shape = integers(item(call, 3, Kind::tuple));
  layout.strides = integers(item(call, 4, Kind::tuple));
  if (layout.shape.size() != layout.strides.size()) fail_other("its strides");
  return layout;
}

// The elements one after the other.
std::vector<std::byte> gathered(const Layout& layout, Bytes all, uint64_t count) {
  const uint64_t width = layout.width();
  std::vector<std::byte> bytes(count * width);
  std::vector<int64_t> index(layout.shape.size(), 0);
  auto place = static_cast<uint64_t>(layout.offset);
  for (uint64_t i = 0; i < count; ++i) {
    std::memcpy(&bytes[i * width], &all[place * width], width);
    for (size_t dim = index.size(); dim-- > 0;) {
      place += static_cast<uint64_t>(layout.strides[dim]);
      if (++index[dim] < layout.shape[dim]) break;
      place -= static_cast<uint64_t>(layout.strides[dim] * layout.shape[dim]);
      index[dim] = 0;
    }
  }
  return bytes;
}

tensor::Tensor placed(const Layout& layout, tensor::StoragePtr storage) {
  const std::optional<uint64_t> elements = tensor::element_count(layout.shape);
  if (!elements) fail_other("its shape");
  const uint64_t count = *elements;
  if (count == 0) return tensor::Tensor(layout.dtype, layout.shape, tensor::make_owned({}));
  const uint64_t width = layout.width();
  const std::optional<uint64_t> end = layout.end();
  if (!end || *end > storage->size_bytes() / width) {
    fail(ErrorCode::parse, "a torch tensor whose elements lie beyond its storage of {} bytes", storage->size_bytes());
  }
  const uint64_t first = static_cast<uint64_t>(layout.offset) * width;
  if (layout.is_row_major()) {
    return tensor::Tensor(layout.dtype, layout.shape, make_part(std::move(storage), first, count * width));
  }
  const auto bytes_of = [layout, storage = std::move(storage), count](std::span<std::byte> out) {
    std::ranges::copy(gathered(layout, storage->bytes(), count), out.begin());
  };
  return tensor::Tensor(layout.dtype, layout.shape, make_lazy(count * width, bytes_of));
}

}  // namespace

tensor::Tensor torch_tensor(const FilePtr& file) {
  constexpr uint64_t kMostPickle = 64 << 10;
  const std::vector<ZipMember> members = read_zip_directory(*file);
  const auto member = [&](const std::string& name) {
    const auto found = std::ranges::find(members, name, &ZipMember::name);
    if (found == members.end()) fail_other("it has no `" + name + "`");
    return *found;
  };
  const auto pickle = std::ranges::find_if(members, [](const ZipMember& one) { return one.name.ends_with(kPickle); });
  if (pickle == members.end()) fail_other("it has no `data.pkl`");
  const std::string folder = pickle->name.substr(0, pickle->name.size() - kPickle.size());
  const PicklePtr described = read_pickle(zip_start(*file, *pickle, kMostPickle));
  if (described->kind != Kind::call) fail_other("it is none");
  const auto order = std::ranges::find(members, folder + "byteorder", &ZipMember::name);
  if (order != members.end() && zip_start(*file, *order, 6) != "little") fail_other("its bytes are in another order");
  const Layout layout = layout_of(*described);
  return placed(layout, zip_storage(file, member(folder + "data/" + layout.key)));
}

}  // namespace assay::formats
