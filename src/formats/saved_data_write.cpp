#include "base/error.h"
#include "base/text.h"
#include "formats/named_tensor.h"
#include "formats/new_folder.h"
#include "formats/numpy/npy.h"
#include "formats/numpy/npz.h"
#include "formats/peer/peer_json.h"
#include "formats/raw.h"
#include "formats/safetensors.h"
#include "formats/saved_data.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

enum class Form { json, folder, raw, npy, npz, safetensors };

Form form_of(const fs::path& path) {
  std::error_code error;
  const std::string extension = to_lower((path.has_filename() ? path : path.parent_path()).extension().native());
  if (extension == ".raw") return Form::raw;
  const bool is_new = !fs::exists(path, error);
  if (!path.has_filename() || fs::is_directory(path, error) || (extension.empty() && is_new)) return Form::folder;
  if (extension == ".npy") return Form::npy;
  if (extension == ".npz") return Form::npz;
  return extension == ".safetensors" ? Form::safetensors : Form::json;
}

fs::path iteration_file(const fs::path& folder, size_t iteration) {
  return folder / fmt::format("{:010}.json", iteration);
}

bool holds_one_iteration(Form form) { return form == Form::npy || form == Form::npz || form == Form::safetensors; }

void check_iterations(const fs::path& path, size_t count) {
  if (count == 1) return;
  fail(ErrorCode::usage, "`{}` holds one iteration, but there are {}; save to JSON or to a folder",
       printable(path.native()), count);
}

void check_runs(const fs::path& path, size_t count) {
  if (count == 1) return;
  fail(ErrorCode::usage, "`{}` holds outputs of one runner, but there are {}; choose one", printable(path.native()),
       count);
}

const tensor::NamedData& only_iteration(const SavedInputs& inputs, const fs::path& path) {
  check_iterations(path, inputs.size());
  return inputs[0];
}

void write_npy(const fs::path& path, const tensor::NamedData& arrays) {
  if (arrays.size() != 1) {
    fail(ErrorCode::usage, "`{}` holds one array, but there are {}", printable(path.native()), arrays.size());
  }
  const NpyImage image(tensor_to_save(arrays[0]));
  OutputFile out(path);
  out.write(image.header());
  out.write(image.elements());
  out.commit();
}

void write_folder(const fs::path& folder, const SavedInputs& inputs) {
  NewFolder made(folder);
  for (size_t i = 0; i < inputs.size(); ++i) write_peer_iteration(iteration_file(folder, i), inputs[i]);
  made.commit();
}

// Each file holds one iteration of every runner.
void write_folder(const fs::path& folder, const SavedRuns& runs) {
  NewFolder made(folder);
  const size_t count = runs.empty() ? 0 : runs[0].iterations.size();
  for (const SavedRun& run : runs) {
    if (run.iterations.size() != count) {
      fail(ErrorCode::usage,
           "a folder needs the same number of iterations of every runner, but `{}` has {} and `{}` has {}",
           printable(runs[0].runner), count, printable(run.runner), run.iterations.size());
    }
  }
  for (size_t i = 0; i < count; ++i) {
    SavedRuns slice;
    for (const SavedRun& run : runs) slice.push_back({run.runner, {run.iterations[i]}});
    write_peer_results(iteration_file(folder, i), slice);
  }
  made.commit();
}

// The outputs of the only run, for forms that know no runners.
SavedInputs outputs_of(const SavedRuns& runs, const fs::path& path) {
  check_runs(path, runs.size());
  SavedInputs outputs;
  for (const SavedIteration& iteration : runs[0].iterations) outputs.push_back(iteration.outputs);
  return outputs;
}

}  // namespace

void check_room(const fs::path& path, size_t runs, size_t iterations) {
  const Form form = form_of(path);
  if (holds_one_iteration(form) || form == Form::raw) check_runs(path, runs);
  if (holds_one_iteration(form)) check_iterations(path, iterations);
}

void save_inputs(const fs::path& path, const SavedInputs& inputs) {
  switch (form_of(path)) {
    case Form::json:
      return write_peer_inputs(path, inputs);
    case Form::folder:
      return write_folder(path, inputs);
    case Form::raw:
      return write_raw(path.has_filename() ? path : path.parent_path(), inputs);
    case Form::npy:
      return write_npy(path, only_iteration(inputs, path));
    case Form::npz:
      return write_npz(path, only_iteration(inputs, path));
    case Form::safetensors:
      return write_safetensors(path, only_iteration(inputs, path));
  }
}

void save_results(const fs::path& path, const SavedRuns& runs) {
  const Form form = form_of(path);
  if (form == Form::json) return write_peer_results(path, runs);
  if (form == Form::folder) return write_folder(path, runs);
  save_inputs(path, outputs_of(runs, path));
}

}  // namespace assay::formats
