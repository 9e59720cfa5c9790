#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "base/check.h"
#include "base/text.h"
#include "ir/edit.h"
#include "ir/verify.h"
#include "ops/interpreter.h"
#include "ops/write_types.h"
#include "support/parsed_model.h"
#include "surgery/shard/tensor_parallel.h"
#include "tensor/elements.h"

namespace assay::testing_support {

inline constexpr std::string_view kHeader =
    "<ir_version: 11, opset_import: [\"\" : 23, \"com.microsoft\" : 1, \"own\" : 1]> ";

// Small numbers that look random; sums and products of few of them are exact.
inline std::vector<int64_t> draw(size_t count, uint32_t seed, int64_t limit) {
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < count; ++i) {
    seed = seed * 1664525U + 1013904223U;
    numbers.push_back(static_cast<int64_t>(seed >> 16) % (2 * limit + 1) - limit);
  }
  return numbers;
}

inline std::string listed(const std::vector<int64_t>& numbers) {
  std::vector<std::string> words;
  for (const int64_t number : numbers) words.push_back(std::to_string(number));
  return join(words, ",");
}

inline std::string constant(std::string_view type, std::string_view name, const tensor::Shape& shape,
                            const std::vector<int64_t>& numbers) {
  return fmt::format("{}[{}] {} = {{{}}}", type, listed(shape), name, listed(numbers));
}

inline std::string weight(std::string_view type, std::string_view name, const tensor::Shape& shape, int64_t limit = 3) {
  const uint32_t seed = static_cast<uint32_t>(name.size() * 77 + static_cast<unsigned char>(name.back()));
  return constant(type, name, shape, draw(*tensor::element_count(shape), seed, limit));
}

inline std::string packed(std::string_view name, const tensor::Shape& shape) {
  const uint32_t seed = static_cast<unsigned char>(name.back());
  std::vector<int64_t> numbers = draw(*tensor::element_count(shape), seed, 127);
  for (int64_t& number : numbers) number += 127;
  return constant("uint8", name, shape, numbers);
}

inline tensor::Tensor input_of(const ir::Model& model, ir::ValueId value, uint32_t seed, double scale) {
  const ir::Type& type = model[model[value].type];
  tensor::Shape shape;
  for (const ir::DimId dim : type.dims) shape.push_back(*model.dims().as_constant(dim));
  const std::vector<int64_t> numbers = draw(*tensor::element_count(shape), seed, 4);
  std::vector<float> elements;
  for (const int64_t number : numbers) elements.push_back(static_cast<float>(static_cast<double>(number) * scale));
  return tensor::make_tensor(tensor::DType::float32, shape, std::span<const float>(elements));
}

using Values = std::map<std::string, tensor::Tensor>;

inline Values run(const ir::Model& model, const Values& inputs, const std::vector<ir::ValueId>& wanted) {
  std::vector<ops::InputDatum> data;
  for (const ir::ValueId input : model[model.main_graph()].inputs) {
    data.push_back({input, tensor::Datum(inputs.at(std::string(model.text(model[input].name))))});
  }
  Values found;
  const auto sink = [&](ir::ValueId value, const tensor::Datum& datum) {
    found[std::string(model.text(model[value].name))] = datum.tensor();
  };
  ops::Interpreter(model, {}).run(data, wanted, sink);
  return found;
}

inline std::vector<ir::ValueId> outputs_of(const ir::Model& model) {
  std::vector<ir::ValueId> outputs;
  for (const ir::Use& use : model.outputs(model.main_graph())) outputs.push_back(use.value);
  return outputs;
}

// The model of one rank, with each sum over ranks taken out: what it adds up is wanted, the sum is an input.
struct RankModel {
  ir::Model model;
  surgery::TensorSharding sharding;
  std::vector<std::pair<ir::ValueId, std::string>> sums;  // part, name of the sum
};

inline RankModel rank_model(const std::string& text, int64_t ranks, int64_t rank) {
  RankModel made{parsed(text), {}, {}};
  formats::ShardHints hints;
  hints.parallelism = "TP";
  hints.nb_rank = ranks;
  ir::Edit edit(made.model);
  ops::Inference inference(made.model);
  inference.run();
  ops::write_types(inference, made.model);
  made.sharding = surgery::shard_tensors(made.model, hints);
  surgery::set_rank(made.model, made.sharding, rank);
  ir::check_structure(made.model);
  Diagnostics faults;
  ir::verify(made.model, faults);
  ASSAY_CHECK(faults.error_count() == 0);
  std::vector<ir::NodeId> collectives;
  for (const ir::NodeId node : ir::nodes(made.model, made.model.main_graph())) {
    if (made.model.text(made.model[node].op) == "DistCollective") collectives.push_back(node);
  }
  for (const ir::NodeId node : collectives) {
    const ir::ValueId part = made.model[node].operands[0].value;
    const ir::ValueId sum = made.model[node].results[0];
    const std::string name = fmt::format("sum{}", made.sums.size());
    const ir::ValueId input = edit.add_input(made.model.main_graph(), edit.intern(name), made.model[sum].type);
    edit.replace_uses(sum, input);
    edit.erase(node);
    made.sums.emplace_back(part, name);
  }
  return made;
}

