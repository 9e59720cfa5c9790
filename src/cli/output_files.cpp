#include "cli/output_files.h"

#include <optional>
#include <set>
#include <tuple>
#include <vector>

#include <sys/stat.h>

#include "base/error.h"
#include "base/text.h"
#include "cli/options/remedies.h"

namespace assay::cli {
namespace {

namespace fs = std::filesystem;

template <typename... Args>
[[noreturn]] void refuse(fmt::format_string<Args...> format, Args&&... args) {
  throw Error(ErrorCode::usage, fmt::format(format, std::forward<Args>(args)...))
      .remedied_by(std::string(kAnotherFile));
}

// The identity of a file: device and inode, or the place of a file that does not exist yet.
using Identity = std::tuple<uint64_t, uint64_t, std::string>;

// None for standard streams, devices and pipes, which nothing can overwrite.
std::optional<Identity> identity(const fs::path& path) {
  if (path.empty() || path == "-") return std::nullopt;
  struct stat status = {};
  if (stat(path.c_str(), &status) == 0) {
    if (!S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode)) return std::nullopt;
    return Identity(status.st_dev, status.st_ino, "");
  }
  std::error_code error;
  const fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  return Identity(0, 0, place.native());
}

struct NamedFile {
  const OptionRow* row;
  std::string path;
};

bool is_option(const OptionRow& row) { return canonical_name(row).starts_with('-'); }

// The name of the row in messages: an option's name, or MODEL.
std::string label(const OptionRow& row) { return is_option(row) ? std::string(canonical_name(row)) : value_label(row); }

// A value that names a function of a script (FILE:FUNCTION) is the file too.
void add_files(const OptionRow& row, const std::string& value, std::vector<NamedFile>& files) {
  files.push_back({&row, value});
  const size_t colon = value.rfind(':');
  if (!row.is_output && colon != std::string::npos) files.push_back({&row, value.substr(0, colon)});
}

std::vector<NamedFile> named_files(const Arguments& arguments, bool outputs) {
  std::vector<NamedFile> files;
  for (const OptionRow* row : arguments.rows()) {
    if (!row->is_file || row->is_output != outputs) continue;
    for (const std::string& value : arguments.values(canonical_name(*row))) add_files(*row, value, files);
  }
  return files;
}

void check_inputs(const NamedFile& output, const std::vector<NamedFile>& inputs) {
  const std::optional<Identity> written = identity(output.path);
  for (const NamedFile& input : inputs) {
    if (!written || identity(input.path) != written) continue;
    if (output.row->replaces_model && canonical_name(*input.row) == "model_file") continue;
    refuse("{} would overwrite `{}`, which the command reads ({})", label(*output.row), printable(output.path),
           label(*input.row));
  }
}

void check_outputs(const std::vector<NamedFile>& outputs) {
  for (size_t i = 0; i < outputs.size(); ++i) {
    const std::optional<Identity> first = identity(outputs[i].path);
    for (size_t j = 0; first && j < i; ++j) {
      if (identity(outputs[j].path) != first) continue;
      refuse("{} and {} name the same file `{}`", label(*outputs[j].row), label(*outputs[i].row),
             printable(outputs[i].path));
    }
  }
}

// The files that hold external data of the model, as paths.
std::set<fs::path> external_files(const ir::Model& model, const fs::path& folder) {
  std::set<std::string_view> locations;
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) {
    const std::string_view location = model[ir::TensorId{i}].external_location;
    if (!location.empty()) locations.insert(location);
  }
  std::set<fs::path> files;
  for (const std::string_view location : locations) files.insert(folder / location);
  return files;
}

// The file of weights that --save-external-data names; nullopt if none is named, or if the model itself is replaced.
std::optional<fs::path> written_weights(const Arguments& arguments) {
  const std::string_view option = arguments.knows("--save-onnx") ? "--save-onnx" : "--output";
  if (!arguments.knows("--save-external-data") || !arguments.has("--save-external-data")) return std::nullopt;
  if (!arguments.has(option) || identity(arguments.value(option)) == identity(arguments.value("model_file"))) {
    return std::nullopt;
  }
  const fs::path model = arguments.value(option);
  const std::string name = arguments.value("--save-external-data");
  return model.parent_path() / (name.empty() ? model.filename().native() + ".data" : name);
}

}  // namespace

void check_output_files(const Arguments& arguments) {
  const std::vector<NamedFile> outputs = named_files(arguments, true);
  const std::vector<NamedFile> inputs = named_files(arguments, false);
  for (const NamedFile& output : outputs) check_inputs(output, inputs);
  check_outputs(outputs);
}

void check_external_files(const Arguments& arguments, const ir::Model& model, const fs::path& folder) {
  for (const fs::path& file : external_files(model, folder)) {
    const std::optional<Identity> read = identity(file);
    for (const NamedFile& output : named_files(arguments, true)) {
      if (!read || identity(output.path) != read) continue;
      refuse("{} would overwrite `{}`, which holds weights of the model", label(*output.row), printable(output.path));
    }
    const std::optional<fs::path> weights = written_weights(arguments);
    if (!weights || !read || identity(*weights) != read) continue;
    refuse("--save-external-data would overwrite `{}`, which holds weights of the model", printable(weights->native()));
  }
}

void check_chosen_file(const Arguments& arguments, const fs::path& path, std::string_view what) {
  const std::optional<Identity> chosen = identity(path);
  for (const NamedFile& output : named_files(arguments, true)) {
    if (!chosen || identity(output.path) != chosen) continue;
    refuse("{} would overwrite `{}`, {}", label(*output.row), printable(output.path), what);
  }
}

}  // namespace assay::cli
