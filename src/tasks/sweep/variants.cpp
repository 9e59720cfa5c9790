#include "tasks/sweep/variants.h"

#include <algorithm>
#include <charconv>

#include "base/error.h"
#include "base/text.h"
#include "exec/feeds.h"
#include "tasks/convert.h"
#include "tasks/edit.h"

namespace assay::tasks {
namespace {

constexpr uint64_t kCalibrationSamples = 32;
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

WeightsRequest weights(uint32_t bits) {
  WeightsRequest request;
  request.options.bits = bits;
  if (bits < 8) request.options.block_size = 32;
  return request;
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

}  // namespace

bool is_calibrated(const std::string& variant) { return variant == "int8"; }

std::vector<std::string> sweep_variants() {
  return {"fp16", "bf16", "int8", "weights-int8", "weights-int4", "simplify", "fuse", "opset-N"};
}

void check_variant(const std::string& variant) {
  const std::vector<std::string> known = sweep_variants();
  if (opset_of(variant) || (variant != known.back() && std::ranges::find(known, variant) != known.end())) return;
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
  if (variant == "fp16") {
    conversion.conversion = half(tensor::DType::float16);
  } else if (variant == "bf16") {
    conversion.conversion = half(tensor::DType::bfloat16);
  } else if (variant == "weights-int8" || variant == "weights-int4") {
    conversion.conversion = weights(variant == "weights-int8" ? 8 : 4);
  } else if (variant == "int8") {
    Int8Request int8{.backend = "ref"};
    set_calibrator(*std::ranges::find(calibrators(), "minmax", &Calibrator::word), int8);
    conversion.conversion = std::move(int8);
    conversion.inputs.data = calibration_data(model, samples, sample_count);
  } else {
    return edited(variant, model, nobody);
  }
  return convert(conversion, nobody).model;
}

}  // namespace assay::tasks
