#include "cli/convert/mend.h"

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/half.h"
#include "cli/convert/int8.h"
#include "cli/convert/layers.h"
#include "cli/convert/weights.h"

namespace assay::cli {
namespace {

bool has_conversion(const Arguments& arguments) {
  return !half_suffix(arguments, Target::onnx).empty() || !int8_suffix(arguments, Target::onnx).empty() ||
         !weights_suffix(arguments, Target::onnx).empty();
}

// Layers of 16 bits that are computed in float32 in a model that is not converted.
std::vector<std::string> widened_layers(const Arguments& arguments) {
  std::vector<std::string> names;
  for (LayerPrecision& layer : layer_precisions(arguments)) {
    if (layer.dtype != tensor::DType::float32) {
      fail(ErrorCode::usage, "layer `{}` is to be {}, but the model is not converted (--fp-to-fp16, --fp-to-bf16)",
           printable(layer.layer), tensor::name(layer.dtype));
    }
    names.push_back(std::move(layer.layer));
  }
  return names;
}

}  // namespace

std::string_view mend_suffix(const Arguments& arguments, Target target) {
  if (target == Target::engine) return {};
  const bool widens = target == Target::onnx && !has_conversion(arguments) && !widened_layers(arguments).empty();
  return widens || arguments.has("--clip-casts") ? "mended" : "";
}

std::vector<OptionGroup> mend_groups() {
  return {{.title = "Mending",
           .description = "Edits of models that come with 16-bit floats; --layer-precisions LAYER:float32 without a "
                          "conversion, and with an ONNX output, is one too: Casts are put around the layers",
           .rows = {{.names = {"--clip-casts"},
                     .arity = Arity::one_or_more,
                     .repeat = Repeat::append,
                     .metavar = "NAME",
                     .help = "Casts to float16, bfloat16 or float32 before which a Clip cuts off what would become "
                             "infinite; names as in --exclude"}}}};
}

void request_mend(const Arguments& arguments, tasks::ConvertRequest& request) {
  request.conversion = tasks::MendRequest{widened_layers(arguments), arguments.values("--clip-casts")};
}

}  // namespace assay::cli
