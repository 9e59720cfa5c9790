#include <optional>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "formats/json/json_reader.h"
#include "formats/peer/peer_array.h"
#include "formats/peer/peer_json.h"

namespace assay::formats {
namespace {

using Kind = JsonReader::Kind;

class PeerReader {
 public:
  explicit PeerReader(std::shared_ptr<const MappedFile> file)
      : file_(std::move(file)), reader_({reinterpret_cast<const char*>(file_->bytes().data()), file_->size()}) {}

  SavedData read() {
    SavedData data = reader_.peek() == Kind::array ? SavedData(read_iterations()) : read_object();
    reader_.finish();
    return data;
  }

 private:
  SavedInputs read_iterations();
  SavedData read_object();
  tensor::NamedData read_arrays();
  void read_array(const std::string& name, tensor::NamedData& arrays);
  SavedRuns read_runs();
  SavedRun read_run();
  SavedIteration read_iteration();
  [[noreturn]] void fail_class(const std::string& name) const;

  std::shared_ptr<const MappedFile> file_;
  JsonReader reader_;
};

SavedInputs PeerReader::read_iterations() {
  SavedInputs inputs;
  reader_.begin_array();
  while (reader_.next_item()) inputs.push_back(read_arrays());
  return inputs;
}

void PeerReader::read_array(const std::string& name, tensor::NamedData& arrays) {
  with_frame([&] { return fmt::format("array `{}`", printable(name)); },
             [&] {
               arrays.push_back({name, read_peer_array(reader_, file_)});
             });
}

tensor::NamedData PeerReader::read_arrays() {
  tensor::NamedData arrays;
  std::unordered_set<std::string> names;
  reader_.begin_object();
  for (std::string name; reader_.next_key(name);) {
    if (!names.insert(name).second) reader_.fail_here(fmt::format("the name `{}` occurs twice", printable(name)));
    read_array(name, arrays);
  }
  return arrays;
}

void PeerReader::fail_class(const std::string& name) const {
  if (name == "AccuracyResults") {
    fail(ErrorCode::parse, "it holds results of a comparison (`AccuracyResults`), expected inputs or outputs");
  }
  const std::string seen = name.empty() ? "an object" : fmt::format("a `{}`", printable(name));
  fail(ErrorCode::parse, "it holds {}, expected arrays by name or a `RunResults`", seen);
}

// One set of inputs, or an object with a class. The class stands last, so what it is shows at the end.
SavedData PeerReader::read_object() {
  tensor::NamedData arrays;
  std::optional<SavedRuns> runs;
  std::unordered_set<std::string> names;
  std::string class_name;
  bool is_other = false;
  reader_.begin_object();
  for (std::string key; reader_.next_key(key);) {
    if (!names.insert(key).second) reader_.fail_here(fmt::format("the key `{}` occurs twice", printable(key)));
    const Kind kind = reader_.peek();
    if (kind == Kind::string && read_peer_class(reader_, key, class_name)) continue;
    if (key == "lst" && kind == Kind::array) {
      runs = read_runs();
    } else if (kind == Kind::object && !is_other) {
      read_array(key, arrays);
    } else {
      reader_.skip();
      is_other = true;
    }
  }
  const bool has_class = !class_name.empty();
  if (runs && class_name == "RunResults") return std::move(*runs);
  if (runs || is_other || has_class) fail_class(class_name);
  return SavedInputs{std::move(arrays)};
}

SavedRuns PeerReader::read_runs() {
  SavedRuns runs;
  reader_.begin_array();
  while (reader_.next_item()) {
    if (reader_.peek() == Kind::object) fail_class("AccuracyResults");
    runs.push_back(read_run());
  }
  return runs;
}

SavedRun PeerReader::read_run() {
  SavedRun run;
  reader_.begin_array();
  if (!reader_.next_item()) reader_.fail_here("an empty run, expected a runner's name and its iterations");
  run.runner = reader_.string().text();
  if (!reader_.next_item()) reader_.fail_here("a run without iterations");
  reader_.begin_array();
  while (reader_.next_item()) {
    const size_t number = run.iterations.size();
    with_frame([&] { return fmt::format("runner `{}`, iteration {}", printable(run.runner), number); },
               [&] { run.iterations.push_back(read_iteration()); });
  }
  if (reader_.next_item()) reader_.fail_here("a run of more than a name and iterations");
  return run;
}

SavedIteration PeerReader::read_iteration() {
  SavedIteration iteration;
  std::string class_name;
  std::unordered_set<std::string> keys;
  reader_.begin_object();
  for (std::string key; reader_.next_key(key);) {
    if (!keys.insert(key).second) reader_.fail_here(fmt::format("the key `{}` occurs twice", printable(key)));
    const bool is_null = reader_.peek() == Kind::null;
    if (read_peer_class(reader_, key, class_name)) continue;
    if (key == "outputs")
      iteration.outputs = read_arrays();
    else if (key == "runtime" && !is_null)
      iteration.runtime_seconds = reader_.number();
    else if (key == "runner_name" && !is_null)
      iteration.runner = reader_.string().text();
    else
      reader_.skip();
  }
  if (!keys.contains("outputs")) reader_.fail_here("an iteration without outputs");
  return iteration;
}

}  // namespace

SavedData read_peer_json(const std::shared_ptr<const MappedFile>& file) { return PeerReader(file).read(); }

}  // namespace assay::formats
