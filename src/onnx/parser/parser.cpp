#include <fmt/core.h>

#include "ir/verify.h"
#include "onnx/parser/graphs.h"
#include "onnx/text.h"

namespace assay::onnx {
namespace {

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Parses a whole model: `<header> graph function…`.
class ModelParser {
 public:
  ModelParser(std::string_view text, ir::Model& model, Diagnostics& findings)
      : lexer_(text), edit_(model), graphs_(lexer_, model, edit_, findings) {}

  void parse() {
    if (lexer_.accept('<')) parse_header(edit_.header());
    graphs_.parse_main_graph();
    while (!lexer_.at_end()) graphs_.parse_function();
  }

 private:
  void parse_header(ir::Header& header);
  void parse_field(ir::Header& header);
  bool parse_text_field(std::string_view key, ir::Header& header);
  Metadata parse_metadata();

  TextLexer lexer_;
  ir::Edit edit_;
  GraphParser graphs_;
};

void ModelParser::parse_header(ir::Header& header) {
  do {
    parse_field(header);
  } while (lexer_.accept(','));
  lexer_.expect('>');
}

void ModelParser::parse_field(ir::Header& header) {
  const size_t start = lexer_.offset();
  const std::string_view key = lexer_.expect_identifier("ir_version, opset_import or another field of a model");
  lexer_.expect(':');
  if (key == "ir_version") {
    header.ir_version = lexer_.expect_integer();
  } else if (key == "model_version") {
    header.model_version = lexer_.expect_integer();
  } else if (key == "opset_import") {
    header.opset_imports = graphs_.parse_opsets();
  } else if (key == "metadata_props") {
    header.metadata = parse_metadata();
  } else if (!parse_text_field(key, header)) {
    lexer_.fail_at(start, fmt::format("expected ir_version, opset_import, producer_name, producer_version, domain, "
                                      "model_version, doc_string or metadata_props, found `{}`",
                                      key));
  }
}

bool ModelParser::parse_text_field(std::string_view key, ir::Header& header) {
  std::string* field = nullptr;
  if (key == "producer_name") field = &header.producer_name;
  if (key == "producer_version") field = &header.producer_version;
  if (key == "domain") field = &header.domain;
  if (key == "doc_string") field = &header.doc;
  if (field) *field = lexer_.expect_quoted("a quoted text");
  return field != nullptr;
}

Metadata ModelParser::parse_metadata() {
  Metadata metadata;
  lexer_.expect('[');
  if (lexer_.accept(']')) return metadata;
  do {
    std::string key(lexer_.expect_quoted("a quoted key"));
    lexer_.expect(':');
    metadata.emplace_back(std::move(key), lexer_.expect_quoted("a quoted value"));
  } while (lexer_.accept(','));
  lexer_.expect(']');
  return metadata;
}

}  // namespace

ir::Model parse_text(std::string_view text, Diagnostics& findings) {
  ir::Model model;
  ModelParser(text, model, findings).parse();
  ir::verify(model, findings);
  return model;
}

}  // namespace assay::onnx
