#include "cli/options/remedies.h"

#include <algorithm>
#include <array>

namespace assay::cli {
namespace {

// Settings whose option alone does not say what it does, or that have no option of their name.
struct Remedy {
  std::string_view setting;
  std::string_view option;  // that the command must have; empty: the remedy is another command
  std::string_view text;
};

constexpr std::array kRemedies = {
    Remedy{"input_shapes", "--input-shapes", "{} sets another"},
    Remedy{"ignore_external_data", "--ignore-external-data", "{} goes on without weights"},
    Remedy{"load_inputs", "--load-inputs", "{} or --data-loader-script"},
    Remedy{"real_shapes", "--input-shapes", "{} gives real ones"},
    Remedy{"real_inputs", "--load-inputs", "{} gives real ones"},
    Remedy{"input_types", "--inputs", "as in {} NAME:[1,3]:float32"},
    Remedy{"nb_rank", "--nb-rank", "{}, or nb_rank of hints"},
    Remedy{"python", "--python", "see `{}`"},
    Remedy{"feed", "--feed", "{} OUT=IN says it by hand"},
    Remedy{"i_idx", "--i-idx", "with {}"},
    Remedy{"o_idx", "--o-idx", "with {}"},
    Remedy{"cp_type", "--cp-type", "use {} native"},
    Remedy{"trt_engine", "--trt-engine", "{} runs an engine beside a model"},
    Remedy{"trt_opt_shapes", "--trt-opt-shapes", "{} gives some"},
    Remedy{"shape_inference", "--shape-inference", "or use {}"},
    Remedy{"replaces_files", "--force", "name another file with --output, or use {} to overwrite it"},
    Remedy{"accuracy_results", "", "`run --save-accuracy-results` writes them"},
    Remedy{"inputs_of_outputs", "", "`assay data to-input` converts them to inputs"},
    Remedy{"library_places", "", "`assay doctor -v` lists the places"},
    Remedy{"all_values_saved", "", "`assay run --onnx-outputs mark all --save-outputs FILE` saves all"},
    Remedy{"tensorrt_device", "", "`convert --tensorrt -o FILE` builds engines without running them"},
    Remedy{"fp16_in_model", "", "`--fp-to-fp16` writes float16 into the model first"},
    Remedy{"bf16_in_model", "", "`convert --fp-to-bf16 -o FILE.onnx` writes bfloat16 into the model"},
    Remedy{"int8_in_model", "", "`convert --int8 -o FILE.onnx` writes quantizers into the model"},
    Remedy{"fp8_in_model", "", "quantizers in the model decide where float8 is used"},
    Remedy{"tf_outputs", "--tf-outputs", "{} chooses outputs"},
    Remedy{"keras_file", "", "`run --tf --save-pb FILE.pb` makes a frozen graph of it"},
    Remedy{"opset", "", "`surgeon sanitize --opset` writes an older one"},
    Remedy{"inline_functions", "",
           "`assay surgeon sanitize MODEL --passes inline-functions -o FILE` replaces the calls by their nodes"},
};

std::string option_name(std::string_view setting) {
  std::string option = "--" + std::string(setting);
  std::ranges::replace(option, '_', '-');
  return option;
}

}  // namespace

std::string option_of(std::string_view setting, const Arguments& arguments) {
  std::string option = option_name(setting);
  const std::string_view known = arguments.option_named(option);
  return known.empty() ? option : std::string(known);
}

std::string remedy_text(std::string_view setting, const Arguments& arguments) {
  if (setting.empty()) return {};
  const auto remedy = std::ranges::find(kRemedies, setting, &Remedy::setting);
  const bool is_listed = remedy != kRemedies.end();
  const std::string name = is_listed ? std::string(remedy->option) : option_name(setting);
  const std::string_view option = arguments.option_named(name);
  if (option.empty() && !name.empty()) return {};
  std::string text(is_listed ? remedy->text : "{}");
  if (const size_t hole = text.find("{}"); hole != std::string::npos) text.replace(hole, 2, option);
  return " (" + text + ")";
}

std::string line_of(const Error& error, const Arguments& arguments) {
  const std::string line = error.line() + remedy_text(error.remedy(), arguments);
  return error.setting().empty() ? line : option_of(error.setting(), arguments) + ": " + line;
}

}  // namespace assay::cli
