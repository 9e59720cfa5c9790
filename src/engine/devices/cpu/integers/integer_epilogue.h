#pragma once

#include <array>
#include <optional>
#include <vector>

#include "engine/devices/cpu/integers/code_table.h"
#include "engine/devices/cpu/integers/finish_kernels.h"
#include "engine/devices/cpu/tape/tape.h"
#include "engine/layers/quantization.h"

namespace assay::engine::cpu {

// Rows of sums of neighbouring channels, and where in the result they belong.
struct SumRows {
  int32_t* sums = nullptr;  // may be written over
  int64_t sums_row = 0;     // from one to the next
  int64_t rows = 1;
  int64_t channel = 0;  // the first one
  int64_t channels = 0;
  int64_t first = 0;  // element of the result, in the order of its memory
  int64_t pitch = 0;  // from row to row of the result
};

constexpr size_t kMostFinishSteps = 5;

// The epilogue of a product of integers in its layer. Its sums are of codes less their zero points; a sum stands for
// sum * factor + bias of its channel.
class IntegerEpilogue {
 public:
  // Makes the epilogue from layer.nodes[done] on, of so many channels. Without a product, sums have neither scales nor
  // biases, and may themselves be the result. Returns nullopt if neither finish steps nor a tape can compute it, or if
  // the result has another type.
  static std::optional<IntegerEpilogue> make(const Layer& layer, const std::optional<QuantizedProduct>& product,
                                             int64_t channels, size_t done);

  // True if codes take the place of those that are made of sums.
  bool has_table() const { return table_.has_value(); }
  // True if a tape goes over finished results, which is faster for many rows at once.
  bool has_tape() const { return !tape_.is_empty(); }
  // True if kernels that make codes of sums do all of it.
  bool fits_tiles() const;
  // True if the epilogue reads nothing but sums.
  bool adds_nothing() const;

  // The epilogue in a run of its layer; it is cheap to make and used by one thread.
  class Run {
   public:
    Run(const IntegerEpilogue& epilogue, const Arguments& arguments);
    Run(const Run&) = delete;
    Run& operator=(const Run&) = delete;
    // Finishes rows of sums into the layer's result.
    void finish(const SumRows& rows);
    // The rows that kernels of tiles need for some channels, but for the sums, if the epilogue fits tiles; for results
    // of so many channels.
    const FinishRows& in_tiles(int64_t channel, int64_t channels, int64_t pitch);
    // Ends rows of codes that kernels of tiles have made, from this element of the result on.
    void end_tiles(int64_t first, int64_t rows);

   private:
    const IntegerEpilogue& epilogue_;
    const Arguments& arguments_;
    std::array<FinishStep, kMostFinishSteps> steps_;
    FinishRows rows_;
  };

 private:
  friend class IntegerEpilogueMaker;
  std::vector<float> factors_;  // by channel, as bias_ is, with room for whole vectors
  std::vector<float> bias_;
  std::vector<FinishStep> steps_;
  std::vector<int> added_;  // by step: an input of the layer, lying like its result; -1: it adds nothing
  tensor::DType out_type_ = tensor::DType::float32;
  tensor::DType code_type_ = tensor::DType::undefined;  // of codes that the table replaces
  int32_t zero_ = 0;                                    // of the codes that are made
  bool may_overflow_ = true;                            // numbers may be too large for 32 bits
  Tape tape_;                                           // goes on from floats
  std::optional<CodeTable> table_;
};

}  // namespace assay::engine::cpu
