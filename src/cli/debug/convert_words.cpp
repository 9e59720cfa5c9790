#include "cli/debug/convert_words.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "cli/options/groups/input_data.h"

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

std::string mend_words(const std::string& model, const results::Remedy& remedy) {
  std::string words = fmt::format("assay convert {}", printable(model));
  if (!remedy.widened.empty()) words += " --layer-precisions";
  for (const std::string& name : remedy.widened) words += fmt::format(" {}:float32", printable(name));
  if (!remedy.clipped.empty()) words += " --clip-casts";
  for (const std::string& name : remedy.clipped) words += " " + printable(name);
  return words + " -o FILE.onnx";
}

std::vector<std::string> input_words(const Arguments& arguments) {
  const OptionGroup inputs = input_data_group();
  std::vector<std::string> words;
  for (const Arguments::Occurrence& use : arguments.in_order()) {
    const std::string_view name = canonical_name(*use.row);
    if (std::ranges::find(inputs.rows, name, canonical_name) == inputs.rows.end()) continue;
    words.emplace_back(name);
    for (const std::string& value : use.values) words.push_back(printable(value));
  }
  return words;
}

}  // namespace assay::cli
