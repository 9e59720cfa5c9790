"""tools/fill_cases.py: what it writes, that the runner takes it, and that it leaves alone what it cannot fill."""

import os
import pathlib
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).parents[2] / "tools" / "fill_cases.py"
RUNNER = os.path.join(os.environ["ASSAY_BIN_DIR"], "op_cases")

FILE = """op Transpose @1..
for T in f32 bool
case same_text_for_all
  X: T[2,3] = {1,0,1,1,1,1}
  Y: T[3,2] == ?
op Add @7
for T in f32 f64
case by_type
  A: T[1] = {0.1}  B: T[1] = {0.2}
  C == ?
op SequenceConstruct @11
case sequence
  A: i64[2] = {1,2}
  S == ?
op Transpose @21
case only_onnx_can
  X: i4[1,2] = {-8,7}
  Y: i4[2,1] == ?
op NoSuchOperator @1
case nobody_can
  X: f32 = {1}
  Y: f32 == ?
"""
EXPECTED = ["Y: T[3,2] == {1, 1, 0, 1, 1, 1} from ort-", "C: T[1] == by T\n    f32 {0.3} from ort-",
            "    f64 {0.30000000000000004} from ort-", "S == seq(i64[2]{1, 2}) from ort-",
            "Y: i4[2,1] == {-8, 7} from onnx-ref-", "case nobody_can\n  X: f32 = {1}\n  Y: f32 == ?\n"]


def main():
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "x.case"
        path.write_text(FILE)
        done = subprocess.run([sys.executable, TOOL, path, "--runner", RUNNER], capture_output=True, text=True)
        text = path.read_text()
        failures += [f"missing in the file: {part!r}" for part in EXPECTED if part not in text]
        if done.returncode != 1 or "4 values filled" not in done.stdout or "nobody_can" not in done.stderr:
            failures.append(f"exit {done.returncode}: {done.stdout}{done.stderr}")
        described = subprocess.run([RUNNER, "--describe", folder, path], capture_output=True, text=True)
        if described.returncode != 0 or described.stdout.count('"name": "nobody_can@1"') != 1:
            failures.append(f"the file cannot be read again: {described.stderr}")
    print("\n".join([*failures, text if failures else ""]), end="")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
