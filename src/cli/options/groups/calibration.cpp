#include "cli/options/groups/calibration.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "cli/convert/layers.h"
#include "cli/convert/weights.h"
#include "cli/options/values.h"

namespace assay::cli {
namespace {

const tasks::Calibrator& asked_calibrator(const Arguments& arguments) {
  const std::span<const tasks::Calibrator> known = tasks::calibrators();
  if (!arguments.has("--calib-base-cls")) {
    return *std::ranges::find(known, arguments.value("--calibration"), &tasks::Calibrator::word);
  }
  if (arguments.has("--calibration")) {
    fail(ErrorCode::usage, "--calibration and --calib-base-cls both choose the calibration: use one of them");
  }
  const std::string name = arguments.value("--calib-base-cls");
  const auto found = name.empty() ? known.end() : std::ranges::find(known, name, &tasks::Calibrator::peer);
  if (found != known.end()) return *found;
  std::vector<std::string> names;
  for (const tasks::Calibrator& calibrator : known) {
    if (!calibrator.peer.empty()) names.emplace_back(calibrator.peer);
  }
  fail(ErrorCode::usage, "--calib-base-cls: expected one of {}, seen `{}`", join(names, ", "), printable(name));
}

}  // namespace

OptionGroup calibration_group() {
  return {
      .title = "Calibration",
      .description = "How the ranges of activations are found for int8",
      .rows = {{.names = {"--calibration"},
                .choices = {"auto", "mse", "minmax", "percentile", "entropy"},
                .default_value = "auto",
                .help = "how ranges are chosen: by square error, extremes, percentile or divergence; auto: whichever "
                        "costs the layers and the model's outputs least, measured by nine further runs"},
               {.names = {"--calib-base-cls", "--calibration-base-class"},
                .metavar = "CLASS",
                .help = "the same as a class of TensorRT: IInt8EntropyCalibrator2, IInt8MinMaxCalibrator, ..."},
               {.names = {"--quantile"},
                .metavar = "SHARE",
                .default_value = "0.9999",
                .help = "with percentile: the share of the magnitudes that is kept"},
               {.names = {"--regression-cutoff"},
                .help = "accepted, without effect: of percentile, --quantile alone says what is cut",
                .hidden = true},
               {.names = {"--calibration-cache", "--calib"},
                .metavar = "FILE",
                .help =
                    "scales in TensorRT's form: read if it exists, and then no inputs are needed; otherwise written",
                .is_file = true},
               {.names = {"--calibrate-with"},
                .metavar = "BACKEND",
                .help =
                    "what runs the model: ref, onnxrt or openvino; default: onnxrt if it is available, otherwise ref"}},
  };
}

void read_calibration(const Arguments& arguments, tasks::Int8Request& request) {
  tasks::set_calibrator(asked_calibrator(arguments), request);
  request.quantile = parse_number("--quantile", arguments.value("--quantile"));
  if (!(request.quantile > 0 && request.quantile <= 1)) {
    fail(ErrorCode::usage, "--quantile: expected a share in (0, 1], seen {}", arguments.value("--quantile"));
  }
  request.cache = arguments.value("--calibration-cache");
  request.backend = arguments.value("--calibrate-with");
}

std::optional<tasks::EngineIntegers> engine_integers(const Arguments& arguments) {
  if (arguments.has("--weights")) {
    if (arguments.flag("--int8")) fail(ErrorCode::usage, "--weights and --int8: choose one of them");
    return weights_request(arguments);
  }
  if (arguments.has("--block-size")) fail(ErrorCode::usage, "--block-size needs --weights");
  if (!arguments.flag("--int8")) {
    if (arguments.has("--calibration-cache")) fail(ErrorCode::usage, "--calibration-cache needs --int8");
    return std::nullopt;
  }
  tasks::Int8Request request;
  read_calibration(arguments, request);
  request.options.choice.excluded = layers_without_integers(arguments);
  return request;
}

}  // namespace assay::cli
