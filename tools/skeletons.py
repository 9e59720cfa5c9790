"""The texts that tools/new.py fills in; `{mark}` is what check_text refuses until it is replaced."""

OPERATOR = """#include "ops/operator.h"

namespace assay::ops {{
namespace {{

// {signature}
void infer_{stem}(Infer& node) {{
  // {mark}: refuse what breaks a rule, with what was seen; say what is known of the outputs.
  infer_same_as_first(node);
}}

void eval_{stem}(Eval& node) {{
  // {mark}: load in a carrier, compute, store.
  std::vector<double> elements = node.load<double>(0);
  node.store(0, std::move(elements));
}}

}}  // namespace

OperatorRows operator_{group}_{stem}() {{
  static constexpr Operator kRows[] = {{
      {{{domain}.name = "{name}", .since = {since},
       .traits = {{Nature::unknown}},  // {mark}: its nature and more of ops/traits.h
       .infer = infer_{stem},
       .eval = eval_{stem}}},
  }};
  return kRows;
}}

}}  // namespace assay::ops
"""

CASE = """op {spelled} @{since}..
# {mark}: inputs, attributes and `== ?` for outputs; tools/fill_cases.py writes the expected values.
"""

CHECK = """#include "lint/check.h"

namespace assay::lint {{
namespace {{

void report_{stem}(const Subject& subject, ir::NodeId id, Findings& findings) {{
  // {mark}: findings.add(LintLevel::warning, kAnalysis, "{stem}", id, "what was seen");
  (void)subject;
  (void)id;
  (void)findings;
}}

}}  // namespace

Check check_{stem}() {{ return {{"{mark}: what it finds", 90, {{{{.at_node = report_{stem}}}}}}}; }}

}}  // namespace assay::lint
"""

COMMAND = """#include "{task}.h"

#include "base/error.h"
#include "base/stopwatch.h"
#include "base/text.h"
#include "cli/environment.h"
#include "cli/log_observer.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"

namespace assay::cli {{
namespace {{

int run_{symbol}(const Arguments& arguments, Environment& environment) {{
  const Stopwatch total;
  const std::string command = printable(environment.command_line);
  environment.log.start(fmt::format("RUNNING | Command: {{}}", command));
  const tasks::{type}Request request = {{.model = model_source(arguments.value("model_file"), arguments)}};
  LogObserver observer(arguments, environment);
  const tasks::{type}Result result = tasks::{symbol}(request, observer);
  // {mark}: report the result: text by src/report/*/text_*.h, JSON by src/report/*/json_*.h.
  environment.log.info(fmt::format("{{}} nodes", result.node_slots));
  environment.log.finish(fmt::format("PASSED | Runtime: {{:.3f}}s | Command: {{}}", total.seconds(), command));
  return kExitEqual;
}}

}}  // namespace

Command command_{symbol}() {{
  return {{.path = "{words}",
          .summary = "{mark}",
          .description = "{mark}",
          .positionals = {{model_positional()}},
          .groups = {{logging_group(), model_group(), onnx_load_group()}},
          .run = run_{symbol},
          .examples = {{"assay {words} model.onnx"}}}};
}}

}}  // namespace assay::cli
"""

TASK_HEADER = """#pragma once

#include <cstdint>

#include "tasks/load.h"
#include "tasks/observer.h"

namespace assay::tasks {{

// {mark}: what the task does.
struct {type}Request {{
  ModelSource model;
}};
// {mark}: what it found; a struct in src/results/ if src/report/ renders it.
struct {type}Result {{
  uint64_t node_slots = 0;
}};
{type}Result {symbol}(const {type}Request& request, Observer& observer);

}}  // namespace assay::tasks
"""

TASK = """#include "{task}.h"

namespace assay::tasks {{

{type}Result {symbol}(const {type}Request& request, Observer& observer) {{
  const LoadedModel loaded = load_model(request.model, observer);
  tell_findings(loaded.findings, observer);
  check_cancelled(observer);
  // {mark}: the work, in functions of the modules below src/tasks/.
  return {{.node_slots = loaded.model.node_slots()}};
}}

}}  // namespace assay::tasks
"""

PASS = """// Before: {mark}: the nodes that are matched, as in: Identity.
// After:  {mark}: the nodes that replace them, as in: nothing.
// Only if: {mark}: the conditions, as in: the output of the graph does not become an input.
#include <array>

#include "passes/rules.h"

namespace assay::passes {{
namespace {{

struct Context {{
  PassRun& run;
}};

void rewrite(Context& context, ir::NodeId node) {{
  // {mark}: match, check, build the patch. This one removes the node and passes its operand on.
  const ir::Model& model = context.run.model();
  const ir::ValueId in = operand(model, node, 0);
  const ir::ValueId out = result(model, node);
  if (!in || !out || !context.run.rewriter().can_replace(out, in)) return;
  ir::Patch patch;
  patch.replace(out, in);
  patch.remove(node);
  context.run.rewriter().commit("remove {{0}}", patch);
}}

void {stem}(PassRun& run) {{
  Context context{{run}};
  apply_rules(run, context, std::array{{Rule<Context>{{"Identity", rewrite}}}});
}}

}}  // namespace

Pass pass_{family}_{stem}() {{
  return {{.name = "{words}", .summary = "{mark}: one line", .pass_class = PassClass::exact, .run = {stem}}};
}}

}}  // namespace assay::passes
"""

