#include "onnx/value_file.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/error.h"
#include "base/text.h"
#include "onnx/fields.h"
#include "onnx/import/tensor.h"

namespace assay::onnx {
namespace {

using ir::TypeKind;
using tensor::Datum;
using tensor::DType;
using tensor::Tensor;

// The field of a sequence or an optional that holds what is of this kind, and its name for messages.
struct Slot {
  TypeKind kind;
  uint32_t number;
  std::string_view name;
};

constexpr Slot kSlots[] = {
    {TypeKind::tensor, field::container::tensor, "tensor"},
    {TypeKind::sparse_tensor, field::container::sparse_tensor, "sparse tensor"},
    {TypeKind::sequence, field::container::sequence, "sequence"},
    {TypeKind::map, field::container::map, "map"},
    {TypeKind::optional, field::container::optional, "optional"},
};

const Slot& slot_of(TypeKind kind) {
  for (const Slot& slot : kSlots) {
    if (slot.kind == kind) return slot;
  }
  fail(ErrorCode::unsupported, "values of opaque types cannot be read");
}

// True if a field is the content of a sequence or an optional. Error (parse) for content of another kind.
bool is_content(const Field& field, const Slot& slot) {
  if (field.number == slot.number) return true;
  for (const Slot& other : kSlots) {
    if (field.number == other.number) {
      fail(ErrorCode::parse, "it holds a {}, expected a {} as its type says", other.name, slot.name);
    }
  }
  return false;
}

// The place of each entry when the keys are sorted. Error (parse) for a key that stands twice.
template <typename Key>
std::vector<size_t> sorted_order(const std::vector<Key>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return keys[a] < keys[b]; });
  const auto same = [&](size_t a, size_t b) { return keys[a] == keys[b]; };
  if (std::adjacent_find(order.begin(), order.end(), same) != order.end()) {
    fail(ErrorCode::parse, "a key of the map occurs twice");
  }
  return order;
}

template <typename Key>
std::vector<Key> in_order(const std::vector<Key>& keys, const std::vector<size_t>& order) {
  std::vector<Key> sorted;
  sorted.reserve(keys.size());
  for (const size_t place : order) sorted.push_back(keys[place]);
  return sorted;
}

Tensor make_keys(DType dtype, const std::vector<int64_t>& keys) {
  const std::optional<uint64_t> size = tensor::packed_bytes(dtype, keys.size());
  if (!tensor::is_integer(dtype) || !size || tensor::bit_width(dtype) < 8) {
    fail(ErrorCode::parse, "the keys of the map are of {}, expected integers or strings", tensor::name(dtype));
  }
  const uint64_t width = tensor::bit_width(dtype) / 8;
  std::vector<std::byte> bytes(*size);
  for (size_t i = 0; i < keys.size(); ++i) {
    const std::byte* low = reinterpret_cast<const std::byte*>(&keys[i]);
    std::copy_n(low, width, bytes.data() + i * width);
  }
  return Tensor(dtype, {static_cast<int64_t>(keys.size())}, tensor::make_owned(std::move(bytes)));
}

// One-dimensional tensor of the items, which are tensors of one element each.
Tensor join_values(DType dtype, const std::vector<Datum>& items, const std::vector<size_t>& order) {
  if (tensor::bit_width(dtype) % 8 != 0) fail(ErrorCode::unsupported, "maps of {} cannot be read", tensor::name(dtype));
  std::vector<std::string> strings;
  std::vector<std::byte> bytes;
  for (const size_t place : order) {
    const Tensor& item = items[place].tensor();
    if (item.count() != 1 || item.dtype() != dtype) {
      fail(ErrorCode::parse, "a value of the map has {} elements of {}, expected one of {}", item.count(),
           tensor::name(item.dtype()), tensor::name(dtype));
    }
    if (dtype == DType::string) strings.push_back(item.strings()[0]);
    if (dtype != DType::string) bytes.insert(bytes.end(), item.bytes().begin(), item.bytes().end());
  }
  const tensor::Shape shape = {static_cast<int64_t>(order.size())};
  if (dtype == DType::string) return Tensor(dtype, shape, tensor::make_strings(std::move(strings)));
  return Tensor(dtype, shape, tensor::make_owned(std::move(bytes)));
}

Tensor make_words(const std::vector<std::string>& keys) {
  return Tensor(DType::string, {static_cast<int64_t>(keys.size())}, tensor::make_strings(keys));
}

