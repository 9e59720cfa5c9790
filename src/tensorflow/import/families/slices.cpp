#include <array>
#include <limits>

#include "tensorflow/import/makers.h"

namespace assay::tensorflow {
namespace {

constexpr int64_t kEnd = std::numeric_limits<int64_t>::max();
constexpr int64_t kBegin = std::numeric_limits<int64_t>::min();

void make_slice(Site& site) {
  Builder& build = site.build();
  const ir::ValueId begin = build.as_int64(site.input(1));
  const ir::ValueId size = build.as_int64(site.input(2));
  const std::optional<Ints> begins = build.known_integers(begin);
  const std::optional<Ints> sizes = build.known_integers(size);
  if (begins && sizes && begins->size() == sizes->size()) {
    Ints ends;
    for (size_t i = 0; i < sizes->size(); ++i) ends.push_back((*sizes)[i] == -1 ? kEnd : (*begins)[i] + (*sizes)[i]);
    return site.give(0, site.add("Slice", {site.input(0), begin, build.integers(ends)}));
  }
  const ir::ValueId is_rest = site.add("Equal", {size, build.integer(-1)});
  const ir::ValueId ends = site.add("Where", {is_rest, build.integer(kEnd), site.add("Add", {begin, size})});
  site.give(0, site.add("Slice", {site.input(0), begin, ends}));
}

// An item of a list of integers: a number, or a value of one dimension.
struct Bound {
  std::optional<int64_t> number;
  ir::ValueId value;
};

// One dimension of a strided slice.
struct Step {
  int64_t axis;
  Bound begin;
  Bound end;
  int64_t stride;
};

class StridedSlice {
 public:
  explicit StridedSlice(Site& site) : site_(site), build_(site.build()), value_(site.input(0)) {}

  void make() {
    const std::optional<Sizes> sizes = build_.sizes(site_.input(1));
    const std::optional<Ints> strides = build_.known_integers(site_.input(3));
    if (!strides) site_.refuse("its strides must be constant");
    if (!sizes || sizes->size() != 1 || (*sizes)[0] != static_cast<int64_t>(strides->size())) {
      site_.refuse("the number of its bounds is not known");
    }
    for (size_t i = 0; i < strides->size(); ++i) read(i, strides->size(), (*strides)[i]);
    slice();
    for (size_t i = taken_.size(); i-- > 0;) take(taken_[i]);
    if (!added_.empty()) value_ = site_.add("Unsqueeze", {value_, build_.integers(added_)});
    site_.give(0, value_);
  }

 private:
  bool masked(std::string_view mask, size_t bit) const {
    return bit < 63 && (site_.attribute(mask, 0) >> bit & 1) != 0;
  }

  // Reads one item of the lists; `axis_` and `result_` are the dimensions that follow, before and after.
  void read(size_t item, size_t count, int64_t stride) {
    if (masked("ellipsis_mask", item)) {
      const int64_t skipped = static_cast<int64_t>(site_.rank(value_)) - used(item, count);
      axis_ += skipped;
      result_ += skipped;
    } else if (masked("new_axis_mask", item)) {
      added_.push_back(result_++);
    } else if (masked("shrink_axis_mask", item)) {
      taken_.push_back({axis_++, bound(1, item), {}, 1});
    } else {
      if (stride == 0) fail(ErrorCode::parse, "a stride is 0");
      const Bound begin = masked("begin_mask", item) ? Bound{stride > 0 ? 0 : kEnd, {}} : bound(1, item);
      Bound end = masked("end_mask", item) ? Bound{stride > 0 ? kEnd : kBegin, {}} : bound(2, item);
      if (site_.attribute("offset", 0) != 0 && !masked("end_mask", item)) end = sum(begin, end);
      const bool is_all = begin.number == 0 && end.number == kEnd && stride == 1;
      if (!is_all) sliced_.push_back({axis_, begin, end, stride});
      ++axis_;
      ++result_;
    }
  }

  // Dimensions of the operand that items other than the ellipsis use.
  int64_t used(size_t ellipsis, size_t count) const {
    int64_t used = 0;
    for (size_t i = 0; i < count; ++i) used += i != ellipsis && !masked("new_axis_mask", i) ? 1 : 0;
    return used;
  }

  Bound bound(size_t operand, size_t item) {
    const std::optional<Sizes> known = build_.partly_known_integers(site_.input(operand));
    if (known && item < known->size() && (*known)[item]) return {(*known)[item], {}};
    const ir::ValueId list = build_.as_int64(site_.input(operand));
    const auto index = static_cast<int64_t>(item);
    return {std::nullopt, site_.add("Slice", {list, build_.integers({index}), build_.integers({index + 1})})};
  }

  ir::ValueId value_of(const Bound& bound) { return bound.number ? build_.integers({*bound.number}) : bound.value; }

  Bound sum(const Bound& a, const Bound& b) {
    if (a.number && b.number) return {*a.number + *b.number, {}};
    return {std::nullopt, site_.add("Add", {value_of(a), value_of(b)})};
  }

  ir::ValueId list_of(Bound Step::*bound) {
    Ints numbers;
    Values values;
    for (const Step& step : sliced_) {
      if ((step.*bound).number) numbers.push_back(*(step.*bound).number);
    }
    if (numbers.size() == sliced_.size()) return build_.integers(numbers);
    for (const Step& step : sliced_) values.push_back(value_of(step.*bound));
    return values.size() == 1 ? values.front() : site_.add("Concat", values, {{"axis", int64_t{0}}});
  }

  void slice() {
    if (sliced_.empty()) return;
    Ints axes;
    Ints strides;
    for (const Step& step : sliced_) {
      axes.push_back(step.axis);
      strides.push_back(step.stride);
    }
    value_ = site_.add(
        "Slice", {value_, list_of(&Step::begin), list_of(&Step::end), build_.integers(axes), build_.integers(strides)});
  }

  void take(const Step& step) {
    const ir::ValueId index =
        step.begin.number ? build_.integer(*step.begin.number) : build_.reshape(step.begin.value, {});
    value_ = site_.add("Gather", {value_, index}, {{"axis", step.axis}});
  }

  Site& site_;
  Builder& build_;
  ir::ValueId value_;
  int64_t axis_ = 0;
  int64_t result_ = 0;
  std::vector<Step> sliced_;
  std::vector<Step> taken_;
  Ints added_;
};

void make_strided_slice(Site& site) { StridedSlice(site).make(); }

void make_reverse(Site& site) {
  const Ints axes = site.integers(1, "axes");
  if (axes.empty()) return site.give(0, site.input(0));
  const auto filled = [&](int64_t number) { return site.build().integers(Ints(axes.size(), number)); };
  site.give(0, site.add("Slice", {site.input(0), filled(-1), filled(kBegin), site.build().integers(axes), filled(-1)}));
}

constexpr std::array kSliceRows = {
    Maker{"ReverseV2", "REVERSE_V2", make_reverse},
    Maker{"Slice", "SLICE", make_slice},
    Maker{"StridedSlice", "STRIDED_SLICE", make_strided_slice},
};

}  // namespace

Makers slice_makers() { return kSliceRows; }

}  // namespace assay::tensorflow
