#include "onnx/export.h"

#include <list>

#include "base/error.h"
#include "base/text.h"
#include "onnx/export/graph.h"
#include "onnx/export/header.h"
#include "onnx/fields.h"
#include "onnx/import/external.h"

namespace assay::onnx {
namespace fs = std::filesystem;

namespace {

// Puts a ModelProto together: the source's fields in their order, with what was edited in place of what was there.
class ModelExporter {
 public:
  ModelExporter(const ir::Model& model, const Placement& placement)
      : model_(model), tensors_(model, placement), graphs_(model, tensors_), header_(model) {}

  Rope run();
  std::vector<ExternalPiece> take_external() { return tensors_.take_external(); }

 private:
  void source_field(Rope& rope, const Field& field);
  void graph(Rope& rope, const Field* source);
  void function(Rope& rope, const ir::Function& function);

  const ir::Model& model_;
  TensorExporter tensors_;
  GraphExporter graphs_;
  HeaderExporter header_;
  size_t next_function_ = 0;  // functions stand in the order of the file
};

Rope ModelExporter::run() {
  Rope rope;
  if (model_.source()) {
    FieldReader reader({model_.source()->bytes(), model_.source()->bytes().data()});
    for (Field field; reader.next(field);) source_field(rope, field);
  }
  if (!model_.source() || model_.is_header_edited()) header_.rest(rope);
  if (!model_.source()) graph(rope, nullptr);
  while (next_function_ < model_.functions().size()) function(rope, model_.functions()[next_function_++]);
  return rope;
}

void ModelExporter::source_field(Rope& rope, const Field& field) {
  if (field.number == field::model::graph) {
    graph(rope, &field);
  } else if (field.number == field::model::functions) {
    function(rope, model_.functions()[next_function_++]);
  } else if (HeaderExporter::is_header(field.number) && model_.is_header_edited()) {
    header_.source_field(rope, field);
  } else {
    rope.borrow(field.whole);
  }
}

void ModelExporter::graph(Rope& rope, const Field* source) {
  if (source && graphs_.is_clean(model_.main_graph())) {
    rope.borrow(source->whole);
  } else {
    rope.message_field(field::model::graph, graphs_.graph(model_.main_graph()));
  }
}

void ModelExporter::function(Rope& rope, const ir::Function& function) {
  if (graphs_.is_clean(function)) {
    rope.borrow(model_.source()->bytes().subspan(function.source.offset, function.source.size));
  } else {
    rope.message_field(field::model::functions, graphs_.function(function));
  }
}

// The files with weights, complete before the first of them gets its name; of very many, those that are complete get
// their names first, because a process may not have so many open. Pieces of one file follow each other.
class ExternalWriter {
 public:
  ExternalWriter(const fs::path& folder, const std::vector<ExternalPiece>& pieces) {
    for (const ExternalPiece& piece : pieces) {
      OutputFile& file = open(folder / piece.file);
      pad(file, piece.offset);
      file.write(piece.storage->bytes());
    }
  }
  void commit() {
    for (OutputFile& file : files_) file.commit();
    files_.clear();
  }

 private:
  static constexpr size_t kMostOpen = 128;

  OutputFile& open(const fs::path& path) {
    if (!files_.empty() && last_ == path) return files_.back();
    if (files_.size() == kMostOpen) commit();
    last_ = path;
    return files_.emplace_back(path);
  }
  static void pad(OutputFile& file, uint64_t offset) {
    static constexpr std::byte kZeros[4096] = {};
    while (file.position() < offset) {
      file.write(Bytes(kZeros).first(std::min<uint64_t>(sizeof(kZeros), offset - file.position())));
    }
  }

  std::list<OutputFile> files_;
  fs::path last_;
};

bool is_same_folder(const fs::path& a, const fs::path& b) {
  std::error_code error;
  return fs::weakly_canonical(a.parent_path() / ".", error) == fs::weakly_canonical(b.parent_path() / ".", error);
}

void check_placement(const Placement& placement, const fs::path& path) {
  constexpr uint64_t kMostAlignment = uint64_t{1} << 30;
  if (fs::path(placement.external_name).lexically_normal() == path.filename()) {
    fail(ErrorCode::usage, "the weights would be written over the model: both are named `{}`",
         printable(placement.external_name));
  }
  if (placement.alignment > kMostAlignment) {
    fail(ErrorCode::usage, "the alignment {} of external data is too large, expected at most {}", placement.alignment,
         kMostAlignment);
  }
}

Placement placement_for(const ir::Model& model, const fs::path& path, const SaveOptions& options) {
  Placement placement;
  placement.threshold = options.threshold;
  placement.alignment = options.alignment;
  placement.one_file = options.one_file;
  placement.leaves_folder =
      !model.source() || !is_same_folder(fs::absolute(model.source()->path()), fs::absolute(path));
  if (options.external_name) {
    placement.external_name =
        options.external_name->empty() ? path.filename().string() + ".data" : *options.external_name;
    check_location(placement.external_name);
  }
  check_placement(placement, path);
  return placement;
}

}  // namespace

SaveReport save(const ir::Model& model, const fs::path& path, const SaveOptions& options) {
  Placement placement = placement_for(model, path, options);
  std::optional<ModelExporter> exporter(std::in_place, model, placement);
  Rope rope = exporter->run();
  const bool rewritten = !model.source() || rope.size() != model.source()->size() || model.is_edited();
  if (rewritten && rope.size() > options.single_file_limit && placement.external_name.empty()) {
    placement.external_name = path.filename().string() + ".data";
    exporter.emplace(model, placement);
    rope = exporter->run();
  }
  const std::vector<ExternalPiece> pieces = exporter->take_external();
  ExternalWriter external(path.parent_path(), pieces);
  OutputFile file(path);
  rope.write_to(file, model.source().get());
  external.commit();
  file.commit();
  SaveReport report;
  if (!pieces.empty()) report.external_name = placement.external_name;
  for (const ExternalPiece& piece : pieces) report.external_bytes += piece.storage->size_bytes();
  return report;
}

}  // namespace assay::onnx
