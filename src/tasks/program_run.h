#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

namespace assay::tasks {

// Runs this program with other words, in a process of its own, and gives what it says line by line. Its exit status, or
// minus the number of the signal that ended it; it is killed when `stop` says so. Error (backend) if it cannot be
// started.
int run_program(const std::vector<std::string>& words, const std::function<void(std::string_view line)>& on_line,
                const std::stop_token& stop);

}  // namespace assay::tasks
