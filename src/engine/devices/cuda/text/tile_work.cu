// The product or convolution of tiles.cu, as its launch says it.
struct Work {
  const T* left;
  const T* right;
#if kRightIsCompressed
  Compressed codes;  // in its place
#endif
  int rows, columns, depth;
  int left_row, left_column, right_row, right_column;  // strides of a product
  // of windows
  int height, width, channels, pixel;  // of the picture; elements from pixel to pixel
  Divisor by_pixels, by_width, by_channels, by_taps;
  int stride_y, stride_x, dilation_y, dilation_x, pad_top, pad_left;
};
