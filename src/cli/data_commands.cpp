#include "cli/data_commands.h"

#include "base/error.h"
#include "base/memory.h"
#include "base/text.h"
#include "cli/log_observer.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

std::pair<std::string, std::string> parse_rename(const std::string& text) {
  const size_t at = text.find('=');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) {
    fail(ErrorCode::usage, "option `--rename`: expected OLD=NEW, got `{}`", printable(text));
  }
  return {text.substr(0, at), text.substr(at + 1)};
}

// `DTYPE` or `NAME:DTYPE`; names may have colons.
formats::ArrayCast parse_cast(const std::string& text) {
  const size_t at = text.rfind(':');
  const std::string word = at == std::string::npos ? text : text.substr(at + 1);
  const std::optional<tensor::DType> dtype = tensor::find_dtype(word);
  if (!dtype || at == 0) {
    fail(ErrorCode::usage, "option `--cast`: expected DTYPE or NAME:DTYPE, as `float32` or `x:int64`, got `{}`",
         printable(text));
  }
  formats::ArrayCast cast{.dtype = *dtype};
  if (at != std::string::npos) cast.pattern = text.substr(0, at);
  return cast;
}

formats::DataChanges data_changes(const Arguments& arguments) {
  formats::DataChanges changes{.runner = arguments.has("--runner") ? arguments.value("--runner") : "",
                               .selected = arguments.values("--select"),
                               .dropped = arguments.values("--drop"),
                               .renamed = {},
                               .casts = {}};
  for (const std::string& text : arguments.values("--rename")) changes.renamed.push_back(parse_rename(text));
  for (const std::string& text : arguments.values("--cast")) changes.casts.push_back(parse_cast(text));
  return changes;
}

}  // namespace

OptionGroup data_change_group() {
  return {
      .title = "Content",
      .description = "Which arrays are kept, and how they are renamed and converted; applied in this order",
      .rows = {
          {.names = {"--runner"}, .metavar = "NAME", .help = "keep the outputs of this runner; wildcards are allowed"},
          {.names = {"--select"},
           .arity = Arity::one_or_more,
           .metavar = "NAME",
           .help = "keep these arrays only; wildcards are allowed"},
          {.names = {"--drop"},
           .arity = Arity::one_or_more,
           .metavar = "NAME",
           .help = "remove these arrays; wildcards are allowed"},
          {.names = {"--rename"},
           .repeat = Repeat::append,
           .metavar = "OLD=NEW",
           .help = "rename an array in all iterations"},
          {.names = {"--cast"},
           .arity = Arity::one_or_more,
           .metavar = "[NAME:]DTYPE",
           .help = "convert all arrays, or those of this name or wildcard, as NumPy's astype does"}}};
}

OptionGroup data_limits_group() {
  return {.title = "Limits",
          .description = "What the command may take",
          .rows = {{.names = {"--max-memory"},
                    .metavar = "SIZE",
                    .help = "most memory, as 512M or 8G, files that are mapped not counted; default: what is "
                            "available"}}};
}

void limit_data_memory(const Arguments& arguments) {
  if (arguments.has("--max-memory")) limit_memory(parse_size("--max-memory", arguments.value("--max-memory")));
}

OptionRow data_files_positional() {
  return {.names = {"paths"},
          .arity = Arity::one_or_more,
          .help = "files or folders of inputs or outputs",
          .is_file = true};
}

OptionGroup data_output_group() {
  return {.title = "Output",
          .description = "Where to",
          .rows = {{.names = {"-o", "--output"},
                    .metavar = "FILE",
                    .help = "the file to write; its extension decides the format",
                    .details = ".npz, .npy, .safetensors; .raw: a folder of raw arrays; a name that ends in `/`, or a "
                               "folder: one JSON file per iteration; anything else: JSON.",
                    .is_file = true,
                    .is_output = true,
                    .required = true}}};
}

tasks::DataRequest data_request(const Arguments& arguments) {
  limit_data_memory(arguments);
  return {
      .paths = arguments.values("paths"), .changes = data_changes(arguments), .output = arguments.value("--output")};
}

int run_data_merge(const Arguments& arguments, Environment& environment) {
  LogObserver observer(arguments, environment);
  tasks::merge_data(data_request(arguments), observer);
  return kExitEqual;
}

}  // namespace assay::cli
