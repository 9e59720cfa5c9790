#include "formats/peer/peer_array.h"

#include <optional>

#include "base/base64.h"
#include "base/error.h"
#include "base/text.h"
#include "formats/json/code_points.h"
#include "formats/lazy_storage.h"
#include "formats/numpy/npy.h"
#include "formats/numpy/npz.h"
#include "formats/numpy/zip.h"
#include "formats/raw_bits.h"
#include "formats/torch/torch_tensor.h"

namespace assay::formats {
namespace {

using FilePtr = std::shared_ptr<const MappedFile>;
using tensor::Tensor;

constexpr std::string_view kNpyInBase64 = "k05VTV";
constexpr std::string_view kZipInBase64 = "UEsDB";

// An object that stands for an array, or wraps one.
struct ArrayObject {
  std::optional<Tensor> array;
  std::optional<tensor::Shape> shape;
  std::optional<tensor::Shape> assay_shape;
  std::string assay_dtype;
  std::string class_name;
};

// The bytes that a text stands for, each character one byte.
std::string latin1_bytes(std::string_view text) {
  std::string bytes;
  for (const char32_t point : code_points(text)) {
    if (point > 0xFF) fail(ErrorCode::parse, "the text of an array is neither base64 nor latin-1");
    bytes.push_back(static_cast<char>(point));
  }
  return bytes;
}

// Base64 may be broken into lines.
std::string base64_bytes(std::string text) {
  std::erase_if(text, [](char c) { return c == '\n' || c == '\r' || c == ' ' || c == '\t'; });
  std::string bytes(base64_decoded_size(text), '\0');
  base64_decode(text, std::as_writable_bytes(std::span(bytes)));
  return bytes;
}

Tensor array_of_bytes(std::string_view bytes, const FilePtr& file) {
  const FilePtr copy = MappedFile::from_bytes(std::as_bytes(std::span(bytes)), file->path().native());
  if (starts_as_npy(bytes)) return npy_tensor(copy, 0, copy->size());
  return first_npz_array(copy);
}

// Any text, decoded at once.
Tensor decode_now(const JsonString& string, const FilePtr& file) {
  const std::string text = string.text();
  const bool is_base64 = text.starts_with(kNpyInBase64) || text.starts_with(kZipInBase64);
  return array_of_bytes(is_base64 ? base64_bytes(text) : latin1_bytes(text), file);
}

Tensor decode_later(std::string_view base64, const FilePtr& file) {
  const std::string head = base64_decode_start(base64, kNpyFixedBytes);
  const std::string start = base64_decode_start(base64, npy_data_offset(head));
  const auto decode = [file, base64](std::span<std::byte> out) { base64_decode(base64, out); };
  return npy_tensor(start, make_lazy(base64_decoded_size(base64), decode));
}

// Escapes and line breaks make base64 text longer than the array needs, so what is left for later has none of them.
Tensor decode_text(const JsonString& string, const FilePtr& file) {
  if (!string.raw.starts_with(kNpyInBase64)) return decode_now(string, file);
  try {
    return decode_later(string.raw, file);
  } catch (const Error&) {
    if (string.raw.find('\\') == std::string_view::npos) throw;
  }
  return decode_now(string, file);
}

Tensor read_content(JsonReader& reader, const FilePtr& file) {
  const bool is_text = reader.peek() == JsonReader::Kind::string;
  return is_text ? decode_text(reader.string(), file) : read_peer_array(reader, file);
}

// Reads base64 of a file by torch.save.
Tensor read_torch(JsonReader& reader, const FilePtr& file) {
  const std::string bytes = base64_bytes(reader.string().text());
  return with_frame([] { return std::string("a torch tensor (polygraphy class `Tensor`)"); },
                    [&] {
                      if (!starts_as_zip(bytes)) fail(ErrorCode::parse, "it is of an old version of torch");
                      const Bytes copied = std::as_bytes(std::span(bytes));
                      return torch_tensor(MappedFile::from_bytes(copied, file->path().native()));
                    });
}

// Gives a member of the object its value; a second one is an error.
template <typename Value, typename Read>
void set_once(JsonReader& reader, std::string_view key, std::optional<Value>& member, Read&& read) {
  if (member) reader.fail_here(fmt::format("the key `{}` occurs twice", printable(key)));
  member = read();
}

void read_member(JsonReader& reader, const std::string& key, const FilePtr& file, ArrayObject& object) {
  if (read_peer_class(reader, key, object.class_name)) return;
  const auto dims = [&] { return reader.dims(); };
  if (key == "array" || key == "values") {
    set_once(reader, key, object.array, [&] { return read_content(reader, file); });
  } else if (key == "tensor") {
    set_once(reader, key, object.array, [&] { return read_torch(reader, file); });
  } else if (key == "shape") {
    set_once(reader, key, object.shape, dims);
  } else if (key == "assay_shape") {
    set_once(reader, key, object.assay_shape, dims);
  } else if (key == "assay_dtype") {
    object.assay_dtype = reader.string().text();
  } else {
    reader.skip();
  }
}

// A FormattedArray has the shape of what its bytes mean, which may be padded or packed in its own way.
Tensor formatted(const Tensor& array, const std::optional<tensor::Shape>& shape) {
  if (!shape || tensor::element_count(*shape) != array.count()) return array;
  return Tensor(array.dtype(), *shape, array.storage());
}

}  // namespace

bool read_peer_class(JsonReader& reader, std::string_view key, std::string& class_name) {
  constexpr std::string_view kLegacy = "__polygraphy_encoded_";
  if (key == "polygraphy_class") {
    class_name = reader.string().text();
  } else if (key.starts_with(kLegacy)) {
    class_name = key.substr(kLegacy.size());
    reader.skip();
  } else {
    return false;
  }
  return true;
}

Tensor read_peer_array(JsonReader& reader, const FilePtr& file) {
  ArrayObject object;
  reader.begin_object();
  for (std::string key; reader.next_key(key);) read_member(reader, key, file, object);
  const std::string& name = object.class_name;
  const bool is_known = name == "ndarray" || name == "Tensor" || name == "LazyArray" || name == "LazyNumpyArray" ||
                        name == "FormattedArray";
  if (!is_known || !object.array) {
    const std::string seen =
        name.empty() ? "an object without polygraphy_class" : fmt::format("a `{}`", printable(name));
    reader.fail_here(fmt::format("{}, expected an array", is_known ? "an array without elements" : seen));
  }
  if (name == "FormattedArray") return formatted(*object.array, object.shape);
  if (object.assay_dtype.empty()) return *object.array;
  return from_raw_bits(*object.array, object.assay_dtype, object.assay_shape);
}

}  // namespace assay::formats
