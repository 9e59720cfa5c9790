#include "tasks/generation/prompt.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "analysis/input_roles.h"
#include "base/error.h"
#include "base/text.h"
#include "tasks/generation/masks.h"
#include "tensor/casts.h"
#include "tensor/elements.h"

namespace assay::tasks {
namespace {

using analysis::StepInput;
using exec::Port;
using tensor::Tensor;

constexpr int64_t kGeneratedTokens = 8;

class PromptMaker {
 public:
  PromptMaker(const ir::Model& model, const exec::Signature& signature, const analysis::FeedRules& rules,
              const InputRequest& request, Diagnostics& findings)
      : model_(model), signature_(signature), rules_(rules), request_(request), findings_(findings) {}

  tensor::NamedData make(Observer& observer) {
    given_ = request_.is_generated() ? generated() : loaded(observer);
    const tensor::Datum* ids = find_datum(given_, rules_.ids);
    if (ids == nullptr) fail(ErrorCode::usage, "input `{}` of the model is not given", printable(rules_.ids));
    settle_ids(ids->tensor());
    tensor::NamedData prompt;
    for (const Port& port : signature_.inputs) {
      if (port.name == rules_.ids)
        prompt.push_back({port.name, ids_});
      else if (const tensor::Datum* datum = find_datum(given_, port.name))
        prompt.push_back({port.name, *datum});
      else if (std::optional<Tensor> made = made_input(port))
        prompt.push_back({port.name, std::move(*made)});
    }
    return prompt;
  }

  std::vector<std::vector<int64_t>> take_queue() { return std::move(queue_); }
  uint64_t tokens() const { return static_cast<uint64_t>(tokens_) + queue_.size(); }

 private:
  // The ids, and what is only given again.
  tensor::NamedData generated() const {
    exec::Signature drawn;
    exec::GenerateOptions options = request_.generated;
    options.roles = analysis::input_roles(model_);
    options.is_sensible = true;
    for (const Port& port : signature_.inputs) {
      const bool is_kept = std::ranges::find(rules_.kept, port.name) != rules_.kept.end();
      if (is_kept || port.name == rules_.ids) drawn.inputs.push_back(port);
      if (port.name == rules_.ids) settle_length(port, options);
    }
    return exec::generate_inputs(drawn, options, findings_);
  }

  // Some tokens in one row, where neither model nor options say how many.
  static void settle_length(const Port& ids, exec::GenerateOptions& options) {
    std::optional<tensor::Shape> shape = exec::asked_shape(ids, options);
    if (!shape) shape = tensor::Shape{-1, -1};
    if (shape->back() < 0) shape->back() = kGeneratedTokens;
    std::ranges::replace(*shape, -1, 1);
    options.shapes.push_back({ids.name, *shape});
  }

  tensor::NamedData loaded(Observer& observer) const {
    InputData data = make_inputs(model_, request_, observer, findings_);
    std::optional<tensor::NamedData> first = data.source->get(0);
    if (!first) fail(ErrorCode::usage, "there are no inputs");
    return std::move(*first);
  }

  // Ids as the model wants them: the first token alone, or with places behind those of the prompt.
  void settle_ids(const Tensor& ids) {
    const tensor::Shape& shape = ids.shape();
    if (shape.empty() || shape.size() > 2 || ids.count() == 0) {
      fail(ErrorCode::usage, "input `{}`: a prompt has rows of tokens, given is a shape [{}]", printable(rules_.ids),
           fmt::join(shape, ","));
    }
    rows_ = shape.size() == 1 ? 1 : shape.front();
    tokens_ = shape.back();
    ids_ = ids;
    const std::vector<double> all = tensor::load_elements<double>(ids);
    if (rules_.is_single && tokens_ > 1) keep_first(all);
    if (rules_.room <= 0) return;
    if (tokens_ == rules_.room)
      tokens_ = prompt_of_full();
    else
      pad(all);
  }

