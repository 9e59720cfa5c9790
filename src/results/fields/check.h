#pragma once

#include "results/capability.h"
#include "results/compatibility.h"
#include "results/doctor.h"
#include "results/fields/fields.h"
#include "results/lint_report.h"

namespace assay::results {

template <>
struct Fields<RefusedNode> {
  static void of(auto& v, auto& node) {
    v("node", node.node);
    v("op", node.op);
    v("reason", node.reason);
    v.some("remedy", node.remedy);
  }
};

template <>
struct Fields<BackendCompatibility> {
  static void of(auto& v, auto& backend) {
    v("backend", backend.backend);
    v("usable", backend.usable);
    v(backend.usable ? "version" : "reason", backend.version);
    v("node_count", backend.node_count);
    v("refused", backend.refused);
    v("untried_count", backend.untried_count);
    v.some("whole_refusal", backend.whole_refusal);
    v.some("whole_remedy", backend.whole_remedy);
  }
};

template <>
struct Fields<CompatibilityReport> {
  static constexpr std::string_view kCommand = "check compatibility";
  static void of(auto& v, auto& report) {
    v("model", report.path);
    v("backends", report.backends);
    v("timings", report.timings);
  }
};

template <>
struct Fields<BackendHealth> {
  static void of(auto& v, auto& backend) {
    v("backend", backend.backend);
    v("usable", backend.usable);
    v(backend.usable ? "version" : "reason", backend.version);
    v("path", backend.path);
    v("providers", backend.providers);
    v("tried", backend.tried);
  }
};

template <>
struct Fields<DeviceHealth> {
  static void of(auto& v, auto& device) {
    v("name", device.name);
    v("kind", device.kind);
    v("memory_bytes", device.memory_bytes);
    v("capability", device.capability);
    v("driver", device.driver);
    v("compiler", device.compiler);
    v("problem", device.problem);
  }
};

template <>
struct Fields<DoctorReport> {
  static constexpr std::string_view kCommand = "doctor";
  static void of(auto& v, auto& report) {
    v("python", report.python);
    v("backends", report.backends);
    v("devices", report.devices);
    v("timings", report.timings);
  }
};

inline constexpr std::string_view kLintWords[] = {"exception", "warning", "info"};

template <>
struct Fields<LintEntry> {
  static void of(auto& v, auto& entry) {
    v.word("level", entry.level, kLintWords);
    v("source", entry.source);
    v.detail("code", entry.code);
    v("message", entry.message);
    v.detail("remedy", entry.remedy);
    v.single("nodes", entry.node);
  }
};

template <>
struct Fields<LintReport> {
  static constexpr std::string_view kCommand = "check lint";
  static void of(auto& v, auto& report) {
    v("model", report.path);
    v.part("summary", [&](auto& part) {
      part("passing", report.passing);
      part("failing", report.failing);
    });
    v("lint_entries", report.entries);
    v("timings", report.timings);
  }
};

template <>
struct Fields<NodeRange> {
  static void of(auto& v, auto& range) {
    v("first", range.first);
    v("last", range.last);
    v("supported", range.is_supported);
    v.when(!range.is_supported, "op", range.op);
    v.when(!range.is_supported, "nodes", range.nodes);
    v.when(!range.is_supported, "reason", range.reason);
    v.some("file", range.file);
  }
};

template <>
struct Fields<CapabilityReport> {
  static constexpr std::string_view kCommand = "inspect capability";
  static void of(auto& v, auto& report) {
    v("model", report.path);
    v("backend", report.backend);
    v.some("whole_refusal", report.whole_refusal);
    v.some("whole_remedy", report.whole_remedy);
    v("untried_count", report.untried_count);
    v("ranges", report.ranges);
    v("timings", report.timings);
  }
};

}  // namespace assay::results
