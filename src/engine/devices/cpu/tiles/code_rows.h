#pragma once

#include "engine/devices/cpu/lanes.h"
#include "engine/devices/cpu/tiles/windows.h"
#include "tensor/dtype.h"

namespace assay::engine::cpu {

// Codes as the words of a product hold them: as they are or, where the processor multiplies no others exactly, widened
// to 16 bits.
struct CodeForm {
  bool widens = false;
  bool are_signed = false;

  static CodeForm of(tensor::DType codes);  // on this processor
  int64_t bytes() const { return widens ? 2 : 1; }
  bool fills_words(int64_t count) const { return count * bytes() % 4 == 0; }
  void copy(const std::byte* from, int64_t count, std::byte* to) const;
  void fill(std::byte code, int64_t count, std::byte* to) const;
};

// The rows of a matrix of codes: where they lie, or in a copy.
class CodeMatrix {
 public:
  CodeMatrix(const CodeForm& form, int64_t rows, int64_t depth, int64_t row);  // elements from one to the next
  uint64_t workspace_bytes() const;                                            // 0: they are read where they lie
  // The place at which the first row is read. Uses all threads, unless it is asked for rows itself, before they are
  // read.
  const std::byte* prepare(const std::byte* codes, std::byte* workspace, bool by_rows) const;
  void prepare_rows(const std::byte* codes, int64_t first, int64_t count, std::byte* workspace) const;
  // True if rows may be copied where they are read: words of one hold nothing of the next.
  bool copies_rows() const { return copies_ && form_.fills_words(depth_); }
  int64_t row_bytes() const { return copies_ ? depth_ * form_.bytes() : row_; }

 private:
  CodeForm form_;
  int64_t rows_, depth_, row_;
  bool copies_;
};

// Pictures of codes under the windows of a convolution: where they lie, or in a copy with what is added around them,
// where the places of a line of a window are one step of the product.
class CodePictures {
 public:
  CodePictures(const CodeForm& form, const ConvGeometry& geometry, std::byte padding);
  uint64_t workspace_bytes() const;           // 0: they are read where they lie
  int64_t joined() const { return joined_; }  // places of a window that are one step
  // The place at which the first picture is read. Uses all threads, unless it is asked for pixels itself, before they
  // are read.
  const std::byte* prepare(const std::byte* pictures, std::byte* workspace, bool by_pixels) const;
  // True for windows of one place whose words hold nothing of the next: some pixels of the result may be copied alone.
  bool copies_pixels() const {
    return copies_ && g_.kernel_height * g_.kernel_width == 1 && form_.fills_words(g_.channels);
  }
  void prepare_pixels(const std::byte* pictures, const Windows::Pixels& pixels, std::byte* workspace) const;
  // Finds the pixels of prepared pictures.
  void find(const std::byte* pictures, const Windows::Pixels& pixels, const float** out) const {
    windows_.find(pictures, pixels, out);
  }

 private:
  void copy_line(const std::byte* pictures, int64_t line, const Lane& columns, std::byte* workspace) const;

  CodeForm form_;
  ConvGeometry g_;
  bool copies_;
  int64_t joined_;
  // Steps of lines and columns that are copied: windows of one place need no others.
  int64_t step_y_, step_x_;
  ConvGeometry copy_;
  Windows windows_;
  std::byte padding_;
};

}  // namespace assay::engine::cpu
