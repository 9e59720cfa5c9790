// Any text: parse_text gives a model or an Error, and a model that was printed is parsed to one that prints the same.
#include <cstdint>
#include <cstdlib>
#include <optional>

#include "base/error.h"
#include "ir/verify.h"
#include "onnx/text.h"

namespace {

using namespace assay;

std::optional<ir::Model> parse(std::string_view text) {
  Diagnostics findings;
  try {
    return onnx::parse_text(text, findings);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::parse || !error.message().starts_with("line ")) std::abort();
    return std::nullopt;
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::optional<ir::Model> model = parse({reinterpret_cast<const char*>(data), size});
  if (!model) return 0;
  ir::check_structure(*model);
  const std::string printed = onnx::to_text(*model);
  const std::optional<ir::Model> again = parse(printed);
  if (!again || onnx::to_text(*again) != printed) std::abort();
  return 0;
}
