#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "engine/device/kernel.h"
#include "engine/devices/cpu/tape/tape_kernels.h"
#include "engine/layers/chain.h"

namespace assay::engine::cpu {

// Rows of a result: the element at which the first begins, and how many there are from one to the next.
struct TapeRows {
  int64_t first = 0;
  int64_t pitch = 0;
  int64_t rows = 1;
  int64_t columns = 0;
};

// The elementwise nodes of a layer, computed tile by tile: whatever they pass on stays in the first cache.
class Tape {
 public:
  static constexpr int kMostRegisters = 24;
  // Makes the tape of a layer's chain; nullopt: it has too many registers, types that no loop reads, or an operand that
  // does not broadcast to the result.
  static std::optional<Tape> make(const Layer& layer, const Chain& chain);
  // The tape of find_chain(layer, first, given).
  static std::optional<Tape> make(const Layer& layer, size_t first, ir::ValueId given);

  bool is_empty() const { return steps_.empty(); }
  // True if a result's place does not matter: it comes from what is given alone.
  bool is_same_everywhere() const {
    return std::ranges::all_of(operands_, [](const Operand& operand) { return operand.input < 0; });
  }
  // Takes float32 as given, whatever type its value has.
  void take_floats() { given_type_ = tensor::DType::float32; }
  // The numbers from which the steps start at the place of the result, and the number of elements from one row to the
  // next.
  struct Given {
    const void* first = nullptr;
    int64_t pitch = 0;
  };
  // Elements [begin, end) of the result in the order of its memory; `given` and `out` are at element `begin`, and may
  // be the same.
  void run(const void* given, void* out, std::span<const Address> inputs, int64_t begin, int64_t end) const;
  // Computes some rows; `given` and `out` point to their first element.
  void run_rows(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const;

 private:
  struct Operand {
    int input = 0;                 // of the layer
    std::vector<int64_t> strides;  // by dim of `extents_`
    tensor::DType dtype = tensor::DType::float32;
  };
  struct Step : Chain::Step {
    bool is_coarse = false;  // computed by a loop for results that are rounded to bfloat16
  };

  struct Call;
  struct Part;
  struct Source;
  void join_dims();
  TapeView find_alone(const Given& given, std::span<const Address> inputs, const TapeRows& rows) const;
  int64_t row_stride(const Operand& operand, const TapeRows& rows) const;
  bool run_alone(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const;
  static bool run_floats(const Step& step, const TapeView& from, const TapeTarget& out);
  int64_t even_rows(int64_t first, const TapeRows& rows) const;
  void run_even(const Given& given, void* out, std::span<const Address> inputs, const TapeRows& rows) const;
  void run_part(Call& call, const Part& part) const;
  void find_sources(std::span<const Address> inputs, Call& call) const;
  static void load_operand(Call& call, const Part& part, size_t index);
  static TapeView load(const Source& source, const Part& part, float* tile);
  static void run_step(const Call& call, const Step& step, const TapeTarget& out);

  std::vector<int64_t>
      extents_;  // of the result in the order of memory, outermost first, joined where all operands can
  std::vector<Operand> operands_;  // registers 1 and up; register 0 is what is given
  std::vector<Step> steps_;
  tensor::DType given_type_ = tensor::DType::float32;
  tensor::DType out_type_ = tensor::DType::float32;
  int result_ = 0;
};

}  // namespace assay::engine::cpu
