#include "schema/imports.h"

#include "ir/edit.h"
#include "schema/schema.h"

namespace assay::schema {

int64_t imported_version(const ir::Model& model, const std::vector<ir::OpsetImport>& imports, std::string_view domain) {
  int64_t version = 0;
  for (const ir::OpsetImport& import : imports) {
    if (canonical_domain(model.text(import.domain)) == canonical_domain(domain)) version = import.version;
  }
  return version;
}

int64_t imported_version(const ir::Model& model, std::string_view domain) {
  return imported_version(model, model.header().opset_imports, domain);
}

void import_domain(ir::Model& model, std::string_view domain) {
  if (imported_version(model, domain) != 0) return;
  const std::string_view name = canonical_domain(domain);
  ir::Edit edit(model);
  edit.header().opset_imports.push_back({edit.intern(name), newest_version(name).value_or(1)});
}

}  // namespace assay::schema
