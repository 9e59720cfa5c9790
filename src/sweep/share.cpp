#include "sweep/share.h"

#include <charconv>

#include "base/error.h"
#include "base/text.h"

namespace assay::sweep {
namespace {

std::optional<uint64_t> number(std::string_view text) {
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<uint64_t> number_in(const Variables& variables, const char* name) {
  const char* const text = variables(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  const std::optional<uint64_t> value = number(text);
  if (!value) fail(ErrorCode::usage, "the variable {} is `{}`, expected a number", name, printable(text));
  return value;
}

std::optional<Share> of_slurm(const Variables& variables) {
  const std::optional<uint64_t> index = number_in(variables, "SLURM_ARRAY_TASK_ID");
  const std::optional<uint64_t> count = number_in(variables, "SLURM_ARRAY_TASK_COUNT");
  if (!index || !count) return std::nullopt;
  const uint64_t least = number_in(variables, "SLURM_ARRAY_TASK_MIN").value_or(0);
  const uint64_t step = std::max<uint64_t>(1, number_in(variables, "SLURM_ARRAY_TASK_STEP").value_or(1));
  if (*index < least)
    fail(ErrorCode::usage, "SLURM_ARRAY_TASK_ID is {}, below SLURM_ARRAY_TASK_MIN, {}", *index, least);
  return Share{(*index - least) / step, *count, "SLURM_ARRAY_TASK_ID"};
}

std::optional<Share> of_pair(const Variables& variables, const char* index_name, const char* count_name) {
  const std::optional<uint64_t> index = number_in(variables, index_name);
  const std::optional<uint64_t> count = number_in(variables, count_name);
  if (!index || !count) return std::nullopt;
  return Share{*index, *count, index_name};
}

// Open MPI's, then those of MPICH and Intel MPI.
std::optional<Share> of_mpi(const Variables& variables) {
  if (std::optional<Share> share = of_pair(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) return share;
  return of_pair(variables, "PMI_RANK", "PMI_SIZE");
}

Share of_variables(std::string_view count_text, const Variables& variables) {
  if (std::optional<Share> share = of_slurm(variables)) return *share;
  if (std::optional<Share> share = of_mpi(variables)) return *share;
  // A batch script has these, too, before it starts its steps: they are read on request only.
  if (std::optional<Share> share = of_pair(variables, "SLURM_PROCID", "SLURM_NTASKS")) return *share;
  const std::optional<uint64_t> index = number_in(variables, "JOB_COMPLETION_INDEX");
  const std::optional<uint64_t> count = number(count_text);
  if (index && count) return {*index, *count, "JOB_COMPLETION_INDEX"};
  if (index) fail(ErrorCode::usage, "JOB_COMPLETION_INDEX says which share, not of how many: write auto/N");
  fail(ErrorCode::usage,
       "no variable says which share this is: SLURM_ARRAY_TASK_ID, SLURM_PROCID, JOB_COMPLETION_INDEX, "
       "OMPI_COMM_WORLD_RANK, PMI_RANK");
}

Share read_share(std::string_view text, const Variables& variables) {
  if (text.empty()) {
    if (std::optional<Share> share = of_slurm(variables)) return *share;
    return of_mpi(variables).value_or(Share());
  }
  const size_t slash = text.find('/');
  const std::string_view tail = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  if (text.substr(0, slash) == "auto") return of_variables(tail, variables);
  const std::optional<uint64_t> index = number(text.substr(0, slash));
  const std::optional<uint64_t> count = number(tail);
  if (!index || !count) fail(ErrorCode::usage, "expected I/N or auto, seen `{}`", printable(text));
  return {*index, *count};
}

}  // namespace

Share parse_share(std::string_view text, const Variables& variables) {
  Share share = read_share(text, variables);
  if (share.count == 0 || share.index >= share.count) {
    fail(ErrorCode::usage, "share {} of {}: shares are counted from 0 to {}", share.index, share.count,
         share.count == 0 ? 0 : share.count - 1);
  }
  return share;
}

}  // namespace assay::sweep
