#include "report/json_reports.h"

#include "formats/json/field_writer.h"
#include "results/fields/bench.h"
#include "results/fields/check.h"
#include "results/fields/debug.h"
#include "results/fields/edit.h"
#include "results/fields/model_diff.h"
#include "results/fields/pipeline.h"
#include "results/fields/saved.h"
#include "results/fields/sweep.h"
#include "results/fields/tensorflow.h"

namespace assay::report {

template <typename T>
std::string report_json(const T& report, bool is_full) {
  return formats::json_text(report, is_full);
}

template std::string report_json(const results::AccuracyHunt&, bool);
template std::string report_json(const results::AccuracyListing&, bool);
template std::string report_json(const results::Bench&, bool);
template std::string report_json(const results::BenchSweep&, bool);
template std::string report_json(const results::BisectionReport&, bool);
template std::string report_json(const results::RuntimeReport&, bool);
template std::string report_json(const results::CapabilityReport&, bool);
template std::string report_json(const results::CompatibilityReport&, bool);
template std::string report_json(const results::ConversionReport&, bool);
template std::string report_json(const results::DataDifference&, bool);
template std::string report_json(const results::DataListing&, bool);
template std::string report_json(const results::DebugReport&, bool);
template std::string report_json(const results::DoctorReport&, bool);
template std::string report_json(const results::EditReport&, bool);
template std::string report_json(const results::EngineListing&, bool);
template std::string report_json(const results::LintReport&, bool);
template std::string report_json(const results::ModelDiff&, bool);
template std::string report_json(const results::PipelineReport&, bool);
template std::string report_json(const results::PluginReport&, bool);
template std::string report_json(const results::PrecisionReport&, bool);
template std::string report_json(const results::ProfileReport&, bool);
template std::string report_json(const results::RangeReport&, bool);
template std::string report_json(const results::ReduceReport&, bool);
template std::string report_json(const results::Rejudgement&, bool);
template std::string report_json(const results::RunReport&, bool);
template std::string report_json(const results::SameReport&, bool);
template std::string report_json(const results::SparsityReport&, bool);
template std::string report_json(const results::SweepReport&, bool);
template std::string report_json(const results::SweepStatus&, bool);
template std::string report_json(const results::TacticDiff&, bool);
template std::string report_json(const results::TacticListing&, bool);
template std::string report_json(const results::TacticReport&, bool);
template std::string report_json(const results::TensorFlowListing&, bool);

}  // namespace assay::report
