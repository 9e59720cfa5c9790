#include "sweep/versions.h"

#include "base/error.h"
#include "base/text.h"

namespace assay::sweep {

void check_version(std::string_view found, std::string_view expected, const std::string& path) {
  if (found == expected) return;
  fail(ErrorCode::unsupported, "`{}` is of another version: it says `{}`, expected `{}`; sweep into another folder",
       printable(path), printable(found), expected);
}

}  // namespace assay::sweep
