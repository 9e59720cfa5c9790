#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "exec/session.h"
#include "ir/model.h"
#include "surgery/shard/shard.h"
#include "surgery/shard/slice.h"

namespace assay::backends {

// A way to run one model on several ranks; `each`: every execution is one of the copies, in turns.
struct ShardWords {
  enum class Kind : uint8_t { tensors, sequence, copies, given, each };
  Kind kind = Kind::tensors;
  int64_t count = 0;  // ranks

  // `tp:2`, `cp:4`, `copies:2`, `ranks:2`, `each:2`. Error (usage) for anything else.
  static ShardWords parse(std::string_view text);
};

// The place where ranks have a value of the whole model.
struct RankValue {
  std::string name;                          // in the model of each rank
  std::optional<surgery::SplitValue> split;  // nullopt: each rank has the whole
};

// The models of all ranks.
struct RankModels {
  std::vector<std::shared_ptr<const ir::Model>> models;            // by rank; ranks may share one
  std::map<std::string, surgery::SplitValue, std::less<>> inputs;  // divided ones; others go to all ranks
  std::map<std::string, RankValue, std::less<>> values;            // other values of the whole model that ranks have
};

// Splits a model. With ShardWords::Kind::given it is that of all ranks, or of the first one if `paths` name files with
// those of the others. Error (usage, shape, unsupported) for what cannot be split so.
RankModels make_rank_models(const ir::Model& model, const ShardWords& words, const std::vector<std::string>& paths);

// One rank's part of a value.
tensor::Datum part_of(const tensor::Datum& whole, const surgery::SplitValue& split, std::string_view name, int64_t rank,
                      int64_t count);
// A value from the parts of all ranks.
tensor::Datum joined(const std::vector<tensor::Datum>& parts, const surgery::SplitValue& split, std::string_view name);

}  // namespace assay::backends
