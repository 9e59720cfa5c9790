#include "remote/python_host.h"

#include "base/error.h"
#include "base/text.h"
#include "exec/library_search.h"
#include "remote/host_source.h"
#include "remote/remote_process.h"
#include "remote/session_messages.h"

namespace assay::remote {
namespace {

constexpr double kGraceSeconds = 1;  // for the exit handlers of scripts

// The socket is descriptor 3, the sources are those from 4 on. The working folder is no place for modules.
constexpr std::string_view kBootstrap =
    "import sys, types\n"
    "if sys.path[:1] == ['']: del sys.path[0]\n"
    "names = 'host_messages', 'host_tensorrt_package', 'host_tensorrt_build', 'host_tensorrt', "
    "'host_tensorflow', 'assay_host'\n"
    "for number, name in enumerate(names, 4):\n"
    "    module = sys.modules[name] = types.ModuleType(name)\n"
    "    module.SOCKET = 3\n"
    "    with open(number, encoding='utf-8') as source: text = source.read()\n"
    "    exec(compile(text, '<assay>', 'exec'), module.__dict__)\n";

Descriptor source_memory(std::string_view source) {
  const auto* begin = reinterpret_cast<const std::byte*>(source.data());
  const Placed whole = {0, tensor::make_owned({begin, begin + source.size()})};
  return make_shared_memory(source.size(), std::span(&whole, 1));
}

void write_function(MessageWriter& writer, const ScriptFunction& function) {
  writer.text(function.path).text(function.function);
}

void write_result(MessageWriter& writer, const IterationResult& result) {
  writer.text(result.runner).number(result.runtime_seconds ? 1 : 0).real(result.runtime_seconds.value_or(0));
  writer.data(result.outputs);
}

tensor::NamedData read_data(const ReceivedMessage& message) {
  expect_kind(message, MessageKind::data);
  MessageReader reader(message);
  tensor::NamedData data = reader.data();
  reader.finish();
  return data;
}

}  // namespace

std::unique_ptr<RemoteProcess> start_python_host(const PythonOptions& options) {
  const std::string wish = options.search.python.empty() ? "python3" : options.search.python;
  const std::filesystem::path program = exec::find_interpreter(wish);
  if (program.empty()) {
    throw Error(ErrorCode::usage, fmt::format("there is no Python `{}`, which scripts need", printable(wish)))
        .remedied_by("python");
  }
  const Launch launch = {.program = program, .arguments = {"-c", std::string(kBootstrap)}};
  std::vector<Descriptor> memories;
  std::vector<int> sources;
  for (const std::string_view source :
       {host_messages_source(), host_tensorrt_package_source(), host_tensorrt_build_source(), host_tensorrt_source(),
        host_tensorflow_source(), host_source()}) {
    memories.push_back(source_memory(source));
    sources.push_back(memories.back().number());
  }
  RemoteProcessOptions process = {.label = fmt::format("the process of `{}`", printable(program.string())),
                                  .timeout_seconds = options.timeout_seconds,
                                  .grace_seconds = kGraceSeconds,
                                  .show = options.show};
  return std::make_unique<RemoteProcess>(launch, sources, std::move(process));
}

// The process, once it is needed.
class PythonHost::Child {
 public:
  explicit Child(PythonOptions options) : options_(std::move(options)) {}

  ReceivedMessage ask(const Message& message) {
    if (!process_) process_ = start_python_host(options_);
    return process_->ask(message);
  }

 private:
  PythonOptions options_;
  std::unique_ptr<RemoteProcess> process_;
};

namespace {

using Ask = std::function<ReceivedMessage(const Message&)>;

// The next data of a loader; nothing after the last.
std::optional<tensor::NamedData> next_data(const Ask& ask, uint64_t loader) {
  const ReceivedMessage message = ask(MessageWriter(MessageKind::next_data).number(loader).finish());
  if (message.kind == MessageKind::end) return std::nullopt;
  return read_data(message);
}

// Gives what a loader of a script yields.
class ScriptSource final : public exec::DataSource {
 public:
  ScriptSource(Ask ask, uint64_t loader) : ask_(std::move(ask)), loader_(loader) {}

