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
#if defined(__x86_64__) && defined(__linux__)
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace assay::engine::cpu {
namespace {

#if defined(__x86_64__)

// Levels of instructions that kernels may use, each with those before it.
enum class Level : uint8_t { base, avx2, avx512, vnni, amx, all };
constexpr std::array<std::string_view, 6> kLevels = {"base", "avx2", "avx512", "vnni", "amx", "all"};

// That which ASSAY_INSTRUCTIONS names; without it, all.
Level find_level() {
  const char* const word = std::getenv("ASSAY_INSTRUCTIONS");
  if (word == nullptr || *word == '\0') return Level::all;
  const auto found = std::ranges::find(kLevels, std::string_view(word));
  if (found != kLevels.end()) return static_cast<Level>(found - kLevels.begin());
  fail(ErrorCode::usage, "ASSAY_INSTRUCTIONS: expected base, avx2, avx512, vnni, amx or all, seen `{}`",
       printable(word));
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

bool find_avx512_vnni() { return permits(Level::vnni) && find_avx512() && __builtin_cpu_supports("avx512vnni"); }

bool find_avx512_bf16() { return permits(Level::vnni) && find_avx512() && __builtin_cpu_supports("avx512bf16"); }

bool find_avx512_vbmi() { return permits(Level::vnni) && find_avx512() && __builtin_cpu_supports("avx512vbmi"); }

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

// Asks the kernel for the registers of tiles, which a process has only by its permission. All threads have them then.
bool ask_for_tiles() {
#if defined(__linux__)
  constexpr int64_t kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

enum class TileSet : uint8_t { bf16 = 22, int8 = 25 };  // the bit of CPUID

bool find_amx(TileSet set) {
  constexpr int kTiles = 24;
  if (!permits(Level::amx) || !has_avx512_vnni() || !has_avx512_bf16()) return false;
  const unsigned sets = cpuid(7)[3];
  if ((sets >> kTiles & 1) == 0 || (sets >> static_cast<int>(set) & 1) == 0) return false;
  static const bool may = ask_for_tiles();
  return may;
}

bool is_of_intel() {
  constexpr unsigned kGenuine = 0x756e6547;  // "Genu" of "GenuineIntel"
  return cpuid(0)[1] == kGenuine;
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
  add(permits(Level::vnni) && __builtin_cpu_supports("avx512vnni") != 0, "vnni");
  add(permits(Level::vnni) && (cpuid(7, 1)[0] >> 5 & 1) != 0, "bf16");
  add(has_amx_int8(), "amx_int8");
  add(has_amx_bf16(), "amx_bf16");
  return sets;
}

std::string model() { return fmt::format("{:08x}", cpuid(1)[0]); }

#else

bool find_avx512() { return false; }
bool find_avx512_vnni() { return false; }
bool find_avx512_bf16() { return false; }
bool find_avx512_vbmi() { return false; }
bool find_avx2() { return false; }
enum class TileSet : uint8_t { bf16, int8 };
bool find_amx(TileSet) { return false; }
bool is_of_intel() { return false; }
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
bool has_avx512_vbmi() {
  static const bool has = find_avx512_vbmi();
  return has;
}
bool has_avx2() {
  static const bool has = find_avx2();
  return has;
}
bool has_amx_int8() {
  static const bool has = find_amx(TileSet::int8);
  return has;
}
bool has_amx_bf16() {
  static const bool has = find_amx(TileSet::bf16);
  return has;
}

bool multiplies_bf16_fast() { return has_amx_bf16() || (has_avx512_bf16() && !is_of_intel()); }

}  // namespace assay::engine::cpu
