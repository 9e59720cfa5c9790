#include "tensorflow/import/import.h"

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "tensorflow/import/importer.h"
#include "tensorflow/read.h"
#include "tensorflow/source/graph_def.h"
#include "tensorflow/source/saved_model.h"
#include "tensorflow/source/tflite.h"

namespace assay::tensorflow {
namespace {

namespace fs = std::filesystem;

ir::Model imported(const SourceModel& source, const ImportOptions& options) {
  ir::Model model;
  Importer(source, model, options.keeps_values).run();
  return model;
}

}  // namespace

ir::Model import_tflite(const std::shared_ptr<const MappedFile>& file, const ImportOptions& options) {
  SourceModel source = read_tflite_source(file, options.signature);
  if (!options.outputs.empty()) choose_outputs(source, options.outputs);
  return imported(source, options);
}

ir::Model import_graph(const std::shared_ptr<const MappedFile>& file, const ImportOptions& options) {
  if (!options.signature.empty()) fail(ErrorCode::usage, "a frozen graph has no signatures");
  return imported(read_graph_source(file, options.outputs), options);
}

ir::Model import_model(const fs::path& path, const ImportOptions& options) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path.string())); },
                    [&] {
                      const fs::path folder = saved_model_folder(path);
                      if (!folder.empty()) {
                        return imported(read_saved_model_source(folder, options.signature, options.outputs), options);
                      }
                      const auto file = MappedFile::open(path);
                      if (is_keras(file->bytes())) refuse_keras(file->bytes());
                      return is_tflite(file->bytes()) ? import_tflite(file, options) : import_graph(file, options);
                    });
}

}  // namespace assay::tensorflow
