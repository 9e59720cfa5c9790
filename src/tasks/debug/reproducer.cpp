#include "tasks/debug/reproducer.h"

#include <filesystem>

#include "formats/new_folder.h"
#include "formats/saved_data.h"
#include "onnx/export.h"

namespace assay::tasks {

void write_reproducer(const Reproducer& reproducer, const std::string& folder) {
  formats::NewFolder made(folder);
  const std::filesystem::path path = folder;
  onnx::save(reproducer.model, path / "model.onnx");
  formats::save_inputs(path / "inputs.json", {reproducer.inputs});
  formats::SavedRun run{.runner = "expected", .iterations = {{.outputs = reproducer.expected, .runner = "expected"}}};
  formats::save_results(path / "expected.json", {run});
  OutputFile text(path / "README.md");
  text.write(reproducer.text);
  text.commit();
  made.commit();
}

}  // namespace assay::tasks