inline tensor::Tensor add(const tensor::Tensor& a, const tensor::Tensor& b) {
  const std::vector<double> x = tensor::load_elements<double>(a);
  const std::vector<double> y = tensor::load_elements<double>(b);
  std::vector<float> sum;
  for (size_t i = 0; i < x.size(); ++i) sum.push_back(static_cast<float>(x[i] + y[i]));
  return tensor::make_tensor(tensor::DType::float32, a.shape(), std::span<const float>(sum));
}

// A cache of which each rank has its heads; other inputs are the same for all.
inline tensor::Tensor share_of(const ir::Model& model, const tensor::Tensor& whole, ir::ValueId input, int64_t ranks,
                               int64_t rank) {
  const ir::Type& type = model[model[input].type];
  for (size_t i = 0; i < type.dims.size(); ++i) {
    if (*model.dims().as_constant(type.dims[i]) == whole.shape()[i]) continue;
    return surgery::slice_of(whole, {.axis = i, .index = rank, .count = ranks});
  }
  return whole;
}

// Largest difference, in parts of the largest element, between the whole model's outputs and what ranks give together;
// parts of caches are compared with the same parts.
class Ranks {
 public:
  Ranks(const std::string& graph, int64_t ranks, double scale = 1) : text_(std::string(kHeader) + graph) {
    const ir::Model whole = parsed(text_);
    uint32_t seed = 5;
    for (const ir::ValueId input : whole[whole.main_graph()].inputs) {
      inputs_[std::string(whole.text(whole[input].name))] = input_of(whole, input, seed++, scale);
    }
    whole_ = run(whole, inputs_, outputs_of(whole));
    for (int64_t rank = 0; rank < ranks; ++rank) models_.push_back(rank_model(text_, ranks, rank));
    feed();
    for (size_t at = 0; at < models_[0].sums.size(); ++at) sum_up(at);
    compare();
  }

  double error() const { return error_; }
  size_t sum_count() const { return models_[0].sums.size(); }
  const surgery::TensorSharding& sharding() const { return models_[0].sharding; }
  std::vector<std::string> slices() const {
    std::vector<std::string> lines;
    for (const surgery::ShardStep& step : sharding().steps) {
      if (step.action == "slice") lines.push_back(step.name + " " + step.detail);
    }
    return lines;
  }

 private:
  void feed() {
    for (size_t rank = 0; rank < models_.size(); ++rank) {
      const ir::Model& model = models_[rank].model;
      Values fed;
      for (const ir::ValueId input : model[model.main_graph()].inputs) {
        const std::string name(model.text(model[input].name));
        fed[name] = inputs_.contains(name) ? share_of(model, inputs_.at(name), input,
                                                      static_cast<int64_t>(models_.size()), static_cast<int64_t>(rank))
                                           : input_of(model, input, 1, 0);
      }
      fed_.push_back(std::move(fed));
    }
  }

  void sum_up(size_t at) {
    std::optional<tensor::Tensor> sum;
    for (size_t rank = 0; rank < models_.size(); ++rank) {
      const ir::ValueId part = models_[rank].sums[at].first;
      const Values found = run(models_[rank].model, fed_[rank], {part});
      sum = sum ? add(*sum, found.begin()->second) : found.begin()->second;
    }
    for (size_t rank = 0; rank < models_.size(); ++rank) fed_[rank][models_[rank].sums[at].second] = *sum;
  }

  void compare() {
    for (size_t rank = 0; rank < models_.size(); ++rank) {
      const std::vector<ir::ValueId> wanted = outputs_of(models_[rank].model);
      const Values found = run(models_[rank].model, fed_[rank], wanted);
      const ir::Model whole = parsed(text_);
      const std::vector<ir::ValueId> names = outputs_of(whole);
      for (size_t i = 0; i < wanted.size(); ++i) {
        const std::string own(models_[rank].model.text(models_[rank].model[wanted[i]].name));
        const tensor::Tensor& expected = whole_.at(std::string(whole.text(whole[names[i]].name)));
        compare(share_of(models_[rank].model, expected, wanted[i], static_cast<int64_t>(models_.size()),
                         static_cast<int64_t>(rank)),
                own.starts_with("sum") ? fed_[rank].at(own) : found.at(own));
      }
    }
  }

  void compare(const tensor::Tensor& expected, const tensor::Tensor& actual) {
    ASSAY_CHECK(expected.shape() == actual.shape());
    const std::vector<double> x = tensor::load_elements<double>(expected);
    const std::vector<double> y = tensor::load_elements<double>(actual);
    double largest = 0;
    for (const double element : x) largest = std::max(largest, std::abs(element));
    for (size_t i = 0; i < x.size(); ++i) error_ = std::max(error_, std::abs(x[i] - y[i]) / largest);
    ASSAY_CHECK(std::ranges::any_of(x, [&](double element) { return element != x[0]; }));
  }

  std::string text_;
  Values inputs_;
  Values whole_;
  std::vector<RankModel> models_;
  std::vector<Values> fed_;
  double error_ = 0;
};

}  // namespace assay::testing_support
