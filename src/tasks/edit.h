#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "formats/shard_hints.h"
#include "ir/selection.h"
#include "onnx/export.h"
#include "passes/fold/fold_options.h"
#include "passes/opset/opset_options.h"
#include "passes/options.h"
#include "passes/outline/outline_options.h"
#include "passes/unroll/unroll_options.h"
#include "results/edit_report.h"
#include "surgery/extract.h"
#include "surgery/insert.h"
#include "surgery/prune.h"
#include "surgery/rename.h"
#include "surgery/set.h"
#include "surgery/shard/shard.h"
#include "tasks/inputs.h"
#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {

// Settings that all changes of models have in common.
struct EditRequest {
  ModelSource model;
  std::string output;  // the file; empty: the model is only returned
  onnx::SaveOptions save;
};

struct EditOutcome {
  results::EditReport report;
  ir::Model model;
  std::vector<ir::Model> ranks = {};  // of a task that makes a model per rank, if they are not saved
};

// The passes to run, and their end.
struct PassRequest {
  bool cleans = false;  // unused nodes are removed
  bool sorts = false;
  bool folds = false;
  uint64_t most_fold_rounds = std::numeric_limits<uint64_t>::max();
  bool simplifies = false;
  bool fuses = false;
  std::vector<std::string> passes;  // by name, run last
  passes::Options options;
  uint64_t last_step = std::numeric_limits<uint64_t>::max();
  bool explains = false;  // each step is a message, and in the report
};

// The greatest value of a tensor that decides the size of a result.
struct NamedSizeBound {
  std::string name;  // empty: of all such values that are not named
  int64_t bound = 0;
};

enum class TypeSource : uint8_t { declared, inferred, observed };  // observed: in one run of the model

struct NamedPass {
  std::string name;
  std::string summary;
};
// The passes that need nothing but their names.
std::vector<NamedPass> known_passes();
// The model is written in this version of ai.onnx.
void set_opset(int64_t version, PassRequest& request);
// Error (usage) for a name that no pass has, (unsupported) for one that does nothing without options of its own.
void check_passes(const std::vector<std::string>& names);

struct SanitizeRequest {
  EditRequest edit;
  PassRequest passes;
  ir::OutputSelection outputs;
  bool converts_to_float16 = false;
  std::vector<surgery::Boundary> overrides;  // inputs that get other shapes
  std::vector<NamedSizeBound> bounds;
  TypeSource types = TypeSource::inferred;
  InputRequest inputs;  // of the run that types are observed in
};
EditOutcome sanitize(const SanitizeRequest& request, Observer& observer);

struct ExtractRequest {
  EditRequest edit;
  surgery::Extraction extraction;
  TypeSource types = TypeSource::declared;  // if these leave something unknown, the others are tried
  InputRequest inputs;
};
EditOutcome extract(const ExtractRequest& request, Observer& observer);

struct InsertRequest {
  EditRequest edit;
  surgery::Insertion insertion;
  bool infers = false;
};
EditOutcome insert(const InsertRequest& request, Observer& observer);

EditOutcome rename(const EditRequest& request, const surgery::Renamings& renamings, Observer& observer);
// Sets attributes and constants.
EditOutcome set(const EditRequest& request, const surgery::Settings& settings, Observer& observer);

// Makes weights 2:4 sparse.
EditOutcome prune_weights(const EditRequest& request, Observer& observer);
// Removes nodes; users of their results read their first inputs instead.
EditOutcome remove_nodes(const EditRequest& request, const surgery::NodeChoice& choice, Observer& observer);
// Empties all weights except the excluded ones.
EditOutcome strip_weights(const EditRequest& request, const std::vector<std::string>& excluded, Observer& observer);
// Fills stripped weights: from another model, or with random elements.
EditOutcome reconstruct_weights(const EditRequest& request, const ModelSource& weights, uint64_t seed,
                                Observer& observer);

// Splits a model over devices. Without hints they are made from the model. Hints that split weights give a model per
// rank.
struct ShardRequest {
  EditRequest edit;
  std::optional<formats::ShardHints> hints;
  surgery::HintOptions options;
  bool infers = false;
  bool replaces_files = true;  // existing ones with the names of ranks' models
};
EditOutcome shard(const ShardRequest& request, Observer& observer);
// A line for each layer and each input and output of the hints.
std::vector<std::string> describe_hints(const formats::ShardHints& hints);
formats::ShardHints make_hints(const ModelSource& model, const surgery::HintOptions& options, bool infers,
                               Observer& observer);
formats::ShardHints read_hints(const std::string& path);

}  // namespace assay::tasks
