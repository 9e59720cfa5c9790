// Runs models for the interop tests. Each line of standard input is a request, fields separated by tabs:
//   MODEL FOLDER_WITH_INPUTS OUT_FOLDER BACKEND [VALUE,VALUE,...]
// Inputs are input_0.pb, input_1.pb, …, for the inputs of the main graph in order; one that is missing is not fed. The
// values (the outputs by default) become output_0.pb, …; an empty optional becomes an empty file. The answer is a line:
// `ok KIND KIND …`, `error CODE: text` or `bug: text`.
// A backend may have settings, as `engine+strict+threads=2`; with `+plan` it runs a plan that was built and saved, with
// `+runs=2` the values are those of the second run.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>

#include "exec/backend.h"
#include "onnx/value_file.h"
#include "support/far_backend.h"
#include "support/loaded_model.h"
#include "support/tool_lines.h"
#include "support/value_bytes.h"

namespace {

using namespace assay;
namespace fs = std::filesystem;

const exec::SessionOptions kLimits = {.max_memory_bytes = uint64_t{1} << 30, .max_steps = 10'000};

class Collector final : public exec::TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    values.insert_or_assign(std::string(name), value);
  }
  std::map<std::string, tensor::Datum> values;
};

std::string_view kind_name(const tensor::Datum& value) {
  static constexpr std::string_view kNames[] = {"none", "tensor", "sequence", "map"};
  return kNames[static_cast<size_t>(value.kind())];
}

std::vector<exec::Feed> read_feeds(const ir::Model& model, const fs::path& folder) {
  std::vector<exec::Feed> feeds;
  const std::vector<ir::ValueId>& inputs = model[model.main_graph()].inputs;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const fs::path path = folder / fmt::format("input_{}.pb", i);
    if (!fs::exists(path)) continue;
    const ir::Value& input = model[inputs[i]];
    feeds.push_back({std::string(model.text(input.name)), onnx::read_value(path, model.types(), input.type)});
  }
  return feeds;
}

std::vector<std::string> wanted_values(const ir::Model& model, std::span<const std::string_view> words) {
  std::vector<std::string> names;
  if (words.size() == 5) {
    for (const std::string_view name : split(words[4], ',')) names.emplace_back(name);
  } else {
    for (const ir::Use& use : model.outputs(model.main_graph())) names.emplace_back(model.text(model[use.value].name));
  }
  return names;
}

// How a backend is asked: `engine+strict+threads=2`.
struct Way {
  exec::BackendPtr backend;
  exec::SessionOptions options = kLimits;
  bool is_planned = false;
  unsigned long runs = 1;
};

Way way_of(std::string_view text) {
  const std::vector<std::string_view> words = split(text, '+');
  Way way{.backend = testing_support::find_any_backend(std::string(words[0]))};
  for (const std::string_view word : std::span(words).subspan(1)) {
    const std::string name(word.substr(0, word.find('=')));
    const std::string value(word.substr(std::min(name.size() + 1, word.size())));
    if (name == "plan")
      way.is_planned = true;
    else if (name == "threads")
      way.options.threads = static_cast<unsigned>(std::stoul(value));
    else if (name == "runs")
      way.runs = std::stoul(value);
    else
      way.options.settings.set(name, {value});
  }
  return way;
}

std::unique_ptr<exec::Session> prepare(const Way& way, const ir::Model& model, const fs::path& folder) {
  Diagnostics findings;
  if (!way.is_planned) return way.backend->prepare(model, way.options, findings);
  const fs::path plan = folder / "plan.engine";
  way.backend->build_plan(model, way.options, plan, findings);
  return way.backend->open_plan(plan, way.options, findings);
}

std::string run(std::string_view request) {
  const std::vector<std::string_view> words = split(request, '\t');
  if (words.size() != 4 && words.size() != 5) fail(ErrorCode::usage, "a request has four or five fields");
  const ir::Model model = testing_support::loaded(words[0]);
  Way way = way_of(words[3]);
  const std::vector<exec::Feed> feeds = read_feeds(model, words[1]);
  const std::vector<std::string> names = wanted_values(model, words);
  way.options.values = names;
  way.options.path = words[0];
  const std::unique_ptr<exec::Session> session = prepare(way, model, words[2]);
  const std::unique_ptr<exec::Execution> execution = session->make_execution({});
  Collector collector;
  for (unsigned long i = 0; i < way.runs; ++i) {
    collector.values.clear();
    execution->run(feeds, names, collector);
  }
  std::string reply = "ok";
  for (size_t i = 0; i < names.size(); ++i) {
    const auto found = collector.values.find(names[i]);
    if (found == collector.values.end()) fail(ErrorCode::backend, "the run gave no value `{}`", names[i]);
    const std::string bytes = support::value_bytes(found->second);
    std::ofstream file(fs::path(words[2]) / fmt::format("output_{}.pb", i), std::ios::binary);
    file.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    reply += fmt::format(" {}", kind_name(found->second));
  }
  return reply;
}

}  // namespace

int main() { support::serve_lines(run); }
