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

struct Inputs {
  std::vector<const char*> names;
  std::vector<const Value*> values;
};

// Zeros for the words NAME TYPE DIMS, again and again.
Inputs make_inputs(Table table, char** words, int count) {
  constexpr int kInt64 = 7;
  MemoryInfo* memory = nullptr;
  call(table, kCreateCpuMemoryInfo, 0, 0, &memory);
  Inputs inputs;
  for (int at = 0; at + 2 < count; at += 3) {
    const std::vector<int64_t> dims = parse_dims(words[at + 2]);
    const int type = std::atoi(words[at + 1]);
    size_t bytes = type == kInt64 ? 8 : 4;
    for (const int64_t dim : dims) bytes *= static_cast<size_t>(dim);
    Value* value = nullptr;
    call(table, kCreateTensorWithData, memory, std::calloc(bytes, 1), bytes, dims.data(), dims.size(), type, &value);
    inputs.names.push_back(words[at]);
    inputs.values.push_back(value);
  }
  return inputs;
}

Session* make_session(Table table, const char* model, int threads) {
  Env* env = nullptr;
  SessionOptions* options = nullptr;
  Session* session = nullptr;
  call(table, kCreateEnv, 4, "baseline", &env);
  call(table, kCreateSessionOptions, &options);
  call(table, kSetIntraOpThreads, options, threads);
  call(table, kSetInterOpThreads, options, 1);
  call(table, kCreateSession, env, model, options, &session);
  return session;
}

}  // namespace

int main(int argc, char** argv) {
  void* const library = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return 1;
  const ApiBase* const base = reinterpret_cast<const ApiBase* (*)()>(dlsym(library, "OrtGetApiBase"))();
  const Table table = base->get_api(kApiVersion);
  Session* const session = make_session(table, argv[2], std::atoi(argv[3]));
  std::vector<const char*> outputs;
  int at = 4;
  for (; std::strcmp(argv[at], "--") != 0; ++at) outputs.push_back(argv[at]);
  const Inputs inputs = make_inputs(table, argv + at + 1, argc - at - 1);
  std::vector<Value*> results(outputs.size());
  call(table, kRun, session, nullptr, inputs.names.data(), inputs.values.data(), inputs.values.size(), outputs.data(),
       outputs.size(), results.data());
  return 0;
}
