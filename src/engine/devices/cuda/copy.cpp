#include "engine/devices/cuda/copy.h"

#include <algorithm>

#include "engine/devices/cuda/generate/element_kernel.h"

namespace assay::engine::cuda {

tensor::DType type_of_bits(int bits) {
  switch (bits) {
    case 8:
      return tensor::DType::uint8;
    case 16:
      return tensor::DType::uint16;
    case 32:
      return tensor::DType::uint32;
    case 64:
      return tensor::DType::uint64;
    default:
      return tensor::DType::undefined;
  }
}

namespace {

std::optional<ElementResult> copy_result(const CopyPart& part) {
  TensorDesc from = part.from, to = part.to;
  ElementText text;
  if (from.dtype == to.dtype) {
    from.dtype = to.dtype = type_of_bits(tensor::bit_width(from.dtype));
    if (!from.exists()) return std::nullopt;
    text.is_exact = true;
    text.statements = "    const auto made = x0;\n";
  } else {
    if (!is_read_as_float(from.dtype) || !is_read_as_float(to.dtype)) return std::nullopt;
    text.statements = "    const float made = x0;\n";
  }
  const int64_t offset = part.to_offset * tensor::bit_width(to.dtype) / 8;
  return ElementResult{std::move(text), {{input_pointer(part.input), from}}, {output_pointer(0, offset), to}};
}

}  // namespace

std::unique_ptr<Kernel> make_copies(Programs& programs, const std::vector<CopyPart>& parts) {
  constexpr size_t kMostTogether = 8;
  std::vector<ElementResult> results;
  for (const CopyPart& part : parts) {
    if (part.from.count() == 0) continue;
    std::optional<ElementResult> result = copy_result(part);
    if (!result) return nullptr;
    results.push_back(std::move(*result));
  }
  Launches launches;
  for (size_t i = 0; i < results.size(); i += kMostTogether) {
    const auto some = std::span(results).subspan(i, std::min(kMostTogether, results.size() - i));
    std::optional<Launch> launch = element_launch(programs, some);
    if (!launch) return nullptr;
    launches.all.push_back(std::move(*launch));
  }
  return make_kernel(std::move(launches));
}

std::unique_ptr<Kernel> make_copy(Programs& programs, const TensorDesc& from, const TensorDesc& to) {
  return make_copies(programs, {{0, from, to, 0}});
}

}  // namespace assay::engine::cuda
