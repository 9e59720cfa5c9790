#include "tasks/debug/remedies.h"

#include <algorithm>

#include "base/error.h"
#include "debug/accuracy/influence.h"

namespace assay::tasks {
namespace {

class Remedies {
 public:
  Remedies(const RemedyCase& given, std::string backend, const results::AccuracySide& side)
      : given_(given),
        backend_(std::move(backend)),
        truth_(debug::true_outputs(given.model, given.inputs)),
        side_(side) {}

  std::vector<results::Remedy> run() {
    const exec::Settings& settings = given_.request.session.settings;
    for (const std::string_view permitted : {"bf16", "fp16", "int8", "tf32"}) {
      if (backend_ == "engine" && settings.has(permitted)) try_without(std::string(permitted));
    }
    if (backend_ == "engine" && !settings.has("strict")) try_with("strict", "");
    if (backend_ == "onnxrt") try_with("graph-optimization-level", "ORT_DISABLE_ALL");
    if (backend_ == "openvino") try_with("openvino-mode", "ACCURACY");
    return std::move(tried_);
  }

 private:
  void try_without(const std::string& name) {
    exec::Settings settings = given_.request.session.settings;
    settings.erase(name);
    add({.text = fmt::format("{} without {}", backend_, name), .left_out = {name}}, settings);
  }

  void try_with(const std::string& name, const std::string& value) {
    exec::Settings settings = given_.request.session.settings;
    settings.set(name, {value});
    add({.text = fmt::format("{} with {}{}{}", backend_, name, value.empty() ? "" : " ", value),
         .settings = {{name, value}}},
        settings);
  }

  // Adds a remedy, unless the model cannot be run.
  void add(results::Remedy remedy, const exec::Settings& settings) {
    const std::variant<double, Error> after =
        attempt([&] { return debug::greatest_error(given_.runs.outputs(backend_, given_.model, settings), truth_); });
    if (std::holds_alternative<Error>(after)) return;
    remedy.set_errors(side_.output_error, std::get<double>(after), side_.output_magnitude);
    tried_.push_back(std::move(remedy));
  }

  const RemedyCase& given_;
  std::string backend_;
  tensor::NamedData truth_;
  const results::AccuracySide& side_;
  std::vector<results::Remedy> tried_;
};

}  // namespace

std::vector<results::Remedy> try_remedies(const RemedyCase& given, const std::vector<results::AccuracySide>& sides) {
  const auto side = std::ranges::find(sides, given.culprit.error.side, &results::AccuracySide::name);
  const auto number = static_cast<size_t>(side - sides.begin());
  if (number >= given.request.backends.size()) return {};
  return Remedies(given, given.request.backends[number], *side).run();
}

}  // namespace assay::tasks
