#pragma once

#include "tensorflow/import/site.h"

namespace assay::tensorflow {

// A window that moves over the dimensions between batch and channels.
struct Window {
  size_t spatial = 2;     // dimensions
  bool is_first = false;  // channels stand before them
  Ints kernel;
  Ints strides;
  Ints dilations;

  NamedAttributes attributes() const;
};

// The strides and dilations of a node; its kernel is empty.
Window window_of(Site& site, size_t spatial);
// The padding as ONNX has it: pads where sizes are known, words where they are not.
void add_padding(Site& site, const Window& window, ir::ValueId input, NamedAttributes& attributes);
// The value with channels first, and back.
ir::ValueId enter_window(Site& site, const Window& window, ir::ValueId value);
ir::ValueId leave_window(Site& site, const Window& window, ir::ValueId value);

}  // namespace assay::tensorflow
