#include "cli/debug/convert_words.h"

#include <fmt/format.h>

#include "base/text.h"

namespace assay::cli {

std::string convert_words(const std::string& model, const std::string& precision,
                          const std::vector<std::string>& excluded, const std::vector<std::string>& more) {
  std::string words = fmt::format("assay convert {} {}", printable(model),
                                  precision == "int8"      ? "--int8"
                                  : precision == "float16" ? "--fp-to-fp16"
                                                           : "--fp-to-bf16");
  for (const std::string& word : more) words += " " + word;
  if (!excluded.empty()) words += " --exclude";
  for (const std::string& name : excluded) words += " " + printable(name);
  return words + " -o FILE.onnx";
}

}  // namespace assay::cli
