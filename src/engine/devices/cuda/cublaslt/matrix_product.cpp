#include "engine/devices/cuda/cublaslt/matrix_product.h"

#include "base/error.h"
#include "base/foreign_code.h"

namespace assay::engine::cuda::cublaslt {
namespace {

// Numbers of the library's enumerations.
constexpr int kFloat32 = 0, kFloat16 = 2, kBfloat16 = 14;
constexpr int kSumsOfFloat32 = 68, kTf32 = 77;
constexpr int kTurnsFirst = 3, kTurnsSecond = 4, kEpilogue = 7, kBiasPointer = 8;         // attributes of a product
constexpr int kBatch = 5, kBatchStride = 6;                                               // of a matrix
constexpr int kMostWorkspace = 1, kReductions = 3, kFirstAlignment = 5, kAlignments = 4;  // of a preference
constexpr int kNothingElse = 1, kRelu = 2, kBiasEpilogue = 4;                             // epilogues
constexpr uint32_t kSumsInOneOrder = 2;  // parts of the depth, in memory of their own and in the type of sums

int number_of(tensor::DType type) {
  return type == tensor::DType::float32 ? kFloat32 : type == tensor::DType::float16 ? kFloat16 : kBfloat16;
}

}  // namespace

MatrixProduct::MatrixProduct(const Library& library, std::shared_ptr<HandleOpaque> handle, const Problem& problem)
    : library_(library), handle_(std::move(handle)), problem_(problem) {
  const Api& api = library_.api();
  const bool is_tf32 = problem_.type == tensor::DType::float32;
  Desc desc = nullptr;
  library_.check(api.desc_create(&desc, is_tf32 ? kTf32 : kSumsOfFloat32, kFloat32), "a product");
  desc_ = {desc, api.desc_destroy};
  // The library's matrices lie by columns: what it makes is the result turned, of the right by the left.
  set(kTurnsFirst, problem_.right.is_turned ? 0 : 1);
  set(kTurnsSecond, problem_.left.is_turned ? 1 : 0);
  int epilogue = (problem_.has_bias ? kBiasEpilogue : 0) | (problem_.is_relu ? kRelu : 0);
  if (epilogue == 0) epilogue = kNothingElse;
  set(kEpilogue, epilogue);
  const auto operand = [&](const Matrix& matrix, int64_t rows) {
    return matrix.is_turned ? layout(rows, problem_.depth, matrix.row, matrix.item)
                            : layout(problem_.depth, rows, matrix.row, matrix.item);
  };
  right_ = operand(problem_.right, problem_.columns);
  left_ = operand(problem_.left, problem_.rows);
  out_ = layout(problem_.columns, problem_.rows, problem_.columns, problem_.rows * problem_.columns);
}

template <typename Value>
void MatrixProduct::set(int attribute, const Value& value) const {
  library_.check(library_.api().desc_set(desc_.get(), attribute, &value, sizeof value), "a property of a product");
}

Layout MatrixProduct::layout(int64_t rows, int64_t columns, int64_t row, int64_t item) {
  const Api& api = library_.api();
  Layout made = nullptr;
  library_.check(api.layout_create(&made, number_of(problem_.type), static_cast<uint64_t>(rows),
                                   static_cast<uint64_t>(columns), row),
                 "a matrix");
  layouts_.emplace_back(made, api.layout_destroy);
  const auto count = static_cast<int32_t>(problem_.items);
  library_.check(api.layout_set(made, kBatch, &count, sizeof count), "items of a matrix");
  library_.check(api.layout_set(made, kBatchStride, &item, sizeof item), "items of a matrix");
  return made;
}

// False: it has no algorithm of that number.
bool MatrixProduct::choose(size_t choice) {
  const Api& api = library_.api();
  constexpr uint64_t kMostBytes = uint64_t{32} << 20;
  Preference created = nullptr;
  library_.check(api.preference_create(&created), "a preference");
  const std::shared_ptr<PreferenceOpaque> preference(created, api.preference_destroy);
  const auto prefer = [&](int attribute, const auto& value) {
    library_.check(api.preference_set(created, attribute, &value, sizeof value), "a preference");
  };
  prefer(kMostWorkspace, kMostBytes);
  prefer(kReductions, kSumsInOneOrder);
  for (int i = 0; i < kAlignments; ++i) prefer(kFirstAlignment + i, static_cast<uint32_t>(kAlignment));
  // The pointer's alignment counts.
  if (problem_.has_bias) set(kBiasPointer, kAlignment);
  std::vector<Heuristic> found(choice + 1);
  int count = 0;
  const Status status = api.heuristics(handle_.get(), desc_.get(), right_, left_, out_, out_, created,
                                       static_cast<int>(found.size()), found.data(), &count);
  if (status != 0 || count < static_cast<int>(found.size()) || found.back().state != 0) return false;
  chosen_ = found.back();
  return true;
}

std::shared_ptr<const MatrixProduct> MatrixProduct::make(const Library& library, std::shared_ptr<HandleOpaque> handle,
                                                         const Problem& problem, size_t choice) {
  const ForeignCode code("cuBLASLt");
  std::shared_ptr<MatrixProduct> made(new MatrixProduct(library, std::move(handle), problem));
  return made->choose(choice) ? made : nullptr;
}

void MatrixProduct::add(Stream stream, std::span<const uint64_t> addresses) const {
  const ForeignCode code("cuBLASLt");
  const std::scoped_lock lock(mutex_);
  if (problem_.has_bias) set(kBiasPointer, addresses[kBias]);
  const float one = 1, kept = problem_.has_added ? 1 : 0;
  library_.check(
      library_.api().multiply(handle_.get(), desc_.get(), &one, addresses[kRight], right_, addresses[kLeft], left_,
                              &kept, addresses[problem_.has_added ? kAdded : kOut], out_, addresses[kOut], out_,
                              &chosen_.algorithm, addresses[kWorkspace], chosen_.workspace_bytes, stream),
      "a product");
}

}  // namespace assay::engine::cuda::cublaslt
