#include <fmt/core.h>
#include <gnu/libc-version.h>
#include <rapidjson/rapidjson.h>

#include "base/error.h"
#include "base/json.h"
#include "base/text.h"
#include "cli/options/groups/json.h"
#include "tasks/check.h"

namespace assay::cli {
namespace {

struct Library {
  std::string name, version;
  std::string path;  // of those that are opened at run time
};

// Adds the libraries that backends would open.
void add_backends(std::vector<Library>& libraries) {
  for (const tasks::BackendLibrary& found : tasks::backend_libraries()) {
    const std::string version = found.version.empty() ? "(version not known)" : found.version;
    libraries.push_back({found.backend, version, printable(found.path)});
  }
}

std::vector<Library> libraries() {
  const int fmt_version = FMT_VERSION;
  std::vector<Library> result = {
      {"fmt", fmt::format("{}.{}.{}", fmt_version / 10000, fmt_version / 100 % 100, fmt_version % 100)},
      {"RapidJSON", RAPIDJSON_VERSION_STRING},
      {"glibc", gnu_get_libc_version()},
      {"libstdc++", fmt::format("{} ({})", _GLIBCXX_RELEASE, __GLIBCXX__)}};
  add_backends(result);
  return result;
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

int run_version(const Arguments& arguments, Environment& environment) {
  if (wants_json(arguments)) {
    write_json(arguments, environment, report());
    return kExitEqual;
  }
  std::string text = fmt::format("assay {}\n", ASSAY_VERSION);
  for (const Library& library : libraries()) {
    text += fmt::format("{} {}", library.name, library.version);
    text += library.path.empty() ? "\n" : fmt::format(" {}\n", library.path);
  }
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
          .run = run_version,
          .examples = {"assay --version"}};
}

}  // namespace assay::cli
