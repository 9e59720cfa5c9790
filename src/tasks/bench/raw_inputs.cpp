#include "tasks/bench/raw_inputs.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/error.h"
#include "base/files.h"
#include "base/text.h"

namespace assay::tasks {
namespace {

tensor::NamedDatum& named(const RawInput& raw, tensor::NamedData& set, std::string_view what) {
  const auto found = std::ranges::find(set, raw.name, &tensor::NamedDatum::name);
  if (found != set.end()) return *found;
  std::vector<std::string> names;
  for (const tensor::NamedDatum& input : set) names.push_back(input.name);
  const std::optional<std::string> near = did_you_mean(raw.name, names);
  fail(ErrorCode::usage, "`{}` is given for {} `{}`, which the model does not have{}", printable(raw.path), what,
       printable(raw.name), near ? fmt::format("; did you mean `{}`?", printable(*near)) : "");
}

}  // namespace

void read_raw_inputs(const std::vector<RawInput>& raw, tensor::NamedData& set, std::string_view what) {
  for (const RawInput& input : raw) {
    tensor::Datum& value = named(input, set, what).value;
    const std::string name = printable(input.name);
    if (!value.is_tensor()) fail(ErrorCode::usage, "{} `{}` is no tensor: no file of bytes can hold it", what, name);
    const tensor::Tensor& like = value.tensor();
    const std::optional<uint64_t> expected = tensor::packed_bytes(like.dtype(), like.count());
    if (!expected)
      fail(ErrorCode::usage, "{} `{}` is {}: no file of bytes can hold it", what, name, tensor::name(like.dtype()));
    const std::shared_ptr<const MappedFile> file = MappedFile::open(input.path);
    if (file->size() != *expected) {
      fail(ErrorCode::usage, "`{}` has {} bytes, but {} `{}` needs {} ({}, {} elements)", printable(input.path),
           file->size(), what, name, *expected, tensor::name(like.dtype()), like.count());
    }
    const Bytes bytes = file->bytes();
    value = tensor::Tensor(like.dtype(), like.shape(), tensor::make_owned({bytes.begin(), bytes.end()}));
  }
}

}  // namespace assay::tasks
