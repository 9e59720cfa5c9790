#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "exec/backend.h"

namespace assay::cases {

// The names of the main graph's outputs.
std::vector<std::string> output_names(const ir::Model& model);

// Runs once; gives one value for each name, in their order. Error if the session leaves one out.
std::vector<tensor::Datum> run_once(const exec::Session& session, const std::vector<exec::Feed>& feeds,
                                    const std::vector<std::string>& names);

// Runs fn; gives the one line of what it threw: Error, a broken invariant or any other exception. Empty if nothing.
template <typename Fn>
std::string failure_of(Fn&& fn);

// The line of the exception that is being handled.
std::string current_failure();

template <typename Fn>
std::string failure_of(Fn&& fn) {
  try {
    fn();
  } catch (...) {
    return current_failure();
  }
  return {};
}

}  // namespace assay::cases
