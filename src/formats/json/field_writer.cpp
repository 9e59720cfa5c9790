#include "formats/json/field_writer.h"

#include <algorithm>

namespace assay::formats {

std::string schema_of(std::string_view command) {
  std::string schema = fmt::format("assay/{}/1", command);
  std::ranges::replace(schema, ' ', '-');
  return schema;
}

}  // namespace assay::formats
