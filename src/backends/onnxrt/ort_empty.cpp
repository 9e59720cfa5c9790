#include "backends/onnxrt/ort_empty.h"

#include "backends/onnxrt/ort_options.h"
#include "base/error.h"
#include "onnx/export.h"
#include "onnx/text.h"

namespace assay::backends::ort {
namespace {

// `seq(float[])`; empty for types that neither sequences nor optionals hold.
std::string type_text(const ir::TypeTable& types, ir::TypeId id) {
  if (!id) return {};
  const ir::Type& type = types[id];
  if (type.kind == ir::TypeKind::tensor) return fmt::format("{}[]", tensor::onnx_name(type.dtype));
  const std::string element = type_text(types, type.element);
  if (element.empty() || type.kind == ir::TypeKind::map) return {};
  return fmt::format("{}({})", type.kind == ir::TypeKind::sequence ? "seq" : "optional", element);
}

std::string model_text(const ir::TypeTable& types, ir::TypeId id) {
  const std::string type = type_text(types, id);
  const ir::TypeId element = type.empty() ? ir::TypeId() : types[id].element;
  if (!element) fail(ErrorCode::unsupported, "onnxrt: ONNX Runtime cannot be given an empty value of this type");
  const std::string node = types[id].kind == ir::TypeKind::sequence
                               ? fmt::format("SequenceEmpty <dtype: int = {}>", static_cast<int>(types[element].dtype))
                               : fmt::format("Optional <type: type_proto = {}>", type_text(types, element));
  return fmt::format("<ir_version: 8, opset_import: [\"\" : 15]> g () => ({} y) {{ y = {} () }}", type, node);
}

}  // namespace

Owned<Value> make_empty(const Library& library, const ir::TypeTable& types, ir::TypeId type) {
  Diagnostics findings;
  const onnx::EncodedModel model = onnx::encode(onnx::parse_text(model_text(types, type), findings));
  const Owned<SessionOptions> options = make_options(library, {});
  Session* made_session = nullptr;
  library.call(kCreateSessionFromArray, library.env(), model.bytes.data(), model.bytes.size(), options.get(),
               &made_session);
  const Owned<Session> session = library.own(made_session);
  const char* const output = "y";
  Value* value = nullptr;
  library.call(kRun, session.get(), nullptr, nullptr, nullptr, 0, &output, 1, &value);
  return library.own(value);
}

}  // namespace assay::backends::ort
