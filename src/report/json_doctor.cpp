#include "report/json_doctor.h"

#include "base/json.h"
#include "report/json_model.h"

namespace assay::report {
namespace {

void write_backend(JsonWriter& json, const results::BackendHealth& backend) {
  json.begin_object();
  json.field("backend", backend.backend);
  json.field("usable", backend.usable);
  json.field(backend.usable ? "version" : "reason", backend.version);
  json.field("path", backend.path);
  write_texts(json, "providers", backend.providers);
  write_texts(json, "tried", backend.tried);
  json.end_object();
}

}  // namespace

std::string doctor_json(const results::DoctorReport& report) {
  JsonWriter json;
  json.begin_object();
  json.field("schema", "assay/doctor/1");
  json.field("python", report.python);
  json.key("backends");
  json.begin_array();
  for (const results::BackendHealth& backend : report.backends) write_backend(json, backend);
  json.end_array();
  json.key("timings");
  write_timings(json, report.timings);
  json.end_object();
  return json.text();
}

}  // namespace assay::report
