#pragma once

#include <string>
#include <unordered_map>

#include "inspect/model_diff/model_diff.h"
#include "match/models/match_models.h"

namespace assay::inspect {

// For the files of this folder: what all parts of a comparison look at.
struct DiffContext {
  const ir::Model& a;
  const ir::Model& b;
  const match::Matching& matching;
  const DiffOptions& options;
};

void diff_header(const DiffContext& context, results::ModelDiff& diff);
void diff_functions(const DiffContext& context, results::ModelDiff& diff);
void diff_interfaces(const DiffContext& context, results::ModelDiff& diff);
void diff_nodes(const DiffContext& context, results::ModelDiff& diff);
void diff_value_infos(const DiffContext& context, results::ModelDiff& diff);
void diff_weights(const DiffContext& context, results::ModelDiff& diff);

// Attributes by name; bodies count as equal here if both sides have the same number.
void diff_attributes(const DiffContext& context, std::span<const ir::Attribute> a, std::span<const ir::Attribute> b,
                     std::vector<results::FactChange>& changes);
struct OperandPair {
  std::span<const ir::Use> a;
  std::span<const ir::Use> b;
};

// The operands, or the outputs of graphs, that are not the same values; `word` is `input` or `output`.
void diff_wiring(const DiffContext& context, std::string_view word, const OperandPair& operands,
                 std::vector<results::FactChange>& changes);
// True if the two operands, either of which may be omitted, are the same value.
bool correspond(const DiffContext& context, ir::ValueId a, ir::ValueId b);
// The name of a value; with its producer if `with_origin`.
std::string operand_text(const ir::Model& model, ir::ValueId value, bool with_origin);
// Adds the change unless both sides are the same.
void add_change(std::string what, std::string before, std::string after, std::vector<results::FactChange>& changes);

// Compares types; caches pairs.
class TypeComparison {
 public:
  explicit TypeComparison(const DiffContext& context) : context_(context) {}
  bool same(ir::TypeId a, ir::TypeId b);

 private:
  bool compare(ir::TypeId a, ir::TypeId b) const;
  bool same_dims(const ir::Type& a, const ir::Type& b) const;

  const DiffContext& context_;
  std::unordered_map<uint64_t, bool> known_;
};

}  // namespace assay::inspect
