#include "cli/template/script.h"

#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

#include "base/files.h"
#include "base/text.h"

namespace assay::cli {
namespace fs = std::filesystem;

OptionRow script_output_row() {
  return {.names = {"-o", "--output"},
          .metavar = "FILE",
          .help = "where to write the script; `-` is standard output",
          .is_file = true,
          .is_output = true,
          .required = true};
}

void write_script(const std::string& path, const std::string& text, Environment& environment) {
  if (path == "-") {
    std::fwrite(text.data(), 1, text.size(), environment.out);
    return;
  }
  environment.log.info("Writing script to: " + printable(path));
  OutputFile file(path);
  file.write(text);
  file.commit();
  std::error_code ignored;  // a file system without modes: the script is run through python3
  fs::permissions(path, fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec, fs::perm_options::add,
                  ignored);
}

std::string python_list(const std::vector<std::string>& texts) {
  std::vector<std::string> quoted;
  for (const std::string& text : texts) quoted.push_back(python_string(text));
  return "[" + join(quoted, ", ") + "]";
}

std::string script_head(std::string_view purpose, std::string_view names) {
  return fmt::format(
      "#!/usr/bin/env python3\n# {0}\n\ntry:\n    import assay.tensorrt as trt\n    from assay import func\n"
      "    from assay.backend.trt import {1}\nexcept ImportError:\n    from polygraphy import func, mod\n"
      "    from polygraphy.backend.trt import {1}\n\n    trt = mod.lazy_import(\"tensorrt\")\n\n",
      purpose, names);
}

}  // namespace assay::cli
