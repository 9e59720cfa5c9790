#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <rapidjson/rapidjson.h>

#include "base/error.h"
#include "base/json.h"
#include "cli/options/groups/json.h"

namespace assay::cli {
namespace {

struct Library {
  std::string name, version;
};

std::vector<Library> libraries() {
  const int fmt_version = FMT_VERSION;
  return {{"fmt", fmt::format("{}.{}.{}", fmt_version / 10000, fmt_version / 100 % 100, fmt_version % 100)},
          {"RapidJSON", RAPIDJSON_VERSION_STRING},
          {"glibc", gnu_get_libc_version()},
          {"libstdc++", fmt::format("{} ({})", _GLIBCXX_RELEASE, __GLIBCXX__)}};
}

std::string report() {
  JsonWriter writer;
  writer.begin_object();
  writer.field("schema", "assay/version/1");
  writer.field("version", ASSAY_VERSION);
  writer.key("libraries");
  writer.begin_object();
  for (const Library& library : libraries()) writer.field(library.name, library.version);
  writer.end_object();
  writer.end_object();
  return writer.text();
}

int run(const Arguments& arguments, Environment& environment) {
  if (wants_json(arguments)) {
    write_json(arguments, environment, report());
    return kExitEqual;
  }
  std::string text = fmt::format("assay {}\n", ASSAY_VERSION);
  for (const Library& library : libraries()) text += fmt::format("{} {}\n", library.name, library.version);
  std::fwrite(text.data(), 1, text.size(), environment.out);
  return kExitEqual;
}

}  // namespace

Command command_version() {
  OptionGroup report_options = json_group();
  report_options.rows[0].arity = Arity::optional;
  report_options.rows[0].default_value = "-";
  return {.path = "version",
          .summary = "print the versions of the program and of the libraries in it",
          .groups = {report_options},
          .run = run};
}

}  // namespace assay::cli
