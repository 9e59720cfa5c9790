#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace assay::results {

// The description of a result: of(visitor, result) names its fields in the order of a JSON report, from which writers,
// readers and tests follow. `kCommand` is there where the result is the report of a command, `kIsList` where the names
// are left out. A visitor `v` has, `key` being a name and `member` where the field is:
//
//   v(key, member)                  a field; without content null
//   v.some(key, member)             absent where it is empty or 0
//   v.when(truth, key, member)      absent unless `truth` holds
//   v.or_null(truth, key, member)   null unless `truth` holds
//   v.marked(flag, key, member)     absent unless the member `flag` is true
//   v.known(flag, key, member)      null unless the member `flag` is true
//   v.detail(key, member)           absent where it is empty or details are not asked for
//   v.told(key, content)            follows from other fields, and is not read
//   v.told(key, content, member)    likewise, but reading puts it into `member`
//   v.word(key, member, words)      one of the words, by the number of an enumeration or a truth
//   v.inlined(key, member)          the fields of an optional member among these, if `key` is there
//   v.list(key, member, describe)   items that describe(v, item) names the fields of
//   v.lists(key, member, describe)  lists of such items
//   v.part(key, describe)           fields in an object of their own, that describe(v) names
//   v.has(key, truth)               true if the fields around `key` are there: reading `key` is, writing `truth` holds
//   v.command(member)               the command, which the schema names
//   v.gaps(key, member)             numbers, null in place of NaN
//   v.keyed(key, member)            pairs of numbers, the first as the name of the second
//   v.single(key, member)           a text in a list, absent where it is empty
//   v.attributes(key, member)       attributes of a node in an object
//   v.typed(key, type, member)      one of several kinds, which ONNX's word for its type tells; absent for tensors
//   v.rest(words, numbers)          pairs of names with texts, or numbers, among these; after all other such fields
//   v.amount(key, member)           a text that is a number where it can be
//   v.numbers(flag, key, member)    dims, -1 in place of symbols, absent unless the member `flag` is true
template <typename T>
struct Fields;

template <typename T>
concept Described = requires { sizeof(Fields<T>); };

// Told by reports without times.
inline const std::vector<std::pair<std::string, double>> kUntimed;

template <typename T>
concept IsList = requires { Fields<T>::kIsList; };

}  // namespace assay::results
