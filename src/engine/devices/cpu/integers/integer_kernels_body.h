// The loops of integer_kernels.h; a body of instruction_sets_body.h.

// Loops of a fixed length are what the compiler vectorises at -O2.
template <typename Fn, typename R, typename... T>
ASSAY_KERNEL inline void each(Fn fn, R* __restrict out, size_t count, const T* __restrict... in) {
  size_t i = 0;
  for (; i + kBlock <= count; i += kBlock) {
    for (size_t k = 0; k < kBlock; ++k) out[i + k] = fn(in[i + k]...);
  }
  for (; i < count; ++i) out[i] = fn(in[i]...);
}

template <typename T>
ASSAY_KERNEL inline const T* operand(const std::byte* const* operands, size_t index) {
  return reinterpret_cast<const T*>(operands[index]);
}

template <ElementOp kOp, typename T>
ASSAY_KERNEL void loop(const std::byte* const* in, std::byte* out, size_t count) {
  using R = std::conditional_t<gives_truth(kOp), bool, T>;
  auto* const to = reinterpret_cast<R*>(out);
  if constexpr (is_unary(kOp)) {
    each([](T x) { return computed<kOp>(x); }, to, count, operand<T>(in, 0));
  } else if constexpr (kOp == ElementOp::clip) {
    const auto clipped = [](T x, T least, T greatest) {
      const T raised = x < least ? least : x;
      return raised > greatest ? greatest : raised;
    };
    each(clipped, to, count, operand<T>(in, 0), operand<T>(in, 1), operand<T>(in, 2));
  } else {
    each([](T x, T y) { return computed<kOp>(x, y); }, to, count, operand<T>(in, 0), operand<T>(in, 1));
  }
}

template <typename To, typename From>
ASSAY_KERNEL void cast(const std::byte* const* in, std::byte* out, size_t count) {
  if constexpr (std::is_same_v<From, bool>) {  // any byte but 0 is true
    each([](uint8_t x) { return cast_to<To>(x != 0); }, reinterpret_cast<To*>(out), count, operand<uint8_t>(in, 0));
  } else {
    each([](From x) { return cast_to<To>(x); }, reinterpret_cast<To*>(out), count, operand<From>(in, 0));
  }
}

template <typename T>
ASSAY_KERNEL void choice(const std::byte* const* in, std::byte* out, size_t count) {
  each([](uint8_t holds, T x, T y) { return holds != 0 ? x : y; }, reinterpret_cast<T*>(out), count,
       operand<uint8_t>(in, 0), operand<T>(in, 1), operand<T>(in, 2));
}

template <typename T, size_t... kI>
ElementLoop find_loop(size_t number, std::index_sequence<kI...>) {
  constexpr std::array<ElementLoop, sizeof...(kI)> kLoops = {loop<kIntegerOps[kI], T>...};
  return kLoops[number];
}

ElementLoop find(ElementOp op, tensor::DType type) {
  const auto number = static_cast<size_t>(std::ranges::find(kIntegerOps, op) - kIntegerOps.begin());
  if (number == kIntegerOps.size()) return nullptr;
  return with_integer(
      type, [&]<typename T>(T) { return find_loop<T>(number, std::make_index_sequence<kIntegerOps.size()>()); });
}

ElementLoop find_cast(tensor::DType from, tensor::DType to) {
  return with_number(from, [&]<typename From>(From) {
    return with_number(to, [&]<typename To>(To) -> ElementLoop { return cast<To, From>; });
  });
}

ElementLoop find_choice(size_t bytes) {
  if (bytes == 1) return choice<uint8_t>;
  if (bytes == 2) return choice<uint16_t>;
  if (bytes == 4) return choice<uint32_t>;
  return bytes == 8 ? choice<uint64_t> : nullptr;
}

constexpr IntegerKernels kKernels = {kName, find, find_cast, find_choice};
