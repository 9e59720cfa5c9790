#include "tasks/generation/saved_steps.h"

#include <algorithm>

#include "base/error.h"
#include "base/text.h"
#include "tasks/generation/feeds.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

using tensor::Tensor;

// Logits of rows x 1 x words, or tokens of rows x 1.
Tensor next_logits(const StepRecord& record) {
  const compare::TokenScores& scores = record.scores;
  const auto rows = static_cast<int64_t>(scores.tokens.size());
  std::vector<double> numbers(scores.tokens.begin(), scores.tokens.end());
  if (scores.rows.empty()) return make_numbers(record.dtype, {rows, 1}, numbers);
  numbers.clear();
  for (const std::vector<double>& row : scores.rows) numbers.insert(numbers.end(), row.begin(), row.end());
  return make_numbers(record.dtype, {rows, 1, static_cast<int64_t>(scores.rows.front().size())}, numbers);
}

// The last element of each list.
std::vector<double> last_tokens(const Tensor& ids) {
  const std::vector<double> all = tensor::load_elements<double>(ids);
  const size_t length = ids.shape().empty() ? 1 : static_cast<size_t>(ids.shape().back());
  std::vector<double> last;
  for (size_t end = length; length > 0 && end <= all.size(); end += length) last.push_back(all[end - 1]);
  return last;
}

}  // namespace

formats::SavedIteration saved_step(const analysis::FeedRules& rules, const StepRecord& record,
                                   const std::string& runner) {
  formats::SavedIteration saved{{}, record.seconds, runner};
  saved.outputs.push_back({rules.scores, next_logits(record)});
  for (size_t i = 0; i < rules.caches.size(); ++i) saved.outputs.push_back({rules.caches[i].output, record.written[i]});
  saved.outputs.push_back({rules.ids, record.read});
  return saved;
}

StepRecord step_of(const analysis::FeedRules& rules, const tensor::NamedData& outputs, uint64_t rows) {
  const tensor::Datum* logits = find_datum(outputs, rules.scores);
  if (logits == nullptr || !logits->is_tensor())
    fail(ErrorCode::usage, "a saved step has no `{}`: it was not saved by a generation of this model",
         printable(rules.scores));
  StepRecord record;
  record.dtype = logits->tensor().dtype();
  record.scores = compare::next_scores(logits->tensor(), rows, std::nullopt);
  for (const analysis::CacheFeed& cache : rules.caches) {
    const tensor::Datum* part = find_datum(outputs, cache.output);
    record.written.push_back(part != nullptr && part->is_tensor() ? part->tensor() : Tensor());
  }
  if (const tensor::Datum* ids = find_datum(outputs, rules.ids)) record.read = ids->tensor();
  return record;
}

bool has_read_same(const StepRecord& a, const StepRecord& b) {
  if (a.read.shape() == b.read.shape())
    return tensor::load_elements<double>(a.read) == tensor::load_elements<double>(b.read);
  return last_tokens(a.read) == last_tokens(b.read);
}

}  // namespace assay::tasks
