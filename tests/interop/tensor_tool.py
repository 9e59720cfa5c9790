"""Talks to the test program tensor_tool, and counts what passed."""

import os
import random
import subprocess
import sys

import numpy as np


class Tool:
    def __init__(self):
        path = os.path.join(os.environ["ASSAY_BIN_DIR"], "tensor_tool")
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words):
        self.process.stdin.write((" ".join(words) + "\n").encode())
        self.process.stdin.flush()
        reply = self.process.stdout.readline().decode().rstrip("\n")
        if not reply or reply.startswith("error:"):
            raise RuntimeError(f"{' '.join(words)[:200]}: {reply or 'the program ended'}")
        return b"" if reply == "-" else bytes.fromhex(reply)

    def decode(self, dtype, packed, count, carrier=np.float64):
        name = {np.float64: "double", np.int64: "int64", np.uint64: "uint64"}[carrier]
        return np.frombuffer(self.ask("decode", dtype, name, str(count), as_hex(packed)), carrier)

    def encode(self, dtype, values):
        name = {"f": "double", "i": "int64", "u": "uint64"}[values.dtype.kind]
        return self.ask("encode", dtype, name, as_hex(values.tobytes()))

    def text(self, dtype, shape, packed, threshold=1000):
        return self.ask("text", dtype, as_dims(shape), str(threshold), as_hex(packed)).decode()

    def strings_text(self, shape, strings, threshold=1000):
        words = ",".join(text.encode().hex() for text in strings)
        return self.ask("strings", as_dims(shape), str(threshold), words).decode()


class Tally:
    def __init__(self):
        self.passed = 0
        self.failed = 0

    def check(self, truth, message):
        if truth:
            self.passed += 1
            return
        self.failed += 1
        if self.failed <= 20:
            print(f"FAILED: {message() if callable(message) else message}")

    def finish(self):
        print(f"{self.passed} passed, {self.failed} failed")
        sys.exit(1 if self.failed or not self.passed else 0)


def as_hex(data):
    return bytes(data).hex() or "-"


def as_dims(shape):
    return ",".join(map(str, shape)) or "-"


def pack(codes, bits):
    """Packs codes of `bits` bits densely, the first one in the lowest bits."""
    unpacked = (np.asarray(codes, np.uint32)[:, None] >> np.arange(bits)) & 1
    return np.packbits(unpacked.astype(np.uint8).ravel(), bitorder="little").tobytes()


def unpack(packed, bits, count):
    unpacked = np.unpackbits(np.frombuffer(packed, np.uint8), bitorder="little")[: bits * count]
    return (unpacked.reshape(count, bits).astype(np.uint32) << np.arange(bits)).sum(axis=1)


def seeded():
    """A seed, printed; the environment variable ASSAY_SEED repeats a run."""
    seed = int(os.environ.get("ASSAY_SEED") or random.randrange(2**32))
    print(f"ASSAY_SEED={seed}")
    return seed
