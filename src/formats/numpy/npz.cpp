#include "formats/numpy/npz.h"

#include <charconv>
#include <optional>
#include <unordered_map>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "formats/named_tensor.h"
#include "formats/numpy/npy.h"
#include "formats/numpy/zip.h"
#include "formats/raw_bits.h"

namespace assay::formats {
namespace {

using FilePtr = std::shared_ptr<const MappedFile>;
using tensor::Tensor;

constexpr std::string_view kSuffix = ".npy";
constexpr std::string_view kMark = ".assay_dtype";

std::string array_name(const ZipMember& member) {
  if (!member.name.ends_with(kSuffix)) {
    fail(ErrorCode::parse, "member `{}` is no array, expected .npy", printable(member.name));
  }
  return member.name.substr(0, member.name.size() - kSuffix.size());
}

Tensor read_member(const FilePtr& file, const ZipMember& member) {
  return with_frame([&] { return fmt::format("member `{}`", printable(member.name)); },
                    [&] {
                      const std::string head = zip_start(*file, member, kNpyFixedBytes);
                      return npy_tensor(zip_start(*file, member, npy_data_offset(head)), zip_storage(file, member));
                    });
}

bool is_mark(const tensor::NamedDatum& array) {
  const Tensor& tensor = array.value.tensor();
  return array.name.ends_with(kMark) && tensor.dtype() == tensor::DType::string && tensor.shape().empty();
}

// `bfloat16`, `int4[2,3]`
Tensor marked(const Tensor& bits, std::string_view mark) {
  const size_t bracket = mark.find('[');
  if (bracket == std::string_view::npos) return from_raw_bits(bits, mark, std::nullopt);
  tensor::Shape shape;
  const std::string_view dims = mark.substr(bracket + 1);
  if (!dims.ends_with(']')) fail(ErrorCode::parse, "assay_dtype `{}`, expected `]` at its end", printable(mark));
  for (const std::string_view dim : split(dims.substr(0, dims.size() - 1), ',')) {
    int64_t value = -1;
    const auto [end, error] = std::from_chars(dim.data(), dim.data() + dim.size(), value);
    const bool is_dim = error == std::errc() && end == dim.data() + dim.size() && value >= 0;
    if (!is_dim && dims.size() > 1) fail(ErrorCode::parse, "assay_dtype `{}`: bad dim", printable(mark));
    if (is_dim) shape.push_back(value);
  }
  return from_raw_bits(bits, mark.substr(0, bracket), shape);
}

std::string mark_of(const Tensor& tensor) {
  const std::string name = tensor::name(tensor.dtype());
  return is_packed(tensor.dtype()) ? fmt::format("{}[{}]", name, fmt::join(tensor.shape(), ",")) : name;
}

void add_array(ZipWriter& zip, const std::string& name, const Tensor& tensor) {
  const NpyImage image(tensor);
  zip.add(name + std::string(kSuffix), std::as_bytes(std::span(image.header())), image.elements());
}

}  // namespace

tensor::NamedData read_npz(const FilePtr& file) {
  tensor::NamedData all;
  std::unordered_map<std::string, size_t> places;
  for (const ZipMember& member : read_zip_directory(*file)) {
    all.push_back({array_name(member), read_member(file, member)});
    if (!places.emplace(all.back().name, all.size() - 1).second) {
      fail(ErrorCode::parse, "the array `{}` occurs twice", printable(all.back().name));
    }
  }
  std::vector<bool> is_used(all.size(), false);
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_mark(all[i])) continue;
    const auto found = places.find(all[i].name.substr(0, all[i].name.size() - kMark.size()));
    if (found == places.end()) continue;
    tensor::Datum& bits = all[found->second].value;
    bits = marked(bits.tensor(), all[i].value.tensor().strings()[0]);
    is_used[i] = true;
  }
  tensor::NamedData arrays;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!is_used[i]) arrays.push_back(std::move(all[i]));
  }
  return arrays;
}

Tensor first_npz_array(const FilePtr& file) {
  const std::vector<ZipMember> members = read_zip_directory(*file);
  if (members.empty()) fail(ErrorCode::parse, "an .npz without arrays");
  return read_member(file, members[0]);
}

void write_npz(const std::filesystem::path& path, const tensor::NamedData& arrays) {
  OutputFile out(path);
  ZipWriter zip(out);
  for (const tensor::NamedDatum& array : arrays) {
    constexpr size_t kLongestName = 60000;
    const Tensor& tensor = tensor_to_save(array);
    if (array.name.size() > kLongestName)
      fail(ErrorCode::usage, "a name of {} bytes does not fit an .npz", array.name.size());
    if (!is_raw_bits_type(tensor.dtype())) {
      add_array(zip, array.name, tensor);
      continue;
    }
    const std::string mark = mark_of(tensor);
    add_array(zip, array.name, to_raw_bits(tensor));
    add_array(zip, array.name + std::string(kMark), Tensor(tensor::DType::string, {}, tensor::make_strings({mark})));
  }
  zip.finish();
  out.commit();
}

}  // namespace assay::formats
