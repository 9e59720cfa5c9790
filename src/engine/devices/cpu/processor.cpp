#include "engine/devices/cpu/processor.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include <fmt/format.h>

#include "base/error.h"
#include "base/text.h"

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)

// Levels of instructions that kernels may use, each with those before it.
enum class Level : uint8_t { base, avx2, avx512, all };
constexpr std::array<std::string_view, 4> kLevels = {"base", "avx2", "avx512", "all"};

// That which ASSAY_INSTRUCTIONS names; without it, all.
Level find_level() {
  const char* const word = std::getenv("ASSAY_INSTRUCTIONS");
  if (word == nullptr || *word == '\0') return Level::all;
  const auto found = std::ranges::find(kLevels, std::string_view(word));
  if (found != kLevels.end()) return static_cast<Level>(found - kLevels.begin());
  fail(ErrorCode::usage, "ASSAY_INSTRUCTIONS: expected base, avx2, avx512 or all, seen `{}`", printable(word));
}

bool permits(Level level) {
  static const Level most = find_level();
  return level <= most;
}

bool find_avx512() {
  __builtin_cpu_init();
  return permits(Level::avx512) && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
}

bool find_avx512_vnni() { return permits(Level::all) && find_avx512() && __builtin_cpu_supports("avx512vnni"); }

bool find_avx512_bf16() { return permits(Level::all) && find_avx512() && __builtin_cpu_supports("avx512bf16"); }

bool find_avx2() {
  __builtin_cpu_init();
  return permits(Level::avx2) && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

using Registers = std::array<unsigned, 4>;

Registers cpuid(unsigned leaf, unsigned subleaf = 0) {
  Registers r{};
  __get_cpuid_count(leaf, subleaf, &r[0], &r[1], &r[2], &r[3]);
  return r;
}

std::string brand() {
  constexpr unsigned kFirst = 0x80000002;
  std::array<char, 3 * sizeof(Registers) + 1> text{};
  for (unsigned i = 0; i < 3; ++i) {
    const Registers r = cpuid(kFirst + i);
    std::memcpy(text.data() + i * sizeof(r), r.data(), sizeof(r));
  }
  return text.data();
}

std::string instruction_sets() {
  std::string sets;
  const auto add = [&](bool has, const char* name) {
    if (has) sets += fmt::format("{}{}", sets.empty() ? "" : " ", name);
  };
  add(permits(Level::avx2) && __builtin_cpu_supports("avx2") != 0, "avx2");
  add(permits(Level::avx512) && __builtin_cpu_supports("avx512f") != 0, "avx512");
  add(permits(Level::all) && __builtin_cpu_supports("avx512vnni") != 0, "vnni");
  add(permits(Level::all) && (cpuid(7, 1)[0] >> 5 & 1) != 0, "bf16");
  return sets;
}

std::string model() { return fmt::format("{:08x}", cpuid(1)[0]); }

#else

bool find_avx512() { return false; }
bool find_avx512_vnni() { return false; }
bool find_avx512_bf16() { return false; }
bool find_avx2() { return false; }
std::string brand() { return "another processor"; }
std::string instruction_sets() { return ""; }
std::string model() { return ""; }

#endif

}  // namespace

std::vector<Fingerprint::Part> processor_parts() {
  return {{"processor", fmt::format("{} {}", brand(), model())}, {"instructions", instruction_sets()}};
}

bool has_avx512() {
  static const bool has = find_avx512();
  return has;
}
bool has_avx512_vnni() {
  static const bool has = find_avx512_vnni();
  return has;
}
bool has_avx512_bf16() {
  static const bool has = find_avx512_bf16();
  return has;
}
bool has_avx2() {
  static const bool has = find_avx2();
  return has;
}

}  // namespace assay::engine::cpu
