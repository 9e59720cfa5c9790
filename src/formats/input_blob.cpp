#include "formats/input_blob.h"

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/named_tensor.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

// Names may have folders of their own, as long as they stay below.
bool leaves_folder(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || path.is_absolute() || name.find('\0') != std::string::npos) return true;
  for (const fs::path& part : path) {
    if (part == "..") return true;
  }
  return false;
}

}  // namespace

void write_elements(const fs::path& path, const tensor::NamedDatum& value) {
  const tensor::Tensor& tensor = tensor_to_save(value);
  const std::optional<uint64_t> size = tensor::packed_bytes(tensor.dtype(), tensor.count());
  if (!size) {
    fail(ErrorCode::usage, "`{}` is of {}, which raw files cannot hold", printable(value.name),
         tensor::name(tensor.dtype()));
  }
  OutputFile out(path);
  out.write(tensor.bytes().first(*size));
  out.commit();
}

void save_input_blob(const fs::path& folder, uint64_t iteration, const tensor::NamedData& inputs) {
  for (const tensor::NamedDatum& input : inputs) {
    if (leaves_folder(input.name)) {
      fail(ErrorCode::usage, "the input `{}` cannot be saved as a file of its name: it would leave `{}`",
           printable(input.name), folder.native());
    }
  }
  const fs::path place = folder / fmt::format("{:010}", iteration);
  for (const tensor::NamedDatum& input : inputs) write_elements(place / (input.name + ".bin"), input);
}

}  // namespace assay::formats
