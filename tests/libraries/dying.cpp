// ONNX Runtime (the library at ASSAY_TEST_RUNTIME), which kills the process when it is given a model that holds the
// text ASSAY_TEST_DIES_ON, at least ASSAY_TEST_DIES_FROM times, and not the text ASSAY_TEST_SPARED_BY; or when it is
// given the name of a file that holds the text ASSAY_TEST_DIES_ON_FILE.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>

#include <dlfcn.h>

#include "backends/onnxrt/ort_api.h"

using namespace assay::backends::ort;

namespace {

constexpr size_t kEntries = kResizeString.place + 1;
const void* const* original = nullptr;

std::string_view variable(const char* name) {
  const char* const text = std::getenv(name);
  return text == nullptr ? "" : text;
}

size_t count_of(std::string_view text, std::string_view word) {
  size_t count = 0;
  for (size_t at = text.find(word); at != std::string_view::npos; at = text.find(word, at + 1)) ++count;
  return count;
}

Status* create_session(const Env* env, const void* bytes, size_t size, const SessionOptions* options, Session** made) {
  const std::string_view model(static_cast<const char*>(bytes), size);
  const std::string_view spared_by = variable("ASSAY_TEST_SPARED_BY");
  const size_t least = std::max(1, std::atoi(variable("ASSAY_TEST_DIES_FROM").data()));
  const bool is_spared = !spared_by.empty() && count_of(model, spared_by) > 0;
  if (!is_spared && count_of(model, variable("ASSAY_TEST_DIES_ON")) >= least) std::raise(SIGKILL);
  using Create = decltype(&create_session);
  return reinterpret_cast<Create>(const_cast<void*>(original[kCreateSessionFromArray.place]))(env, bytes, size, options,
                                                                                              made);
}

Status* create_session_of_file(const Env* env, const char* path, const SessionOptions* options, Session** made) {
  const std::string_view deadly = variable("ASSAY_TEST_DIES_ON_FILE");
  std::ifstream file(path, std::ios::binary);
  const std::string model(std::istreambuf_iterator<char>(file), {});
  if (!deadly.empty() && count_of(model, deadly) > 0) std::raise(SIGKILL);
  using Create = decltype(&create_session_of_file);
  return reinterpret_cast<Create>(const_cast<void*>(original[kCreateSession.place]))(env, path, options, made);
}

const ApiBase* original_base() {
  void* const library = dlopen(variable("ASSAY_TEST_RUNTIME").data(), RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<const ApiBase* (*)()>(dlsym(library, "OrtGetApiBase"))();
}

const void* const* get_api(uint32_t version) {
  static std::array<const void*, kEntries> table;
  original = original_base()->get_api(version);
  std::copy_n(original, kEntries, table.begin());
  table[kCreateSession.place] = reinterpret_cast<const void*>(&create_session_of_file);
  table[kCreateSessionFromArray.place] = reinterpret_cast<const void*>(&create_session);
  return table.data();
}

}  // namespace

extern "C" const void* OrtGetApiBase();
extern "C" const void* OrtGetApiBase() {
  static const ApiBase base = {get_api, original_base()->get_version};
  return &base;
}
