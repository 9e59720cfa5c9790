// Concat, what is at places that indices name, and blocks between depth and space.
#include <algorithm>
#include <cstring>

#include "base/parallel.h"
#include "engine/devices/cpu/copy.h"
#include "engine/devices/cpu/device.h"
#include "engine/layers/indexed_rows.h"
#include "ops/kernels/movement/places.h"
#include "tensor/elements.h"

namespace assay::engine::cpu {
namespace {

class Concat final : public Implementation {
 public:
  std::string_view name() const override { return "movement.concat"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    if (!layer.is_single() || !layer.starts_with("Concat")) return {};
    const std::vector<CopyPart> parts = concat_copies(layer);
    return parts.empty() ? nullptr : make_copies(parts);
  }
};

// Combines elements that neighbour each other; the first may be scattered to.
using Combine = void (*)(std::byte* to, const std::byte* from, int64_t count);

template <typename T, typename Fn>
void combine_all(std::byte* to, const std::byte* from, int64_t count, Fn&& fn) {
  auto* const out = reinterpret_cast<T*>(to);
  const auto* const in = reinterpret_cast<const T*>(from);
  constexpr int64_t kBlock = 16;  // compilers make vectors of loops of fixed lengths
  int64_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (int64_t k = i; k < i + kBlock; ++k) out[k] = fn(out[k], in[k]);
  }
  for (; i < count; ++i) out[i] = fn(out[i], in[i]);
}

// NaN wins over every number.
template <typename T>
T extreme(T a, T b, bool takes_larger) {
  if (a != a || b != b) return a != a ? a : b;
  return (takes_larger ? b > a : b < a) ? b : a;
}

// Sums and products of whole numbers, of type Wrapped, wrap around.
template <typename T, typename Wrapped = T>
Combine find_combine(std::string_view reduction) {
  if (reduction == "add")
    return [](std::byte* to, const std::byte* from, int64_t count) {
      combine_all<Wrapped>(to, from, count, [](Wrapped a, Wrapped b) { return a + b; });
    };
  if (reduction == "mul")
    return [](std::byte* to, const std::byte* from, int64_t count) {
      combine_all<Wrapped>(to, from, count, [](Wrapped a, Wrapped b) { return a * b; });
    };
  if (reduction == "max")
    return [](std::byte* to, const std::byte* from, int64_t count) {
      combine_all<T>(to, from, count, [](T a, T b) { return extreme(a, b, true); });
    };
  return [](std::byte* to, const std::byte* from, int64_t count) {
    combine_all<T>(to, from, count, [](T a, T b) { return extreme(a, b, false); });
  };
}

// Rows or elements at the places that indices name are taken, or written behind a copy of all.
template <typename Index>
class PlacesKernel final : public PlainKernel {
 public:
  PlacesKernel(IndexedRows rows, const TensorDesc& data, bool scatters, Combine combine)
      : rows_(std::move(rows)),
        count_(rows_.count()),
        bytes_(tensor::bit_width(data.dtype) / 8),
        data_bytes_(data.size_bytes()),
        scatters_(scatters),
        combine_(combine) {}

  void run(const Arguments& arguments) const override {
    if (!scatters_ || rows_.are_apart()) {
      if (scatters_) copy_all(arguments);
      const auto grain = static_cast<uint64_t>(kGrain / (rows_.length * bytes_) + 1);
      return parallel_for(static_cast<uint64_t>(count_), grain, [&](uint64_t begin, uint64_t end) {
        move(arguments, {static_cast<int64_t>(begin), static_cast<int64_t>(end)}, {0, rows_.length});
      });
    }
    copy_all(arguments);
    const auto grain = static_cast<uint64_t>(std::max(kLeastColumns, kGrain / (count_ * bytes_ + 1)));
    parallel_for(static_cast<uint64_t>(rows_.length), grain, [&](uint64_t begin, uint64_t end) {
      move(arguments, {0, count_}, {static_cast<int64_t>(begin), static_cast<int64_t>(end)});
    });
  }

 private:
  static constexpr int64_t kGrain = 1 << 15;  // bytes
  static constexpr int64_t kLeastColumns = 32;
  struct Range {
    int64_t begin, end;
  };

  void copy_all(const Arguments& arguments) const {
    std::memcpy(host<std::byte>(arguments.outputs[0]), host<const std::byte>(arguments.inputs[0]), data_bytes_);
  }

  static int64_t step_of(Index index, IndexedRows::Number number) {
    const auto place = static_cast<uint64_t>(int64_t{index}), limit = static_cast<uint64_t>(number.limit);
    return static_cast<int64_t>(place < limit ? place : ops::checked_index(index, limit)) * number.step;
  }

  void move(const Arguments& arguments, Range rows, Range columns) const {
    const auto* const indices = host<const Index>(arguments.inputs[1]);
    auto* const data = host<std::byte>(scatters_ ? arguments.outputs[0] : arguments.inputs[0]);
    auto* const side = host<std::byte>(scatters_ ? arguments.inputs[2] : arguments.outputs[0]);
    for (int64_t row = rows.begin; row < rows.end; ++row) {
      const auto place = static_cast<uint64_t>(row);
      int64_t at = ops::strided_place(place, rows_.shape, rows_.data_strides);
      const Index* const index = indices + ops::strided_place(place, rows_.shape, rows_.index_strides);
      std::byte* const own = side + row * rows_.length * bytes_;
      if (rows_.is_by_element) {
        move_each(data + at * bytes_, index, own, columns);
        continue;
      }
      for (size_t k = 0; k < rows_.numbers.size(); ++k)
        at += step_of(index[static_cast<int64_t>(k) * rows_.number_step], rows_.numbers[k]);
      move_elements(data + (at + columns.begin) * bytes_, own + columns.begin * bytes_, columns.end - columns.begin);
    }
  }

