// Arbitrary bytes imported as a model and put through every pass, the newest operator set and the conversion to
// float16 or bfloat16: only Error may come out of it, the model stays sound, and what is written loads again.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "calibrate/range.h"
#include "ir/verify.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "passes/fold/fold_options.h"
#include "passes/pipelines.h"
#include "support/fuzzing.h"

namespace {

using namespace assay;
using namespace testing_support;

ir::Model import_bytes(Bytes bytes, Diagnostics& findings) {
  onnx::ImportOptions options;
  options.ignore_external_data = true;
  return onnx::import_document(onnx::Document(MappedFile::from_bytes(bytes, "source")), options, findings);
}

void rewrite(ir::Model& model, std::string_view to_half) {
  static constexpr std::array<std::string_view, 1> kSort = {"sort"};
  const std::array further = {std::string_view("inline-functions"),
                              std::string_view("unroll-loops"),
                              std::string_view("outline-repeats"),
                              std::string_view("change-opset"),
                              std::string_view("compress-weights"),
                              std::string_view("insert-qdq"),
                              to_half,
                              std::string_view("dequantize-weights"),
                              std::string_view("remove-qdq")};
  ir::Rewriter rewriter(model);
  passes::Options options;
  options.of<passes::FoldOptions>().size_threshold_bytes = 1 << 16;
  for (uint32_t i = 0; i < model.value_slots(); ++i) {
    options.of<calibrate::Ranges>()[std::string(model.text(model[ir::ValueId{i}].name))] = {-4, 4};
  }
  passes::Pipeline pipeline(model, rewriter, options);
  pipeline.run(kSort);
  pipeline.run_until_stable(passes::simplify_passes(), 5);
  pipeline.run(passes::fusion_passes());
  pipeline.run(further);
}

void run(Bytes bytes) {
  Diagnostics findings;
  ir::Model model = import_bytes(bytes, findings);
  if (findings.error_count() > 0) return;
  try {
    rewrite(model, bytes.size() % 2 == 0 ? "to-float16" : "to-bfloat16");
  } catch (const Error&) {
  }
  ir::check_structure(model);
  const onnx::EncodedModel encoded = onnx::encode(model);
  Diagnostics again;
  ir::check_structure(import_bytes(encoded.bytes, again));
  require(again.error_count() == 0, "a rewritten model is sound as a file");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  try {
    run(std::as_bytes(std::span(data, size)));
  } catch (const Error&) {
  }
  return 0;
}
