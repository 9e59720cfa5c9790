#pragma once

#include <optional>
#include <string>

#include "base/error.h"
#include "ir/verify.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "support/wire_builder.h"

namespace assay::testing_support {

inline ir::Model import_file(std::shared_ptr<const MappedFile> file, Diagnostics& findings,
                             const onnx::ImportOptions& options = {}) {
  ir::Model model = onnx::import_document(onnx::Document(std::move(file)), options, findings);
  ir::check_structure(model);
  return model;
}

inline ir::Model import_bytes(std::string_view bytes, const onnx::ImportOptions& options = {}) {
  Diagnostics findings;
  return import_file(mapped(bytes), findings, options);
}

// The codes of the findings, each followed by a space.
inline std::string codes(const Diagnostics& findings) {
  std::string text;
  for (const Diagnostic& finding : findings.all()) text += std::string(finding.code) + ' ';
  return text;
}

inline std::string finding_codes(std::string_view bytes) {
  Diagnostics findings;
  import_file(mapped(bytes), findings);
  return codes(findings);
}

// What the model becomes as a file.
inline std::string saved(const ir::Model& model, const onnx::SaveOptions& options = {}) {
  const TemporaryFolder folder;
  onnx::save(model, folder.path() / "out.onnx", options);
  return folder.get("out.onnx");
}

// The Error that a call ends with; empty if it returns.
template <typename Fn>
std::optional<Error> error_of(Fn&& fn) {
  try {
    fn();
  } catch (const Error& error) {
    return error;
  }
  return std::nullopt;
}

inline std::optional<Error> import_error(std::string_view bytes, const onnx::ImportOptions& options = {}) {
  return error_of([&] { import_bytes(bytes, options); });
}

inline bool is_one_line(const Error& error) {
  const std::string line = error.line();
  return !line.empty() && line.find_first_of("\n\r") == std::string::npos;
}

// The line of an Error with this code; otherwise what happened instead.
inline std::string parse_error(std::string_view bytes, ErrorCode code = ErrorCode::parse) {
  const std::optional<Error> error = import_error(bytes);
  if (!error) return "no error";
  if (error->code() != code) return "another code: " + error->line();
  return is_one_line(*error) ? error->line() : "several lines";
}

inline ir::NodeId node_at(const ir::Model& model, size_t place, ir::GraphId graph = ir::GraphId{0}) {
  ir::NodeId id = model[graph].first;
  for (; place > 0; --place) id = model[id].next;
  return id;
}

}  // namespace assay::testing_support
