"""Draws of engine_sizes_test.py on the far device of tests/support, alone and by turns with the host.

    far_test.py RUN_TOOL
"""

import sys

import engine_sizes_test

if __name__ == "__main__":
    devices = ("far", "turns")
    sys.exit(max([engine_sizes_test.main([sys.argv[1], "--count", "120", "--device", device]) for device in devices]))
