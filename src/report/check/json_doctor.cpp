#include "report/check/json_doctor.h"

#include "report/json_parts.h"

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

void write_device(JsonWriter& json, const results::DeviceHealth& device) {
  json.begin_object();
  json.field("name", device.name);
  json.field("kind", device.kind);
  json.field("memory_bytes", device.memory_bytes);
  json.field("capability", device.capability);
  json.field("driver", device.driver);
  json.field("compiler", device.compiler);
  json.field("problem", device.problem);
  json.end_object();
}

}  // namespace

std::string doctor_json(const results::DoctorReport& report) {
  JsonReport out("doctor");
  JsonWriter& json = out.json;
  json.field("python", report.python);
  write_list(json, "backends", report.backends, write_backend);
  write_list(json, "devices", report.devices, write_device);
  return out.end(report.timings);
}

}  // namespace assay::report
