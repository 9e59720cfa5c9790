#include "onnx/export.h"

#include <limits>
#include <list>
#include <unordered_set>

#include "base/error.h"
#include "base/paths.h"
#include "base/text.h"
#include "onnx/export/graph.h"
#include "onnx/export/header.h"
#include "onnx/fields.h"
#include "onnx/import/external.h"
#include "onnx/text.h"
#include "tensor/storage_file.h"

namespace assay::onnx {
namespace fs = std::filesystem;

namespace {

// Puts a ModelProto together: the source's fields in their order, with what was edited in place of what was there.
class ModelExporter {
 public:
  ModelExporter(const ir::Model& model, const Placement& placement, const Additions& additions)
      : model_(model),
        additions_(additions),
        tensors_(model, placement),
        graphs_(model, tensors_),
        header_(model, additions.versions) {}

  Rope run();
  std::vector<ExternalPiece> take_external() { return tensors_.take_external(); }

 private:
  void source_field(Rope& rope, const Field& field);
  void graph(Rope& rope, const Field* source);
  bool is_next_function(const Field& field) const;
  void function(Rope& rope, const ir::Function& function);
  bool is_header_new() const { return model_.is_header_edited() || additions_.versions != Versions(); }

  const ir::Model& model_;
  const Additions& additions_;
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
  if (!model_.source()) {
    header_.before_graph(rope);
    graph(rope, nullptr);
  }
  if (!model_.source() || is_header_new()) header_.rest(rope);
  while (next_function_ < model_.functions().size()) function(rope, model_.functions()[next_function_++]);
  return rope;
}

void ModelExporter::source_field(Rope& rope, const Field& field) {
  if (field.number == field::model::graph) {
    graph(rope, &field);
  } else if (field.number == field::model::functions) {
    if (is_next_function(field)) function(rope, model_.functions()[next_function_++]);
  } else if (HeaderExporter::is_header(field.number) && is_header_new()) {
    header_.source_field(rope, field);
  } else {
    rope.borrow(field.whole);
  }
}

// Otherwise the function of this field was erased.
bool ModelExporter::is_next_function(const Field& field) const {
  if (next_function_ == model_.functions().size()) return false;
  const ir::SourceRange& source = model_.functions()[next_function_].source;
  return source.present && model_.source()->bytes().data() + source.offset == field.whole.data();
}

void ModelExporter::graph(Rope& rope, const Field* source) {
  const bool is_clean = source && graphs_.is_clean(model_.main_graph());
  if (is_clean && additions_.outputs.empty()) return rope.borrow(source->whole);
  Rope content;
  is_clean ? content.borrow(source->payload) : content.append(graphs_.graph(model_.main_graph()));
  for (const ir::ValueId id : additions_.outputs) {
    const ir::Value& value = model_[id];
    tensors_.value_info(content, field::graph::output, model_.text(value.name), value.type);
  }
  rope.message_field(field::model::graph, std::move(content));
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
      tensor::write_to(file, *piece.storage);
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

// Without `..` and links, as far as that is there.
fs::path resolved(const fs::path& path) {
  std::error_code error;
  return fs::weakly_canonical(absolute_path(path), error);
}

// The folder of the model's external data; nullopt for a model that is in no file.
std::optional<fs::path> external_folder(const ir::Model& model, const SaveOptions& options) {
  if (!model.source()) return std::nullopt;
  const fs::path beside = absolute_path(model.source()->path()).parent_path();
  return resolved(options.external_folder.empty() ? beside : options.external_folder);
}

// Files with weights are written over in place only: with the model that refers to them.
void check_overwriting(const ir::Model& model, const fs::path& folder, const fs::path& path, std::string_view data) {
  const bool is_in_place = resolved(model.source()->path()) == resolved(path);
  const fs::path written = resolved(path);
  const fs::path written_data = data.empty() || is_in_place ? fs::path() : resolved(path.parent_path() / data);
  std::unordered_set<std::string_view> seen;
  for (uint32_t i = 0; i < model.tensor_slots(); ++i) {
    const std::string_view location = model[ir::TensorId{i}].external_location;
    if (location.empty() || !seen.insert(location).second) continue;
    const fs::path weights = resolved(folder / location);
    if (weights != written && weights != written_data) continue;
    fail(ErrorCode::usage, "`{}` would be written over: it holds weights of `{}`; expected another name",
         printable(weights.filename().string()), printable(model.source()->path().string()));
  }
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
  const std::optional<fs::path> folder = external_folder(model, options);
  placement.leaves_folder = folder != resolved(absolute_path(path).parent_path());
  if (options.external_name) {
    placement.external_name =
        options.external_name->empty() ? path.filename().string() + ".data" : *options.external_name;
    check_location(placement.external_name);
  }
  check_placement(placement, path);
  if (folder) check_overwriting(model, *folder, path, placement.one_file ? placement.external_name : "");
  return placement;
}

}  // namespace

struct PendingSave::Files {
  Files(const fs::path& path, const std::vector<ExternalPiece>& pieces)
      : external(path.parent_path(), pieces), model(path) {}
  ExternalWriter external;
  OutputFile model;
};

PendingSave::PendingSave(const ir::Model& model, const fs::path& path, const SaveOptions& options) {
  if (is_text_file(path)) {
    if (options.external_name) fail(ErrorCode::usage, "a model in ONNX's text syntax has no external data");
    files_ = std::make_unique<Files>(path, std::vector<ExternalPiece>());
    files_->model.write(to_text(model, {.most_elements = std::numeric_limits<uint64_t>::max()}));
    return;
  }
  Placement placement = placement_for(model, path, options);
  std::optional<ModelExporter> exporter(std::in_place, model, placement, options.additions);
  Rope rope = exporter->run();
  const bool rewritten = !model.source() || rope.size() != model.source()->size() || model.is_edited();
  if (rewritten && rope.size() > options.single_file_limit && placement.external_name.empty()) {
    placement.external_name = path.filename().string() + ".data";
    exporter.emplace(model, placement, options.additions);
    rope = exporter->run();
  }
  const std::vector<ExternalPiece> pieces = exporter->take_external();
  files_ = std::make_unique<Files>(path, pieces);
  rope.write_to(files_->model, model.source().get());
  if (!pieces.empty()) report_.external_name = placement.external_name;
  for (const ExternalPiece& piece : pieces) report_.external_bytes += piece.storage->size_bytes();
}

PendingSave::PendingSave(PendingSave&&) noexcept = default;
PendingSave::~PendingSave() = default;

void PendingSave::commit() {
  files_->external.commit();
  files_->model.commit();
}

SaveReport save(const ir::Model& model, const fs::path& path, const SaveOptions& options) {
  PendingSave pending(model, path, options);
  pending.commit();
  return pending.report();
}

EncodedModel encode(const ir::Model& model, const EncodeOptions& options) {
  constexpr uint64_t kMostBytes = (uint64_t{1} << 31) - 1;
  EncodedModel result;
  Placement placement;
  placement.leaves_folder = !options.keeps_external;
  if (options.detach_above_bytes) {
    for (const ir::ValueId id : model[model.main_graph()].initializers) {
      const ir::TensorEntry& entry = model[model[id].constant];
      const tensor::Tensor& tensor = entry.tensor;
      const bool stays_outside = options.keeps_external && !entry.external_location.empty() && !entry.dirty;
      if (stays_outside || entry.sparse || entry.stripped || tensor::bit_width(tensor.dtype()) == 0) continue;
      if (tensor.size_bytes() <= *options.detach_above_bytes) continue;
      placement.detached.insert(&entry);
      result.detached.push_back({std::string(model.text(model[id].name)), tensor});
    }
  }
  Rope rope = ModelExporter(model, placement, options.additions).run();
  if (rope.size() > kMostBytes) {
    fail(ErrorCode::limit, "the model takes {} in one piece, more than any reader of ONNX accepts",
         human_bytes(rope.size()));
  }
  result.bytes = rope.to_bytes();
  return result;
}

}  // namespace assay::onnx
