#pragma once

#include <array>

#include "engine/devices/cuda/generate/element_kernel.h"
#include "engine/devices/cuda/generate/kernel_writer.h"
#include "engine/layers/attention_geometry.h"

namespace assay::engine::cuda {

// An operand under the names that texts of attention have for it.
struct NamedMatrices {
  std::string_view name, type, place;
  const Matrices& matrices;
};

// The operands and numbers of a launch of attention.
class AttentionOperands {
 public:
  AttentionOperands(const Layer& layer, const AttentionGeometry& g) : layer_(layer), g_(g), q_(pointer_of(g.q)) {}
  // Queries lie there, in the type of the operand.
  void take_queries(const Pointer& from) { q_ = from; }

 protected:
  const AttentionGeometry& geometry() const { return g_; }
  KernelWriter& writer() { return writer_; }
  int64_t items() const;
  const TensorDesc& desc_of(const Matrices& matrices) const;
  std::array<NamedMatrices, 9> operands() const;
  // Names all operands, and the numbers that say how scores are made.
  void add_operands();
  // Names matrices that the kernel writes.
  void add_written(const NamedMatrices& operand, tensor::DType type, const Pointer& to);
  // `places_of`, of all operands and of more.
  void add_places(const std::vector<NamedMatrices>& more = {});
  // The matrices' memory; that of some operand if there are none.
  static Pointer pointer_of(const Matrices& matrices);
  // Copies the pasts, and what is new behind them, into the results that keep both. False: there are too many elements.
  bool keeps(Programs& programs, Launches& launches) const;

 private:
  tensor::DType type_of(const NamedMatrices& operand) const;
  void add(const NamedMatrices& operand);
  void add_numbers();
  void add_copies(const AttentionCache& cache, const Matrices& added, int64_t width,
                  std::vector<ElementResult>& copies) const;
  TensorDesc stacked(const Matrices& matrices, int64_t rows, int64_t width) const;

  const Layer& layer_;
  const AttentionGeometry& g_;
  Pointer q_;
  KernelWriter writer_;
};

}  // namespace assay::engine::cuda
