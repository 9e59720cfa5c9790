#include "base/read_text.h"

#include <memory>

#include "base/files.h"

namespace assay {

std::string read_text(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

}  // namespace assay
