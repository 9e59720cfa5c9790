#include "picture/png.h"

#include <png.h>

#include "base/error.h"

namespace assay::picture {
namespace {

std::vector<png_byte> colour_bytes(const std::vector<Colour>& palette) {
  std::vector<png_byte> bytes;
  for (const Colour& colour : palette) bytes.insert(bytes.end(), {colour.red, colour.green, colour.blue});
  return bytes;
}

}  // namespace

std::vector<std::byte> png(const Image& image) {
  png_image control = {};
  control.version = PNG_IMAGE_VERSION;
  control.width = image.width();
  control.height = image.height();
  control.format = PNG_FORMAT_RGB_COLORMAP;
  control.colormap_entries = static_cast<png_uint_32>(image.palette().size());
  const std::vector<png_byte> colours = colour_bytes(image.palette());
  png_alloc_size_t size = PNG_IMAGE_PNG_SIZE_MAX(control);
  std::vector<std::byte> file(size);
  if (png_image_write_to_memory(&control, file.data(), &size, 0, image.pixels().data(), 0, colours.data()) == 0) {
    fail(ErrorCode::limit, "a picture of {} x {} pixels: {}", image.width(), image.height(), control.message);
  }
  file.resize(size);
  return file;
}

}  // namespace assay::picture
