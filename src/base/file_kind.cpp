#include "base/file_kind.h"

#include <algorithm>
#include <array>
#include <string_view>

#include <fmt/format.h>

#include "base/text.h"

namespace assay {
namespace {

using std::string_view_literals::operator""sv;

constexpr size_t kMostLooked = 4096;

struct Magic {
  size_t offset;
  std::string_view bytes;
  std::string_view what;
};

constexpr std::array kMagics = {
    Magic{0, "version https://git-lfs"sv, "a pointer of Git LFS in the place of the file: run `git lfs pull`"},
    Magic{4, "TFL3"sv, "a TensorFlow Lite model"},
    Magic{4, "ORTM"sv, "a model in ONNX Runtime's own format (.ort): the .onnx file that it was made of is needed"},
    Magic{0, "\x89HDF\r\n\x1a\n"sv, "an HDF5 file without a network, such as Keras' weights alone (.weights.h5)"},
    Magic{0, "ftrt"sv, "a plan of TensorRT, which only TensorRT runs"},
    Magic{0, "vtrt"sv, "a plan of TensorRT-RTX, which only it runs"},
    Magic{0, "GGUF"sv, "a GGUF file, which holds weights and no graph"},
    Magic{0, "\x93NUMPY"sv, "an array of NumPy (.npy)"},
    Magic{0, "\x1f\x8b"sv, "compressed with gzip: unpack it first"},
    Magic{0, "ASSAYPLN"sv, "a plan of the built-in engine"},
};

bool has_at(std::string_view text, size_t offset, std::string_view part) {
  return text.size() >= offset + part.size() && text.substr(offset, part.size()) == part;
}

std::optional<std::string_view> describe_markup(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return std::nullopt;
  const std::string lower = to_lower(text.substr(begin));
  if (lower.starts_with("<!doctype html") || lower.starts_with("<html")) {
    return "an HTML page: the download gave a page in the place of the file";
  }
  const bool is_markup = lower.starts_with("<?xml") || lower.starts_with("<net");
  if (is_markup && lower.find("<net") != std::string::npos) {
    return "an OpenVINO model (IR, .xml): the .onnx file that it was converted from is needed";
  }
  if (is_markup) return "an XML file";
  if (lower.starts_with('{')) return "JSON text";
  return std::nullopt;
}

std::optional<std::string_view> describe_archive(std::string_view text) {
  if (has_at(text, 0, "PK\x03\x04"sv)) {
    const bool is_torch = text.find("/data.pkl") != std::string_view::npos;
    if (is_torch) return "a file of PyTorch (.pt): export the model with torch.onnx.export";
    return text.find(".npy") != std::string_view::npos ? "an archive of NumPy arrays (.npz)" : "a zip archive";
  }
  const bool is_pickle = text.size() > 2 && text[0] == '\x80' && text[1] >= 2 && text[1] <= 5;
  if (is_pickle) return "a pickle, as PyTorch writes them (.pt): export the model with torch.onnx.export";
  return std::nullopt;
}

// The length of a JSON text, eight bytes, and the text.
bool is_safetensors(std::string_view text, uint64_t size) {
  constexpr size_t kLengthBytes = 8;
  if (!has_at(text, kLengthBytes, "{\"")) return false;
  uint64_t length = 0;
  for (size_t i = kLengthBytes; i-- > 0;) length = length << 8 | static_cast<uint8_t>(text[i]);
  return length <= size - kLengthBytes;
}

std::optional<std::string_view> kind_of(Bytes bytes) {
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMostLooked));
  const auto magic = std::ranges::find_if(kMagics, [&](const Magic& m) { return has_at(text, m.offset, m.bytes); });
  if (magic != kMagics.end()) return magic->what;
  if (is_safetensors(text, bytes.size())) return "a safetensors file, which holds weights and no graph";
  if (const std::optional<std::string_view> archive = describe_archive(text)) return archive;
  return describe_markup(text);
}

}  // namespace

std::optional<std::string> describe_file_kind(Bytes bytes) {
  const std::optional<std::string_view> kind = kind_of(bytes);
  return kind ? std::optional(fmt::format("it is {}", *kind)) : std::nullopt;
}

}  // namespace assay
