#pragma once

#include <any>
#include <memory>
#include <span>
#include <vector>

#include "ops/type.h"
#include "tensor/datum.h"

namespace assay::ops {

// The results of a node for operands of certain types.
struct Results {
  std::vector<Type> types;
  std::shared_ptr<const DimSpace> space;  // of their dims
  double steps = 0;                       // of work, beyond one for each element in and out
  uint64_t longest_written = 0;           // characters of a text among its attributes
};

// Facts that evaluations of a node leave for the next ones: what was made of its attributes, and its last results if
// they follow from the types of the operands.
class NodeRecord {
 public:
  std::any& made() { return made_; }
  // The results for operands of these types; null: they are not known.
  const Results* find(std::span<const tensor::Datum> operands) const;
  void keep(std::span<const tensor::Datum> operands, Results results);

 private:
  struct Operand {
    tensor::DType stored = tensor::DType::undefined;  // undefined: left out
    tensor::DType declared = tensor::DType::undefined;
    tensor::Shape shape;
  };

  std::any made_;
  bool has_results_ = false;
  std::vector<Operand> operands_;
  Results results_;
};

}  // namespace assay::ops
