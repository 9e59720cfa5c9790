#pragma once

#include <map>

#include "context.h"

namespace assay::python {

// Copies values into memory that Python may write, or keeps those that lie on a device.
class Collector final : public exec::TensorSink {
 public:
  // Null: everything is copied.
  explicit Collector(const exec::Session* of_device) : of_device_(of_device) {}
  void accept(std::string_view name, const tensor::Datum& value) override;
  // Values by these names: an Array each, or what bind_kept_arrays() makes known.
  nb::dict take(const std::vector<std::string>& names, const SessionPtr& session);

 private:
  const exec::Session* of_device_;
  std::map<std::string, Array> values_;
};

// The class of values that stay on a device.
void bind_kept_arrays(nb::module_& module);

}  // namespace assay::python
