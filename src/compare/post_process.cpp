#include "compare/post_process.h"

#include "base/error.h"
#include "compare/top_k.h"

namespace assay::compare {

tensor::Datum post_process(std::string_view name, const tensor::Datum& value, const PostProcessing& settings) {
  const std::optional<TopK>& setting = settings.of(name);
  if (!setting || !value.is_tensor()) return value;
  return with_frame([&] { return fmt::format("post-processing output `{}`", printable(name)); },
                    [&] { return top_k(value.tensor(), setting->k, setting->axis); });
}

}  // namespace assay::compare
