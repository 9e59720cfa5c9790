#include "formats/png.h"

#include <png.h>

#include "base/error.h"

namespace assay::formats {
namespace {

constexpr uint64_t kMostPixels = uint64_t{1} << 28;

struct PngImage {
  png_image control = {};
  PngImage() { control.version = PNG_IMAGE_VERSION; }
  ~PngImage() { png_image_free(&control); }
  PngImage(const PngImage&) = delete;
  PngImage& operator=(const PngImage&) = delete;
};

}  // namespace

Picture read_png(const std::shared_ptr<const MappedFile>& file, uint32_t channels) {
  PngImage image;
  png_image& control = image.control;
  if (png_image_begin_read_from_memory(&control, file->bytes().data(), file->size()) == 0)
    fail(ErrorCode::parse, "it is no PNG: {}", control.message);
  if (uint64_t{control.width} * control.height > kMostPixels)
    fail(ErrorCode::limit, "a picture of {} x {} is too large", control.width, control.height);
  control.format = channels == 1 ? PNG_FORMAT_GRAY : PNG_FORMAT_RGB;
  Picture picture{control.width, control.height, channels, std::vector<uint8_t>(PNG_IMAGE_SIZE(control))};
  const png_color background = {};
  if (png_image_finish_read(&control, &background, picture.bytes.data(), 0, nullptr) == 0)
    fail(ErrorCode::parse, "the PNG is damaged: {}", control.message);
  return picture;
}

}  // namespace assay::formats
