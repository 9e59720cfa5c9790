#include "sweep/store.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"
#include "sweep/sqlite.h"

namespace assay::sweep {
namespace {

namespace fs = std::filesystem;

using Value = SqlValue;

constexpr const char* kTables =
    "CREATE TABLE units (key TEXT, model TEXT, variant TEXT, side TEXT, shard INTEGER, status TEXT, signature TEXT,"
    " reason TEXT, samples INTEGER, seconds REAL, failed INTEGER, max_abs REAL, max_rel REAL, worst_sample INTEGER,"
    " worst_file TEXT);"
    "CREATE TABLE metrics (name TEXT, model TEXT, variant TEXT, side TEXT, samples INTEGER, value REAL, low REAL,"
    " high REAL, difference REAL, p_value REAL);"
    "CREATE TABLE samples (key TEXT, metric TEXT, sample INTEGER, hits REAL, trials REAL);"
    "CREATE TABLE causes (status TEXT, signature TEXT, count INTEGER, models TEXT, example TEXT);"
    "CREATE TABLE rows (model TEXT, variant TEXT, side TEXT, status TEXT, units INTEGER, done INTEGER, samples INTEGER,"
    " seconds REAL);";

Value count(uint64_t number) { return static_cast<int64_t>(number); }
std::string status_word(results::UnitStatus status) {
  return std::string(results::kUnitStatuses[static_cast<size_t>(status)]);
}

std::vector<Value> unit_values(const results::SweepUnit& unit) {
  const auto of_difference = [&](auto&& get) { return unit.difference ? Value(get(*unit.difference)) : Value(); };
  return {unit.key,
          unit.model,
          unit.variant,
          unit.side,
          count(unit.shard),
          status_word(unit.status),
          unit.signature,
          unit.reason,
          count(unit.samples),
          unit.seconds,
          of_difference([](const auto& d) { return static_cast<int64_t>(d.failed); }),
          of_difference([](const auto& d) { return d.max_abs; }),
          of_difference([](const auto& d) { return d.max_rel; }),
          unit.worst_sample ? count(*unit.worst_sample) : Value(),
          unit.worst_file};
}

void insert_samples(const results::SweepUnit& unit, uint64_t first, SqliteFile& database) {
  for (const auto& [metric, rows] : unit.evidence) {
    for (size_t i = 0; i < rows.size(); ++i) {
      if (rows[i].size() == 2) database.insert("samples", {unit.key, metric, count(first + i), rows[i][0], rows[i][1]});
    }
  }
}

void insert_all(const results::SweepReport& report, SqliteFile& database) {
  for (const results::SweepUnit& unit : report.units) database.insert("units", unit_values(unit));
  for (const results::SweepScore& score : report.metrics) {
    const Value difference = score.paired ? Value(score.paired->difference) : Value();
    const Value p_value = score.paired && score.paired->p_value ? Value(*score.paired->p_value) : Value();
    database.insert("metrics", {score.name, score.model, score.variant, score.side, count(score.samples), score.value,
                                score.low, score.high, difference, p_value});
  }
  for (const results::SweepCause& cause : report.causes) {
    database.insert("causes", {status_word(cause.status), cause.signature, count(cause.count), join(cause.models, "\n"),
                               cause.example});
  }
  for (const results::SweepRow& row : report.rows) {
    database.insert("rows", {row.model, row.variant, row.side, status_word(row.status), count(row.unit_count),
                             count(row.done_count), count(row.samples), row.seconds});
  }
  for (const results::SweepUnit& unit : report.units) insert_samples(unit, unit.first_sample, database);
}

std::string csv_cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

std::string csv_number(const std::optional<double>& number) { return number ? fmt::format("{}", *number) : ""; }

}  // namespace

void save_sqlite(const fs::path& path, const results::SweepReport& report) {
  const fs::path temporary = path.string() + ".new";
  std::error_code error;
  fs::remove(temporary, error);
  try {
    SqliteFile database(temporary);
    database.run("PRAGMA journal_mode=OFF; BEGIN");
    database.run(kTables);
    insert_all(report, database);
    database.run("COMMIT");
  } catch (const Error&) {
    fs::remove(temporary, error);
    throw;
  }
  fs::rename(temporary, path, error);
  if (error) fail(ErrorCode::io, "`{}` cannot be written: {}", printable(path.string()), error.message());
}

std::string units_csv(const results::SweepReport& report) {
  std::vector<std::string> titles = {"key",     "model",   "variant", "side",    "shard",   "status",
                                     "samples", "seconds", "failed",  "max_abs", "max_rel", "signature"};
  std::vector<std::string> metrics;
  for (const results::SweepScore& score : report.metrics) {
    if (std::ranges::find(metrics, score.name) == metrics.end()) metrics.push_back(score.name);
  }
  titles.insert(titles.end(), metrics.begin(), metrics.end());
  std::string text = join(titles, ",") + "\r\n";
  for (const results::SweepUnit& unit : report.units) {
    const auto& difference = unit.difference;
    std::vector<std::string> cells = {unit.key,
                                      csv_cell(unit.model),
                                      unit.variant,
                                      csv_cell(unit.side),
                                      std::to_string(unit.shard),
                                      status_word(unit.status),
                                      std::to_string(unit.samples),
                                      fmt::format("{}", unit.seconds),
                                      difference ? std::to_string(difference->failed) : "",
                                      csv_number(difference ? std::optional(difference->max_abs) : std::nullopt),
                                      csv_number(difference ? std::optional(difference->max_rel) : std::nullopt),
                                      csv_cell(unit.signature)};
    for (const std::string& metric : metrics) {
      const auto found = std::ranges::find(unit.metrics, metric, &std::pair<std::string, double>::first);
      cells.push_back(found == unit.metrics.end() ? "" : csv_number(found->second));
    }
    text += join(cells, ",") + "\r\n";
  }
  return text;
}

}  // namespace assay::sweep
