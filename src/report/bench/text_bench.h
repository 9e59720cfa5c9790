#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "results/bench.h"
#include "tensor/named.h"

namespace assay::report {

// Lines in the words of trtexec, in milliseconds, so that scripts find them. `compute` is what computing is called.
std::vector<std::string> trace_lines(const results::BenchSide& side, uint64_t runs, size_t most_at_each_end);
std::vector<std::string> summary_lines(const results::BenchSide& side, std::string_view compute);
std::vector<std::string> profile_lines(const results::LayerProfile& profile);
std::vector<std::string> output_lines(const tensor::NamedData& outputs);

// The distances of outputs from their files, and times of opening a plan.
std::vector<std::string> loss_lines(const results::Bench& bench);
std::vector<std::string> load_lines(const results::Bench& bench);

// Warnings about the numbers; empty if there are none.
std::vector<std::string> doubt_lines(const results::BenchSide& side);

// Backends that were measured in turns, by computing time, and their ratios.
std::vector<std::string> comparison_lines(const results::Bench& bench);

}  // namespace assay::report
