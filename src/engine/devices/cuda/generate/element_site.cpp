#include "engine/devices/cuda/generate/element_site.h"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "engine/layers/element_walk.h"

namespace assay::engine::cuda {
namespace {

constexpr int64_t kMostElements = std::numeric_limits<int32_t>::max();

int64_t element_bytes(tensor::DType dtype) { return tensor::bit_width(dtype) / 8; }

// Elements from the first to the last that a desc reaches.
int64_t reach_of(const TensorDesc& desc) {
  int64_t reach = 1;
  for (size_t i = 0; i < desc.dims.size(); ++i) reach += std::max<int64_t>(desc.dims[i] - 1, 0) * desc.strides[i];
  return std::max(reach, desc.count());
}

}  // namespace

ElementSite::ElementSite(ElementText text, std::vector<ElementOperand> operands, const ElementOperand& result)
    : text_(std::move(text)), all_(std::move(operands)) {
  all_.push_back(result);
}

bool ElementSite::find_walk(int64_t most_pack) {
  const TensorDesc& out = all_.back().desc;
  extents_ = walked_extents(out);
  for (const ElementOperand& operand : all_) {
    std::optional<std::vector<int64_t>> strides = walked_strides(operand.desc, out);
    if (!strides || element_type(operand.desc.dtype).empty() || reach_of(operand.desc) > kMostElements) return false;
    strides_.push_back(std::move(*strides));
  }
  std::vector<std::vector<int64_t>*> strides;
  for (std::vector<int64_t>& each : strides_) strides.push_back(&each);
  join_walked(extents_, strides);
  pack_ = find_pack(most_pack);
  return true;
}

int64_t ElementSite::find_pack(int64_t most) const {
  constexpr int64_t kPackBytes = 16;
  int64_t bytes = 1;
  for (const ElementOperand& each : all_) bytes = std::max(bytes, element_bytes(each.desc.dtype));
  for (int64_t pack = std::min(most, kPackBytes / bytes); pack > 1; pack /= 2) {
    if (can_pack(pack)) return pack;
  }
  return 1;
}

bool ElementSite::can_pack(int64_t pack) const {
  if (extents_.back() % pack != 0) return false;
  for (size_t i = 0; i < all_.size(); ++i) {
    const std::vector<int64_t>& strides = strides_[i];
    if (all_[i].pointer.offset % (pack * element_bytes(all_[i].desc.dtype)) != 0) return false;
    if (strides.back() == 0) continue;
    const bool is_even = std::all_of(strides.begin(), strides.end() - 1, [&](int64_t s) { return s % pack == 0; });
    if (strides.back() != 1 || !is_even) return false;
  }
  return true;
}

void ElementSite::add_to(Launch& launch) {
  first_pointer_ = launch.pointers.size();
  if (columns_ != 0) launch.add(columns_);
  first_number_ = launch.numbers.size();
  for (size_t dim = 1; dim < extents_.size(); ++dim) launch.add_divisor(extents_[dim]);
  for (const std::vector<int64_t>& strides : strides_) {
    for (const int64_t stride : strides) launch.add(stride);
  }
  chain_number_ = launch.numbers.size();
  for (const float number : text_.numbers) launch.add(number);
  for (const ElementOperand& operand : all_) launch.pointers.push_back(operand.pointer);
}

size_t ElementSite::stride_place(size_t operand, size_t dim) const {
  const size_t rank = extents_.size();
  return first_number_ + 3 * (rank - 1) + operand * rank + dim;
}

bool ElementSite::can_pair(int64_t columns) const {
  constexpr int64_t kPack = 8;
  const tensor::DType made = all_.back().desc.dtype;
  return pack_ == kPack && is_by_column(columns) && (is_half(made) || made == tensor::DType::float8e4m3fn) &&
         std::all_of(all_.begin(), all_.end() - 1, [](const ElementOperand& each) { return is_half(each.desc.dtype); });
}

bool ElementSite::is_by_column(int64_t columns) const {
  if (extents_.size() > 2 || (extents_.size() == 2 && extents_[1] != columns)) return false;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (!waits_in_slot(i) && strides_[i].front() != 0) return false;
  }
  return true;
}

