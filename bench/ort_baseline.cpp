// The least that running a model on ONNX Runtime can take: opens LIBRARY, loads MODEL and runs it once, by the same
// calls of the C interface as the backend makes.
//
//     ort_baseline LIBRARY MODEL THREADS OUTPUT... -- NAME TYPE DIM,DIM,... [NAME TYPE DIMS]...
//
// TYPE is ONNX's number of an element type; the elements are zero.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include <dlfcn.h>

#include "../src/backends/onnxrt/ort_api.h"

namespace {

using namespace assay::backends::ort;

using Table = const void* const*;

// Calls an entry of the table; any failure ends the program.
template <typename... Formal, typename... Actual>
void call(Table table, const Call<Formal...>& entry, Actual... values) {
  using Function = Status* (*)(Formal...);
  Function function = nullptr;
  std::memcpy(&function, &table[entry.place], sizeof(function));
  if (function(values...) != nullptr) {
    std::fputs("ort_baseline: a call failed\n", stderr);
    std::exit(1);
  }
}

std::vector<int64_t> parse_dims(const char* text) {
  std::vector<int64_t> dims;
  for (const char* at = text; *at != '\0'; at += *at == ',' ? 1 : 0) {
    char* end = nullptr;
    dims.push_back(std::strtoll(at, &end, 10));
    at = end;
  }
  return dims;
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  struct Base {
    Table (*get_api)(uint32_t);
    const char* (*version)();
  };
  const Base* const base = reinterpret_cast<const Base* (*)()>(dlsym(library, "OrtGetApiBase"))();
  const Table table = base->get_api(kApiVersion);
  Env* env = nullptr;
  SessionOptions* options = nullptr;
  Session* session = nullptr;
  MemoryInfo* memory = nullptr;
  call(table, kCreateEnv, 4, "baseline", &env);
  call(table, kCreateSessionOptions, &options);
  call(table, kSetIntraOpThreads, options, std::atoi(argv[3]));
  call(table, kSetInterOpThreads, options, 1);
  call(table, kCreateSession, env, argv[2], options, &session);
  call(table, kCreateCpuMemoryInfo, 0, 0, &memory);

  std::vector<const char*> outputs;
  int at = 4;
  for (; std::strcmp(argv[at], "--") != 0; ++at) outputs.push_back(argv[at]);
  std::vector<const char*> names;
  std::vector<Value*> values;
  for (++at; at + 2 < argc; at += 3) {
    const std::vector<int64_t> dims = parse_dims(argv[at + 2]);
    size_t bytes = 8;
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    Value* value = nullptr;
    const int type = std::atoi(argv[at + 1]);
    constexpr int kInt64 = 7;
    call(table, kCreateTensorWithData, memory, std::calloc(bytes, 1), type == kInt64 ? bytes : bytes / 2, dims.data(),
         dims.size(), type, &value);
    names.push_back(argv[at]);
    values.push_back(value);
  }
  std::vector<Value*> results(outputs.size());
  call(table, kRun, session, nullptr, names.data(), const_cast<const Value* const*>(values.data()), values.size(),
       outputs.data(), outputs.size(), results.data());
  return 0;
}
