#include "cli/help/help.h"

#include <gtest/gtest.h>

#include "cli/help/manual.h"

namespace assay::cli {
namespace {

Command sample() {
  return {
      .path = "inspect sample",
      .summary = "show samples",
      .description = "Shows samples.\n\nMore about them.",
      .positionals = {{.names = {"model_file"}, .metavar = "MODEL", .help = "the model"},
                      {.names = {"others"}, .arity = Arity::any, .help = "more models"}},
      .groups = {{
                     .title = "Show",
                     .description = "Options about what is shown",
                     .rows =
                         {
                             {.names = {"--show"},
                              .arity = Arity::one_or_more,
                              .choices = {"layers", "attrs"},
                              .help = "what to show",
                              .details = "Without it, only the ends."},
                             {.names = {"-n", "--number"}, .default_value = "3", .help = "how many"},
                             {.names = {"--secret"}, .arity = Arity::flag, .help = "not shown", .hidden = true},
                             {.names = {"-o", "--output"}, .metavar = "FILE", .help = "where to", .required = true},
                             {.names = {"--json"}, .arity = Arity::optional, .help = "as JSON"},
                         },
                 },
                 {.title = "Empty"}},
  };
}

TEST(Help, a_page_shows_all_that_is_not_hidden) {
  EXPECT_EQ(help_page(sample(), 60), R"(usage: assay inspect sample [options] --output FILE MODEL
       [OTHERS...]

Shows samples.

More about them.

Positional:
  MODEL                   the model
  OTHERS                  more models

Show:
  Options about what is shown

  --show {layers,attrs}...
                          what to show. Without it, only the
                          ends.
  -n, --number NUMBER     how many (default: 3)
  -o, --output FILE       where to (required)
  --json [JSON]           as JSON

Help:
  -h, --help              show this help and exit
)");
}

TEST(Help, pages_keep_to_the_width) {
  for (const size_t width : {50, 72, 100}) {
    const std::string page = help_page(sample(), width);
    for (size_t start = 0, end; (end = page.find('\n', start)) != std::string::npos; start = end + 1) {
      EXPECT_LE(end - start, width) << page.substr(start, end - start);
    }
  }
}

TEST(Help, values_with_a_name_list_their_choices) {
  EXPECT_EQ(row_text({.names = {"--a"}, .metavar = "WORD", .choices = {"x", "y"}, .help = "say it"}),
            "say it (one of x, y)");
}

TEST(Help, values_that_are_part_of_a_name_follow_it_at_once) {
  EXPECT_EQ(row_label({.names = {"--a@"}, .metavar = "PYTHON"}), "--a@PYTHON");
  EXPECT_EQ(row_label({.names = {"--a"}, .metavar = "PYTHON"}), "--a PYTHON");
}

TEST(Manual, names_every_command_option_and_status) {
  const std::string markdown = markdown_manual();
  for (const char* part : {"## assay completion\n", "`--json [FILE]`", "| 70 | a bug of assay |"}) {
    EXPECT_NE(markdown.find(part), std::string::npos) << part;
  }
  EXPECT_EQ(markdown.find("docs man"), std::string::npos) << "hidden";
  const std::string page = man_page();
  EXPECT_TRUE(page.starts_with(".TH ASSAY 1"));
  EXPECT_NE(page.find(".B \\-\\-json [FILE]\n"), std::string::npos) << page;
}

}  // namespace
}  // namespace assay::cli
