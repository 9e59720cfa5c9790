#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/program/part.h"
#include "ops/interpreter.h"

namespace assay::engine {

class Context;
struct ContextPlace;

// One execution of a part: a context for each of the last shapes. For one thread at a time.
class PartRun {
 public:
  // `place` has the limits and the account of the run that it is part of; it must outlive it.
  PartRun(const Part& part, const ContextPlace& place);
  ~PartRun();
  PartRun(const PartRun&) = delete;
  PartRun& operator=(const PartRun&) = delete;

  // The outputs of the part; nullopt: the reference is to run it.
  std::optional<std::vector<tensor::Datum>> run(std::span<const tensor::Datum> inputs);
  // Runs the part on the reference.
  std::vector<tensor::Datum> run_reference(std::span<const tensor::Datum> inputs);

 private:
  struct Prepared {
    std::shared_ptr<const PlannedPart> planned;  // null: the reference
    std::unique_ptr<Context> context;
  };
  Prepared& prepare(std::span<const tensor::Datum> inputs);

  const Part& part_;
  const ContextPlace& place_;
  Recent<PartShapes, Prepared> prepared_;
  std::unique_ptr<ops::Interpreter> reference_;
};

}  // namespace assay::engine