std::string ElementSite::offsets() const { return offsets(0); }
std::string ElementSite::result_offset() const { return offsets(all_.size() - 1); }

// The offsets of the operands from `begin` on.
std::string ElementSite::offsets(size_t begin) const {
  if (columns_ == 0) return walked_offsets(begin);
  if (!is_plain()) {
    return fmt::format("  const uint32 first = (uint32)row * (uint32)p.n[{}] + (uint32)column;\n", first_number_ - 1) +
           walked_offsets(begin);
  }
  std::string made;
  for (size_t i = begin; i < all_.size(); ++i) {
    const auto along = [&](std::string_view place, size_t dim) {
      const int64_t stride = strides_[i][dim];
      return stride <= 1 ? fmt::format("{} * {}", place, stride)
                         : fmt::format("{} * p.n[{}]", place, stride_place(i, dim));
    };
    made += fmt::format("  const int o{} = {} + {};\n", i, along("row", 0), along("column", 1));
  }
  return made;
}

// Offsets from there on at element `first`.
std::string ElementSite::walked_offsets(size_t begin) const {
  std::string made = "  uint32 rest = first;\n";
  for (size_t i = begin; i < all_.size(); ++i) made += fmt::format("  int o{} = 0;\n", i);
  for (size_t dim = extents_.size(); dim-- > 0;) {
    if (dim > 0) {
      const size_t divisor = first_number_ + 3 * (dim - 1);
      made += fmt::format("  const uint32 q{0} = quotient(rest, DIVISOR({1}));\n", dim, divisor);
      made += fmt::format("  const int i{0} = (int)(rest - q{0} * (uint32)p.n[{1}]);\n", dim, divisor);
      made += fmt::format("  rest = q{};\n", dim);
    } else {
      made += "  const int i0 = (int)rest;\n";
    }
    for (size_t i = begin; i < all_.size(); ++i) {
      const int64_t stride = strides_[i][dim];
      if (stride == 0) continue;
      made += stride == 1 ? fmt::format("  o{} += i{};\n", i, dim)
                          : fmt::format("  o{} += i{} * p.n[{}];\n", i, dim, stride_place(i, dim));
    }
  }
  return made;
}

std::string ElementSite::type_read(size_t operand, std::string_view packs) const {
  const std::string_view type = element_type(all_[operand].desc.dtype);
  return is_packed(operand) ? fmt::format("{}<{}, {}>", packs, type, neighbours()) : std::string(type);
}

// True for packs of which elements share registers.
bool ElementSite::is_raw(size_t operand) const { return is_packed(operand) && is_half(all_[operand].desc.dtype); }

std::string ElementSite::loads(bool are_raw) const {
  std::string made;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (!is_loaded(i)) continue;
    const bool raw = are_raw && is_raw(i);
    const std::string read = is_packed(i) ? fmt::format("{}<{}, {}>({})", raw ? "load_raw" : "load_pack",
                                                        element_type(all_[i].desc.dtype), neighbours(), address(i))
                                          : fmt::format("*({})", address(i));
    made += fmt::format("  const {} a{} = {};\n", type_read(i, raw ? "Raw" : "Pack"), i, read);
  }
  return made;
}

std::string ElementSite::fetches() const {
  std::string made;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (waits_in_slot(i)) made += fmt::format("  copy_pack(slots, {});\n  slots += kSlotStride;\n", address(i));
  }
  return made;
}

// The address of the operand's element, whose offset is known.
std::string ElementSite::address(size_t operand) const {
  return fmt::format("(const {}*)p.at[{}] + o{}", element_type(all_[operand].desc.dtype), first_pointer_ + operand,
                     operand);
}

