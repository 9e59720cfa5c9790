#include "cli/options/groups/passes.h"

#include <limits>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

const std::string& pass_list() {
  static const std::string list = [] {
    std::vector<std::string> passes;
    for (const tasks::NamedPass& pass : tasks::known_passes()) {
      passes.push_back(fmt::format("`{}` ({})", pass.name, pass.summary));
    }
    return fmt::format("There are {}.", join(passes, ", "));
  }();
  return list;
}

}  // namespace

OptionGroup pass_group() {
  OptionGroup group = {
      .title = "Passes",
      .description = "Which rewrites are applied, and what is reported of them",
      .rows = {{.names = {"--simplify"},
                .arity = Arity::flag,
                .help = "also remove no-ops, merge duplicates, fold and clean up",
                .details = "Every pass of this kind keeps the results of the reference bit for bit."},
               {.names = {"--fuse"},
                .arity = Arity::flag,
                .help = "merge operators, as BatchNormalization into Conv, within their rounding"},
               {.names = {"--opset"},
                .metavar = "N",
                .help = "write the model in this version of ai.onnx, up or down, where nothing changes its meaning",
                .details =
                    "A node that cannot be expressed in that version is an error (exit 3), and nothing is written."},
               {.names = {"--passes"},
                .arity = Arity::one_or_more,
                .metavar = "PASS",
                .help = "run these passes, in this order, after all others",
                .details = pass_list()},
               {.names = {"--unroll-limit"},
                .metavar = "N",
                .default_value = "32",
                .help = "of the pass unroll-loops: loops of more iterations stay"},
               {.names = {"--outline-size"},
                .metavar = "N",
                .default_value = "4",
                .help = "of the pass outline-repeats: repeated parts of fewer nodes stay"}},
  };
  for (OptionRow& row : step_rows()) group.rows.push_back(std::move(row));
  return group;
}

tasks::PassRequest pass_request(const Arguments& arguments) {
  tasks::PassRequest request;
  request.simplifies = arguments.flag("--simplify");
  request.fuses = arguments.flag("--fuse");
  request.passes = arguments.values("--passes");
  tasks::check_passes(request.passes);
  if (arguments.has("--opset")) {
    tasks::set_opset(static_cast<int64_t>(parse_count("--opset", arguments.value("--opset"))), request);
  }
  request.options.unroll.most_iterations = parse_count("--unroll-limit", arguments.value("--unroll-limit"));
  request.options.outline.least_nodes = parse_count("--outline-size", arguments.value("--outline-size"), 1);
  request.last_step = last_step(arguments);
  request.explains = arguments.flag("--explain");
  return request;
}

std::vector<OptionRow> step_rows() {
  return {{.names = {"--explain"}, .arity = Arity::flag, .help = "print every step: its number, what and why"},
          {.names = {"--stop-after-step"},
           .metavar = "N",
           .help = "apply the first N steps only: halving N finds the step that changes a result"}};
}

uint64_t last_step(const Arguments& arguments) {
  if (!arguments.has("--stop-after-step")) return std::numeric_limits<uint64_t>::max();
  return parse_count("--stop-after-step", arguments.value("--stop-after-step"));
}

}  // namespace assay::cli
