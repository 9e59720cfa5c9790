"""Starts the program `assay`, which lies beside this file: `python -m assay`, and the command `assay` of a wheel."""

import os
import sys
from pathlib import Path


def main():
    program = Path(__file__).with_name("assay")
    if not program.exists():
        sys.exit("assay: the program is not beside the package; in a build tree it is bin/assay")
    os.environ.setdefault("VIRTUAL_ENV", sys.prefix)  # where the program looks for libraries
    os.execv(program, [str(program), *sys.argv[1:]])


if __name__ == "__main__":
    main()
