#include <algorithm>
#include <cstring>
#include <string_view>

#include "base/error.h"
#include "base/paths.h"
#include "tensorflow/read.h"

namespace assay::tensorflow {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kZip = "PK\x03\x04";
constexpr std::string_view kEndOfZip = "PK\x05\x06";
constexpr std::string_view kHdf = "\x89HDF\r\n\x1a\n"sv;
constexpr size_t kNameInZip = 30;          // of the first member
constexpr size_t kMostOfEnd = 22 + 65536;  // of a zip archive, with the longest comment
constexpr size_t kMostLooked = size_t{1} << 16;

std::string_view text_of(Bytes bytes) { return {reinterpret_cast<const char*>(bytes.data()), bytes.size()}; }

bool is_zip(std::string_view text) {
  const std::string_view name = text.substr(std::min(kNameInZip, text.size()));
  return text.starts_with(kZip) && (name.starts_with("metadata.json") || name.starts_with("config.json"));
}

// Weights alone have no `model_config`.
bool is_hdf(std::string_view text) {
  return text.starts_with(kHdf) && text.substr(0, kMostLooked).find("model_config") != std::string_view::npos;
}

// The size that an HDF5 file says it has; 0: it does not. Version 0 has it behind the addresses of two other things.
uint64_t size_of_hdf(std::string_view text) {
  constexpr size_t kVersion = 8;
  if (text.size() <= kVersion) return 0;
  const size_t place = text[kVersion] <= 1 ? size_t{40} : size_t{28};
  uint64_t size = 0;
  if (text.size() >= place + sizeof(size)) std::memcpy(&size, text.data() + place, sizeof(size));
  return size;
}

bool ends_early(std::string_view text) {
  if (text.starts_with(kHdf)) return size_of_hdf(text) > text.size();
  return text.substr(text.size() - std::min(text.size(), kMostOfEnd)).find(kEndOfZip) == std::string_view::npos;
}

}  // namespace

bool is_keras(Bytes bytes) { return is_zip(text_of(bytes)) || is_hdf(text_of(bytes)); }

bool is_keras_file(const std::filesystem::path& path) {
  return is_file(path) && is_keras(MappedFile::open(path)->bytes());
}

void refuse_keras(Bytes bytes) {
  if (ends_early(text_of(bytes))) fail(ErrorCode::parse, "the Keras file ends early");
  throw Error(ErrorCode::unsupported,
              "it is a Keras file, which only Keras reads: `model.export(FOLDER)` there makes a SavedModel of it")
      .remedied_by("keras_file");
}

}  // namespace assay::tensorflow
