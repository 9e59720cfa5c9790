#pragma once

#include "exec/session.h"

namespace assay::exec {

class IgnoringSink final : public TensorSink {
 public:
  void accept(std::string_view, const tensor::Datum&) override {}
};

// Keeps all values in the order in which they are given.
class KeepingSink final : public TensorSink {
 public:
  void accept(std::string_view name, const tensor::Datum& value) override {
    values.push_back({std::string(name), value});
  }
  tensor::NamedData values;
};

}  // namespace assay::exec
