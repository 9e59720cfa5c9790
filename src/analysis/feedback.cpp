#include "analysis/feedback.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "analysis/cache_pairs.h"
#include "analysis/input_roles.h"
#include "base/error.h"
#include "base/text.h"
#include "ir/queries.h"

namespace assay::analysis {
namespace {

using exec::Port;
using Given = std::vector<std::pair<std::string, std::string>>;
using Kind = StepInput::Kind;

constexpr std::string_view kRemedy = "feed";

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

bool has_any(std::string_view text, std::initializer_list<std::string_view> parts) {
  return std::ranges::any_of(parts, [&](std::string_view part) { return has(text, part); });
}

bool is_number(const Port& port, bool (*is_kind)(tensor::DType)) {
  return port.type && port.type->kind == ir::TypeKind::tensor && is_kind(port.type->dtype);
}

bool is_integer(const Port& port) { return is_number(port, tensor::is_integer); }
bool is_floating(const Port& port) { return is_number(port, tensor::is_floating); }
bool is_boolean(const Port& port) {
  return is_number(port, [](tensor::DType dtype) { return dtype == tensor::DType::boolean; });
}

size_t rank(const Port& port) { return port.type ? port.type->dims.size() : 0; }

// True if both dims are open and declared by one name.
bool is_same_symbol(const exec::PortDim& a, const exec::PortDim& b) {
  return !a.size && !b.size && a.text == b.text && a.text != "?";
}

class RuleFinder {
 public:
  RuleFinder(const ir::Model& model, const exec::Signature& signature, const KnownFeeds& known, Diagnostics& findings)
      : model_(model), signature_(signature), given_(known.given), findings_(findings) {
    rules_.opened = known.opened;
    for (const Port& input : signature.inputs) {
      if (!input.has_default) open_.push_back(&input);
    }
  }

  FeedRules find() {
    check_given();
    find_ids();
    find_step_inputs();
    find_scores();
    find_caches();
    rules_.grows = rules_.caches.empty();
    settle_lengths();
    keep_rest();
    return std::move(rules_);
  }

 private:
  void check_given() const {
    const auto names = [](const std::vector<Port>& ports) {
      std::vector<std::string> all;
      for (const Port& port : ports) all.push_back(port.name);
      return all;
    };
    const auto check = [&](const std::vector<Port>& ports, const std::string& name, std::string_view what) {
      if (exec::find_port(ports, name) != nullptr) return;
      const std::optional<std::string> near = did_you_mean(name, names(ports));
      throw Error(ErrorCode::usage, fmt::format("the model has no {} `{}`{}", what, printable(name),
                                                near ? fmt::format("; did you mean `{}`?", printable(*near)) : ""))
          .about(std::string(kRemedy));
    };
    for (const auto& [output, input] : given_) {
      check(signature_.outputs, output, "output");
      check(signature_.inputs, input, "input");
    }
  }

  void tell(std::string input, std::string output, std::string_view rule, std::string_view origin) {
    rules_.told.push_back({std::move(input), std::move(output), std::string(rule), std::string(origin)});
  }

  void take(const Port& port) { std::erase(open_, &port); }

  const std::string* given_input(std::string_view output) const {
    const auto found = std::ranges::find(given_, output, &Given::value_type::first);
    return found == given_.end() ? nullptr : &found->second;
  }

  // The integer input that a pair given by hand feeds with the scores, then one of a usual name, then one that looks
  // into a table, then the only one there is.
  void find_ids() {
    std::vector<const Port*> candidates;
    for (const Port* input : open_) {
      if (is_integer(*input) && rank(*input) <= 2) candidates.push_back(input);
    }
    const Port* found = nullptr;
    std::string_view origin = "name";
    for (const auto& [output, input] : given_) {
      const auto at = std::ranges::find(candidates, input, &Port::name);
      if (at != candidates.end() && !is_boolean(**at)) {
        found = *at;
        rules_.scores = output;
        origin = "given";
      }
    }
    for (const std::string_view name :
         {"input_ids", "decoder_input_ids", "ids", "tokens", "token_ids", "input_tokens"}) {
      const auto at = std::ranges::find(candidates, name, &Port::name);
      if (found == nullptr && at != candidates.end()) found = *at;
    }
    if (found == nullptr) {
      found = table_index(candidates);
      if (found != nullptr) origin = "graph";
    }
    if (found == nullptr && candidates.size() == 1 && !step_kind(*candidates[0])) {
      found = candidates[0];
      origin = "shape";
    }
    if (found == nullptr || rank(*found) == 0) {
      throw Error(ErrorCode::unsupported, "no input can be told to take token ids").remedied_by(std::string(kRemedy));
    }
    ids_ = found;
    ids_origin_ = origin;
    rules_.ids = found->name;
    take(*found);
  }

