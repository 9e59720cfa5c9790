#pragma once

#include <string>
#include <string_view>

namespace assay::remote {

// A function, class or object of a Python script.
struct ScriptFunction {
  std::string path;
  std::string function;
};

// `FILE.py[:FUNCTION]`; the last colon separates, if what follows can be a name. Error (usage) without a file.
ScriptFunction parse_script_function(std::string_view text, std::string_view default_function);

}  // namespace assay::remote
