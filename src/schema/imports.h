#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "ir/model.h"

namespace assay::schema {

// The version of a domain's operators, by default those of ai.onnx; 0: it is not imported.
int64_t imported_version(const ir::Model& model, const std::vector<ir::OpsetImport>& imports,
                         std::string_view domain = {});
int64_t imported_version(const ir::Model& model, std::string_view domain = {});

// The main graph uses operators of this domain from now on: in the version that it imports already, or the newest one;
// 1 where none is known.
void import_domain(ir::Model& model, std::string_view domain);

}  // namespace assay::schema
