#include "onnx/load.h"

#include <array>

#include <unistd.h>

#include "base/error.h"
#include "base/text.h"
#include "onnx/import.h"
#include "onnx/known_operators.h"
#include "onnx/text.h"

namespace assay::onnx {
namespace fs = std::filesystem;

namespace {

struct ForeignKind {
  std::string_view extension;
  std::string_view what;
};

constexpr std::array kForeignKinds = {
    ForeignKind{".textproto", "a protobuf text file"},
    ForeignKind{".txtpb", "a protobuf text file"},
    ForeignKind{".prototxt", "a protobuf text file"},
    ForeignKind{".pbtxt", "a protobuf text file"},
    ForeignKind{".json", "a JSON file"},
    ForeignKind{".onnxjson", "a JSON file"},
    ForeignKind{".ort", "an ONNX Runtime format file"},
};

void refuse_foreign(const fs::path& path) {
  const std::string extension = to_lower(path.extension().string());
  for (const ForeignKind& kind : kForeignKinds) {
    if (extension != kind.extension) continue;
    fail(ErrorCode::parse, "it is {} ({}), expected a binary ONNX model (.onnx) or ONNX text (.onnxtxt)", kind.what,
         extension);
  }
}

std::shared_ptr<const MappedFile> open(const fs::path& path) {
  return path == "-" ? MappedFile::read_stream(STDIN_FILENO, "standard input") : MappedFile::open(path);
}

ir::Model load_binary(const fs::path& path, const LoadOptions& options, Diagnostics& findings) {
  ImportOptions import_options;
  import_options.external_folder = options.external_folder.empty() ? path.parent_path() : options.external_folder;
  import_options.ignore_external_data = options.ignore_external_data;
  return import_document(Document(open(path)), import_options, findings);
}

ir::Model load_text(const fs::path& path, Diagnostics& findings) {
  const std::shared_ptr<const MappedFile> file = open(path);
  const Bytes bytes = file->bytes();
  return parse_text({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, findings);
}

}  // namespace

bool is_text_file(const fs::path& path) {
  const std::string extension = to_lower(path.extension().string());
  return extension == ".onnxtxt" || extension == ".onnxtext";
}

ir::Model load(const fs::path& path, const LoadOptions& options, Diagnostics& findings) {
  const std::string label = path == "-" ? "standard input" : printable(path.string());
  return with_frame([&] { return fmt::format("loading `{}`", label); },
                    [&] {
                      if (!options.is_onnx) refuse_foreign(path);
                      ir::Model model =
                          is_text_file(path) ? load_text(path, findings) : load_binary(path, options, findings);
                      check_operators(model, findings);
                      return model;
                    });
}

}  // namespace assay::onnx