  std::optional<tensor::NamedData> get(uint64_t iteration) override {
    while (iteration >= seen_.size() && !is_at_end_) fetch();
    if (iteration >= seen_.size()) return std::nullopt;
    return seen_[iteration];
  }
  std::optional<uint64_t> count() const override {
    return is_at_end_ ? std::optional<uint64_t>(seen_.size()) : std::nullopt;
  }

 private:
  void fetch() {
    std::optional<tensor::NamedData> data = next_data(ask_, loader_);
    is_at_end_ = !data;
    if (data) seen_.push_back(std::move(*data));
  }

  Ask ask_;
  uint64_t loader_;
  std::vector<tensor::NamedData> seen_;
  bool is_at_end_ = false;
};

}  // namespace

PythonHost::PythonHost(PythonOptions options) : child_(std::make_unique<Child>(std::move(options))) {}
PythonHost::~PythonHost() = default;

uint64_t PythonHost::start_loader(const ScriptFunction& function) {
  MessageWriter writer(MessageKind::load_data);
  write_function(writer, function);
  const ReceivedMessage message = child_->ask(writer.finish());
  expect_kind(message, MessageKind::done);
  MessageReader reader(message);
  const uint64_t loader = reader.number();
  reader.finish();
  return loader;
}

exec::DataSourcePtr PythonHost::data_loader(const ScriptFunction& function) {
  const uint64_t loader = start_loader(function);
  return std::make_unique<ScriptSource>([this](const Message& next) { return child_->ask(next); }, loader);
}

std::function<std::optional<tensor::NamedData>()> PythonHost::data_stream(const ScriptFunction& function) {
  const uint64_t loader = start_loader(function);
  return [this, loader] { return next_data([this](const Message& next) { return child_->ask(next); }, loader); };
}

tensor::NamedData PythonHost::postprocess(const ScriptFunction& function, const IterationResult& result) {
  MessageWriter writer(MessageKind::postprocess);
  write_function(writer, function);
  write_result(writer, result);
  return read_data(child_->ask(writer.finish()));
}

std::vector<std::pair<std::string, bool>> PythonHost::compare(const ScriptFunction& function, const IterationResult& a,
                                                              const IterationResult& b) {
  MessageWriter writer(MessageKind::compare);
  write_function(writer, function);
  write_result(writer, a);
  write_result(writer, b);
  const ReceivedMessage message = child_->ask(writer.finish());
  expect_kind(message, MessageKind::verdicts);
  MessageReader reader(message);
  std::vector<std::pair<std::string, bool>> verdicts;
  for (uint64_t left = reader.number(); left > 0; --left) {
    std::string name = reader.text();
    verdicts.emplace_back(std::move(name), reader.number() != 0);
  }
  reader.finish();
  return verdicts;
}

std::vector<double> PythonHost::score(const ScriptFunction& function, const tensor::NamedData& outputs,
                                      const tensor::NamedData& labels) {
  MessageWriter writer(MessageKind::score);
  write_function(writer, function);
  writer.data(outputs).data(labels);
  const ReceivedMessage message = child_->ask(writer.finish());
  expect_kind(message, MessageKind::scored);
  MessageReader reader(message);
  std::vector<double> numbers = {reader.real(), 0};
  numbers[1] = reader.real();
  reader.finish();
  return numbers;
}

std::string PythonHost::match_subgraphs(const std::string& script, const std::string& model) {
  MessageWriter writer(MessageKind::match_subgraphs);
  writer.text(script).text(model);
  const ReceivedMessage message = child_->ask(writer.finish());
  expect_kind(message, MessageKind::matched);
  MessageReader reader(message);
  std::string json = reader.text();
  reader.finish();
  return json;
}

ScriptReplacements PythonHost::replace_subgraphs(const std::string& script, const std::string& plugin,
                                                 const std::filesystem::path& model,
                                                 const std::filesystem::path& target) {
  MessageWriter writer(MessageKind::replace_subgraphs);
  writer.text(script).text(model.string()).text(target.string()).text(plugin);
  const ReceivedMessage message = child_->ask(writer.finish());
  expect_kind(message, MessageKind::replaced);
  MessageReader reader(message);
  ScriptReplacements replacements;
  replacements.has_function = reader.number() != 0;
  replacements.reasons = reader.texts();
  reader.finish();
  return replacements;
}

}  // namespace assay::remote