  void keep_first(const std::vector<double>& all) {
    for (int64_t t = 1; t < tokens_; ++t) {
      std::vector<int64_t>& tokens = queue_.emplace_back();
      for (int64_t row = 0; row < rows_; ++row)
        tokens.push_back(static_cast<int64_t>(all[static_cast<size_t>(row * tokens_ + t)]));
    }
    std::vector<double> first;
    for (int64_t row = 0; row < rows_; ++row) first.push_back(all[static_cast<size_t>(row * tokens_)]);
    tensor::Shape shape = ids_.shape();
    shape.back() = 1;
    ids_ = make_numbers(ids_.dtype(), shape, first);
    tokens_ = 1;
  }

  // All places are filled: a mask says how many count; of generated ones some do.
  int64_t prompt_of_full() const {
    for (const StepInput& input : rules_.inputs) {
      const tensor::Datum* mask = find_datum(given_, input.name);
      if (input.kind != StepInput::Kind::mask || mask == nullptr) continue;
      const std::vector<double> seen = tensor::load_elements<double>(mask->tensor());
      return std::count(seen.begin(), seen.begin() + std::min<std::ptrdiff_t>(std::ssize(seen), tokens_), 1.0);
    }
    if (request_.is_generated()) return std::max<int64_t>(1, std::min(kGeneratedTokens, tokens_ / 2));
    return tokens_;
  }

  void pad(const std::vector<double>& all) {
    std::vector<double> padded(static_cast<size_t>(rows_ * rules_.room), 0.0);
    for (int64_t row = 0; row < rows_; ++row) {
      for (int64_t t = 0; t < std::min(tokens_, rules_.room); ++t)
        padded[static_cast<size_t>(row * rules_.room + t)] = all[static_cast<size_t>(row * tokens_ + t)];
    }
    tensor::Shape shape = ids_.shape();
    shape.back() = rules_.room;
    ids_ = make_numbers(ids_.dtype(), shape, padded);
  }

  std::optional<Tensor> made_input(const Port& port) const {
    const auto cache = std::ranges::find(rules_.caches, port.name, &analysis::CacheFeed::input);
    const bool is_opened = !rules_.opened.empty();  // by another model: no cache is empty
    if (cache != rules_.caches.end()) return is_opened ? std::nullopt : std::optional(empty_cache(*cache, port));
    const auto input = std::ranges::find(rules_.inputs, port.name, &StepInput::name);
    if (input == rules_.inputs.end() || !port.type) return std::nullopt;
    return first_input(*input, port);
  }

  Tensor empty_cache(const analysis::CacheFeed& cache, const Port& port) const {
    tensor::Shape shape = exec::asked_shape(port, request_.generated).value_or(tensor::Shape{});
    const bool has_axis = cache.grows && cache.axis && *cache.axis < shape.size();
    if (has_axis) shape[*cache.axis] = std::max<int64_t>(shape[*cache.axis], 0);
    const auto rows = std::ranges::find(shape, -1);
    if (rows != shape.end()) *rows = rows_;
    if (shape.empty() || std::ranges::find(shape, -1) != shape.end()) {
      throw Error(ErrorCode::usage,
                  fmt::format("input `{}`: the shape of its first cache cannot be told", printable(port.name)))
          .remedied_by("input_shapes");
    }
    const std::optional<uint64_t> count = tensor::element_count(shape);
    const std::optional<uint64_t> bytes = count ? tensor::packed_bytes(port.type->dtype, *count) : std::nullopt;
    if (!bytes) fail(ErrorCode::usage, "input `{}`: its shape is too large", printable(port.name));
    return Tensor(port.type->dtype, shape, tensor::make_fill(std::vector<std::byte>(1), *bytes));
  }

  // Places for the tokens of the prompt where a step has one, but another model reads the prompt.
  int64_t size_of(const exec::PortDim& dim, int64_t open) const {
    return dim.size == 1 && !rules_.opened.empty() ? open : dim.size.value_or(open);
  }

