#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ir/model.h"
#include "onnx/export/rope.h"
#include "onnx/wire.h"

namespace assay::onnx {

// The message that a range of the source holds.
Message source_message(const ir::Model& model, const ir::SourceRange& range);

// The last field of this number; false if there is none.
bool find_field(const Message& message, uint32_t number, Field& found);

// The list fields of one number in a source message, found again by what they are about, so that items which an edit of
// the list left alone keep their bytes.
class SourceFields {
 public:
  using Key = std::string (*)(const Message&);
  SourceFields() = default;
  SourceFields(const Message& message, uint32_t number, Key key);

  // The field with this key, best the one at the same place of the list; null if there is none.
  const Field* find(size_t place, std::string_view key) const;

 private:
  std::vector<Field> fields_;
  std::vector<std::string> keys_;
  std::unordered_map<std::string_view, size_t> first_;
};

// The name in a ValueInfoProto or AttributeProto (field 1 of both).
std::string name_key(const Message& message);
// Domain and version of an OperatorSetIdProto; key and value of a StringStringEntryProto.
std::string opset_key(const Message& message);
std::string opset_key(std::string_view domain, int64_t version);
std::string entry_key(const Message& message);
std::string entry_key(std::string_view key, std::string_view value);

// Writes a text field as the source has it where the text is the same, otherwise anew; an empty text is left out.
void kept_text(Rope& rope, const Message* source, uint32_t number, std::string_view text);

}  // namespace assay::onnx