bool ElementSite::waits_in_slot(size_t operand) const {
  constexpr int64_t kSlotBytes = 16;
  return uses_slots_ && operand + 1 < all_.size() && all_[operand].given.empty() && is_packed(operand) &&
         pack_ * element_bytes(all_[operand].desc.dtype) == kSlotBytes && std::ranges::count(strides_[operand], 0) == 0;
}

size_t ElementSite::slots() const {
  size_t count = 0;
  for (size_t i = 0; i < all_.size(); ++i) count += waits_in_slot(i) ? 1 : 0;
  return count;
}

std::string ElementSite::members() const {
  std::string made;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (is_loaded(i)) made += fmt::format("  {} a{};\n", type_read(i, is_raw(i) ? "Raw" : "Pack"), i);
  }
  return holds_offset() ? made + fmt::format("  int o{};\n", all_.size() - 1) : made;
}

std::string ElementSite::members_list() const {
  std::string made;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (is_loaded(i)) made += fmt::format("a{}, ", i);
  }
  return holds_offset() ? made + fmt::format("o{}", all_.size() - 1) : made;
}

std::string ElementSite::references(std::string_view from) const {
  std::string made;
  size_t slot = 0;
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    if (waits_in_slot(i)) {
      made += fmt::format("  const {0} a{1} = *(const {0}*)(slots + {2} * kSlotStride);\n", type_read(i), i, slot++);
    } else if (is_loaded(i)) {
      made += is_raw(i) ? fmt::format("  const auto a{0} = unpacked({1}.a{0});\n", i, from)
                        : fmt::format("  const auto& a{0} = {1}.a{0};\n", i, from);
    }
  }
  return holds_offset() ? made + fmt::format("  const int o{0} = {1}.o{0};\n", all_.size() - 1, from) : made;
}

std::string ElementSite::body() const {
  std::string made = fmt::format("#undef kNumbers\n#define kNumbers {}\n", chain_number_);
  for (size_t i = 0; i + 1 < all_.size(); ++i) {
    const std::string element = fmt::format("a{}{}", i, is_packed(i) ? ".e[i]" : "");
    if (!all_[i].given.empty()) {
      made += fmt::format("    const float x{} = {};\n", i, all_[i].given);
      continue;
    }
    made += text_.is_exact ? fmt::format("    const auto x{} = {};\n", i, element)
                           : fmt::format("    const float x{} = widened({});\n", i, element);
  }
  return made + text_.statements;
}

std::string ElementSite::computed(std::string_view given) const {
  if (pack_ == 1) return (given.empty() ? "" : fmt::format("  const int i = 0;\n{}", given)) + body();
  return fmt::format("  Pack<{0}, {1}> out;\n#pragma unroll\n  for (int i = 0; i < {1}; ++i) {{\n{2}", result_type(),
                     neighbours(), given) +
         body() + fmt::format("    out.e[i] = {};\n  }}\n", narrowed());
}

std::string ElementSite::narrowed() const {
  if (text_.is_exact && !is_short_float(all_.back().desc.dtype)) return "made";
  return fmt::format("Narrow<{}>::of(made)", result_type());
}

std::string ElementSite::store() const {
  const size_t result = all_.size() - 1;
  const size_t at = first_pointer_ + result;
  if (pack_ == 1) return fmt::format("  (({0}*)p.at[{1}])[o{2}] = {3};\n", result_type(), at, result, narrowed());
  return fmt::format("  store_pack<{0}, {1}>(({0}*)p.at[{2}] + o{3}, out);\n", result_type(), pack_, at, result);
}

std::string params_text(const Launch& launch) {
  const std::string maps = launch.maps.empty() ? "" : fmt::format("  Map maps[{}];\n", launch.maps.size());
  return fmt::format("struct Params {{\n{}  void* at[{}];\n  int n[{}];\n}};\n", maps, launch.pointers.size(),
                     launch.numbers.size());
}

}  // namespace assay::engine::cuda
