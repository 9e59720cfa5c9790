#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "exec/signature.h"
#include "results/generation.h"

namespace assay::analysis {

// An output that becomes an input of the next step.
struct CacheFeed {
  std::string output;
  std::string input;
  std::optional<size_t> axis;  // of positions, where it is known
  bool grows = false;          // by the tokens of a step; otherwise it has room for all of them
  int64_t room = -1;           // positions that it holds; -1: not known, or it grows
};

// An input that is made anew for each step.
struct StepInput {
  enum class Kind : uint8_t {
    mask,          // ones for what may be seen
    step_mask,     // ones for the tokens of the step
    causal_mask,   // a row for each token of the step, of what it may see
    positions,     // of the tokens of the step
    past_length,   // number of tokens before those of the step
    total_length,  // with those of the step
    last_position,
    segments,  // the last number again
    flag,      // false in the first step
  };
  std::string name;
  Kind kind = Kind::mask;
  int64_t room = -1;  // places that it has for tokens, if these are fixed
};

std::string_view word(StepInput::Kind kind);

// Rules by which a step of a generation makes the inputs of the next one.
struct FeedRules {
  std::string ids;         // input: token ids of rows x tokens
  std::string scores;      // output: logits, or the chosen tokens as integers
  bool grows = false;      // there is no cache: all tokens are read again in each step
  int64_t room = -1;       // tokens that the ids have places for, if these are fixed and read again
  bool is_single = false;  // a step reads one token, the prompt too
  std::vector<CacheFeed> caches;
  std::vector<StepInput> inputs;
  std::vector<std::pair<std::string, std::string>> opened;  // outputs of another model, which reads the prompt, and
                                                            // inputs that they become; with a cache: by its output
  std::vector<std::string> kept;                            // given again as they are
  std::vector<results::FeedRule> told;
};

// Pairs of an output and an input that are known before.
struct KnownFeeds {
  std::vector<std::pair<std::string, std::string>> given;
  std::vector<std::pair<std::string, std::string>> opened;  // outputs of the model that reads the prompt in its place
};

// The rules that names, types, shapes and the graph give, after those that are given. Error (usage) for a given name
// that is not there, (unsupported) for an input whose source cannot be told.
FeedRules feed_rules(const ir::Model& model, const exec::Signature& signature, const KnownFeeds& known,
                     Diagnostics& findings);

}  // namespace assay::analysis
