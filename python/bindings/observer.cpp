#include "base/diagnostics.h"
#include "convert.h"

namespace assay::python {

void PythonObserver::tell(LogLevel level, std::string_view text) {
  const Locked lock;
  if (!on_message_.is_none()) on_message_(static_cast<int>(level), nb::str(text.data(), text.size()));
}

void PythonObserver::on_message(LogLevel level, std::string_view text, Where) { tell(level, text); }

void PythonObserver::on_finding(const Diagnostic& finding) {
  const LogLevel level = finding.severity == Severity::info ? LogLevel::verbose : LogLevel::warning;
  tell(level, finding.node.empty() ? finding.message : finding.node + ": " + finding.message);
}

void PythonObserver::on_traceback(std::string_view lines) { tell(LogLevel::error, lines); }

bool PythonObserver::is_cancelled() {
  const Locked lock;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  return false;
}

void tell(const Diagnostics& findings, const nb::object& on_message) {
  PythonObserver observer(on_message);
  for (const Diagnostic& finding : findings.all()) observer.on_finding(finding);
}

}  // namespace assay::python