template <typename Key, typename MakeKeys>
Datum make_map(const std::vector<Key>& keys, MakeKeys&& make, const std::vector<Datum>& values, DType value_type) {
  if (keys.size() != values.size()) {
    fail(ErrorCode::parse, "the map has {} keys of its type and {} values", keys.size(), values.size());
  }
  const std::vector<size_t> order = sorted_order(keys);
  return Datum::map(make(in_order(keys, order)), join_values(value_type, values, order));
}

class ValueReader {
 public:
  ValueReader(std::shared_ptr<const MappedFile> file, const ImportOptions& options, const ir::TypeTable& types)
      : tensors_(std::move(file), options), types_(types) {}

  Datum read(const Message& message, ir::TypeId id);

 private:
  Datum read_tensor(const Message& message);
  Datum read_sequence(const Message& message, ir::TypeId element);
  Datum read_optional(const Message& message, ir::TypeId element);
  Datum read_map(const Message& message, const ir::Type& type);

  TensorImporter tensors_;
  const ir::TypeTable& types_;
};

Datum ValueReader::read(const Message& message, ir::TypeId id) {
  if (!id) fail(ErrorCode::parse, "its type is not known");
  const ir::Type& type = types_[id];
  switch (type.kind) {
    case TypeKind::tensor:
      return read_tensor(message);
    case TypeKind::sequence:
      return read_sequence(message, type.element);
    case TypeKind::optional:
      return read_optional(message, type.element);
    case TypeKind::map:
      return read_map(message, type);
    case TypeKind::sparse_tensor:
    case TypeKind::opaque:
      break;
  }
  fail(ErrorCode::unsupported, "values of sparse and opaque types cannot be read");
}

Datum ValueReader::read_tensor(const Message& message) {
  Tensor tensor = tensors_.import(message).tensor;
  if (!tensor::is_known(tensor.dtype())) {
    fail(ErrorCode::parse, "its element type is {}, expected one of ONNX's", static_cast<int>(tensor.dtype()));
  }
  return tensor;
}

Datum ValueReader::read_sequence(const Message& message, ir::TypeId element) {
  if (!element) fail(ErrorCode::parse, "the type of its items is not known");
  const Slot& slot = slot_of(types_[element].kind);
  std::vector<Datum> items;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (is_content(field, slot)) items.push_back(read(as_message(message, field, slot.name), element));
  }
  return Datum::sequence(std::move(items));
}

Datum ValueReader::read_optional(const Message& message, ir::TypeId element) {
  if (!element) fail(ErrorCode::parse, "the type of its content is not known");
  const Slot& slot = slot_of(types_[element].kind);
  std::optional<Datum> content;
  int64_t kind = 0;
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::container::elem_type) {
      kind = as_int(field, "elem_type");
    } else if (is_content(field, slot)) {
      content = read(as_message(message, field, slot.name), element);
    }
  }
  if (!content && kind != 0)
    fail(ErrorCode::parse, "the optional says that it has content of kind {}, but has none", kind);
  return content.value_or(Datum());
}

Datum ValueReader::read_map(const Message& message, const ir::Type& type) {
  if (!type.element || types_[type.element].kind != TypeKind::tensor) {
    fail(ErrorCode::unsupported, "maps whose values are no tensors cannot be read");
  }
  std::vector<int64_t> keys;
  std::vector<std::string> words;
  Datum values = Datum::sequence({});
  FieldReader reader(message);
  for (Field field; reader.next(field);) {
    if (field.number == field::map::keys) {
      for_each_varint(field, "keys", [&](uint64_t key) { keys.push_back(static_cast<int64_t>(key)); });
    } else if (field.number == field::map::string_keys) {
      words.emplace_back(as_string(field, "string_keys"));
    } else if (field.number == field::map::values) {
      values = read_sequence(as_message(message, field, "values"), type.element);
    }
  }
  const DType value_type = types_[type.element].dtype;
  if (type.dtype == DType::string) return make_map(words, make_words, values.items(), value_type);
  const auto make_numbers = [&](const std::vector<int64_t>& sorted) { return make_keys(type.dtype, sorted); };
  return make_map(keys, make_numbers, values.items(), value_type);
}

}  // namespace

Datum read_value(const std::filesystem::path& path, const ir::TypeTable& types, ir::TypeId type) {
  return with_frame([&] { return fmt::format("reading `{}`", printable(path.string())); },
                    [&] {
                      const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
                      ImportOptions options;
                      options.external_folder = path.parent_path();
                      const Message message{file->bytes(), file->bytes().data()};
                      return ValueReader(file, options, types).read(message, type);
                    });
}

}  // namespace assay::onnx
