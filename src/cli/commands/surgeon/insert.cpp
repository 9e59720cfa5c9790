#include "base/error.h"
#include "base/text.h"
#include "cli/edit/attribute_words.h"
#include "cli/edit/constant_words.h"
#include "cli/edit/edit_command.h"
#include "cli/options/groups/shape_inference.h"

namespace assay::cli {
namespace {

surgery::Insertion parse_insertion(const Arguments& arguments) {
  surgery::Insertion insertion;
  insertion.op = arguments.value("--op");
  insertion.domain = arguments.value("--domain");
  insertion.name = arguments.value("--name");
  insertion.inputs = arguments.values("--inputs");
  insertion.outputs = arguments.values("--outputs");
  if (insertion.op.empty()) fail(ErrorCode::usage, "--op: expected the type of a node, got an empty word");
  for (const std::string& word : arguments.values("--attrs")) {
    surgery::NamedAttribute attribute = parse_attribute("--attrs", word);
    for (const surgery::NamedAttribute& other : insertion.attributes) {
      if (other.name == attribute.name) {
        fail(ErrorCode::usage, "--attrs: `{}` is given twice", printable(attribute.name));
      }
    }
    insertion.attributes.push_back(std::move(attribute));
  }
  for (const std::string& word : arguments.values("--constants")) {
    insertion.constants.push_back(parse_constant("--constants", word));
  }
  return insertion;
}

int run_surgeon_insert(const Arguments& arguments, Environment& environment) {
  tasks::InsertRequest request;
  request.edit = edit_request(arguments, "inserted");
  request.insertion = parse_insertion(arguments);
  request.infers = arguments.flag("--shape-inference");
  return run_edit(arguments, environment, [&](tasks::Observer& observer) { return tasks::insert(request, observer); });
}

OptionGroup insertion_group() {
  return {.title = "Node",
          .description = "The node that is inserted, and where",
          .rows = {{.names = {"--inputs"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME",
                    .help = "the tensors that the node reads, in order; an empty word omits an optional one",
                    .required = true},
                   {.names = {"--outputs"},
                    .arity = Arity::one_or_more,
                    .metavar = "NAME",
                    .help = "the tensors of the model that the node produces, instead of their current producers",
                    .required = true},
                   {.names = {"--op"}, .help = "the type of the node", .required = true},
                   {.names = {"--domain"}, .help = "the domain of the type; default: that of ONNX"},
                   {.names = {"--name"}, .help = "the name of the node; default: none"},
                   {.names = {"--attrs"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME=VALUE",
                    .help = "attributes: integers, floats, text, and lists of one of these in brackets",
                    .details = "As axis=1, alpha=0.5, mode=linear, pads=[0,1,0,1]; in quotes a number is text."},
                   {.names = {"--constants"},
                    .arity = Arity::one_or_more,
                    .repeat = Repeat::append,
                    .metavar = "NAME=VALUE",
                    .help = "new constants that the node reads: a number, a list of numbers, or a file of one tensor",
                    .details = "As two=2.0 (float32), shape=[1,-1] (int64), scale=scale.npy."}}};
}

}  // namespace

Command command_surgeon_insert() {
  return {.path = "surgeon insert",
          .summary = "put a node between tensors of a model",
          .description =
              "Consumers of the outputs read those of the new node, and nodes that only computed the old ones are "
              "removed. A tensor may be both input and output: then the node is inserted after it. A graph output "
              "keeps its name; otherwise the new tensor has the name of the old one with the suffix "
              "_polygraphy_surgeon_insert_output. The operator may be unknown.",
          .positionals = {model_positional()},
          .groups = edit_groups({insertion_group(), shape_inference_group()}),
          .run = run_surgeon_insert,
          .examples = {"assay surgeon insert model.onnx --inputs x --outputs y --op Relu -o new.onnx"}};
}

}  // namespace assay::cli
