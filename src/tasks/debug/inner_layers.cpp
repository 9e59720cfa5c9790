#include "tasks/debug/inner_layers.h"

#include <algorithm>

#include "base/error.h"
#include "debug/causes/causes.h"
#include "debug/open_bodies.h"
#include "exec/feeds.h"
#include "tasks/debug/observed.h"
#include "tasks/debug/side_runs.h"

namespace assay::tasks {
namespace {

// An observer that does not tell again what was told of the model.
class Quiet final : public Observer {
 public:
  explicit Quiet(Observer& outer) : outer_(outer) {}
  bool is_cancelled() override { return outer_.is_cancelled(); }

 private:
  Observer& outer_;
};

std::optional<debug::Opened> opened(const ir::Model& model, const InnerCase& found) {
  ObservedValues values(model, found.inputs, found.request.session.max_memory_bytes);
  return debug::open_bodies(model, [&](ir::ValueId value) { return values.find(value); });
}

// A request for the backend whose layer it is.
AccuracyRequest request_for(const InnerCase& found, const std::string& side) {
  AccuracyRequest request = found.request;
  request.saved_outputs.clear();
  if (found.other != nullptr) return request;
  std::erase_if(request.backends,
                [&](const std::string& name) { return name != side && !side.starts_with(name + " ("); });
  return request;
}

// The sides of the opened model; the second model is opened too.
struct InnerSides {
  std::optional<debug::Opened> other;
  std::optional<debug::Counterpart> counterpart;
  std::vector<debug::SideValues> sides;

  InnerSides(const InnerCase& found, SideRuns& runs) {
    if (found.other == nullptr) {
      sides = runs.collect();
      return;
    }
    other = opened(*found.other, found);
    OtherRun run = runs.run_other(other ? other->model : *found.other);
    counterpart.emplace(std::move(run.counterpart));
    sides.push_back(std::move(run.side));
  }
};

std::optional<results::InnerCulprit> find(const InnerCase& found, const debug::Accused& accused) {
  if (!debug::holds_nodes(found.model, accused.node)) return std::nullopt;
  const std::optional<debug::Opened> whole = opened(found.model, found);
  if (!whole || std::ranges::find(whole->nodes, accused.error.node) == whole->nodes.end()) return std::nullopt;
  const ir::Model& model = whole->model;
  const AccuracyRequest request = request_for(found, accused.error.side);
  if (request.backends.empty() && found.other == nullptr) return std::nullopt;
  Quiet quiet(found.observer);
  SideRuns runs(request, model, found.inputs, quiet);
  Diagnostics ignored;
  const auto feeds = as_input_data(model, exec::check_feeds(exec::signature_of(model), found.inputs, ignored));
  InnerSides inner_sides(found, runs);
  const debug::WalkResult walked =
      debug::walk(model, feeds, std::move(inner_sides.sides), {.max_memory_bytes = request.session.max_memory_bytes});
  for (const debug::Accused& inner : walked.accused) {
    const std::vector<ir::NodeId> origins = model.origins().of(inner.node);
    const bool is_inside = inner.node != accused.node && std::ranges::find(origins, accused.node) != origins.end();
    if (!is_inside) continue;
    const debug::Cause cause =
        debug::find_cause({.model = model,
                           .accused = inner,
                           .stored = inner.exact.declared(),
                           .other = inner_sides.counterpart ? &*inner_sides.counterpart : nullptr});
    return results::InnerCulprit{inner.error, cause.word, cause.reason};
  }
  return std::nullopt;
}

}  // namespace

std::optional<results::InnerCulprit> find_inner_layer(const InnerCase& found, const debug::Accused& accused) {
  const auto inner = attempt([&] { return find(found, accused); });
  const Error* const error = std::get_if<Error>(&inner);
  if (error == nullptr) return std::get<std::optional<results::InnerCulprit>>(inner);
  if (error->code() == ErrorCode::cancelled) throw *error;
  return std::nullopt;
}

}  // namespace assay::tasks
