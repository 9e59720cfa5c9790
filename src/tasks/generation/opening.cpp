#include "tasks/generation/opening.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/cache_pairs.h"
#include "base/error.h"
#include "base/text.h"

namespace assay::tasks {
namespace {

using exec::Port;
using Pairs = std::vector<std::pair<std::string, std::string>>;

// The request as it is for the model that reads the prompt.
RunRequest request_of(const RunRequest& request) {
  RunRequest opening = request;
  opening.model.path = request.generation->prompt_model;
  opening.saved_outputs.clear();
  opening.plans.clear();
  opening.save_onnx.clear();
  opening.generation->steps = 1;
  return opening;
}

// Pairs of this model alone.
Pairs pairs_within(const Pairs& given, const exec::Signature& signature) {
  Pairs own;
  std::ranges::copy_if(given, std::back_inserter(own), [&](const Pairs::value_type& pair) {
    return exec::find_port(signature.outputs, pair.first) != nullptr &&
           exec::find_port(signature.inputs, pair.second) != nullptr;
  });
  return own;
}

Pairs handed_on(const Opening& opening, const exec::Signature& own, const exec::Signature& steps, const Pairs& given) {
  std::vector<const Port*> outputs;
  for (const Port& port : own.outputs) {
    if (port.name != opening.rules.scores) outputs.push_back(&port);
  }
  std::vector<const Port*> inputs;
  for (const Port& port : steps.inputs) {
    const bool is_shared = exec::find_port(own.inputs, port.name) != nullptr;
    if (!port.has_default && !is_shared) inputs.push_back(&port);
  }
  Pairs pairs;
  for (const analysis::CachePair& pair :
       analysis::pair_caches(opening.subject->loaded->model, outputs, inputs, given).found)
    pairs.emplace_back(pair.output->name, pair.input->name);
  return pairs;
}

}  // namespace

Opening open_opening(const RunRequest& request, const exec::Signature& steps, Observer& observer) {
  const RunRequest own_request = request_of(request);
  const Pairs& given = request.generation->feeds;
  Opening opening;
  opening.subject = std::make_shared<RunSubject>(open_subject(own_request, observer));
  opening.sides = open_sides(own_request, opening.subject, observer);
  const ir::Model& model = opening.subject->loaded->model;
  const exec::Signature signature = exec::signature_of(model);
  Diagnostics& findings = opening.subject->findings();
  opening.rules = analysis::feed_rules(model, signature, {pairs_within(given, signature), {}}, findings);
  opening.prompt = make_prompt(model, signature, opening.rules, opening.subject->inputs, 1, observer, findings);
  if (!opening.prompt.queue.empty() || opening.rules.room > 0)
    fail(ErrorCode::unsupported, "`{}` does not read a whole prompt", printable(own_request.model.path));
  opening.feeds = handed_on(opening, signature, steps, given);
  if (opening.feeds.empty()) {
    throw Error(ErrorCode::unsupported, fmt::format("no output of `{}` can be told to be a cache of the steps",
                                                    printable(own_request.model.path)))
        .remedied_by("feed");
  }
  return opening;
}

Pairs given_behind(const Opening& opening, const exec::Signature& steps, const Pairs& given) {
  Pairs rest = given;
  std::erase_if(rest, [&](const Pairs::value_type& pair) {
    const bool is_of_steps = exec::find_port(steps.outputs, pair.first) != nullptr;
    return !is_of_steps && std::ranges::find(opening.feeds, pair) != opening.feeds.end();
  });
  return rest;
}

InputRequest inputs_behind(const Opening& opening, const exec::Signature& steps) {
  tensor::NamedData shared;
  for (const tensor::NamedDatum& input : opening.prompt.inputs) {
    if (exec::find_port(steps.inputs, input.name) != nullptr) shared.push_back(input);
  }
  InputRequest inputs;
  inputs.data = {std::move(shared)};
  return inputs;
}

void rename_outputs(const Opening& opening, const analysis::FeedRules& steps, tensor::NamedData& outputs) {
  for (tensor::NamedDatum& output : outputs) {
    if (output.name == opening.rules.scores) {
      output.name = steps.scores;
      continue;
    }
    const auto feed = std::ranges::find(opening.feeds, output.name, &Pairs::value_type::first);
    if (feed == opening.feeds.end()) continue;
    const auto cache = std::ranges::find(steps.caches, feed->second, &analysis::CacheFeed::input);
    if (cache != steps.caches.end()) output.name = cache->output;
  }
}

}  // namespace assay::tasks
