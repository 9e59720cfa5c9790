#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace assay::testing_support {

inline constexpr const char* kHostMachine = ASSAY_HOST_MACHINE;  // compiled beforehand

// True if the kernel itself, behind the helpers of machine.cu, exchanges values between threads.
inline bool uses_exchange(const std::string& text) {
  const std::string kernel = text.substr(text.find("struct Params"));
  for (const char* const word : {"meet(", "from_lane(", "warp_", "block_", "multiply_tiles(", "wait_turn("}) {
    if (kernel.find(word) != std::string::npos) return true;
  }
  return false;
}

// Makes a library of the host of a kernel's text, in a folder that is there, and gives its bytes; if they are empty,
// `log` says why.
inline std::string host_library(const std::string& text, const std::filesystem::path& folder, std::string& log) {
  const std::filesystem::path source = folder / "kernel.cpp", library = folder / "kernel.so";
  const auto read = [](const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const bool has_fibers = text.find("meet(") != std::string::npos && uses_exchange(text);
  std::ofstream(source) << "#define HOST_FIBERS " << (has_fibers ? "true\n" : "false\n") << text;
  const bool waits = text.find("WAITING_KERNEL(", text.find("struct Params")) != std::string::npos;
  const std::string command = std::string(ASSAY_HOST_COMPILER) + (waits ? " -DHOST_WAITS" : "") + " -shared -include " +
                              kHostMachine + " -o " + library.string() + " " + source.string() + " 2>" +
                              (folder / "log").string();
  const bool is_made = std::system(command.c_str()) == 0;
  log = read(folder / "log");
  return is_made ? read(library) : "";
}

}  // namespace assay::testing_support
