// Stands in for cuBLASLt where the memory of cards is that of the host. $ASSAY_HOST_CUBLASLT=wrong leaves the last row
// of a result out; =none knows no algorithm; =refuses makes no product.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "simt/host_driver.h"
#include "tensor/float_format.h"

namespace {

using namespace assay;
namespace host_driver = testing_support::host_driver;

using Attributes = std::map<int, std::vector<char>>;
struct Desc {
  Attributes set;
  template <typename Value>
  Value get(int attribute, Value otherwise = {}) const {
    const auto found = set.find(attribute);
    if (found != set.end()) std::memcpy(&otherwise, found->second.data(), sizeof otherwise);
    return otherwise;
  }
};
struct Layout {
  int type = 0;
  uint64_t rows = 0, columns = 0;
  int64_t along = 0;
  Desc more;
  size_t count() const { return static_cast<size_t>(along) * columns; }
};

bool is(const char* word) {
  const char* const told = std::getenv("ASSAY_HOST_CUBLASLT");
  return told != nullptr && std::string(told) == word;
}
constexpr int kFloat32 = 0, kFloat16 = 2;
size_t bytes_of(int type) { return type == kFloat32 ? 4 : 2; }
std::vector<float> read(const void* at, size_t count, int type) {
  std::vector<float> made(count);
  if (type == kFloat32) std::memcpy(made.data(), at, count * sizeof(float));
  for (size_t i = 0; type != kFloat32 && i < count; ++i) {
    const uint16_t code = static_cast<const uint16_t*>(at)[i];
    made[i] = static_cast<float>(type == kFloat16 ? tensor::decode<tensor::kFloat16>(code)
                                                  : tensor::decode<tensor::kBfloat16>(code));
  }
  return made;
}
void write(void* to, const std::vector<float>& numbers, int type) {
  if (type == kFloat32) std::memcpy(to, numbers.data(), numbers.size() * sizeof(float));
  for (size_t i = 0; type != kFloat32 && i < numbers.size(); ++i) {
    static_cast<uint16_t*>(to)[i] =
        static_cast<uint16_t>(type == kFloat16 ? tensor::encode<tensor::kFloat16>(numbers[i])
                                               : tensor::encode<tensor::kBfloat16>(numbers[i]));
  }
}

struct Work {
  Desc desc;
  Layout a, b, d;
  float beta;
  const char *at_a, *at_b, *at_c;
  char* at_d;

  void run() const {
    const int items = d.more.get<int32_t>(5, 1);
    const size_t bytes = bytes_of(d.type);
    for (int item = 0; item < items; ++item) {
      const auto offset = [&](const Layout& of) {
        return static_cast<size_t>(of.more.get<int64_t>(6)) * static_cast<size_t>(item) * bytes;
      };
      multiply(at_a + offset(a), at_b + offset(b), at_c + offset(d), at_d + offset(d));
    }
  }
  void multiply(const char* from_a, const char* from_b, const char* from_c, char* to) const {
    const bool turns_a = desc.get<int32_t>(3) != 0, turns_b = desc.get<int32_t>(4) != 0;
    const int epilogue = desc.get<int32_t>(7);
    const std::vector<float> left = read(from_a, a.count(), a.type), right = read(from_b, b.count(), b.type);
    std::vector<float> made(d.count());
    if (beta != 0) made = read(from_c, d.count(), d.type);
    std::vector<float> bias(d.rows);
    if ((epilogue & 4) != 0) bias = read(reinterpret_cast<const void*>(desc.get<uint64_t>(8)), d.rows, d.type);
    const uint64_t depth = turns_a ? a.rows : a.columns;
    for (uint64_t j = 0; j < d.columns - (is("wrong") ? 1 : 0); ++j) {
      for (uint64_t i = 0; i < d.rows; ++i) {
        float sum = made[i + j * static_cast<uint64_t>(d.along)] + bias[i];
        for (uint64_t k = 0; k < depth; ++k) {
          sum += left[turns_a ? k + i * static_cast<uint64_t>(a.along) : i + k * static_cast<uint64_t>(a.along)] *
                 right[turns_b ? j + k * static_cast<uint64_t>(b.along) : k + j * static_cast<uint64_t>(b.along)];
        }
        made[i + j * static_cast<uint64_t>(d.along)] = (epilogue & 2) != 0 ? std::fmax(sum, 0.F) : sum;
      }
    }
    write(to, made, d.type);
  }
};

// What a stream keeps while it is captured.
void run_kept(const void* params, const unsigned*, unsigned) { (*static_cast<const Work* const*>(params))->run(); }

int set(Desc* desc, int attribute, const void* value, size_t bytes) {
  const char* const first = static_cast<const char*>(value);
  desc->set[attribute] = {first, first + bytes};
  return 0;
}

}  // namespace

