#include "tasks/model_digest.h"

#include <filesystem>
#include <set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "sweep/keys.h"
#include "tasks/load.h"

namespace assay::tasks {
namespace {

// Files of external data; none where the model cannot be loaded, which its units will say.
std::set<std::string> external_files(const std::string& path) {
  std::set<std::string> files;
  try {
    Observer nobody;
    ModelSource source;
    source.path = path;
    const LoadedModel loaded = load_model(source, nobody);
    for (uint32_t i = 0; i < loaded.model.tensor_slots(); ++i) {
      const std::string_view location = loaded.model[ir::TensorId{i}].external_location;
      if (!location.empty()) files.emplace(location);
    }
  } catch (const Error&) {
    return {};
  }
  return files;
}

}  // namespace

std::string model_digest(const std::string& path) {
  const std::filesystem::path folder = std::filesystem::path(path).parent_path();
  std::string text = sweep::digest_of(MappedFile::open(path)->bytes());
  for (const std::string& file : external_files(path))
    text += fmt::format("\n{} {}", file, sweep::digest_of(MappedFile::open(folder / file)->bytes()));
  return sweep::digest_of(text);
}

}  // namespace assay::tasks
