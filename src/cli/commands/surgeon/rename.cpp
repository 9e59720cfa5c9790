#include "base/error.h"
#include "base/text.h"
#include "cli/edit/edit_command.h"

namespace assay::cli {
namespace {

std::vector<surgery::Renaming> parse_renamings(const Arguments& arguments, std::string_view option) {
  std::vector<surgery::Renaming> items;
  for (const std::string& word : arguments.values(option)) {
    const size_t equals = word.rfind('=');
    if (equals == std::string::npos || equals == 0) {
      fail(ErrorCode::usage, "{}: expected OLD=NEW, seen `{}`", option, printable(word));
    }
    items.push_back({word.substr(0, equals), word.substr(equals + 1)});
  }
  return items;
}

int run_surgeon_rename(const Arguments& arguments, Environment& environment) {
  const surgery::Renamings renamings = {.inputs = parse_renamings(arguments, "--inputs"),
                                        .outputs = parse_renamings(arguments, "--outputs"),
                                        .values = parse_renamings(arguments, "--values"),
                                        .nodes = parse_renamings(arguments, "--nodes")};
  if (renamings.is_empty()) {
    fail(ErrorCode::usage, "nothing is renamed: give --inputs, --outputs, --values or --nodes, as in --inputs x=image");
  }
  const tasks::EditRequest request = edit_request(arguments, "renamed");
  return run_edit(arguments, environment,
                  [&](tasks::Observer& observer) { return tasks::rename(request, renamings, observer); });
}

OptionRow renaming_row(std::string_view name, std::string_view help) {
  return {.names = {name}, .arity = Arity::one_or_more, .repeat = Repeat::append, .metavar = "OLD=NEW", .help = help};
}

OptionGroup renaming_group() {
  return {.title = "Names",
          .description = "What is called otherwise; OLD may hold one `*`, as in 'model/*=*'",
          .rows = {renaming_row("--inputs", "inputs of the model"), renaming_row("--outputs", "outputs of the model"),
                   renaming_row("--values", "any values: inputs, outputs, initializers, results of nodes"),
                   renaming_row("--nodes", "nodes, by their names; one without a name by that of a result")}};
}

}  // namespace

Command command_surgeon_rename() {
  return {.path = "surgeon rename",
          .summary = "give inputs, outputs, values and nodes other names",
          .description =
              "All new names are given at once, so that two can be exchanged. A name means what has it in the main "
              "graph; if nothing has, in bodies; if nothing has, in functions. A name that another value has in the "
              "same graph, or in a body within or around it, is refused.",
          .positionals = {model_positional()},
          .groups = edit_groups({renaming_group()}),
          .run = run_surgeon_rename,
          .examples = {"assay surgeon rename model.onnx --inputs x=image --outputs 425=logits -o renamed.onnx",
                       "assay surgeon rename model.onnx --values 'model/*=*' --nodes 'model/*=*' -o short.onnx"}};
}

}  // namespace assay::cli
