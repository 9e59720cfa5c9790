#pragma once

#include <cstdint>
#include <span>

#include "tensor/tensor.h"

namespace assay::compare {

// Reads two tensors of one shape piece by piece, for pictures of their differences.
class DifferenceReader {
 public:
  static constexpr uint64_t kMostElements = 1024;

  struct Piece {
    double absolute[kMostElements];
    double relative[kMostElements];
    double magnitude[kMostElements];  // of the reference
  };

  // Equal infinities differ by 0 or by NaN. Error (unsupported) for strings.
  DifferenceReader(const tensor::Tensor& a, const tensor::Tensor& b, bool infinities_equal);

  uint64_t count() const { return count_; }
  // All elements have the same difference: count() is 1 then, whatever the shape.
  bool is_constant() const { return is_constant_; }
  // Elements [first, first + size), at most kMostElements. May be called from several threads.
  void read(uint64_t first, uint64_t size, Piece& piece) const;

 private:
  struct Side {
    tensor::DType dtype;
    tensor::Bytes bytes;
  };

  Side side(const tensor::Tensor& tensor) const;
  void read_integers(uint64_t first, uint64_t size, Piece& piece) const;
  void read_complex(uint64_t first, uint64_t size, Piece& piece) const;
  void read_reals(uint64_t first, uint64_t size, Piece& piece) const;

  bool is_constant_;
  bool infinities_equal_;
  uint64_t count_;
  Side a_;
  Side b_;
  double zero_reference_;  // divisor of relative differences where the reference is 0
};

}  // namespace assay::compare