PASS_TEST = """#include <gtest/gtest.h>

#include "support/pass_checks.h"

namespace assay::passes {{
namespace {{

using testing_support::nodes_after;
using testing_support::rewritten;

// {mark}: models that it rewrites, and models that it leaves alone because one condition does not hold.
TEST({type}, RemovesNodes) {{
  EXPECT_EQ(nodes_after("{words}", "g (float[4] x) => (float[4] y) {{a = Identity(x) y = Relu(a)}}"), "y = Relu (x)");
}}

TEST({type}, KeepsTheRest) {{
  EXPECT_EQ(rewritten("{words}", "g (float[4] x) => (float[4] y) {{y = Relu(x)}}").steps, 0u);
}}

}}  // namespace
}}  // namespace assay::passes
"""

KERNEL = """// {mark}: the operators that the family computes, as in: CumSum along one dim.
#include <algorithm>

#include "base/parallel.h"
#include "engine/devices/cpu/device.h"

namespace assay::engine::cpu {{
namespace {{

class {type}Kernel final : public PlainKernel {{
 public:
  explicit {type}Kernel(int64_t count) : count_(count) {{}}

  void run(const Arguments& arguments) const override {{
    const float* const in = host<const float>(arguments.inputs[0]);
    float* const out = host<float>(arguments.outputs[0]);
    // {mark}: compute. Sizes, constants and choices are found by make(); nothing is allocated here.
    constexpr uint64_t kGrain = 1 << 13;  // elements
    parallel_for(static_cast<uint64_t>(count_), kGrain,
                 [&](uint64_t begin, uint64_t end) {{ std::copy(in + begin, in + end, out + begin); }});
  }}

 private:
  int64_t count_;
}};

class {type} final : public Implementation {{
 public:
  std::string_view name() const override {{ return "{stem}.{mark}"; }}
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {{
    // {mark}: return null for a layer that it cannot compute, by operator, types, layouts and sizes.
    if (!layer.is_single() || !layer.starts_with("{mark}")) return {{}};
    const TensorDesc& in = layer.inputs[0];
    if (in.dtype != tensor::DType::float32 || in.count() == 0) return {{}};
    if (!has_layout(in, Layout::plain) || !has_layout(layer.outputs[0], Layout::plain)) return {{}};
    return std::make_unique<{type}Kernel>(in.count());
  }}
}};

}}  // namespace

KernelFamily cpu_kernel_{stem}() {{ return family_of<{type}>(); }}

}}  // namespace assay::engine::cpu
"""

KERNEL_TEST = """#include <gtest/gtest.h>

#include "support/engine_run.h"

namespace assay::engine::cpu {{
namespace {{

// {mark}: every type and layout that it computes, sizes that fill no vector, NaN, infinities, zeros of both signs.
TEST({type}, GivesTheBitsOfTheReference) {{
  const ir::Model model = testing_support::parsed(
      "<ir_version: 10, opset_import: [\\"\\" : 19]> g (float[3,70] x) => (float[3,70] y) {{ y = {mark}(x) }}");
  const testing_support::EngineRun run = testing_support::run_on_engine(model, testing_support::sine);
  EXPECT_NE(std::ranges::find(run.tactics, "{stem}.{mark}"), run.tactics.end());
  const auto expected = testing_support::run_on_reference(model, testing_support::sine);
  EXPECT_EQ(testing_support::difference(run.outputs, expected, 0), "");
}}

}}  // namespace
}}  // namespace assay::engine::cpu
"""

BACKEND = """#include "exec/backend.h"

namespace assay::backends {{
namespace {{

class {type}Execution final : public exec::Execution {{
 public:
  void run(std::span<const exec::Feed>, std::span<const std::string>, exec::TensorSink&) override {{
    // {mark}: run once, then call sink.accept(name, value) once for each value that was asked for.
    fail(ErrorCode::backend, "{words} cannot run models yet");
  }}
  double seconds() const override {{ return 0; }}
  // {mark}: exec/bound_outputs.h checks and fills what is bound.
  void bind(std::vector<exec::OutputBuffer>) override {{}}
}};

class {type}Session final : public exec::Session {{
 public:
  explicit {type}Session(const ir::Model& model) : signature_(exec::signature_of(model)) {{}}

  const exec::Signature& signature() const override {{ return signature_; }}
  std::unique_ptr<exec::Execution> make_execution(const exec::ExecutionOptions&) const override {{
    return std::make_unique<{type}Execution>();
  }}

 private:
  exec::Signature signature_;
}};

class {type}Backend final : public exec::Backend {{
 public:
  std::string_view name() const override {{ return "{words}"; }}

  exec::Probe probe(const exec::LibrarySearch&) const override {{
    // {mark}: whether it can be used here, with its version, or why not. exec/foreign_library.h opens libraries.
    return {{.usable = true, .version = "built in"}};
  }}

  std::vector<exec::Refusal> refusals(const ir::Model&, const exec::LibrarySearch&) const override {{
    // {mark}: every node that it cannot run, with the reason.
    return {{}};
  }}

  std::unique_ptr<exec::Session> prepare(const ir::Model& model, const exec::SessionOptions&,
                                         Diagnostics&) const override {{
    // {mark}: compile the model. It outlives the session.
    return std::make_unique<{type}Session>(model);
  }}
}};

}}  // namespace
}}  // namespace assay::backends

namespace assay::exec {{

Backends backends_{stem}_backend() {{
  Backends backends;
  backends.push_back(std::make_unique<backends::{type}Backend>());
  return backends;
}}

}}  // namespace assay::exec
"""
