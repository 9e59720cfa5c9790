#include "formats/raw.h"

#include <optional>
#include <unordered_set>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"
#include "formats/input_blob.h"
#include "formats/json/json_reader.h"
#include "formats/json/python_json.h"
#include "formats/new_folder.h"
#include "formats/read_file.h"

namespace assay::formats {
namespace {

namespace fs = std::filesystem;
using tensor::DType;
using tensor::Tensor;

constexpr std::string_view kFormat = "assay/raw/1";

struct Entry {
  std::string name;
  std::string dtype;
  std::string file;
  tensor::Shape shape;
  int64_t iteration = 0;
};

struct Manifest {
  std::string format;
  int64_t iterations = 0;
  std::vector<Entry> entries;
};

Entry read_entry(JsonReader& reader) {
  Entry entry;
  reader.begin_object();
  for (std::string key; reader.next_key(key);) {
    if (key == "name")
      entry.name = reader.string().text();
    else if (key == "dtype")
      entry.dtype = reader.string().text();
    else if (key == "file")
      entry.file = reader.string().text();
    else if (key == "shape")
      entry.shape = reader.dims();
    else if (key == "iteration")
      entry.iteration = reader.integer();
    else
      reader.fail_here(fmt::format("unknown key `{}`", printable(key)));
  }
  return entry;
}

Manifest read_manifest(const MappedFile& file) {
  JsonReader reader({reinterpret_cast<const char*>(file.bytes().data()), file.size()});
  Manifest manifest;
  reader.begin_object();
  for (std::string key; reader.next_key(key);) {
    if (key == "format") {
      manifest.format = reader.string().text();
    } else if (key == "iterations") {
      manifest.iterations = reader.integer();
    } else if (key == "arrays") {
      reader.begin_array();
      while (reader.next_item()) manifest.entries.push_back(read_entry(reader));
    } else {
      reader.fail_here(fmt::format("unknown key `{}`", printable(key)));
    }
  }
  reader.finish();
  return manifest;
}

// A name of the folder itself, so that nothing outside of it is read.
bool is_plain_name(const std::string& name) {
  const bool is_special = name.empty() || name == "." || name == "..";
  return !is_special && name.find('/') == std::string::npos && name.find('\0') == std::string::npos;
}

Tensor map_array(const fs::path& folder, const Entry& entry) {
  const std::optional<DType> dtype = tensor::find_dtype(entry.dtype);
  if (!dtype || tensor::bit_width(*dtype) == 0) fail(ErrorCode::parse, "unknown dtype `{}`", printable(entry.dtype));
  if (!is_plain_name(entry.file)) fail(ErrorCode::parse, "its file `{}` is not in the folder", printable(entry.file));
  const std::shared_ptr<const MappedFile> file = open_one_of_many(folder / entry.file);
  const std::optional<uint64_t> count = tensor::element_count(entry.shape);
  const std::optional<uint64_t> needed = count ? tensor::packed_bytes(*dtype, *count) : std::nullopt;
  if (needed != file->size()) {
    fail(ErrorCode::parse, "`{}` has {} bytes, which do not fit {}[{}]", printable(entry.file), file->size(),
         entry.dtype, fmt::join(entry.shape, ","));
  }
  return Tensor(*dtype, entry.shape, tensor::make_mapped(file, 0, file->size()));
}

}  // namespace

SavedInputs read_raw(const fs::path& folder) {
  const Manifest manifest = read_manifest(*MappedFile::open(folder / kRawManifest));
  if (manifest.format != kFormat) {
    fail(ErrorCode::parse, "manifest.json is of format `{}`, expected {}", printable(manifest.format), kFormat);
  }
  // An iteration without arrays says nothing, so their number is bounded by what the file lists.
  const int64_t most = static_cast<int64_t>(manifest.entries.size()) + 1;
  if (manifest.iterations < 0 || manifest.iterations > most) {
    fail(ErrorCode::parse, "manifest.json: {} iterations of {} arrays", manifest.iterations, most - 1);
  }
  SavedInputs inputs(static_cast<size_t>(manifest.iterations));
  std::vector<std::unordered_set<std::string>> names(inputs.size());
  for (const Entry& entry : manifest.entries) {
    with_frame([&] { return fmt::format("array `{}`", printable(entry.name)); },
               [&] {
                 if (entry.iteration < 0 || entry.iteration >= manifest.iterations) {
                   fail(ErrorCode::parse, "iteration {} of {}", entry.iteration, manifest.iterations);
                 }
                 const auto place = static_cast<size_t>(entry.iteration);
                 if (!names[place].insert(entry.name).second)
                   fail(ErrorCode::parse, "it occurs twice in iteration {}", place);
                 inputs[place].push_back({entry.name, map_array(folder, entry)});
               });
  }
  return inputs;
}

void write_raw(const fs::path& folder, const SavedInputs& inputs) {
  NewFolder made(folder);
  OutputFile manifest(folder / kRawManifest);
  PythonJson json(manifest);
  json.begin_object();
  json.key("format");
  json.string(kFormat);
  json.key("iterations");
  json.integer(static_cast<int64_t>(inputs.size()));
  json.key("arrays");
  json.begin_array();
  for (size_t iteration = 0; iteration < inputs.size(); ++iteration) {
    for (size_t place = 0; place < inputs[iteration].size(); ++place) {
      const tensor::NamedDatum& array = inputs[iteration][place];
      const std::string file = fmt::format("{:010}_{:04}.bin", iteration, place);
      write_elements(folder / file, array);
      json.begin_object();
      json.key("name");
      json.string(array.name);
      json.key("iteration");
      json.integer(static_cast<int64_t>(iteration));
      json.key("dtype");
      json.string(tensor::name(array.value.tensor().dtype()));
      json.key("shape");
      json.begin_array();
      for (const int64_t dim : array.value.tensor().shape()) json.integer(dim);
      json.end_array();
      json.key("file");
      json.string(file);
      json.end_object();
    }
  }
  json.end_array();
  json.end_object();
  manifest.commit();
  made.commit();
}

}  // namespace assay::formats