extern "C" {

size_t cublasLtGetVersion() { return 130100; }
int cublasLtCreate(void** made) {
  *made = new int;
  return 0;
}
int cublasLtDestroy(int* handle) {
  delete handle;
  return 0;
}
int cublasLtMatmulDescCreate(Desc** made, int, int) {
  *made = new Desc;
  return 0;
}
int cublasLtMatmulDescDestroy(Desc* desc) {
  delete desc;
  return 0;
}
int cublasLtMatmulDescSetAttribute(Desc* desc, int attribute, const void* value, size_t bytes) {
  return set(desc, attribute, value, bytes);
}
int cublasLtMatrixLayoutCreate(Layout** made, int type, uint64_t rows, uint64_t columns, int64_t along) {
  *made = new Layout{type, rows, columns, along, {}};
  return 0;
}
int cublasLtMatrixLayoutDestroy(Layout* layout) {
  delete layout;
  return 0;
}
int cublasLtMatrixLayoutSetAttribute(Layout* layout, int attribute, const void* value, size_t bytes) {
  return set(&layout->more, attribute, value, bytes);
}
int cublasLtMatmulPreferenceCreate(Desc** made) { return cublasLtMatmulDescCreate(made, 0, 0); }
int cublasLtMatmulPreferenceDestroy(Desc* preference) { return cublasLtMatmulDescDestroy(preference); }
int cublasLtMatmulPreferenceSetAttribute(Desc* preference, int attribute, const void* value, size_t bytes) {
  return set(preference, attribute, value, bytes);
}
int cublasLtMatmulAlgoGetHeuristic(void*, Desc*, Layout*, Layout*, Layout*, Layout*, Desc*, int wanted, char* results,
                                   int* count) {
  constexpr size_t kBytes = 96;
  *count = is("none") ? 0 : wanted;
  std::memset(results, 0, kBytes * static_cast<size_t>(wanted));
  return 0;
}
int cublasLtMatmul(void*, const Desc* desc, const float*, const char* at_a, const Layout* a, const char* at_b,
                   const Layout* b, const float* beta, const char* at_c, const Layout*, char* at_d, const Layout* d,
                   const void*, void*, size_t, void* stream) {
  constexpr int kInvalid = 7;
  if (is("refuses")) return kInvalid;
  for (const char* const at : {at_a, at_b, at_c, static_cast<const char*>(at_d)}) {
    if (reinterpret_cast<uint64_t>(at) % 16 != 0) return kInvalid;
  }
  Work work{*desc, *a, *b, *d, *beta, at_a, at_b, at_c, at_d};
  auto* const of_host = static_cast<host_driver::HostStream*>(stream);
  if (of_host == nullptr || !of_host->is_capturing) {
    work.run();
    return 0;
  }
  static const host_driver::HostKernel kernel{&run_kept, 8, nullptr};
  of_host->captured.push_back({&kernel, {reinterpret_cast<uint64_t>(new Work(std::move(work)))}, {1, 1, 1}, 1});
  return 0;
}
}
