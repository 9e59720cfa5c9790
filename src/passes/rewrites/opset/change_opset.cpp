// Before: a model, its functions and bodies in one version of ai.onnx.
// After:  the same in the version that is asked for: attributes that became inputs, operators that took over from
//         others, forms that mean the same. The IR version becomes that of the release that brought the version, as far
//         as it must or may.
// Only if: every node has its meaning in that version too; otherwise nothing is changed, and each reason is given. The
//         change is one step, because what stands between is a model of neither version.
#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "ir/ir_version.h"
#include "passes/opset/adapters.h"
#include "passes/opset/expansions.h"
#include "passes/opset/form.h"
#include "passes/opset/misfit.h"
#include "passes/opset/opset_options.h"
#include "schema/imports.h"

namespace assay::passes {
namespace {

using schema::Schema;

constexpr int64_t kOldestSource = 7;
constexpr int64_t kOldestTarget = 11;  // of models that are newer

// Rows of all versions between that of the node and the target, upwards. An operator may hand over to another one.
Refusal raise(Draft& draft, int64_t since) {
  for (std::string op; op != draft.op();) {
    op = draft.op();
    for (const Schema* schema : schema::schema_versions("", op)) {
      if (schema->since <= since || schema->since > draft.target()) continue;
      since = schema->since;
      const Adapter* row = find_adapter(op, since);
      if (!row || !row->up) continue;
      if (draft.refers_to_attributes()) return "it refers to attributes of its function; inlining makes them known";
      if (Refusal refusal = row->up(draft); !refusal.empty()) return refusal;
      if (draft.op() != op) break;
    }
  }
  return {};
}

// Drops attributes and operands that only the newer version has, if they say what is always so in the older one.
Refusal drop_defaults(Draft& draft, const Schema& older, const Schema& newer) {
  const std::vector<ir::Attribute> written = draft.attributes();
  for (const ir::Attribute& attribute : written) {
    const std::string_view name = draft.model().text(attribute.name());
    const schema::AttributeSchema* known = newer.find_attribute(name);
    if (older.find_attribute(name) || !known) continue;
    if (!is_default(draft.model(), attribute, *known)) {
      return fmt::format("attribute `{}` came with version {}, and does not have its default", name, newer.since);
    }
    draft.drop(name);
  }
  return {};
}

Refusal lower(Draft& draft) {
  const std::string op = draft.op();
  const std::vector<const Schema*> versions = schema::schema_versions("", op);
  if (versions.front()->since > draft.target()) {
    const Expansion* const expansion = find_expansion(op);
    if (expansion == nullptr) return fmt::format("the operator came with version {}", versions.front()->since);
    if (draft.refers_to_attributes()) return "it refers to attributes of its function; inlining makes them known";
    return expansion->expand(draft);
  }
  const int64_t from = draft.source().since;
  for (size_t i = versions.size(); i-- > 1;) {
    if (versions[i]->since > from || versions[i]->since <= draft.target()) continue;
    const Adapter* row = find_adapter(op, versions[i]->since);
    if (row && row->down) {
      if (draft.refers_to_attributes()) return "it refers to attributes of its function; inlining makes them known";
      if (Refusal refusal = row->down(draft); !refusal.empty()) return refusal;
      if (draft.op() != op) return {};
    }
    if (Refusal refusal = drop_defaults(draft, *versions[i - 1], *versions[i]); !refusal.empty()) return refusal;
  }
  return {};
}

class Change {
 public:
  Change(PassRun& run, int64_t target) : run_(run), model_(run.model()), target_(target), shared_(run) {}

  void run() {
    plan_graph(model_.main_graph(), schema::imported_version(model_));
    for (const ir::Function& function : model_.functions()) {
      plan_graph(function.body, schema::imported_version(model_, function.opset_imports));
    }
    if (is_refused_ || !is_needed_) return;
    if (!record()) return;
    for (Draft& draft : drafts_) draft.apply();
    write_versions();
    run_.forget_callees();
  }

 private:
  // One step, with the first node that changes, if any does.
  bool record() {
    static constexpr std::string_view kReason = "write the model in another version of ai.onnx";
    return drafts_.empty() ? run_.rewriter().record(kReason) : run_.rewriter().record(kReason, drafts_.front().node());
  }
  bool is_ours(ir::Symbol domain) const { return schema::canonical_domain(model_.text(domain)).empty(); }
  void plan_graph(ir::GraphId graph, int64_t version);
  void plan(ir::NodeId node, int64_t version);
  Refusal adapt(Draft& draft, int64_t version) const;
  void refuse(ir::NodeId node, std::string reason);
  int64_t ir_version(bool is_lowered) const;
  void write_versions();
  void write_version(std::vector<ir::OpsetImport>& imports) const;

