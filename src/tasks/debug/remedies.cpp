#include "tasks/debug/remedies.h"

#include <algorithm>

#include "base/error.h"
#include "debug/accuracy/influence.h"
#include "exec/backend.h"

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
    for (const exec::SettingChange& change : exec::make_backend(backend_)->stricter_settings(settings)) {
      attempt_change(change);
    }
    return std::move(tried_);
  }

 private:
  // Adds a remedy, unless the model cannot be run.
  void attempt_change(const exec::SettingChange& change) {
    exec::Settings settings = given_.request.session.settings;
    change.apply(settings);
    results::Remedy remedy = remedy_of(change);
    const std::variant<double, Error> after =
        attempt([&] { return debug::greatest_error(given_.runs.outputs(backend_, given_.model, settings), truth_); });
    if (std::holds_alternative<Error>(after)) return;
    remedy.set_errors(side_.output_error, std::get<double>(after), side_.output_magnitude);
    tried_.push_back(std::move(remedy));
  }

  results::Remedy remedy_of(const exec::SettingChange& change) const {
    const auto& [name, value] = change;
    if (!value) return {.text = fmt::format("{} without {}", backend_, name), .left_out = {name}};
    return {.text = fmt::format("{} with {}{}{}", backend_, name, value->empty() ? "" : " ", *value),
            .settings = {{name, *value}}};
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
