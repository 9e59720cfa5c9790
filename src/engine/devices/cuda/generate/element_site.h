#pragma once

#include "engine/devices/cuda/generate/element_chain.h"
#include "engine/devices/cuda/launch.h"

namespace assay::engine::cuda {

// An operand of an elementwise text, or its result.
struct ElementOperand {
  Pointer pointer;
  TensorDesc desc;
  std::string_view given = {};  // the float that it is, in what opens the text: it is not read from memory
};

// The places where the operands of an elementwise text are read and its result is written, for each element of the
// result; operands are broadcast to it.
class ElementSite {
 public:
  ElementSite(ElementText text, std::vector<ElementOperand> operands, const ElementOperand& result);

  // False: an operand does not broadcast, or a desc reaches too far. `most_pack`: neighbours that may be moved at once.
  bool find_walk(int64_t most_pack);
  int64_t pack() const { return pack_; }
  // Lets the texts know a place by `row` and `column` of a result with so many columns in place of `first`.
  void use_rows(int64_t columns) { columns_ = columns; }
  // Lets operands that differ from row to row wait in slots of shared memory, packs of 16 bytes.
  void use_slots() { uses_slots_ = true; }
  // Lets texts compute so many neighbours at once, apart from where packs of results are moved.
  void compute_together(int64_t neighbours) { computed_ = neighbours; }
  int64_t neighbours() const { return computed_ == 0 ? pack_ : computed_; }
  // True if operands have 16 bits, results these or 8, and all operands are known by the column alone.
  bool can_pair(int64_t columns) const;
  size_t slots() const;  // of a pack of results
  // True if the operands that wait in no slots are the same for each row.
  bool is_by_column(int64_t columns) const;
  // Adds pointers and numbers, which the texts below then refer to.
  void add_to(Launch& launch);

  // Statements that define the offsets of all operands at element `first`, in the order of the result's memory, or in
  // that row and column of it; and the parameters of functions that begin with them.
  std::string offsets() const;
  std::string result_offset() const;
  std::string_view place() const { return columns_ == 0 ? "uint32 first" : "int row, int column"; }
  // Statements that read the operands there, neighbours at once, but for those that wait in slots, or read them for a
  // struct; and statements that bring the others into `slots`.
  std::string loads() const { return loads(false); }
  std::string raw_loads() const { return loads(true); }
  std::string fetches() const;
  // Members of a struct for what `raw_loads` reads, and, but for sites that use slots or compute apart, the offset of
  // the result; its initializer, and references into `from`, and into `slots`.
  std::string members() const;
  std::string members_list() const;
  std::string references(std::string_view from) const;
  // Statements that compute element `i` of what was read.
  std::string body() const;
  // Statements that compute all elements of what was read and write them; `given` opens those of element `i`.
  std::string results(std::string_view given) const { return computed(given) + store(); }
  // Both halves of these; what was computed is `out`.
  std::string computed(std::string_view given) const;
  std::string store() const;
  std::string_view result_type() const { return element_type(all_.back().desc.dtype); }

 private:
  int64_t find_pack(int64_t most) const;
  bool can_pack(int64_t pack) const;
  bool is_packed(size_t operand) const { return pack_ > 1 && strides_[operand].back() != 0; }
  std::string narrowed() const;  // `made` as the result's element
  bool is_plain() const { return extents_.size() == 2 && extents_[1] == columns_; }
  std::string walked_offsets(size_t begin) const;
  std::string offsets(size_t begin) const;
  bool waits_in_slot(size_t operand) const;
  bool is_loaded(size_t operand) const { return all_[operand].given.empty() && !waits_in_slot(operand); }
  bool holds_offset() const { return !uses_slots_ && computed_ == 0; }
  std::string address(size_t operand) const;
  size_t stride_place(size_t operand, size_t dim) const;
  std::string loads(bool are_raw) const;
  std::string type_read(size_t operand, std::string_view packs = "Pack") const;
  bool is_raw(size_t operand) const;

  ElementText text_;
  std::vector<ElementOperand> all_;  // the result last
  std::vector<int64_t> extents_;     // of the walk over the result, outermost first
  std::vector<std::vector<int64_t>> strides_;
  int64_t pack_ = 1;
  int64_t computed_ = 0;  // neighbours; 0: a pack
  bool uses_slots_ = false;
  int64_t columns_ = 0;  // 0: places are told by one number
  size_t first_pointer_ = 0;
  size_t first_number_ = 0;
  size_t chain_number_ = 0;
};

// `struct Params` of a launch.
std::string params_text(const Launch& launch);

}  // namespace assay::engine::cuda
