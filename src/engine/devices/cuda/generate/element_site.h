#pragma once

#include "engine/devices/cuda/generate/element_chain.h"
#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// An operand of an elementwise text, or its result.
struct ElementOperand {
  Pointer pointer;
  TensorDesc desc;
};

// The places where the operands of an elementwise text are read and its result is written, for each element of the
// result; operands are broadcast to it.
class ElementSite {
 public:
  ElementSite(ElementText text, std::vector<ElementOperand> operands, const ElementOperand& result);

  // False: an operand does not broadcast, or a desc reaches too far. `most_pack`: neighbours that may be moved at once.
  bool find_walk(int64_t most_pack);
  int64_t pack() const { return pack_; }
  // Adds pointers and numbers, which the texts below then refer to.
  void add_to(Launch& launch);

  // Statements that define the offsets of all operands at element `first`, in the order of the result's memory.
  std::string offsets() const;
  // Statements that read the operands there: neighbours at once.
  std::string loads() const;
  // Members of a struct for what `loads` reads and the offset of the result, its initializer, and references into
  // `from`.
  std::string members() const;
  std::string members_list() const;
  std::string references(std::string_view from) const;
  // Statements that compute element `i` of what was read.
  std::string body() const;
  // `made` as the result's element.
  std::string narrowed() const;
  // A statement that writes the element, or the pack `out`.
  std::string store() const;
  std::string_view result_type() const { return element_type(all_.back().desc.dtype); }

 private:
  int64_t find_pack(int64_t most) const;
  bool can_pack(int64_t pack) const;
  bool is_packed(size_t operand) const { return pack_ > 1 && strides_[operand].back() != 0; }
  size_t stride_place(size_t operand, size_t dim) const;
  std::string type_read(size_t operand) const;

  ElementText text_;
  std::vector<ElementOperand> all_;  // the result last
  std::vector<int64_t> extents_;     // of the walk over the result, outermost first
  std::vector<std::vector<int64_t>> strides_;
  int64_t pack_ = 1;
  size_t first_pointer_ = 0;
  size_t first_number_ = 0;
  size_t chain_number_ = 0;
};

// `struct Params` of a launch.
std::string params_text(const Launch& launch);

}  // namespace assay::engine::cuda
