#include "runners/onnx_feeds.h"

#include <fmt/format.h>

#include "base/error.h"
#include "onnx/value_file.h"

namespace assay::cases {
namespace {

namespace fs = std::filesystem;

// Files go to all inputs in order, or, where there are fewer, to those without a default.
std::vector<ir::ValueId> fed_inputs(const ir::Model& model, size_t files) {
  const std::vector<ir::ValueId>& all = model[model.main_graph()].inputs;
  if (files == all.size()) return all;
  std::vector<ir::ValueId> without_default;
  for (const ir::ValueId id : all) {
    if (!model[id].constant) without_default.push_back(id);
  }
  if (files != without_default.size()) {
    fail(ErrorCode::usage, "{} input files for {} inputs", files, without_default.size());
  }
  return without_default;
}

}  // namespace

std::vector<fs::path> numbered_files(const fs::path& folder, std::string_view word) {
  std::vector<fs::path> files;
  for (;;) {
    const fs::path next = folder / fmt::format("{}_{}.pb", word, files.size());
    if (!fs::exists(next)) return files;
    files.push_back(next);
  }
}

std::vector<exec::Feed> read_feeds(const ir::Model& model, const fs::path& folder) {
  const std::vector<fs::path> files = numbered_files(folder, "input");
  const std::vector<ir::ValueId> inputs = fed_inputs(model, files.size());
  std::vector<exec::Feed> feeds;
  for (size_t i = 0; i < files.size(); ++i) {
    const ir::Value& input = model[inputs[i]];
    feeds.push_back({std::string(model.text(input.name)), onnx::read_value(files[i], model.types(), input.type)});
  }
  return feeds;
}

}  // namespace assay::cases
