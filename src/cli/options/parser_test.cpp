#include "cli/options/parser.h"

#include <gtest/gtest.h>

#include "base/check.h"
#include "base/error.h"

namespace assay::cli {
namespace {

using Words = std::vector<std::string>;

// A command with every arity and repeat rule.
Command parsed_command() {
  return {
      .path = "sample",
      .positionals = {{.names = {"model"}, .metavar = "MODEL"}, {.names = {"others"}, .arity = Arity::any}},
      .groups = {{
          .title = "Sample",
          .rows =
              {
                  {.names = {"-v", "--verbose"}, .arity = Arity::flag, .repeat = Repeat::count},
                  {.names = {"-o", "--output"}},
                  {.names = {"--shapes"}, .arity = Arity::one_or_more},
                  {.names = {"--names"}, .arity = Arity::any},
                  {.names = {"--iterations", "--iters"}, .default_value = "1"},
                  {.names = {"--json"}, .arity = Arity::optional, .default_value = "-"},
                  {.names = {"--show"}, .arity = Arity::one_or_more, .choices = {"layers", "attrs", "weights"}},
                  {.names = {"--profile"}, .arity = Arity::one_or_more, .repeat = Repeat::append},
                  {.names = {"--secret"}, .arity = Arity::flag, .hidden = true},
                  {.names = {"--check"}, .arity = Arity::rest},
              },
          .spellings =
              {
                  {.option = "--mode", .value = "full", .words = {"--show", "layers", "attrs", "weights"}},
                  {.option = "--mode", .value = "basic", .reason = "the default"},
                  {.option = "--extra-verbose", .words = {"-v"}},
                  {.option = "--workspace", .value = "*", .words = {"--profile", "workspace:{}"}},
                  {.option = "--output-file", .words = {"--output"}},
                  {.option = "--iterations", .value = "*:*", .words = {"--shapes", "{}", "--verbose"}},
              },
      }},
  };
}

// The outcome of parsing the words; the command lives as long as the arguments.
struct Parsed {
  explicit Parsed(const Words& words) : arguments(parse_options(command, words)) {}
  Command command = parsed_command();
  Arguments arguments;
};

std::string parse_error(const Words& words, Command command = parsed_command()) {
  try {
    parse_options(command, words);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::usage);
    return error.line();
  }
  return "no error";
}

Words values_of(const Words& words, std::string_view name) { return Parsed(words).arguments.values(name); }

TEST(Parser, values_follow_or_are_attached) {
  for (const Words& words : {Words{"m", "--output", "f"}, Words{"m", "--output=f"}, Words{"m", "-o", "f"},
                             Words{"m", "-of"}, Words{"m", "-o=f"}, Words{"-o", "f", "m"}}) {
    EXPECT_EQ(Parsed(words).arguments.value("--output"), "f");
    EXPECT_EQ(Parsed(words).arguments.value("model"), "m");
  }
  EXPECT_EQ(values_of({"m", "--output="}, "--output"), Words{""});
  EXPECT_EQ(values_of({"m", "--output=a=b"}, "--output"), Words{"a=b"});
}

TEST(Parser, short_flags_are_bundled_and_counted) {
  EXPECT_EQ(Parsed({"m", "-vvv"}).arguments.count("--verbose"), 3u);
  EXPECT_EQ(Parsed({"m", "-v", "--verbose", "-vv"}).arguments.count("--verbose"), 4u);
  EXPECT_EQ(Parsed({"m", "-vvo", "f"}).arguments.value("--output"), "f");
  EXPECT_EQ(Parsed({"m", "-vof"}).arguments.value("--output"), "f");
  EXPECT_EQ(Parsed({"m", "-vo=f"}).arguments.value("--output"), "f");
  EXPECT_EQ(parse_error({"m", "-vx"}), "unknown option `-x` after `-v`");
}

TEST(Parser, lists_take_all_words_up_to_the_next_option) {
  EXPECT_EQ(values_of({"m", "--shapes", "a", "b", "c", "-v"}, "--shapes"), (Words{"a", "b", "c"}));
  EXPECT_EQ(values_of({"m", "--names", "-v"}, "--names"), Words{});
  EXPECT_TRUE(Parsed({"m", "--names"}).arguments.has("--names"));
  EXPECT_EQ(values_of({"m", "--names", "a", "b"}, "--names"), (Words{"a", "b"}));
  EXPECT_EQ(parse_error({"m", "--shapes", "-v"}), "option `--shapes`: expected SHAPES, found `-v`");
  EXPECT_EQ(parse_error({"m", "--shapes"}), "option `--shapes`: expected SHAPES, found the end of the command");
}

TEST(Parser, an_attached_value_is_the_whole_list) {
  const Parsed parsed({"--shapes=a", "m"});
  EXPECT_EQ(parsed.arguments.values("--shapes"), Words{"a"});
  EXPECT_EQ(parsed.arguments.value("model"), "m");
}

TEST(Parser, brackets_and_commas_are_left_alone) {
  EXPECT_EQ(values_of({"m", "--shapes", "X:[1,2]", "Y:[]", "Z:[-1,'N']"}, "--shapes"),
            (Words{"X:[1,2]", "Y:[]", "Z:[-1,'N']"}));
}

TEST(Parser, negative_numbers_are_values) {
  EXPECT_EQ(values_of({"m", "--shapes", "-1", "-1.5", "-.5", "-1.5e3", "-2E-7"}, "--shapes"),
            (Words{"-1", "-1.5", "-.5", "-1.5e3", "-2E-7"}));
  EXPECT_EQ(parse_error({"m", "--shapes", "-1x"}), "unknown option `-1x`");
}

TEST(Parser, numbers_are_options_where_an_option_looks_like_one) {
  Command command = parsed_command();
  command.groups[0].rows.push_back({.names = {"-1"}, .arity = Arity::flag});
  EXPECT_EQ(parse_error({"m", "--shapes", "-2"}, command), "unknown option `-2`");
  EXPECT_EQ(parse_error({"m", "-1"}, command), "no error");
}

TEST(Parser, two_dashes_end_options) {
  const Parsed parsed({"--shapes", "a", "--", "-v", "--output", "--"});
  EXPECT_EQ(parsed.arguments.value("model"), "-v");
  EXPECT_EQ(parsed.arguments.values("others"), (Words{"--output", "--"}));
  EXPECT_FALSE(parsed.arguments.has("--verbose"));
}

TEST(Parser, an_option_for_the_rest_takes_all_words) {
  const Parsed parsed({"m.onnx", "-v", "--check", "run", "--iterations", "2", "--", "--bogus", "-h"});
  EXPECT_EQ(parsed.arguments.values("--check"), (Words{"run", "--iterations", "2", "--", "--bogus", "-h"}));
  EXPECT_EQ(parsed.arguments.value("model"), "m.onnx");
  EXPECT_EQ(parsed.arguments.value("--iterations"), "1");
  EXPECT_FALSE(parsed.arguments.has("--help"));
  EXPECT_EQ(Parsed({"m", "--check=a", "-b"}).arguments.values("--check"), (Words{"a", "-b"}));
}

TEST(Parser, a_dash_alone_is_a_value) { EXPECT_EQ(Parsed({"-"}).arguments.value("model"), "-"); }

TEST(Parser, unique_prefixes_are_accepted_with_a_note) {
  const Parsed parsed({"m", "--outp=f", "--iter", "5"});
  EXPECT_EQ(parsed.arguments.value("--output"), "f");
  EXPECT_EQ(parsed.arguments.value("--iterations"), "5");  // two names of one option are no ambiguity
  EXPECT_EQ(parsed.arguments.notes(), (Words{"`--outp` is read as `--output`", "`--iter` is read as `--iterations`"}));
}

TEST(Parser, ambiguous_prefixes_name_the_candidates) {
  EXPECT_EQ(parse_error({"m", "--sh"}), "option `--sh` is ambiguous: it could be `--shapes`, `--show`");
}

TEST(Parser, an_exact_name_wins_over_longer_ones) {
  Command command = parsed_command();
  command.groups[0].rows.push_back({.names = {"--show-all"}, .arity = Arity::flag});
  const std::vector<std::string> words = {"m", "--show", "layers"};
  EXPECT_EQ(parse_options(command, words).values("--show"), Words{"layers"});
}

TEST(Parser, prefixes_can_be_switched_off) {
  Command command = parsed_command();
  command.exact_names = true;
  EXPECT_EQ(parse_error({"m", "--outpu", "f"}, command), "unknown option `--outpu`; did you mean `--output`?");
  EXPECT_EQ(parse_error({"m", "-of"}, command), "no error");
}

TEST(Parser, unknown_options_get_a_suggestion) {
  EXPECT_EQ(parse_error({"m", "--ouptut=3"}), "unknown option `--ouptut`; did you mean `--output`?");
  EXPECT_EQ(parse_error({"m", "--nothing-like-it"}), "unknown option `--nothing-like-it`");
  EXPECT_EQ(parse_error({"m", "--secert"}), "unknown option `--secert`");  // hidden ones are not suggested
  EXPECT_EQ(parse_error({"m", "-x"}), "unknown option `-x`");
}

TEST(Parser, a_value_with_blanks_does_not_hide_an_unknown_option) {
  EXPECT_EQ(parse_error({"m", "--shaeps=X:[1, 3]"}), "unknown option `--shaeps`; did you mean `--shapes`?");
  EXPECT_EQ(Parsed({"-a model"}).arguments.value("model"), "-a model");
}

TEST(Parser, repeated_options_follow_their_rule) {
  EXPECT_EQ(Parsed({"m", "-o", "a", "-o", "b"}).arguments.value("--output"), "b");
  EXPECT_EQ(values_of({"m", "--shapes", "a", "b", "--shapes", "c"}, "--shapes"), Words{"c"});
  const Parsed parsed({"m", "--profile", "a", "b", "--profile", "c"});
  EXPECT_EQ(parsed.arguments.values("--profile"), (Words{"a", "b", "c"}));
  EXPECT_EQ(parsed.arguments.occurrences("--profile"), (std::vector<Words>{{"a", "b"}, {"c"}}));
}

TEST(Parser, defaults_fill_in_but_are_not_given) {
  const Parsed parsed({"m", "--json"});
  EXPECT_EQ(parsed.arguments.value("--iterations"), "1");
  EXPECT_FALSE(parsed.arguments.has("--iterations"));
  EXPECT_EQ(parsed.arguments.value("--json"), "-");
  EXPECT_TRUE(parsed.arguments.has("--json"));
  EXPECT_EQ(parsed.arguments.value("--output"), "");
}

TEST(Parser, in_order_keeps_the_order_typed) {
  const Parsed parsed({"--show", "attrs", "-v", "--output=x", "m"});
  std::string order;
  for (const Arguments::Occurrence& use : parsed.arguments.in_order())
    order += std::string(canonical_name(*use.row)) + ' ';
  EXPECT_EQ(order, "--show --verbose --output model ");
}

TEST(Parser, choices_are_checked) {
  EXPECT_EQ(parse_error({"m", "--show", "layers", "weigths"}),
            "option `--show`: unknown value `weigths`; did you mean `weights`?");
  EXPECT_EQ(parse_error({"m", "--show", "everything"}),
            "option `--show`: unknown value `everything`; expected one of layers, attrs, weights");
}

TEST(Parser, flags_take_no_value) {
  EXPECT_EQ(parse_error({"m", "--verbose=3"}), "option `--verbose` takes no value, found `3`");
}

TEST(Parser, a_positional_that_a_list_took_is_explained) {
  EXPECT_EQ(parse_error({}), "missing MODEL");
  EXPECT_EQ(parse_error({"--shapes", "a", "m"}),
            "missing MODEL; option `--shapes` took `m`: write MODEL before the options, or after `--`");
  EXPECT_EQ(parse_error({"--show", "layers", "m.onnx"}),
            "missing MODEL; option `--show` took `m.onnx`: write MODEL before the options, or after `--`");
}

TEST(Parser, positionals_stand_around_options) {
  const Parsed parsed({"m", "-v", "a", "b"});
  EXPECT_EQ(parsed.arguments.value("model"), "m");
  EXPECT_EQ(parsed.arguments.values("others"), (Words{"a", "b"}));
  EXPECT_EQ(parse_error({"m", "a", "-v", "b"}), "unexpected word `b`");
}

TEST(Parser, earlier_positionals_leave_what_later_ones_need) {
  const Command command = {.path = "merge",
                           .positionals = {{.names = {"inputs"}, .arity = Arity::one_or_more}, {.names = {"output"}}}};
  const Words words = {"a", "b", "c"};
  const Arguments arguments = parse_options(command, words);
  EXPECT_EQ(arguments.values("inputs"), (Words{"a", "b"}));
  EXPECT_EQ(arguments.value("output"), "c");
  EXPECT_EQ(parse_error({"a"}, command), "missing OUTPUT");
  EXPECT_EQ(parse_error({"a", "b", "--x"}, command), "unknown option `--x`");
}

TEST(Parser, required_options_are_asked_for) {
  const Command command = {.path = "x", .groups = {{.rows = {{.names = {"-o", "--output"}, .required = true}}}}};
  EXPECT_EQ(parse_error({}, command), "missing option `--output`");
}

TEST(Parser, older_spellings_stand_for_modern_ones) {
  const Parsed parsed({"m", "--extra-verbose", "--mode=full"});
  EXPECT_EQ(parsed.arguments.count("--verbose"), 1u);
  EXPECT_EQ(parsed.arguments.values("--show"), (Words{"layers", "attrs", "weights"}));
  EXPECT_EQ(parsed.arguments.notes(),
            (Words{"`--extra-verbose` is read as `-v`", "`--mode=full` is read as `--show layers attrs weights`"}));
}

TEST(Parser, a_spelling_takes_its_value_and_nothing_else) {
  const Parsed parsed({"--mode", "full", "m", "--mode", "basic"});
  EXPECT_EQ(parsed.arguments.value("model"), "m");
  EXPECT_EQ(parsed.arguments.notes().back(), "`--mode=basic` has no effect: the default");
  EXPECT_EQ(values_of({"m", "--workspace", "1G"}, "--profile"), Words{"workspace:1G"});
  EXPECT_EQ(parse_error({"m", "--mode=odd"}), "option `--mode`: expected `full` or `basic`, found `odd`");
  EXPECT_EQ(parse_error({"m", "--workspace"}), "option `--workspace`: expected a value, found nothing");
  EXPECT_EQ(parse_error({"m", "--extra-verbose=3"}), "option `--extra-verbose` takes no value, found `3`");
}

TEST(Parser, a_renamed_option_takes_what_the_modern_one_takes) {
  EXPECT_EQ(values_of({"m", "--output-file", "f"}, "--output"), Words{"f"});
  EXPECT_EQ(values_of({"m", "--output-file=f"}, "--output"), Words{"f"});
  EXPECT_EQ(parse_error({"m", "--output-file"}),
            "option `--output-file`: expected OUTPUT, found the end of the command");
}

TEST(Parser, a_spelling_may_depend_on_the_value_of_a_modern_option) {
  EXPECT_EQ(values_of({"m", "--iterations", "7"}, "--iterations"), Words{"7"});
  EXPECT_EQ(values_of({"m", "--iterations", "a:b"}, "--shapes"), Words{"a:b"});
}

TEST(Parser, asking_for_an_unknown_name_is_our_bug) {
  const Parsed parsed({"m"});
  EXPECT_THROW(parsed.arguments.flag("--no-such"), InternalError);
  EXPECT_THROW(parsed.arguments.value("--iters"), InternalError);  // an alias is not the canonical name
  EXPECT_THROW(parsed.arguments.value("--shapes"), InternalError);
}

}  // namespace
}  // namespace assay::cli
