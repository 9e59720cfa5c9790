#include "base/error.h"
#include "base/text.h"
#include "cli/edit/attribute_words.h"
#include "cli/edit/edit_command.h"

namespace assay::cli {
namespace {

// `NODE:NAME`; names of nodes may hold colons, those of attributes do not.
std::pair<std::string, std::string> split_attribute(std::string_view option, const std::string& word) {
  const size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == word.size()) {
    fail(ErrorCode::usage, "{}: expected the node and the attribute, as NODE:NAME, seen `{}`", option, printable(word));
  }
  return {word.substr(0, colon), word.substr(colon + 1)};
}

surgery::Settings parse_settings(const Arguments& arguments) {
  surgery::Settings settings;
  for (const std::string& word : arguments.values("--attrs")) {
    auto [name, value] = parse_given("--attrs", word, PlainText::text);
    auto [node, attribute] = split_attribute("--attrs", name);
    settings.attributes.push_back({std::move(node), std::move(attribute), std::move(value)});
  }
  for (const std::string& word : arguments.values("--remove-attrs")) {
    settings.removed.push_back(split_attribute("--remove-attrs", word));
  }
  for (const std::string& word : arguments.values("--constants")) {
    auto [name, value] = parse_given("--constants", word, PlainText::file);
    settings.constants.push_back({std::move(name), std::move(value)});
  }
  if (settings.attributes.empty() && settings.removed.empty() && settings.constants.empty()) {
    fail(ErrorCode::usage, "nothing is set: give --attrs NODE:NAME=VALUE, --remove-attrs or --constants NAME=VALUE");
  }
  return settings;
}

int run_surgeon_set(const Arguments& arguments, Environment& environment) {
  const tasks::EditRequest request = edit_request(arguments, "set");
  const surgery::Settings settings = parse_settings(arguments);
  return run_edit(arguments, environment,
                  [&](tasks::Observer& observer) { return tasks::set(request, settings, observer); });
}

OptionGroup setting_group() {
  return {.title = "Values",
          .description = "What is set",
          .rows = {{.names = {"--attrs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NODE:NAME=VALUE",
                    .help = "attributes: a number, text, or a list of one of these in brackets",
                    .details = "As ln_1:epsilon=1e-5, pad_2:mode=reflect, conv_3:pads=[0,1,0,1]. The node is named by "
                               "itself or by one of its results. The value is read in the type that the operator "
                               "takes; a tensor may be a .npy file."},
                   {.names = {"--remove-attrs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NODE:NAME",
                    .help = "attributes that go, so that the operator's default holds"},
                   {.names = {"--constants"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME=VALUE",
                    .help = "constants: a number, a list of numbers, or a file of one tensor",
                    .details = "As w_234=1e-05, shape=[1,-1], weight=weight.npy: initializers, defaults of inputs and "
                               "what Constant nodes hold. The element type stays; a list of another length is for "
                               "constants of one dim."}}};
}

}  // namespace

Command command_surgeon_set() {
  return {
      .path = "surgeon set",
      .summary = "change attributes of nodes and constants",
      .description =
          "What debug accuracy finds is mended here: an epsilon, an axis, a padding, a weight. Values that the "
          "operator does not take are refused, and shapes that follow are inferred again. Nothing else in the "
          "model changes.",
      .positionals = {model_positional()},
      .groups = edit_groups({setting_group()}),
      .run = run_surgeon_set,
      .examples = {"assay surgeon set model.onnx --attrs ln_1:epsilon=1e-5 --constants w_234=1e-05 -o mended.onnx"}};
}

}  // namespace assay::cli
