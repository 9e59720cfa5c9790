#include "formats/safetensors.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/json_reader.h"
#include "formats/json/python_json.h"
#include "formats/named_tensor.h"

namespace assay::formats {
namespace {

using FilePtr = std::shared_ptr<const MappedFile>;
using tensor::DType;
using tensor::Tensor;

constexpr uint64_t kLengthBytes = 8;
constexpr uint64_t kLongestHeader = 100'000'000;
constexpr std::string_view kMetadata = "__metadata__";

struct TypeWord {
  std::string_view word;
  DType dtype;
};

constexpr std::array kTypes = {
    TypeWord{"BOOL", DType::boolean},
    TypeWord{"U8", DType::uint8},
    TypeWord{"I8", DType::int8},
    TypeWord{"U16", DType::uint16},
    TypeWord{"I16", DType::int16},
    TypeWord{"U32", DType::uint32},
    TypeWord{"I32", DType::int32},
    TypeWord{"U64", DType::uint64},
    TypeWord{"I64", DType::int64},
    TypeWord{"F16", DType::float16},
    TypeWord{"BF16", DType::bfloat16},
    TypeWord{"F32", DType::float32},
    TypeWord{"F64", DType::float64},
    TypeWord{"C64", DType::complex64},
    TypeWord{"F8_E4M3", DType::float8e4m3fn},
    TypeWord{"F8_E5M2", DType::float8e5m2},
    TypeWord{"F8_E4M3FNUZ", DType::float8e4m3fnuz},
    TypeWord{"F8_E5M2FNUZ", DType::float8e5m2fnuz},
    TypeWord{"F8_E8M0", DType::float8e8m0},
    TypeWord{"F6_E2M3", DType::float6e2m3},
    TypeWord{"F6_E3M2", DType::float6e3m2},
    TypeWord{"F4", DType::float4e2m1},
};

struct Entry {
  std::string name;
  std::string dtype;
  tensor::Shape shape;
  uint64_t begin = 0;
  uint64_t end = 0;
};

uint64_t header_length(Bytes bytes) {
  uint64_t length = 0;
  if (bytes.size() >= kLengthBytes) std::memcpy(&length, bytes.data(), kLengthBytes);
  return length;
}

Entry read_entry(JsonReader& reader, std::string name) {
  Entry entry;
  entry.name = std::move(name);
  std::optional<tensor::Shape> offsets;
  reader.begin_object();
  for (std::string key; reader.next_key(key);) {
    if (key == "dtype")
      entry.dtype = reader.string().text();
    else if (key == "shape")
      entry.shape = reader.dims();
    else if (key == "data_offsets")
      offsets = reader.dims();
    else
      reader.fail_here(fmt::format("unknown key `{}`", printable(key)));
  }
  if (!offsets || offsets->size() != 2) reader.fail_here("expected data_offsets of two numbers");
  entry.begin = static_cast<uint64_t>((*offsets)[0]);
  entry.end = static_cast<uint64_t>((*offsets)[1]);
  return entry;
}

std::vector<Entry> read_header(std::string_view text) {
  JsonReader reader(text);
  std::vector<Entry> entries;
  std::unordered_set<std::string> names;
  reader.begin_object();
  for (std::string key; reader.next_key(key);) {
    if (!names.insert(key).second) reader.fail_here(fmt::format("the tensor `{}` occurs twice", printable(key)));
    if (key == kMetadata)
      reader.skip();
    else
      entries.push_back(read_entry(reader, key));
  }
  reader.finish();
  return entries;
}

// The tensors must follow each other without gaps and fill the file.
void check_places(const std::vector<Entry>& entries, uint64_t data_bytes) {
  std::vector<const Entry*> sorted;
  for (const Entry& entry : entries) sorted.push_back(&entry);
  std::ranges::sort(
      sorted, [](const Entry* a, const Entry* b) { return std::pair(a->begin, a->end) < std::pair(b->begin, b->end); });
  uint64_t at = 0;
  for (const Entry* entry : sorted) {
    if (entry->begin != at || entry->end < entry->begin || entry->end > data_bytes) {
      fail(ErrorCode::parse, "tensor `{}` lies at bytes {} to {} of {}, expected from {} on", printable(entry->name),
           entry->begin, entry->end, data_bytes, at);
    }
    at = entry->end;
  }
  if (at != data_bytes) fail(ErrorCode::parse, "{} bytes of data, but the tensors have {}", data_bytes, at);
}

Tensor make(const Entry& entry, const FilePtr& file, uint64_t data_offset) {
  const auto type = std::ranges::find(kTypes, entry.dtype, &TypeWord::word);
  if (type == kTypes.end()) {
    fail(ErrorCode::parse, "tensor `{}` has the unknown type `{}`", printable(entry.name), printable(entry.dtype));
  }
  const std::optional<uint64_t> count = tensor::element_count(entry.shape);
  const std::optional<uint64_t> needed = count ? tensor::packed_bytes(type->dtype, *count) : std::nullopt;
  if (needed != entry.end - entry.begin) {
    fail(ErrorCode::parse, "tensor `{}`: {} bytes of data do not fit {}[{}]", printable(entry.name),
         entry.end - entry.begin, entry.dtype, fmt::join(entry.shape, ","));
  }
  return Tensor(type->dtype, entry.shape, tensor::make_mapped(file, data_offset + entry.begin, *needed));
}

std::string_view type_word(const tensor::NamedDatum& value) {
  const DType dtype = tensor_to_save(value).dtype();
  const auto type = std::ranges::find(kTypes, dtype, &TypeWord::dtype);
  if (type != kTypes.end()) return type->word;
  fail(ErrorCode::usage, "`{}` is of {}, which safetensors cannot hold", printable(value.name), tensor::name(dtype));
}

uint64_t size_of(const Tensor& tensor) { return *tensor::packed_bytes(tensor.dtype(), tensor.count()); }

// Wide elements first, so that all are aligned.
std::vector<size_t> places_by_width(const tensor::NamedData& tensors) {
  std::vector<size_t> order(tensors.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater<>(),
                           [&](size_t i) { return tensor::bit_width(tensors[i].value.tensor().dtype()); });
  return order;
}

std::string header_of(const tensor::NamedData& tensors, const std::vector<size_t>& order) {
  std::string text;
  uint64_t at = 0;
  for (const size_t i : order) {
    const Tensor& tensor = tensors[i].value.tensor();
    const uint64_t end = at + size_of(tensor);
    if (tensors[i].name == kMetadata) fail(ErrorCode::usage, "safetensors keeps the name `{}` for itself", kMetadata);
    text += fmt::format(R"({}{}:{{"dtype":"{}","shape":[{}],"data_offsets":[{},{}]}})", text.empty() ? "{" : ",",
                        json_quoted(tensors[i].name), type_word(tensors[i]), fmt::join(tensor.shape(), ","), at, end);
    at = end;
  }
  text += text.empty() ? "{}" : "}";
  return text.append((kLengthBytes - text.size() % kLengthBytes) % kLengthBytes, ' ');
}

}  // namespace

bool starts_as_safetensors(Bytes bytes) {
  const uint64_t length = header_length(bytes);
  const bool is_possible = length > 0 && bytes.size() > kLengthBytes && length < (uint64_t{1} << 48);
  return is_possible && static_cast<char>(bytes[kLengthBytes]) == '{';
}

tensor::NamedData read_safetensors(const FilePtr& file) {
  const Bytes bytes = file->bytes();
  const uint64_t length = header_length(bytes);
  if (bytes.size() < kLengthBytes || length > bytes.size() - kLengthBytes || length > kLongestHeader) {
    fail(ErrorCode::parse, "a safetensors header of {} bytes in a file of {}", length, bytes.size());
  }
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + kLengthBytes, length);
  const std::vector<Entry> entries = read_header(text);
  const uint64_t data_offset = kLengthBytes + length;
  check_places(entries, bytes.size() - data_offset);
  tensor::NamedData tensors;
  for (const Entry& entry : entries) tensors.push_back({entry.name, make(entry, file, data_offset)});
  return tensors;
}

void write_safetensors(const std::filesystem::path& path, const tensor::NamedData& tensors) {
  for (const tensor::NamedDatum& value : tensors) type_word(value);
  const std::vector<size_t> order = places_by_width(tensors);
  const std::string header = header_of(tensors, order);
  const uint64_t length = header.size();
  OutputFile out(path);
  out.write(std::as_bytes(std::span(&length, 1)));
  out.write(header);
  for (const size_t i : order) {
    const Tensor& tensor = tensors[i].value.tensor();
    out.write(tensor.bytes().first(size_of(tensor)));
  }
  out.commit();
}

}  // namespace assay::formats
