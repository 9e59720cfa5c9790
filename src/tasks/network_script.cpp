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

}  // namespace

LoadedModel load_network_script(const std::string& script, Observer& observer) {
  const remote::ScriptFunction function = remote::parse_script_function(script, "load_network");
  observer.info("Loading network script: " + printable(function.path));
  const Stopwatch loading;
  const char* const environment = std::getenv("VIRTUAL_ENV");
  const std::filesystem::path python = exec::find_interpreter(environment != nullptr ? environment : "python3");
  if (python.empty()) fail(ErrorCode::backend, "there is no python3 to run `{}`", printable(function.path));
  const remote::Descriptor model_memory = make_memory();
  const remote::Descriptor error_memory = make_memory();
  const std::array descriptors = {model_memory.number(), error_memory.number()};
  remote::Process process({python, {"-m", "assay.network_script", function.path, function.function}}, descriptors);
  const std::string ending = process.end(kPatienceSeconds);
  const auto model = contents(model_memory, function.path);
  if (model->size() == 0) {
    const std::string error = text_of(*contents(error_memory, function.path));
    const std::string reason =
        error.empty() ? fmt::format("{} {}; network scripts need the Python package: pip install onnx-assay",
                                    printable(python.string()), ending)
                      : printable(error);
    fail(ErrorCode::usage, "the network script `{}`: {}", printable(script), reason);
  }
  Diagnostics findings;
  ir::Model made = onnx::import_document(onnx::Document(model), {}, findings);
  onnx::check_operators(made, findings);
  observer.on_loaded(made, function.path);
  return {std::move(made), std::move(findings), loading.seconds()};
}

}  // namespace assay::tasks
