#include "tasks/sweep/variants.h"

#include <algorithm>
#include <array>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "convert/quantize/weight_only.h"
#include "exec/feeds.h"
#include "tasks/convert.h"
#include "tasks/edit.h"

namespace assay::tasks {
namespace {

constexpr std::string_view kOpset = "opset-";

std::optional<int64_t> opset_of(std::string_view variant) {
  if (!variant.starts_with(kOpset)) return std::nullopt;
  const std::string_view digits = variant.substr(kOpset.size());
  int64_t version = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), version);
  return error == std::errc() && end == digits.data() + digits.size() && version > 0 ? std::optional(version)
                                                                                     : std::nullopt;
}

EditRequest edit_of(const ir::Model& model) {
  EditRequest edit;
  edit.model.model = &model;
  edit.model.path = "the model";
  return edit;
}

HalfRequest half(tensor::DType type) {
  HalfRequest request;
  request.options.half = type;
  return request;
}

// `weights-TYPE`, perhaps with the way of rounding behind it.
std::optional<convert::WeightOptions> weights_of(std::string_view variant) {
  using convert::WeightAlgorithm;
  using convert::WeightType;
  constexpr std::string_view kPrefix = "weights-";
  struct Row {
    std::string_view word;
    WeightType type;
    uint32_t bits;
    uint64_t block_size;
  };
  constexpr std::array kTypes = {Row{"int8", WeightType::integer, 8, 0}, Row{"int4", WeightType::integer, 4, 32},
                                 Row{"fp8", WeightType::fp8, 8, 0},      Row{"nvfp4", WeightType::nvfp4, 4, 16},
                                 Row{"mxfp4", WeightType::mxfp4, 4, 32}, Row{"nf4", WeightType::nf4, 4, 64}};
  constexpr std::array kAlgorithms = {std::pair("", WeightAlgorithm::rtn), std::pair("-awq", WeightAlgorithm::awq),
                                      std::pair("-gptq", WeightAlgorithm::gptq)};
  for (const Row& row : kTypes) {
    for (const auto& [suffix, algorithm] : kAlgorithms) {
      if (variant != fmt::format("{}{}{}", kPrefix, row.word, suffix)) continue;
      convert::WeightOptions options;
      options.type = row.type;
      options.bits = row.bits;
      options.block_size = row.block_size;
      options.algorithm = algorithm;
      return options;
    }
  }
  return std::nullopt;
}

// The inputs among the first samples.
std::vector<tensor::NamedData> calibration_data(const ir::Model& model, SampleReader& samples, uint64_t count) {
  const exec::Signature signature = exec::signature_of(model);
  std::vector<tensor::NamedData> data;
  for (uint64_t i = 0; i < std::min(count, kCalibrationSamples); ++i) {
    tensor::NamedData sample = samples.read(i);
    std::erase_if(sample, [&](const tensor::NamedDatum& entry) {
      return exec::find_port(signature.inputs, entry.name) == nullptr;
    });
    data.push_back(std::move(sample));
  }
  return data;
}

ir::Model edited(const std::string& variant, const ir::Model& model, Observer& observer) {
  SanitizeRequest request;
  request.edit = edit_of(model);
  request.passes.simplifies = variant == "simplify";
  request.passes.fuses = variant == "fuse";
  if (const std::optional<int64_t> version = opset_of(variant)) set_opset(*version, request.passes);
  return sanitize(request, observer).model;
}

// The model in the operator set that has what its weights become, if it is older.
std::optional<ir::Model> newer_for(const convert::WeightOptions& options, const ir::Model& model, Observer& observer) {
  const int64_t needed = convert::needed_operator_set(options);
  const auto is_older = [&](const ir::OpsetImport& import) {
    const std::string_view domain = model.text(import.domain);
    return (domain.empty() || domain == "ai.onnx") && import.version < needed;
  };
  if (std::ranges::none_of(model.header().opset_imports, is_older)) return std::nullopt;
  return edited(fmt::format("{}{}", kOpset, needed), model, observer);
}

bool is_quantized(const std::string& variant) { return variant == "int8" || variant == "fp8"; }

Int8Request integers(const std::string& variant) {
  Int8Request request{.backend = "ref"};
  if (variant == "fp8") request.options.codes = convert::QdqCodes::float8;
  set_calibrator(*std::ranges::find(calibrators(), "minmax", &Calibrator::word), request);
  return request;
}

}  // namespace

bool is_calibrated(const std::string& variant) {
  const std::optional<convert::WeightOptions> weights = weights_of(variant);
  return is_quantized(variant) || (weights && weights->algorithm != convert::WeightAlgorithm::rtn);
}

std::vector<std::string> sweep_variants() {
  return {"fp16",          "bf16",          "int8",        "fp8",      "weights-int8", "weights-int4", "weights-fp8",
          "weights-nvfp4", "weights-mxfp4", "weights-nf4", "simplify", "fuse",         "opset-N"};
}

void check_variant(const std::string& variant) {
  const std::vector<std::string> known = sweep_variants();
  if (opset_of(variant) || weights_of(variant) ||
      (variant != known.back() && std::ranges::find(known, variant) != known.end()))
    return;
  const std::optional<std::string> near = did_you_mean(variant, known);
  throw Error(ErrorCode::usage,
              fmt::format("unknown variant `{}`; {}", printable(variant),
                          near ? fmt::format("did you mean `{}`?", *near) : "expected one of " + join(known, ", ")));
}

ir::Model make_variant(const std::string& variant, const ir::Model& model, const SweepRequest& request,
                       SampleReader& samples, uint64_t sample_count) {
  Observer nobody;
  ConvertRequest conversion;
  conversion.edit = edit_of(model);
  conversion.session = request.session;
  conversion.session.path.clear();
  if (is_calibrated(variant)) conversion.inputs.data = calibration_data(model, samples, sample_count);
  std::optional<ir::Model> newer;
  if (variant == "fp16") {
    conversion.conversion = half(tensor::DType::float16);
  } else if (variant == "bf16") {
    conversion.conversion = half(tensor::DType::bfloat16);
  } else if (const std::optional<convert::WeightOptions> options = weights_of(variant)) {
    newer = newer_for(*options, model, nobody);
    if (newer) conversion.edit = edit_of(*newer);
    conversion.conversion = WeightsRequest{.options = *options, .backend = "ref"};
  } else if (is_quantized(variant)) {
    conversion.conversion = integers(variant);
  } else {
    return edited(variant, model, nobody);
  }
  return convert(conversion, nobody).model;
}

}  // namespace assay::tasks