  const Port* table_index(const std::vector<const Port*>& candidates) const {
    const Port* found = nullptr;
    for (const exec::InputRole& role : input_roles(model_)) {
      const auto at = std::ranges::find(candidates, role.name, &Port::name);
      if (role.kind != exec::InputRole::Kind::index || at == candidates.end() || step_kind(**at)) continue;
      if (found != nullptr) return nullptr;
      found = *at;
    }
    return found;
  }

  // The kind of an input by its name and type.
  static std::optional<Kind> step_kind(const Port& port) {
    const std::string name = to_lower(port.name);
    if (has_any(name, {"encoder", "cross"}) && !has(name, "decoder")) return std::nullopt;
    if (is_boolean(port) && has_any(name, {"use_cache", "cache_branch"})) return Kind::flag;
    if (has(name, "mask")) return mask_kind(port);
    if (!is_integer(port)) return std::nullopt;
    if (has_any(name, {"past_seq_len", "seqlens_k"})) return Kind::last_position;
    if (has_any(name, {"total_seq", "total_len"})) return Kind::total_length;
    if (has_any(name, {"write_ind", "past_len", "past_size", "start_pos", "input_pos", "cache_len", "offset"}))
      return Kind::past_length;
    if (has(name, "position") || name == "pos" || name == "pos_ids") return Kind::positions;
    if (has_any(name, {"token_type", "segment"})) return Kind::segments;
    return std::nullopt;
  }

  // The last two of more than two dims are those of tokens and of what they see.
  static std::optional<Kind> mask_kind(const Port& port) {
    constexpr size_t kMostRank = 4;
    if (rank(port) <= 2) return Kind::mask;
    return rank(port) <= kMostRank ? std::optional(Kind::causal_mask) : std::nullopt;
  }

  void find_step_inputs() {
    const std::set<std::string> writers = write_indices(model_);
    for (const Port* input : std::vector(open_)) {
      const bool is_given = std::ranges::find(given_, input->name, &Given::value_type::second) != given_.end();
      std::optional<Kind> kind = is_given ? std::nullopt : step_kind(*input);
      const bool is_writer = !is_given && writers.contains(input->name);
      if (is_writer) kind = Kind::past_length;
      if (!kind) continue;
      if (kind == Kind::positions && (rank(*input) == 0 || is_one_number(*input))) kind = Kind::past_length;
      rules_.inputs.push_back({input->name, *kind});
      step_origins_[input->name] = is_writer ? "graph" : "name";
      take(*input);
    }
  }

  // True for a list of one number, or one of each row: there is no dim for the tokens of a step.
  bool is_one_number(const Port& input) const {
    if (rank(input) != 1) return false;
    const exec::PortDim& dim = input.type->dims[0];
    const exec::PortDim& rows = ids_->type->dims[0];
    return dim.size == 1 || (rank(*ids_) == 2 && is_same_symbol(dim, rows));
  }

  void find_scores() {
    const Port* found = rules_.scores.empty() ? nullptr : exec::find_port(signature_.outputs, rules_.scores);
    const auto fits = [&](const Port& port) { return is_floating(port) && (rank(port) == 2 || rank(port) == 3); };
    const auto is_free = [&](const Port& port) { return given_input(port.name) == nullptr; };
    for (const Port& port : signature_.outputs) {
      if (found == nullptr && fits(port) && is_free(port) && has(to_lower(port.name), "logits")) found = &port;
    }
    const auto rest = [&](const Port& port) { return fits(port) && is_free(port) && !looks_like_cache(port); };
    if (found == nullptr && std::ranges::count_if(signature_.outputs, rest) == 1)
      found = &*std::ranges::find_if(signature_.outputs, rest);
    if (found == nullptr) {
      throw Error(
          ErrorCode::unsupported,
          fmt::format("input `{}`: no output can be told to hold the logits of its next token", printable(rules_.ids)))
          .remedied_by(std::string(kRemedy));
    }
    rules_.scores = found->name;
    tell(rules_.ids, rules_.scores, "token", ids_origin_);
  }

