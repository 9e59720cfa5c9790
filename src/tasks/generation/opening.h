#pragma once

#include "tasks/generation/prompt.h"
#include "tasks/run/sides.h"

namespace assay::tasks {

// The model that reads the prompt, where another one makes the steps behind it.
struct Opening {
  std::shared_ptr<RunSubject> subject;
  Sides sides;
  analysis::FeedRules rules;
  Prompt prompt;
  std::vector<std::pair<std::string, std::string>> feeds;  // outputs, and inputs of the other that they become
};

// Opens the model that the request names, and pairs its outputs with inputs of the model of steps by the rules of
// caches. Errors of the model, and (unsupported) if nothing is handed on.
Opening open_opening(const RunRequest& request, const exec::Signature& steps, Observer& observer);

// Pairs given by hand for the model of steps: all but those that begin at the prompt's outputs alone.
std::vector<std::pair<std::string, std::string>> given_behind(
    const Opening& opening, const exec::Signature& steps,
    const std::vector<std::pair<std::string, std::string>>& given);

// Inputs of the prompt that the model of steps takes, too.
InputRequest inputs_behind(const Opening& opening, const exec::Signature& steps);

// The outputs of the prompt by the names that the model of steps has for them: of logits and of caches.
void rename_outputs(const Opening& opening, const analysis::FeedRules& steps, tensor::NamedData& outputs);

}  // namespace assay::tasks