  // Moves elements between the tensor that indices name places of and the other side.
  void move_elements(std::byte* data, std::byte* side, int64_t count) const {
    std::byte* const to = scatters_ ? data : side;
    const std::byte* const from = scatters_ ? side : data;
    if (combine_ != nullptr) return combine_(to, from, count);
    std::memcpy(to, from, static_cast<size_t>(count * bytes_));
  }

  void move_each(std::byte* data, const Index* index, std::byte* side, Range columns) const {
    const IndexedRows::Number number = rows_.numbers[0];
    const int64_t index_step = rows_.index_step, data_step = rows_.data_step;
    const auto elements_at = [&]<typename Element>(Element) {
      auto* const there = reinterpret_cast<Element*>(data);
      auto* const here = reinterpret_cast<Element*>(side);
      const auto each = [&](auto&& move) {
        for (int64_t i = columns.begin; i < columns.end; ++i)
          move(there[i * data_step + step_of(index[i * index_step], number)], here[i]);
      };
      if (combine_ != nullptr)
        each([&](Element& to, const Element& from) {
          combine_(reinterpret_cast<std::byte*>(&to), reinterpret_cast<const std::byte*>(&from), 1);
        });
      else if (scatters_)
        each([](Element& to, const Element& from) { to = from; });
      else
        each([](const Element& from, Element& to) { to = from; });
    };
    if (bytes_ == sizeof(uint8_t)) return elements_at(uint8_t{});
    if (bytes_ == sizeof(uint16_t)) return elements_at(uint16_t{});
    if (bytes_ == sizeof(uint32_t)) return elements_at(uint32_t{});
    elements_at(uint64_t{});
  }

  IndexedRows rows_;
  int64_t count_, bytes_;
  uint64_t data_bytes_;
  bool scatters_;
  Combine combine_;  // null: elements take the place of others
};

class Places final : public Implementation {
 public:
  Places(std::string_view name, IndexedOperator op) : name_(name), op_(op) {}
  std::string_view name() const override { return name_; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    std::optional<IndexedRows> rows = find_indexed_rows(layer, op_);
    if (!rows) return {};
    const bool scatters = layer.inputs.size() == 3;
    const TensorDesc& data = layer.inputs[0];
    if (scatters && !has_layout(layer.inputs[2], Layout::plain)) return {};
    if (!has_layout(layer.outputs[0], Layout::plain)) return {};
    if (data.count() == 0 || layer.outputs[0].count() == 0 || tensor::bit_width(data.dtype) % 8 != 0) return {};
    const bool has_elements = rows->length > 0 && data.dtype != tensor::DType::string;
    if (!has_elements || (rows->is_by_element && tensor::bit_width(data.dtype) > 64)) return {};
    const std::string_view reduction = layer.facts(layer.nodes[0]).string("reduction", "none");
    Combine combine = nullptr;
    if (scatters && reduction != "none") {
      if (data.dtype == tensor::DType::float32) combine = find_combine<float>(reduction);
      if (data.dtype == tensor::DType::int32) combine = find_combine<int32_t, uint32_t>(reduction);
      if (data.dtype == tensor::DType::int64) combine = find_combine<int64_t, uint64_t>(reduction);
      if (combine == nullptr) return {};
    }
    if (layer.inputs[1].dtype == tensor::DType::int64)
      return std::make_unique<PlacesKernel<int64_t>>(std::move(*rows), data, scatters, combine);
    return std::make_unique<PlacesKernel<int32_t>>(std::move(*rows), data, scatters, combine);
  }

 private:
  std::string_view name_;
  IndexedOperator op_;
};

class Blocks final : public Implementation {
 public:
  std::string_view name() const override { return "movement.blocks"; }
  std::unique_ptr<Kernel> make(const Layer& layer, std::string_view) const override {
    const bool is_to_space = layer.starts_with("DepthToSpace");
    if (!layer.is_single() || (!is_to_space && !layer.starts_with("SpaceToDepth"))) return {};
    const std::vector<CopyPart> parts = block_copies(layer, is_to_space);
    return parts.empty() ? nullptr : make_copies(parts);
  }
};

Implementations make_movements(const Libraries& libraries) {
  Implementations all = family_of<Concat, Blocks>().make(libraries);
  all.push_back(std::make_unique<Places>("movement.gather", IndexedOperator::gather));
  all.push_back(std::make_unique<Places>("movement.gather_elements", IndexedOperator::gather_elements));
  all.push_back(std::make_unique<Places>("movement.gather_places", IndexedOperator::gather_places));
  all.push_back(std::make_unique<Places>("movement.scatter_places", IndexedOperator::scatter_places));
  all.push_back(std::make_unique<Places>("movement.scatter_elements", IndexedOperator::scatter_elements));
  return all;
}

}  // namespace

KernelFamily cpu_kernel_movement() { return {make_movements}; }

}  // namespace assay::engine::cpu