  void find_caches() {
    std::vector<const Port*> outputs;
    for (const Port& port : signature_.outputs) {
      if (port.name != rules_.scores) outputs.push_back(&port);
    }
    CachePairs pairs = pair_caches(model_, outputs, open_, given_);
    for (CachePair& pair : pairs.found) {
      const Port& input = *pair.input;
      const std::optional<CacheFeed> feed = cache_feed(model_, *pair.output, input, ids_->type->dims[0].text);
      if (!feed) cannot_tell(input, "its dim of positions");
      rules_.caches.push_back(*feed);
      tell(input.name, pair.output->name, "cache", pair.origin);
      take(input);
      std::erase(outputs, pair.output);
    }
    spare_ = std::move(outputs);
    if (pairs.by_order == 0) return;
    findings_.add(
        {Severity::info, "paired_by_order", "",
         fmt::format("{} caches are paired with outputs of their shapes, in order: `{}` is fed from `{}`",
                     pairs.by_order, printable(rules_.caches.back().input), printable(rules_.caches.back().output))});
  }

  // Sizes of ids and masks that follow from whether tokens are read again.
  void settle_lengths() {
    const exec::PortDim& length = ids_->type->dims.back();
    if (rules_.grows && length.size) rules_.room = *length.size;
    rules_.is_single = !rules_.grows && length.size == 1 && rules_.opened.empty();
    for (StepInput& input : rules_.inputs) {
      const Port& port = *exec::find_port(signature_.inputs, input.name);
      if (input.kind == Kind::causal_mask && !rules_.is_single && is_for_all_tokens(port)) input.kind = Kind::mask;
      const bool is_of_step = rank(port) > 0 && is_same_symbol(port.type->dims.back(), length);
      if (input.kind == Kind::mask && !rules_.grows && is_of_step) input.kind = Kind::step_mask;
      const std::optional<int64_t> fixed = rank(port) > 0 ? port.type->dims.back().size : std::nullopt;
      const bool is_of_all = input.kind == Kind::mask || input.kind == Kind::causal_mask;
      if (fixed && (rules_.room > 0 || (is_of_all && *fixed > 1))) input.room = *fixed;
      if (input.kind == Kind::mask && fixed == 1) input.kind = Kind::step_mask;
      tell(input.name, "", word(input.kind), step_origins_[input.name]);
    }
  }

  // True of a mask whose one row is meant for all tokens of a step.
  static bool is_for_all_tokens(const Port& port) { return port.type->dims[rank(port) - 2].size == 1; }

  // Gives the rest again, unless its dims say that it must change.
  void keep_rest() {
    const exec::PortDim& length = ids_->type->dims.back();
    for (const Port* input : open_) {
      if (std::ranges::find(rules_.opened, input->name, &Given::value_type::second) != rules_.opened.end()) {
        tell(input->name, "", "opening", "name");
        continue;
      }
      const std::string name = to_lower(input->name);
      const auto changes = [&](const exec::PortDim& dim) { return is_same_symbol(dim, length); };
      const bool is_like_cache =
          !has_any(name, {"encoder", "cross"}) && (looks_like_cache(*input) || may_be_cache(*input));
      if (is_like_cache || (input->type && std::ranges::any_of(input->type->dims, changes)))
        cannot_tell(*input, "the output");
      rules_.kept.push_back(input->name);
    }
  }

  // True if an output that nothing is fed from could become it.
  bool may_be_cache(const Port& input) const {
    constexpr size_t kLeastRank = 4;
    return rank(input) >= kLeastRank &&
           std::ranges::any_of(spare_, [&](const Port* output) { return may_become(*output, input); });
  }

  [[noreturn]] static void cannot_tell(const Port& input, std::string_view what) {
    throw Error(ErrorCode::unsupported,
                fmt::format("input `{}`: {} that it is fed from cannot be told", printable(input.name), what))
        .remedied_by(std::string(kRemedy));
  }

  const ir::Model& model_;
  const exec::Signature& signature_;
  const Given& given_;
  Diagnostics& findings_;
  std::vector<const Port*> open_;   // inputs without a rule so far
  std::vector<const Port*> spare_;  // outputs that no input is fed from
  const Port* ids_ = nullptr;
  std::string_view ids_origin_;
  std::map<std::string, std::string_view> step_origins_;
  FeedRules rules_;
};

}  // namespace

std::string_view word(Kind kind) {
  constexpr std::string_view kWords[] = {"mask",         "step_mask",     "causal_mask", "positions", "past_length",
                                         "total_length", "last_position", "segments",    "flag"};
  return kWords[static_cast<size_t>(kind)];
}

FeedRules feed_rules(const ir::Model& model, const exec::Signature& signature, const KnownFeeds& known,
                     Diagnostics& findings) {
  return RuleFinder(model, signature, known, findings).find();
}

}  // namespace assay::analysis
