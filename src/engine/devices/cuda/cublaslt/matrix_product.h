#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <vector>

#include "engine/devices/cuda/cublaslt/library.h"
#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda::cublaslt {

// Rows of elements that lie one behind the other: of the operand, or, turned, of its columns.
struct Matrix {
  bool is_turned = false;
  int64_t row = 0;   // elements from row to row
  int64_t item = 0;  // likewise from item to item
};

// Products of [rows, depth] by [depth, columns], whose results lie one behind the other, with what is added to them.
struct Problem {
  tensor::DType type = tensor::DType::float16;  // of all; float32 is multiplied as TF32
  int64_t rows = 1, columns = 1, depth = 1, items = 1;
  Matrix left;             // by its rows
  Matrix right;            // by its columns
  bool has_bias = false;   // of each column
  bool has_added = false;  // a matrix like the result
  bool is_relu = false;
};

// The library's objects for a problem, with one of its algorithms that sum up in one order, in float32.
class MatrixProduct final : public ForeignLaunch {
 public:
  enum Place : uint8_t { kLeft, kRight, kOut, kAdded, kBias, kWorkspace };

  // Null: the library has no such algorithm. `choice`: 0 is the one that it thinks best.
  static std::shared_ptr<const MatrixProduct> make(const Library& library, std::shared_ptr<HandleOpaque> handle,
                                                   const Problem& problem, size_t choice);
  uint64_t workspace_bytes() const { return chosen_.workspace_bytes; }
  // Addresses are multiples of kAlignment.
  static constexpr uint64_t kAlignment = 16;
  void add(Stream stream, std::span<const uint64_t> addresses) const override;

 private:
  MatrixProduct(const Library& library, std::shared_ptr<HandleOpaque> handle, const Problem& problem);
  bool choose(size_t choice);
  Layout layout(int64_t rows, int64_t columns, int64_t row, int64_t item);
  template <typename Value>
  void set(int attribute, const Value& value) const;

  const Library& library_;
  std::shared_ptr<HandleOpaque> handle_;
  Problem problem_;
  std::shared_ptr<DescOpaque> desc_;
  std::vector<std::shared_ptr<LayoutOpaque>> layouts_;
  Layout left_ = nullptr, right_ = nullptr, out_ = nullptr;
  Heuristic chosen_{};
  mutable std::mutex mutex_;  // of the desc, which is given the bias
};

}  // namespace assay::engine::cuda::cublaslt
