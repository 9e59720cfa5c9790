"""python -m assay.compat SCRIPT ARGUMENTS…: runs a script on this package."""

import runpy
import sys
from pathlib import Path

from assay import compat


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        print("usage: python -m assay.compat SCRIPT ARGUMENTS…\n\nRuns a script for polygraphy, onnx_graphsurgeon, "
              "tensorrt and cuda on assay.", file=sys.stderr)
        sys.exit(0 if len(sys.argv) > 1 else 2)
    script = sys.argv[1]
    if not Path(script).is_file():
        print(f"assay.compat: there is no script `{script}`", file=sys.stderr)
        sys.exit(2)
    compat.install()
    sys.argv = sys.argv[1:]
    sys.path[0] = str(Path(script).resolve().parent)
    runpy.run_path(script, run_name="__main__")


if __name__ == "__main__":
    main()
