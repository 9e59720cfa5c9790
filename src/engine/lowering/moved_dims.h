#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "passes/inferred.h"
#include "tensor/shape.h"

namespace assay::engine {

// True for dims that are known, of which there is one, and of which none is 0.
bool has_elements(const std::optional<tensor::Shape>& shape);

// The dims of a value that moves (Reshape, Transpose and their kind) have made of a source, each as factors of the
// source's dims. However many the moves were, one Reshape, Transpose and Reshape do the same.
class MovedDims {
 public:
  // Dims that are not 0.
  explicit MovedDims(tensor::Shape source);

  // Takes a move of ai.onnx, whose result has this shape. False: it divides what factors do not.
  bool follow(passes::PassRun& run, ir::NodeId move, const tensor::Shape& result);
  void transpose(std::span<const int64_t> order);
  bool reshape(const tensor::Shape& dims);
  // The last dim becomes another one, in the source, too. Only if last_axis() has one.
  void set_last(int64_t size);

  tensor::Shape dims() const;
  bool keeps_order() const;  // of the elements
  // The axis of the source whose dim is the last one now, as a whole.
  std::optional<size_t> last_axis() const;
  bool keeps_last() const { return last_axis() == source_.size() - 1; }

  // Nodes that make the dims of the source: at most a Reshape, a Transpose and a Reshape.
  ir::PatchValue add(passes::PassRun& run, ir::Patch& patch, ir::PatchValue source) const;
  size_t node_count() const;

 private:
  using Factors = std::vector<size_t>;  // by number
  struct Steps {
    tensor::Shape first;         // empty: none
    std::vector<int64_t> order;  // likewise
    tensor::Shape last;
  };

  static Factors joined(const std::vector<Factors>& dims);
  int64_t size(const Factors& factors) const;
  // Divides a factor into an outer one of this size, which keeps the number, and an inner one, whose number it gives.
  size_t divide(size_t factor, int64_t outer);
  Steps steps() const;

  tensor::Shape source_;
  std::vector<int64_t> sizes_;   // of factors, none of them 1
  std::vector<Factors> before_;  // of the source's dims
  std::vector<Factors> behind_;
};

// The dims that moves, the last one first, make of what the last of them reads; nullopt: they are not known, or divide
// what factors do not.
std::optional<MovedDims> follow_moves(passes::PassRun& run, passes::Inferred& inferred,
                                      std::span<const ir::NodeId> moves);

}  // namespace assay::engine