  PassRun& run_;
  const ir::Model& model_;
  int64_t target_;
  Drafting shared_;
  std::vector<Draft> drafts_;  // of nodes that change
  bool is_needed_ = false;
  bool is_refused_ = false;
};

void Change::plan_graph(ir::GraphId graph, int64_t version) {
  if (version == 0 || version == target_) return;
  is_needed_ = true;
  const int64_t oldest = version > target_ ? kOldestTarget : kOldestSource;
  if (std::min(version, target_) < oldest) {
    fail(ErrorCode::unsupported, "a model of version {} of ai.onnx cannot be written in version {}: the oldest is {}",
         version, target_, oldest);
  }
  if (version > *schema::newest_version("")) {
    fail(ErrorCode::unsupported, "version {} of ai.onnx is not known; the newest is {}", version,
         *schema::newest_version(""));
  }
  std::vector<ir::GraphId> graphs = {graph};
  for (size_t i = 0; i < graphs.size(); ++i) {
    for (const ir::NodeId node : ir::nodes(model_, graphs[i])) {
      const std::vector<ir::GraphId> bodies = model_.bodies(model_[node]);
      graphs.insert(graphs.end(), bodies.begin(), bodies.end());
      plan(node, version);
    }
  }
}

void Change::refuse(ir::NodeId node, std::string reason) {
  is_refused_ = true;
  run_.skip(node, std::move(reason));
}

// The draft in the form of the target.
Refusal Change::adapt(Draft& draft, int64_t version) const {
  if (Refusal refusal = form_misfit(draft, draft.source()); !refusal.empty()) return refusal;
  Refusal refusal = version < target_ ? raise(draft, draft.source().since) : lower(draft);
  if (!refusal.empty()) return refusal;
  const Schema* schema = schema::find_schema("", draft.op(), target_);
  if (!schema) return fmt::format("there is no operator `{}` in version {}", draft.op(), target_);
  if (schema->deprecated) return fmt::format("`{}` is deprecated since version {}", draft.op(), schema->since);
  refusal = form_misfit(draft, *schema);
  return refusal.empty() ? type_misfit(draft, draft.source(), *schema) : refusal;
}

void Change::plan(ir::NodeId node, int64_t version) {
  const std::string_view op = model_.text(model_[node].op);
  if (!is_ours(model_[node].domain) || run_.callee(node).function) return;
  const Schema* source = schema::find_schema("", op, version);
  if (!source) return refuse(node, fmt::format("there is no operator `{}` in version {}", printable(op), version));
  if (source == schema::find_schema("", op, target_)) return;
  Draft draft(shared_, node, *source, target_);
  const std::variant<Refusal, Error> outcome = attempt([&] { return adapt(draft, version); });
  if (const Error* error = std::get_if<Error>(&outcome)) return refuse(node, error->line());
  if (!std::get<Refusal>(outcome).empty()) return refuse(node, std::get<Refusal>(outcome));
  if (draft.is_changed()) drafts_.push_back(std::move(draft));
}

void Change::write_version(std::vector<ir::OpsetImport>& imports) const {
  for (ir::OpsetImport& item : imports) {
    if (is_ours(item.domain)) item.version = target_;
  }
}

// The IR version: a reader that knows a version of ai.onnx knows the IR version of its release, and older readers must
// not see a newer one than the model needs.
int64_t Change::ir_version(bool is_lowered) const {
  const int64_t old = model_.header().ir_version;
  for (const schema::Release& release : schema::releases()) {
    if (release.opset < target_) continue;
    return is_lowered ? std::min(old, std::max(release.ir, ir::needed_ir_version(model_))) : std::max(old, release.ir);
  }
  return old;
}

void Change::write_versions() {
  ir::Header& header = run_.edit().header();
  header.ir_version = ir_version(schema::imported_version(model_) > target_);
  write_version(header.opset_imports);
  for (size_t i = 0; i < model_.functions().size(); ++i) write_version(run_.edit().function(i).opset_imports);
}

void change_opset(PassRun& run) {
  const int64_t newest = *schema::newest_version("");
  const int64_t target = run.options().get<OpsetOptions>().version.value_or(newest);
  if (target < kOldestSource || target > newest) {
    fail(ErrorCode::usage, "version {} of ai.onnx is not one of {} to {}", target, kOldestSource, newest);
  }
  Change(run, target).run();
}

}  // namespace

Pass pass_opset_change_opset() {
  return {.name = "change-opset", .summary = "write the model in another version of ai.onnx", .run = change_opset};
}

}  // namespace assay::passes
