#include <algorithm>

#include "base/errno_text.h"
#include "base/error.h"
#include "base/file_kind.h"
#include "base/text.h"
#include "formats/numpy/npy.h"
#include "formats/numpy/npz.h"
#include "formats/numpy/zip.h"
#include "formats/peer/peer_json.h"
#include "formats/raw.h"
#include "formats/read_file.h"
#include "formats/safetensors.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;

// The name of a lone array, which has none of its own.
std::string name_of(const fs::path& path) {
  const std::string stem = path.stem().native();
  return is_utf8(stem) && !stem.empty() ? stem : "array";
}

std::string_view start_of(const MappedFile& file) {
  constexpr uint64_t kStart = 4096;
  return {reinterpret_cast<const char*>(file.bytes().data()), static_cast<size_t>(std::min(file.size(), kStart))};
}

bool starts_as_json(std::string_view start) {
  const size_t first = start.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (start[first] == '{' || start[first] == '[');
}

void append_iterations(SavedRuns& runs, SavedRuns more, const fs::path& path) {
  const auto same = [](const SavedRun& a, const SavedRun& b) { return a.runner == b.runner; };
  if (!std::ranges::equal(runs, more, same)) {
    fail(ErrorCode::parse, "`{}` holds other runners than the files before it", printable(path.filename().native()));
  }
  for (size_t i = 0; i < runs.size(); ++i)
    std::ranges::move(more[i].iterations, std::back_inserter(runs[i].iterations));
}

// Adds the content of one file of a folder.
void append(SavedData& all, SavedData more, const fs::path& path, bool is_first) {
  if (is_first) {
    all = std::move(more);
  } else if (all.index() != more.index()) {
    fail(ErrorCode::parse, "`{}` does not hold inputs or outputs as the files before it", printable(path.native()));
  } else if (SavedRuns* const runs = std::get_if<SavedRuns>(&all)) {
    append_iterations(*runs, std::get<SavedRuns>(std::move(more)), path);
  } else {
    std::ranges::move(std::get<SavedInputs>(more), std::back_inserter(std::get<SavedInputs>(all)));
  }
}

SavedData read_folder(const fs::path& folder) {
  std::error_code error;
  if (fs::exists(folder / kRawManifest, error)) return read_raw(folder);
  std::vector<fs::path> files;
  for (fs::directory_iterator at(folder, error), end; !error && at != end; at.increment(error)) {
    if (at->path().extension() == ".json") files.push_back(at->path());
  }
  if (error) fail(ErrorCode::io, "cannot read the folder: {}", errno_text(error.value()));
  if (files.empty()) fail(ErrorCode::io, "a folder without *.json and without manifest.json");
  std::ranges::sort(files);
  SavedData all;
  for (const fs::path& path : files) {
    SavedData one = with_frame([&] { return fmt::format("`{}`", printable(path.filename().native())); },
                               [&] { return read_file(open_one_of_many(path)); });
    append(all, std::move(one), path, path == files.front());
  }
  return all;
}

SavedRuns as_results(SavedInputs inputs, const fs::path& path) {
  SavedRun run;
  run.runner = name_of(path);
  for (tensor::NamedData& arrays : inputs) run.iterations.push_back({std::move(arrays), std::nullopt, run.runner});
  return {std::move(run)};
}

}  // namespace

std::shared_ptr<const MappedFile> open_one_of_many(const fs::path& path) {
  constexpr uint64_t kSmallBytes = 1 << 20;
  std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  return file->size() > kSmallBytes ? file : MappedFile::from_bytes(file->bytes(), path.native());
}

SavedData read_file(const std::shared_ptr<const MappedFile>& file) {
  const Bytes bytes = file->bytes();
  const std::string_view start = start_of(*file);
  if (starts_as_npy(start)) {
    return SavedInputs{{{name_of(file->path()), npy_tensor(file, 0, file->size())}}};
  }
  if (starts_as_zip(start)) return SavedInputs{read_npz(file)};
  if (starts_as_safetensors(bytes)) return SavedInputs{read_safetensors(file)};
  if (starts_as_json(start)) return read_peer_json(file);
  fail(ErrorCode::parse, "{}, expected JSON, .npz, .npy or .safetensors",
       bytes.empty() ? "an empty file" : describe_file_kind(bytes).value_or("an unknown format"));
}

bool is_data(const fs::path& path) {
  std::error_code error;
  if (path == "-") return false;
  if (fs::is_directory(path, error)) return true;
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const std::string_view start = start_of(*file);
  return starts_as_npy(start) || starts_as_zip(start) || starts_as_safetensors(file->bytes()) || starts_as_json(start);
}

SavedData load_data(const fs::path& path) {
  return with_frame([&] { return fmt::format("loading `{}`", printable(path.native())); },
                    [&] {
                      std::error_code error;
                      return fs::is_directory(path, error) ? read_folder(path) : read_file(MappedFile::open(path));
                    });
}

SavedInputs load_inputs(const fs::path& path) {
  SavedData data = load_data(path);
  if (SavedInputs* const inputs = std::get_if<SavedInputs>(&data)) return std::move(*inputs);
  throw Error(ErrorCode::parse, fmt::format("`{}` holds outputs, expected inputs", printable(path.native())))
      .remedied_by("inputs_of_outputs");
}

SavedRuns load_results(const fs::path& path) {
  SavedData data = load_data(path);
  if (SavedRuns* const runs = std::get_if<SavedRuns>(&data)) return std::move(*runs);
  return as_results(std::get<SavedInputs>(std::move(data)), path);
}

}  // namespace assay::formats
