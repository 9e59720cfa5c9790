#include "tasks/sweep/images.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>

#include "base/error.h"
#include "base/paths.h"
#include "base/read_text.h"
#include "base/text.h"
#include "base/trim.h"
#include "exec/feeds.h"
#include "formats/png.h"

namespace assay::tasks {
namespace {

namespace fs = std::filesystem;

std::vector<fs::path> entries_of(const fs::path& folder, bool wants_folders) {
  std::vector<fs::path> paths;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const bool fits = wants_folders ? entry.is_directory() : to_lower(entry.path().extension().string()) == ".png";
    if (fits) paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

void read_label_line(const fs::path& folder, std::string_view line, size_t number, results::SweepPlan& plan) {
  const size_t comma = line.rfind(',');
  const std::string_view digits = comma == std::string_view::npos ? "" : trimmed(line.substr(comma + 1));
  int64_t label = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), label);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    if (number == 0) return;  // titles
    fail(ErrorCode::parse, "labels.csv, line {}: expected FILE,LABEL, seen `{}`", number + 1, printable(line));
  }
  plan.files.push_back((folder / std::string(trimmed(line.substr(0, comma)))).string());
  plan.labels.push_back(label);
}

class ImageSamples final : public SampleReader {
 public:
  ImageSamples(ImageRules rules, const results::SweepPlan& plan, const ir::Model& model)
      : rules_(std::move(rules)), plan_(plan) {
    const exec::Signature signature = exec::signature_of(model);
    std::erase_if(inputs_ = signature.inputs, [](const exec::Port& port) { return port.has_default; });
    if (inputs_.size() != 1)
      fail(ErrorCode::usage, "pictures are for models with one input, this has {}", inputs_.size());
  }

  tensor::NamedData read(uint64_t number) override {
    const std::string& path = plan_.files[number];
    return with_frame(
        [&] { return fmt::format("sample {}, `{}`", number, printable(path)); },
        [&] {
          const formats::Picture picture = formats::read_png(MappedFile::open(path), channels());
          tensor::NamedData sample = {{inputs_[0].name, to_tensor(picture)}};
          const int64_t label = plan_.labels[number];
          if (label >= 0)
            sample.push_back({"label", tensor::make_tensor<int64_t>(tensor::DType::int64, {1}, std::span(&label, 1))});
          return sample;
        });
  }

 private:
  uint32_t channels() const {
    if (!inputs_[0].type || inputs_[0].type->dims.size() != 4) return 3;
    const std::optional<int64_t> size = inputs_[0].type->dims[rules_.has_channels_last ? 3 : 1].size;
    return size == 1 ? 1 : 3;
  }

  float element(const formats::Picture& picture, uint64_t place, uint32_t channel) const {
    double value = picture.bytes[place * picture.channels + channel] * rules_.scale;
    if (!rules_.mean.empty()) value -= rules_.mean[channel % rules_.mean.size()];
    if (!rules_.deviation.empty()) value /= rules_.deviation[channel % rules_.deviation.size()];
    return static_cast<float>(value);
  }

  tensor::Tensor to_tensor(const formats::Picture& picture) const {
    const uint64_t places = uint64_t{picture.width} * picture.height;
    if (inputs_[0].type && inputs_[0].type->dtype == tensor::DType::uint8) return raw(picture);
    std::vector<float> elements(places * picture.channels);
    for (uint64_t place = 0; place < places; ++place) {
      for (uint32_t channel = 0; channel < picture.channels; ++channel) {
        const uint64_t at = rules_.has_channels_last ? place * picture.channels + channel : channel * places + place;
        elements[at] = element(picture, place, channel);
      }
    }
    return tensor::make_tensor<float>(tensor::DType::float32, shape_of(picture), elements);
  }

  tensor::Tensor raw(const formats::Picture& picture) const {
    if (!rules_.has_channels_last && picture.channels > 1)
      fail(ErrorCode::usage, "an input of uint8 takes pictures with their channels last");
    return tensor::make_tensor<uint8_t>(tensor::DType::uint8, shape_of(picture), picture.bytes);
  }

  tensor::Shape shape_of(const formats::Picture& picture) const {
    const int64_t height = picture.height;
    const int64_t width = picture.width;
    const int64_t channels = picture.channels;
    if (rules_.has_channels_last) return {1, height, width, channels};
    return {1, channels, height, width};
  }

  ImageRules rules_;
  const results::SweepPlan& plan_;
  std::vector<exec::Port> inputs_;
};

}  // namespace

void find_images(const std::string& folder, results::SweepPlan& plan) {
  const fs::path csv = fs::path(folder) / "labels.csv";
  if (is_file(csv)) {
    const std::string text = read_text(csv);
    const std::vector<std::string_view> lines = split(text, '\n');
    for (size_t i = 0; i < lines.size(); ++i) {
      if (!trimmed(lines[i]).empty()) read_label_line(folder, trimmed(lines[i]), i, plan);
    }
    return;
  }
  const auto add = [&](const fs::path& path, int64_t label) {
    plan.files.push_back(path.string());
    plan.labels.push_back(label);
  };
  int64_t label = 0;
  for (const fs::path& one : entries_of(folder, true)) {
    for (const fs::path& path : entries_of(one, false)) add(path, label);
    ++label;
  }
  for (const fs::path& path : entries_of(folder, false)) add(path, -1);
}

std::unique_ptr<SampleReader> open_images(const ImageRules& rules, const results::SweepPlan& plan,
                                          const ir::Model& model) {
  return std::make_unique<ImageSamples>(rules, plan, model);
}

}  // namespace assay::tasks
