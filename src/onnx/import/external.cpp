#include "onnx/import/external.h"

#include <algorithm>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/paths.h"
#include "base/text.h"

namespace assay::onnx {
namespace fs = std::filesystem;

namespace {

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto [end, unused] = std::mismatch(folder.begin(), folder.end(), path.begin(), path.end());
  return end == folder.end();
}

}  // namespace

tensor::StoragePtr make_unread(std::string_view location, uint64_t size_bytes) {
  return tensor::make_absent(
      size_bytes, Error(ErrorCode::io, fmt::format("the weights in `{}` were not read: external data is ignored",
                                                   printable(location))));
}

void check_location(std::string_view location) {
  const fs::path path(location);
  const bool climbs = std::find(path.begin(), path.end(), "..") != path.end();
  if (location.empty() || location.find('\0') != std::string_view::npos || path.is_absolute() || climbs) {
    fail(ErrorCode::parse, "external data location `{}` must be a relative path inside the model's folder",
         printable(location));
  }
}

std::shared_ptr<const MappedFile> ExternalFiles::map(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  check_location(location);
  std::error_code error;
  const fs::path folder = fs::canonical(folder_.empty() ? fs::path(".") : folder_, error);
  const fs::path path = fs::canonical(folder / location, error);
  if (error) {
    throw Error(ErrorCode::io, fmt::format("external data file `{}` cannot be opened: {}",
                                           printable((folder_ / location).string()), errno_text(error.value())))
        .remedied_by("ignore_external_data");
  }
  if (!is_inside(path, folder)) {
    fail(ErrorCode::parse, "external data location `{}` is a link that leaves the model's folder", printable(location));
  }
  if (!is_file(path)) {
    fail(ErrorCode::io, "external data location `{}` is not a file", printable(location));
  }
  return files_[location] = MappedFile::open(path);
}

tensor::StoragePtr ExternalFiles::open(const ExternalReference& reference, std::optional<uint64_t> needed) {
  const std::shared_ptr<const MappedFile> file = map(std::string(reference.location));
  const uint64_t offset = reference.offset.value_or(0);
  const uint64_t needed_bytes = needed.value_or(file->size() - std::min(offset, file->size()));
  if (reference.length && *reference.length != needed_bytes) {
    fail(ErrorCode::parse, "external data has the length {}, the tensor needs {} bytes", *reference.length,
         needed_bytes);
  }
  if (offset > file->size() || needed_bytes > file->size() - offset) {
    const std::optional<std::string> kind = describe_file_kind(file->bytes());
    fail(ErrorCode::parse, "external data: {} bytes from offset {} on pass the end of `{}` ({} bytes){}", needed_bytes,
         offset, printable(reference.location), file->size(), kind ? ": " + *kind : "");
  }
  return tensor::make_mapped(file, offset, needed_bytes);
}

}  // namespace assay::onnx
