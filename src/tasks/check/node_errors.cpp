#include "tasks/check/node_errors.h"

#include <algorithm>
#include <array>
#include <map>

#include "base/text.h"
#include "debug/subgraph.h"
#include "exec/sinks.h"
#include "lint/findings.h"
#include "ops/interpreter.h"

namespace assay::tasks {
namespace {

constexpr size_t kMostAsked = 100;  // each costs a process

// Words that libraries put before the message itself.
constexpr std::array<std::string_view, 8> kPreambles = {"[ShapeInferenceError]",
                                                        "Status Message: ",
                                                        " , Error ",
                                                        "Failed to load model with error: ",
                                                        "This is an invalid model. ",
                                                        "Exception during loading: ",
                                                        "Exception caught: ",
                                                        "[ONNXRuntimeError] : "};

constexpr std::string_view kMark = "Error: ";

// A message without its preamble, as the peer prunes it.
std::string without_preamble(std::string_view backend, std::string_view message) {
  if (message.starts_with(backend)) message.remove_prefix(backend.size());
  if (message.starts_with(": ")) message.remove_prefix(2);
  for (const std::string_view preamble : kPreambles) {
    const size_t at = message.find(preamble);
    if (at != std::string_view::npos) message.remove_prefix(at + preamble.size());
  }
  std::string text(message);
  for (size_t at = text.find(kMark); at != std::string::npos; at = text.find(kMark)) text.erase(at, kMark.size());
  std::erase(text, '\n');
  std::ranges::replace(text, '"', '`');
  return text;
}

class NodeErrors {
 public:
  NodeErrors(const exec::Backend& backend, const exec::LibrarySearch& search, const ir::Model& model)
      : backend_(backend), model_(model), parts_(model) {
    options_.search = search;
  }

  // The values that nodes get.
  void run(const lint::RunInputs& inputs, const ops::InterpreterOptions& limits) {
    std::vector<ir::ValueId> wanted;
    for (uint32_t part = 0; part < parts_.count(); ++part) {
      for (const ir::ValueId value : model_[parts_.node(part)].results) {
        if (value.valid()) wanted.push_back(value);
      }
    }
    for (const ops::InputDatum& input : inputs.data) values_.emplace(input.value, input.datum);
    const auto go_on = [](ir::NodeId, const Error&) { return true; };
    const ops::FailureSink failures(go_on);
    const auto keep = [this](ir::ValueId value, const tensor::Datum& datum) { values_.emplace(value, datum); };
    ops::Interpreter(model_, limits).run(inputs.data, wanted, keep, &failures);
  }

  // By name of the node.
  std::map<std::string, uint32_t> parts_by_name() const {
    lint::Findings names(model_);
    std::map<std::string, uint32_t> parts;
    for (uint32_t part = 0; part < parts_.count(); ++part) parts.emplace(names.name_of(parts_.node(part)), part);
    return parts;
  }

  // The message of the backend about a node; empty: it runs the node, or the node cannot be shown to it.
  std::string message_about(uint32_t part) const {
    const auto alone = attempt([&] { return debug::subgraph(parts_, {part}, {.value_of = value_of()}); });
    const ir::Model* const single = std::get_if<ir::Model>(&alone);
    if (single == nullptr) return {};
    const auto ran = attempt([&] { return run_alone(*single); });
    const Error* const error = std::get_if<Error>(&ran);
    return error == nullptr ? std::string() : without_preamble(backend_.name(), error->message());
  }

 private:
  debug::ValueOracle value_of() const {
    return [this](ir::ValueId value) -> std::optional<tensor::Datum> {
      const auto found = values_.find(value);
      return found == values_.end() ? std::nullopt : std::optional(found->second);
    };
  }

  bool run_alone(const ir::Model& single) const {
    Diagnostics findings;
    const std::unique_ptr<exec::Session> session = backend_.prepare(single, options_, findings);
    std::vector<exec::Feed> feeds;
    for (const exec::Port& port : session->signature().inputs) {
      for (const auto& [value, datum] : values_) {
        if (model_.text(model_[value].name) == port.name) feeds.push_back({port.name, datum});
      }
    }
    std::vector<std::string> outputs;
    for (const exec::Port& port : session->signature().outputs) outputs.push_back(port.name);
    exec::IgnoringSink sink;
    session->make_execution({})->run(feeds, outputs, sink);
    return true;
  }

  const exec::Backend& backend_;
  const ir::Model& model_;
  debug::Parts parts_;
  exec::SessionOptions options_;
  std::map<ir::ValueId, tensor::Datum> values_;
};

}  // namespace

void tell_in_words_of(const exec::Backend& backend, const exec::LibrarySearch& search, const ir::Model& model,
                      const lint::RunInputs& inputs, const ops::InterpreterOptions& limits,
                      results::LintReport& report) {
  NodeErrors errors(backend, search, model);
  errors.run(inputs, limits);
  const std::map<std::string, uint32_t> parts = errors.parts_by_name();
  size_t asked = 0;
  for (results::LintEntry& entry : report.entries) {
    const auto part = parts.find(entry.node);
    if (entry.level != results::LintLevel::exception || part == parts.end() || asked == kMostAsked) continue;
    if (entry.code == "duplicate_node_name") continue;  // a backend sees one node at a time
    ++asked;
    std::string message = errors.message_about(part->second);
    if (message.empty()) continue;
    entry.message = std::move(message);
    entry.source = backend.name();
  }
}

}  // namespace assay::tasks
