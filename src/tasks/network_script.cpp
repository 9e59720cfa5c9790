#include "tasks/network_script.h"

#include <array>
#include <cstdlib>

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/error.h"
#include "base/files.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "exec/library_search.h"
#include "onnx/import.h"
#include "onnx/known_operators.h"
#include "remote/process.h"
#include "remote/script_function.h"

namespace assay::tasks {
namespace {

constexpr double kPatienceSeconds = 24 * 3600.0;

remote::Descriptor make_memory() {
  const int number = memfd_create("assay-network", MFD_CLOEXEC);
  if (number < 0) fail(ErrorCode::io, "there is no memory to share with a script");
  return remote::Descriptor(number);
}

std::shared_ptr<const MappedFile> contents(const remote::Descriptor& memory, const std::string& label) {
  lseek(memory.number(), 0, SEEK_SET);
  return MappedFile::read_stream(memory.number(), label);
}

std::string text_of(const MappedFile& file) {
  return {reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size()};
}

std::filesystem::path interpreter(const std::string& wish) {
  if (!wish.empty()) return exec::find_interpreter(wish);
  const char* const environment = std::getenv("VIRTUAL_ENV");
  return exec::find_interpreter(environment != nullptr ? environment : "python3");
}

// The answer of the package's module for scripts to these words. Error (usage) with its reason if it fails.
std::shared_ptr<const MappedFile> ask_package(const remote::ScriptFunction& function, const std::string& wish,
                                              const std::vector<std::string>& words) {
  const std::filesystem::path python = interpreter(wish);
  if (python.empty()) fail(ErrorCode::backend, "there is no python3 to run `{}`", printable(function.path));
  const remote::Descriptor answer_memory = make_memory();
  const remote::Descriptor error_memory = make_memory();
  const std::array descriptors = {answer_memory.number(), error_memory.number()};
  std::vector<std::string> arguments = {"-m", "assay.network_script", function.path, function.function};
  arguments.insert(arguments.end(), words.begin(), words.end());
  remote::Process process({python, std::move(arguments)}, descriptors);
  const std::string ending = process.end(kPatienceSeconds);
  auto answer = contents(answer_memory, function.path);
  if (answer->size() != 0) return answer;
  const std::string error = text_of(*contents(error_memory, function.path));
  const std::string reason =
      error.empty()
          ? fmt::format("{} {}; such scripts need the Python package: `pip install .` in the folder of the sources",
                        printable(python.string()), ending)
          : printable(error);
  fail(ErrorCode::usage, "the script `{}:{}`: {}", printable(function.path), printable(function.function), reason);
}

}  // namespace

LoadedModel load_network_script(const std::string& script, const std::string& python, Observer& observer) {
  const remote::ScriptFunction function = remote::parse_script_function(script, "load_network");
  observer.info("Loading network script: " + printable(function.path));
  const Stopwatch loading;
  const auto model = ask_package(function, python, {});
  Diagnostics findings;
  ir::Model made = onnx::import_document(onnx::Document(model), {}, findings);
  onnx::check_operators(made, findings);
  observer.on_loaded(made, function.path);
  return {std::move(made), std::move(findings), loading.seconds()};
}

void read_config_script(const remote::ScriptFunction& script, const std::string& python, const std::string& model,
                        exec::Settings& settings) {
  const std::string answer = text_of(*ask_package(script, python, {model}));
  for (const std::string_view row : split(answer, '\n')) {
    const std::vector<std::string_view> words = split(row, '\t');
    if (!words.front().empty()) settings.set(std::string(words.front()), {words.begin() + 1, words.end()});
  }
}

}  // namespace assay::tasks
