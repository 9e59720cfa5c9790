#include "schema/schema_text.h"

#include <gtest/gtest.h>

#include "base/check.h"

namespace assay::schema {
namespace {

using tensor::DType;

Header header_of(std::string_view text) {
  Header header;
  while (!text.empty()) parse_header_line(take_line(text), header);
  return header;
}

TEST(SchemaText, sets_are_made_of_sets) {
  const Header header = header_of("@set small int8 uint8\n@set both small float\n");
  const Schema schema = parse_schema("Op 3 | X:T | Y:T | | T={seq(both) int4}", header.type_words);
  const DTypeSet both = set_of(DType::int8) | set_of(DType::uint8) | set_of(DType::float32);
  EXPECT_EQ(schema.inputs[0].types.sequences, both);
  EXPECT_EQ(schema.outputs[0].types.tensors, set_of(DType::int4));
}

TEST(SchemaText, a_key_has_a_domain_or_none) {
  EXPECT_EQ(parse_key("a.b::Op 12 body | | | |"), (LineKey{"a.b", "Op", 12}));
  EXPECT_EQ(parse_key("Op 1 | | | |"), (LineKey{"", "Op", 1}));
}

TEST(SchemaText, arity_follows_the_arguments) {
  const Schema schema = parse_schema("Op 1 | a:float? b:float c:float? d:float*2~ | | |", Header().type_words);
  EXPECT_EQ(schema.min_inputs, 5u);
  EXPECT_EQ(schema.max_inputs, Schema::kUnlimited);
  EXPECT_EQ(schema.max_outputs, 0u);
  EXPECT_TRUE(schema.inputs[2].homogeneous);
  EXPECT_FALSE(schema.inputs[3].homogeneous);
}

TEST(SchemaText, damaged_lines_are_bugs_of_ours) {
  const Header header;
  for (const std::string_view line :
       {"Op", "Op x | | | |", "Op 1 | | |", "Op 1 strange | | | |", "Op 1 | X | | |", "Op 1 | X:U | | |",
        "Op 1 | X:float*n | | |", "Op 1 | | | a:number |", "Op 1 | | | a:int=1.5 |", "Op 1 | | | a:string=x |",
        "Op 1 | | | a:ints=1,2 |", "Op 1 | | | a:tensor=0 |", "Op 1 | | | | T=", "Op 1 | | | | T={float"}) {
    EXPECT_THROW(parse_schema(line, header.type_words), InternalError) << line;
  }
  for (const std::string_view line : {"@strange a", "@ir x", "@set a unknown", "@release 1.0 3 1"}) {
    EXPECT_THROW(header_of(line), InternalError) << line;
  }
}

}  // namespace
}  // namespace assay::schema
