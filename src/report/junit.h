#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace assay::report {

enum class JunitOutcome : uint8_t { passed, failure, error, skipped };

// One test. Group and name are the same from run to run.
struct JunitCase {
  std::string group;
  std::string name;
  double seconds = 0;
  JunitOutcome outcome = JunitOutcome::passed;
  std::string message = {};  // one line about anything but `passed`
};

// The tests of one model.
struct JunitSuite {
  std::string name;
  std::vector<JunitCase> cases;
};

// A whole file; the title names the command.
std::string junit_xml(std::string_view title, const std::vector<JunitSuite>& suites);

}  // namespace assay::report
