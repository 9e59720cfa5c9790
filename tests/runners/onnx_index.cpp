#include "runners/onnx_index.h"

#include <rapidjson/document.h>

#include "base/error.h"
#include "base/files.h"

namespace assay::cases {
namespace {

const rapidjson::Value& member(const rapidjson::Value& entry, const char* name) {
  const bool has = entry.IsObject() && entry.HasMember(name);
  if (!has) fail(ErrorCode::parse, "a test of the index has no `{}`", name);
  return entry[name];
}

std::string text(const rapidjson::Value& entry, const char* name) {
  const rapidjson::Value& value = member(entry, name);
  if (!value.IsString()) fail(ErrorCode::parse, "`{}` of a test of the index is no text", name);
  return value.GetString();
}

double number(const rapidjson::Value& entry, const char* name) {
  const rapidjson::Value& value = member(entry, name);
  if (!value.IsNumber() || value.GetDouble() < 0)
    fail(ErrorCode::parse, "`{}` of a test of the index is no number", name);
  return value.GetDouble();
}

}  // namespace

std::vector<OnnxTest> read_onnx_index(const std::filesystem::path& path) {
  const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
  rapidjson::Document document;
  document.Parse(reinterpret_cast<const char*>(file->bytes().data()), file->bytes().size());
  if (document.HasParseError() || !document.IsArray()) {
    fail(ErrorCode::parse, "`{}` is no list of tests", path.string());
  }
  std::vector<OnnxTest> tests;
  for (const rapidjson::Value& entry : document.GetArray()) {
    tests.push_back({text(entry, "kind"), text(entry, "name"), text(entry, "folder"), number(entry, "rtol"),
                     number(entry, "atol"), static_cast<size_t>(number(entry, "data_sets"))});
  }
  return tests;
}

}  // namespace assay::cases
