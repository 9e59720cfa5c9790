#pragma once

#include <vector>

#include "backends/onnxrt/ort_library.h"
#include "ir/types.h"
#include "tensor/datum.h"

namespace assay::backends::ort {

// A value of the library and what it borrows memory from.
struct FeedValue {
  std::vector<tensor::Datum> held;
  Owned<Value> value;
};

// The elements are not copied where their alignment allows that. Error (unsupported)
// for what the library's C interface cannot make: empty optionals and empty sequences.
FeedValue to_value(const Library& library, const tensor::Datum& datum);

// Takes a value over; elements are not copied, `holder` is kept as long as they live.
tensor::Datum to_datum(const Library& library, Owned<Value> value, const std::shared_ptr<const void>& holder);

}  // namespace assay::backends::ort
