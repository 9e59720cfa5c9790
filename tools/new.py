#!/usr/bin/env python3
"""Writes the skeleton of something new where it belongs; nothing else needs an edit.

    new.py op GROUP/NAME OPERATOR [--domain DOMAIN]    an operator of the reference and its case file
    new.py check NAME                                  a check of `check lint`
    new.py command VERB/NAME                           a command

Existing files are refused. The skeletons compile; what is to be filled in is marked, and check_text refuses the marks.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
MARK = "TO" + "DO"

OPERATOR = """#include "ops/operator.h"

namespace assay::ops {{
namespace {{

// {signature}
void infer_{stem}(Infer& node) {{
  // {mark}: refuse what breaks a rule, with what was seen; say what is known of the outputs.
  infer_same_as_first(node);
}}

void eval_{stem}(Eval& node) {{
  // {mark}: load in a carrier, compute, store.
  std::vector<double> elements = node.load<double>(0);
  node.store(0, std::move(elements));
}}

}}  // namespace

OperatorRows operator_{group}_{stem}() {{
  static constexpr Operator kRows[] = {{
      {{{domain}.name = "{name}", .since = {since}, .infer = infer_{stem}, .eval = eval_{stem}}},
  }};
  return kRows;
}}

}}  // namespace assay::ops
"""

CASE = """op {spelled} @{since}..
# {mark}: inputs, attributes and `== ?` for outputs; tools/fill_cases.py writes the expected values.
"""

CHECK = """#include "lint/check.h"

namespace assay::lint {{
namespace {{

void report(const Subject& subject, ir::NodeId id, Findings& findings) {{
  // {mark}: findings.add(LintLevel::warning, kAnalysis, "{stem}", id, "what was seen");
  (void)subject;
  (void)id;
  (void)findings;
}}

}}  // namespace

Check check_{stem}() {{ return {{"{mark}: what it finds", 90, {{{{.at_node = report}}}}}}; }}

}}  // namespace assay::lint
"""

COMMAND = """#include "base/error.h"
#include "cli/environment.h"
#include "cli/options/arguments.h"
#include "cli/options/groups/logging.h"
#include "cli/options/groups/model.h"

namespace assay::cli {{
namespace {{

int run(const Arguments& arguments, Environment& environment) {{
  const LoadedModel loaded = load_model(arguments.value("model_file"), arguments, environment);
  print_findings(loaded.findings, environment);
  return kExitEqual;
}}

}}  // namespace

Command command_{symbol}() {{
  return {{.path = "{path}",
          .summary = "{mark}",
          .description = "{mark}",
          .positionals = {{model_positional()}},
          .groups = {{logging_group(), model_group(), onnx_load_group()}},
          .run = run}};
}}

}}  // namespace assay::cli
"""


class Failure(Exception):
    pass


def checked(word: str, what: str, parts: int) -> list[str]:
    if not re.fullmatch(r"[a-z][a-z0-9_]*(/[a-z][a-z0-9_]*){%d}" % (parts - 1), word):
        raise Failure(f"`{word}` is no {what}: lower case words, {parts} of them")
    return word.split("/")


def schema_versions(name: str) -> dict[int, str]:
    """The lines of an operator, called as in the texts: `Conv`, `ai.onnx.ml::Scaler`; by the version they hold from."""
    lines = [line for text in ("schemas.txt", "schemas_microsoft.txt")
             for line in (ROOT / "src" / "schema" / text).read_text().splitlines()]
    found = [line.split(maxsplit=2) for line in lines if line.startswith(name + " ")]
    return {int(since): f"{name} {since} {rest}" for _, since, rest in found}


def operator_files(path: str, name: str, domain: str) -> dict[str, str]:
    group, stem = checked(path, "GROUP/NAME", 2)
    spelled = f"{domain}::{name}" if domain else name
    versions = schema_versions(spelled)
    if not versions:
        raise Failure(f"no schema of {spelled}; those of domains that are not ONNX's go into "
                      "src/schema/schemas_microsoft.txt")
    facts = {"group": group, "stem": stem, "name": name, "since": min(versions), "signature": versions[max(versions)],
             "domain": f'.domain = "{domain}", ' if domain else "", "spelled": spelled, "mark": MARK}
    return {f"src/ops/operators/{group}/{stem}.cpp": OPERATOR.format(**facts),
            f"tests/cases/{group}/{stem}.case": CASE.format(**facts)}


def files(options: argparse.Namespace) -> dict[str, str]:
    if options.kind == "op":
        return operator_files(options.path, options.operator, options.domain)
    if options.kind == "check":
        (stem,) = checked(options.path, "NAME", 1)
        return {f"src/lint/checks/{stem}.cpp": CHECK.format(stem=stem, mark=MARK)}
    verb, name = checked(options.path, "VERB/NAME", 2)
    words = f"{verb} {name}".replace("_", "-")
    return {f"src/cli/commands/{verb}/{name}.cpp": COMMAND.format(symbol=f"{verb}_{name}", path=words, mark=MARK)}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, default=ROOT, help="write below this folder")
    kinds = parser.add_subparsers(dest="kind", required=True)
    operator = kinds.add_parser("op")
    operator.add_argument("path", metavar="GROUP/NAME")
    operator.add_argument("operator", metavar="OPERATOR")
    operator.add_argument("--domain", default="")
    kinds.add_parser("check").add_argument("path", metavar="NAME")
    kinds.add_parser("command").add_argument("path", metavar="VERB/NAME")
    options = parser.parse_args()
    try:
        new = files(options)
        for path in new:
            if (options.root / path).exists():
                raise Failure(f"{path} is there already")
    except Failure as failure:
        print(f"new.py: {failure}", file=sys.stderr)
        return 2
    for path, text in new.items():
        (options.root / path).parent.mkdir(parents=True, exist_ok=True)
        (options.root / path).write_text(text)
        print(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
