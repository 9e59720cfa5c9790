#pragma once

#include "convert.h"
#include "exec/session.h"

namespace assay::python {

// True if an array of somebody else (DLPack, `__cuda_array_interface__`) lies on a card.
bool is_on_card(nb::handle value);
// Such an array, which is not copied, for the input of a session; it must outlive the tensor. Error: it is of another
// type or not contiguous (usage), or the session computes elsewhere (unsupported).
tensor::Tensor lent_tensor(const exec::Session& session, const std::string& name, nb::handle value);

}  // namespace assay::python
