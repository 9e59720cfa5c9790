// Serves the interop tests of ONNX text: model_text MODE INPUT OUTPUT
//   to-text    binary model -> text
//   to-binary  text -> binary model
//   reprint    text -> text
// What is wrong in the graph itself is written to standard error; it is no failure.
#include <cstdio>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "onnx/export.h"
#include "onnx/import.h"
#include "onnx/text.h"

namespace {

using namespace assay;

ir::Model read_binary(const char* path, Diagnostics& findings) {
  const onnx::Document document(MappedFile::open(path));
  return onnx::import_document(document, {.external_folder = std::filesystem::path(path).parent_path()}, findings);
}

ir::Model read_text(const char* path, Diagnostics& findings) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  const Bytes bytes = file->bytes();
  return onnx::parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, findings);
}

void write_text(const ir::Model& model, const char* path) {
  OutputFile file(path);
  file.write(onnx::to_text(model));
  file.commit();
}

void run(std::string_view mode, const char* input, const char* output) {
  Diagnostics findings;
  if (mode == "to-text") {
    write_text(read_binary(input, findings), output);
  } else if (mode == "to-binary") {
    onnx::save(read_text(input, findings), output);
  } else if (mode == "reprint") {
    write_text(read_text(input, findings), output);
  } else {
    fail(ErrorCode::usage, "unknown mode `{}`", mode);
  }
  for (const Diagnostic& finding : findings.all()) std::fprintf(stderr, "finding: %s\n", finding.message.c_str());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) {
    std::fprintf(stderr, "usage: model_text to-text|to-binary|reprint INPUT OUTPUT\n");
    return 2;
  }
  try {
    run(argv[1], argv[2], argv[3]);
  } catch (const Error& error) {
    std::fprintf(stderr, "error: %s\n", error.line().c_str());
    return exit_status(error.code());
  }
  return 0;
}