  // Makes an input of rows, then one place for each token, as far as dims are open.
  Tensor first_input(const StepInput& input, const Port& port) const {
    using Kind = StepInput::Kind;
    const bool is_list = input.kind == Kind::mask || input.kind == Kind::step_mask || input.kind == Kind::positions ||
                         input.kind == Kind::segments;
    const int64_t length = input.room > 0 ? input.room : tokens_;
    if (input.kind == Kind::causal_mask) return first_mask(port, length);
    tensor::Shape shape;
    for (size_t i = 0; i < port.type->dims.size(); ++i) {
      const bool is_last = i + 1 == port.type->dims.size();
      const int64_t open = is_list && is_last ? length : i == 0 ? rows_ : 1;
      shape.push_back(size_of(port.type->dims[i], open));
    }
    const std::optional<uint64_t> count = tensor::element_count(shape);
    if (!count) fail(ErrorCode::usage, "input `{}`: its shape is too large", printable(port.name));
    std::vector<double> elements(*count);
    const auto width = static_cast<size_t>(shape.empty() ? 1 : shape.back());
    for (size_t i = 0; i < elements.size(); ++i) elements[i] = first_element(input.kind, i % width);
    const bool is_mask = input.kind == Kind::mask || input.kind == Kind::step_mask;
    if (is_mask && shape.size() > 2) set_numbers(usual_mask_numbers(port.type->dtype), elements);
    return make_numbers(port.type->dtype, shape, elements);
  }

  static void set_numbers(const MaskNumbers& numbers, std::vector<double>& ones) {
    for (double& element : ones) element = element == 1 ? numbers.seen : numbers.hidden;
  }

  // Each token sees itself and those before it. Floats are taken to be added to scores.
  Tensor first_mask(const Port& port, int64_t length) const {
    const MaskNumbers numbers = usual_mask_numbers(port.type->dtype);
    tensor::Shape shape;
    for (const exec::PortDim& dim : port.type->dims) shape.push_back(dim.size.value_or(shape.empty() ? rows_ : 1));
    const size_t queries = shape.size() - 2;
    shape.back() = length;
    shape[queries] = size_of(port.type->dims[queries], rules_.room > 0 ? rules_.room : tokens_);
    const std::optional<uint64_t> count = tensor::element_count(shape);
    if (!count) fail(ErrorCode::usage, "input `{}`: its shape is too large", printable(port.name));
    std::vector<double> elements(*count);
    for (size_t i = 0; i < elements.size(); ++i) {
      const auto at = static_cast<int64_t>(i);
      elements[i] = at % length <= at / length % shape[queries] ? numbers.seen : numbers.hidden;
    }
    return make_numbers(port.type->dtype, shape, elements);
  }

  double first_element(StepInput::Kind kind, size_t place) const {
    using Kind = StepInput::Kind;
    if (kind == Kind::mask || kind == Kind::step_mask) return static_cast<int64_t>(place) < tokens_ ? 1 : 0;
    if (kind == Kind::positions) return static_cast<double>(place);
    if (kind == Kind::total_length) return static_cast<double>(tokens_);
    if (kind == Kind::last_position) return static_cast<double>(tokens_ - 1);
    return 0;
  }

  const ir::Model& model_;
  const exec::Signature& signature_;
  const analysis::FeedRules& rules_;
  const InputRequest& request_;
  Diagnostics& findings_;
  tensor::NamedData given_;
  Tensor ids_;
  int64_t rows_ = 1;
  int64_t tokens_ = 0;
  std::vector<std::vector<int64_t>> queue_;
};

void check_room(const std::string& input, int64_t room, uint64_t needed) {
  if (room < 0 || static_cast<uint64_t>(room) >= needed) return;
  throw Error(ErrorCode::usage, fmt::format("input `{}` has room for {} tokens, prompt and steps need {}",
                                            printable(input), room, needed))
      .about("decode");
}

}  // namespace

Prompt make_prompt(const ir::Model& model, const exec::Signature& signature, const analysis::FeedRules& rules,
                   const InputRequest& request, uint64_t steps, Observer& observer, Diagnostics& findings) {
  PromptMaker maker(model, signature, rules, request, findings);
  Prompt prompt;
  prompt.inputs = maker.make(observer);
  prompt.tokens = maker.tokens();
  prompt.queue = maker.take_queue();
  const uint64_t needed = prompt.tokens + steps - 1;  // the last token is not read
  if (rules.room > 0) check_room(rules.ids, rules.room, needed);
  for (const analysis::CacheFeed& cache : rules.caches) check_room(cache.input, cache.room, needed);
  for (const StepInput& input : rules.inputs) check_room(input.name, input.room, needed);
  return prompt;
}

}  // namespace assay::tasks
