#include "cli/convert/layers.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/options/values.h"
#include "tensor/precision_word.h"

namespace assay::cli {
namespace {

OptionRow list(std::string_view name, std::string_view metavar, std::string_view help) {
  return {.names = {name}, .arity = Arity::one_or_more, .repeat = Repeat::append, .metavar = metavar, .help = help};
}

tensor::DType precision(std::string_view option, const std::string& word) {
  if (const std::optional<tensor::DType> found = tensor::find_precision(word)) return *found;
  fail(ErrorCode::usage, "{}: expected float32, float16, bfloat16 or int8, seen `{}`", option, printable(word));
}

LayerPrecision parse(std::string_view option, const std::string& text) {
  const KeyValue parts = split_key_value(text);
  if (parts.key.empty()) fail(ErrorCode::usage, "{}: expected LAYER:TYPE, seen `{}`", option, printable(text));
  return {parts.key, precision(option, parts.value)};
}

bool is_engine_word(const std::string& word) { return word == "obey" || word == "prefer" || word == "none"; }

}  // namespace

OptionGroup layer_group() {
  return {
      .title = "Layers",
      .description = "Which nodes are converted; names are those of nodes or of their results, and may be wildcards",
      .rows = {list("--exclude", "NAME", "nodes that stay as they are"),
               list("--op-types", "OP", "convert nodes of these operators only"),
               list("--exclude-op-types", "OP", "operators whose nodes stay as they are"),
               list("--layer-precisions", "LAYER:TYPE",
                    "the type of single nodes: float32, or the one that is converted to, even if the node should "
                    "rather stay float32; without a conversion, float32 for layers of a 16-bit model; of engines, "
                    "float32 or "
                    "bfloat16"),
               {.names = {"--precision-constraints"},
                .arity = Arity::one_or_more,
                .repeat = Repeat::append,
                .metavar = "LAYER:TYPE",
                .help =
                    "of engines, `obey`: an error where a layer cannot have its precision; `prefer`, the default: it "
                    "has another; `none`: precisions of layers are not used; also an older form of "
                    "--layer-precisions"}},
  };
}

convert::LayerChoice layer_choice(const Arguments& arguments) {
  return {.excluded = arguments.values("--exclude"),
          .excluded_ops = arguments.values("--exclude-op-types"),
          .only_ops = arguments.values("--op-types"),
          .kept = {}};
}

std::vector<LayerPrecision> layer_precisions(const Arguments& arguments) {
  std::vector<LayerPrecision> found;
  for (const std::string& text : arguments.values("--layer-precisions")) {
    found.push_back(parse("--layer-precisions", text));
  }
  for (const std::string& text : arguments.values("--precision-constraints")) {
    if (!is_engine_word(text)) found.push_back(parse("--precision-constraints", text));
  }
  return found;
}

std::vector<std::string> layers_without_integers(const Arguments& arguments) {
  std::vector<std::string> names;
  for (LayerPrecision& layer : layer_precisions(arguments)) {
    if (layer.dtype != tensor::DType::int8) names.push_back(std::move(layer.layer));
  }
  return names;
}

}  // namespace assay::cli
