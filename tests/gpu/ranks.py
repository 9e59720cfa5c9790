"""Ranks on cards: shards beside the whole model, the same bits from run to run, copies, refusals; one line for each case.

    ranks.py BUILD [--devices cuda:0,cuda:0] [--folder FOLDER]

BUILD is the folder of a build, with bin/assay. With one card, both ranks are contexts on it; with cuda:0,cuda:1 each has a
card of its own. Needs no Python package. The status is 1 if a case fails.
"""

import argparse
import base64
import json
import os
import pathlib
import random
import re
import struct
import subprocess
import sys
import time

HEADER = '<ir_version: 11, opset_import: ["" : 23]>\n'


def constant(kind, name, *shape):
    numbers = random.Random(name)
    count = 1
    for dim in shape:
        count *= dim
    text = ",".join(f"{numbers.uniform(-0.1, 0.1):.4f}" for _ in range(count))
    return f"{kind}[{','.join(map(str, shape))}] {name} = {{{text}}}"


def blocks(kind="float", depth=3, rows=40, width=64):
    """Products with a function between them: one sum over ranks each."""
    weights, lines, value = [], [], "x"
    for at in range(depth):
        weights += [constant(kind, f"up{at}", width, 4 * width), constant(kind, f"down{at}", 4 * width, width),
                    constant(kind, f"b{at}", width)]
        lines += [f"u{at} = MatMul({value}, up{at})", f"g{at} = Gelu(u{at})", f"d{at} = MatMul(g{at}, down{at})",
                  f"e{at} = Add(d{at}, b{at})", f"h{at} = Add({value}, e{at})"]
        value = f"h{at}"
    lines.append(f"y = Identity({value})")
    return f"g ({kind}[{rows},{width}] x) => ({kind}[{rows},{width}] y) <{', '.join(weights)}> {{ {' '.join(lines)} }}"


def layer(heads=8, size=8, length=6):
    width = heads * size
    weights = ", ".join(constant("float", name, width, width) for name in ("wq", "wk", "wv", "wo"))
    return (f"g (float[1,{length},{width}] x) => (float[1,{length},{width}] y) <{weights}> {{ q = MatMul(x, wq) "
            f"k = MatMul(x, wk) v = MatMul(x, wv) z = Attention<q_num_heads = {heads}, kv_num_heads = {heads}>(q, k, v) "
            "y = MatMul(z, wo) }")


def sequence(length=8):
    """Attention whose sequence is split: parts are scattered, and keys and values gathered."""
    return (f"g (float[2,{length},4] q, float[2,4,{length}] k, float[2,{length},4] v) => (float[2,{length},4] o) {{ "
            "s = MatMul(q, k) p = Softmax<axis = -1>(s) o = MatMul(p, v) }")


def collective(operation, kind, ranks, rows=64, reduction="none"):
    """Each rank has its rows of x; all make something of these, which is put together again."""
    def node(word, how, operand):
        return (f"DistCollective <collective_operation = \"{word}\", reduce_op = \"{how}\", nb_rank = {ranks}, root = 0> "
                f"({operand})")

    return (f"g ({kind}[{rows},33] x) => ({kind} y) {{ p = {node('reduce_scatter', 'max', 'x')} "
            f"m = {node(operation, reduction, 'p')} y = {node('all_gather', 'none', 'm')} }}")


def reduced(operand, how="sum", ranks=2):
    return f'DistCollective <collective_operation = "all_reduce", reduce_op = "{how}", nb_rank = {ranks}> ({operand}) '


def turns(length=5, width=64):
    """A loop whose body is a product and a sum over ranks, and a sum before it that nobody waits for."""
    return (f"g (float[{width},{width}] x) => (float[{width},{width}] y, float[{width},{width}] s) <int64 t = {{{length}}}, "
            f"{constant('float', 'u', width, width)}> {{ s = {reduced('x', 'avg')} y = Loop (t, , x) <body = b (int64 i, bool k, "
            f"float[{width},{width}] w) => (bool o, float[{width},{width}] z) {{ o = Identity(k) m = MatMul(w, u) "
            f"z = {reduced('m')} }}> }}")


def own_turns():
    """A loop that each rank runs as often as its row says, between two sums over ranks."""
    share = 'DistCollective <collective_operation = "reduce_scatter", reduce_op = "max", nb_rank = 2> '
    head = (f"g (float[2,1] x) => (float y) <int64[0] scalar = {{}}> {{ p = {share}(x) c = Cast <to = 7> (p) "
            "t = Reshape(c, scalar) v = Neg(p) ")
    body = "<body = b (int64 i, bool k, float[1,1] w) => (bool o, float[1,1] z) { o = Identity(k) "
    return (f"{head} [f] e = {reduced('v')} l = Loop (t, , e) {body} m = Neg(w) z = Identity(m) }}> [n] y = {reduced('l')} }}")


def rows(path, *numbers):
    """Saved inputs: x of each iteration."""
    def array(values):
        head = f"{{'descr': '<f4', 'fortran_order': False, 'shape': ({len(values)}, 1), }}"
        head += " " * (63 - (len(head) + 10) % 64) + "\n"
        data = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack(f"<{len(values)}f", *values)
        return {"array": base64.b64encode(data).decode(), "polygraphy_class": "ndarray"}

    path.write_text(json.dumps([{"x": array(values)} for values in numbers]))
    return path


class Cases:
    def __init__(self, build, devices, folder):
        self.assay, self.devices, self.folder, self.failed = build / "bin" / "assay", devices, folder, 0
        folder.mkdir(parents=True, exist_ok=True)

    def save(self, name, text):
        path = self.folder / f"{name}.onnxtxt"
        path.write_text(HEADER + text)
        return path

    def run(self, *words, **variables):
        begin = time.monotonic()
        done = subprocess.run([str(word) for word in (self.assay, *words)], capture_output=True, text=True,
                              env=os.environ | variables, timeout=600)
        return done.returncode, done.stdout + done.stderr, time.monotonic() - begin

    def tell(self, name, is_good, seconds, what=""):
        self.failed += not is_good
        print(f"{'good' if is_good else 'BAD '} {name:<44} {seconds:6.2f} s  {what}"[:300], flush=True)

    def expect(self, name, words, status=0, text=""):
        seen, output, seconds = self.run(*words)
        last = next((line for line in reversed(output.splitlines()) if "error" in line or "FAILED" in line), "")
        is_good = seen == status and text in output
        self.tell(name, is_good, seconds, last if not is_good or status else "")

    def shards(self):
        on = ["--device", ",".join(self.devices)]
        for name, text, kinds in (("blocks", blocks(), ("tp:2",)), ("blocks_half", blocks("float16"), ("tp:2",)),
                                  ("blocks_bfloat", blocks("bfloat16"), ("tp:2",)), ("attention", layer(), ("tp:2",)),
                                  ("sequence", sequence(), ("cp:2",))):
            path = self.save(name, text)
            for kind in kinds:
                for flags in ([], ["--fp16"]) if name in ("blocks", "attention") else ([],):
                    words = [path, "--shard", kind, "--engine", *on, *flags]
                    label = f"{name} {kind} {' '.join(flags)}"
                    self.expect(f"{label} beside --ref", ["run", *words, "--ref", "--tolerance", "auto"])
                    self.expect(f"{label} the same 30 times", ["debug", "repeat", path, "--same", "--until", "30",
                                                               *words[1:]])
                self.expect(f"{name} {kind} layers", ["debug", "accuracy", path, "--shard", kind, "--engine", *on,
                                                      "--no-remedies"])

    def more_ranks(self):
        """More ranks than cards: all of them on the first."""
        for ranks in (4, 8):
            self.expect(f"blocks tp:{ranks} on {self.devices[0]}",
                        ["run", self.save("blocks", blocks()), "--shard", f"tp:{ranks}", "--engine", "--device",
                         self.devices[0], "--ref", "--tolerance", "auto"])

    def collectives(self):
        kinds = [("all_reduce", how) for how in ("sum", "prod", "min", "max", "avg")]
        kinds += [("reduce_scatter", "sum"), ("reduce", "sum"), *((word, "none") for word in (
            "all_gather", "gather", "broadcast", "scatter", "all_to_all"))]
        for operation, reduction in kinds:
            for kind in ("float", "float16", "int32") if reduction == "none" else ("float", "float16", "bfloat16"):
                path = self.save(f"{operation}_{reduction}_{kind}", collective(operation, kind, 2, 64, reduction))
                reference = self.folder / "reference.json"
                status, output, _ = self.run("run", path, "--shard", "ranks:2", "--ref", "--save-outputs", reference)
                if status:
                    self.tell(f"{operation} {reduction} {kind} on --ref", False, 0, output.strip().splitlines()[-1])
                    continue
                self.expect(f"{operation} {reduction} {kind}",
                            ["run", path, "--shard", "ranks:2", "--engine", "--device", ",".join(self.devices),
                             "--load-outputs", reference, "--rtol", "1e-2" if kind != "float" else "1e-6"])

            if operation in ("all_reduce", "reduce"):
                self.same(f"{operation} {reduction} {kind}", path, 6, "ranks:2")

    def same(self, label, path, runs, kind):
        """The first run meets on the host, the others wait on the cards."""
        self.expect(f"{label} the same {runs} times", ["debug", "repeat", path, "--same", "--until", runs, "--shard", kind,
                                                       "--engine", "--device", ",".join(self.devices)])

    def sizes(self):
        for rows_of_all in (2, 6, 998, 62002, 800002):  # of 33 elements
            for kind in ("float", "float16"):
                path = self.save(f"rows_{rows_of_all}_{kind}", collective("all_reduce", kind, 2, rows_of_all, "sum"))
                self.same(f"all_reduce of {rows_of_all // 2} rows of {kind}", path, 6, "ranks:2")

    def loops(self):
        self.same("a loop with a sum in each turn", self.save("turns", turns()), 10, "ranks:2")

    def absences(self):
        """Ranks that do not come are named, by kernels that wait for them."""
        path, saved = self.save("own_turns", own_turns()), self.folder / "rows.json"
        words = ["run", path, "--shard", "ranks:2", "--engine", "--device", ",".join(self.devices), "--load-inputs",
                 rows(saved, (3, 3), (3, 3), (3, 3), (3, 9e6), (3, 3)), "--iterations", "5", "--rank-timeout", "1"]
        self.expect("a rank that is late in the fourth run", words, 3, "rank 1 did not come to `n` (all_reduce) within 1 s")

    def delays(self):
        """Kernels that sleep at random: nobody reads what is not there yet."""
        path = self.save("blocks", blocks())
        saved = self.folder / "undelayed.json"
        words = ["run", path, "--shard", "tp:2", "--engine", "--device", ",".join(self.devices)]
        first, _, _ = self.run(*words, "--load-inputs", self.inputs(path), "--save-outputs", saved)
        status, output, seconds = self.run(*words, "--load-inputs", self.inputs(path), "--load-outputs", saved, "--atol",
                                           "0", "--rtol", "0", ASSAY_CARD_DELAYS="1")
        self.tell("blocks tp:2 with kernels that sleep", first == status == 0, seconds,
                  "" if status == 0 else output.strip().splitlines()[-1])

    def inputs(self, path):
        saved = self.folder / "inputs.json"
        self.run("run", path, "--ref", "--save-inputs", saved)
        return saved

    def times(self):
        def least(*words):
            file = self.folder / "bench.json"
            status, output, _ = self.run("bench", *words, "--engine", "--duration", "0.5", "--json", file)
            if status:
                return None, output.strip().splitlines()[-1]
            return json.loads(file.read_text())["backends"][0], ""

        path = self.save("wide", blocks("float16", depth=4, rows=64, width=256))
        one, fault = least(path, "--device", self.devices[0])
        two, other = least(path, "--shard", "tp:2", "--device", ",".join(self.devices))
        if one and two:
            self.tell("time of one card and of tp:2", True, 0, f"{one['latency']['median'] * 1e6:.0f} us, "
                      f"{two['latency']['median'] * 1e6:.0f} us, with 4 sums over ranks")
        else:
            self.tell("time of one card and of tp:2", False, 0, fault or other)
        copies, fault = least(path, "--devices", ",".join(self.devices))
        if one and copies:
            self.tell("throughput of one card and of copies", True, 0, f"{one['throughput_qps']:.0f} and "
                      f"{copies['throughput_qps']:.0f} runs in a second")
        else:
            self.tell("throughput of one card and of copies", False, 0, fault)

    def refusals(self):
        path = self.save("blocks", blocks())
        first = self.devices[0]
        self.expect("a card that is not there", ["run", path, "--shard", "tp:2", "--engine", "--device", f"{first},cuda:99"],
                    3, "rank 1")
        self.expect("more devices than ranks", ["run", path, "--shard", "tp:2", "--engine", "--device", f"{first},{first},{first}"],
                    3, "2 ranks need as many devices")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--devices", default="cuda:0,cuda:0", help="two, one for each rank")
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("build/gpu/ranks"))
    parser.add_argument("--only", nargs="*", help="parts: shards, more_ranks, collectives, sizes, loops, absences, delays, "
                        "times, refusals")
    options = parser.parse_args()
    devices = options.devices.split(",")
    cases = Cases(options.build, devices, options.folder)
    _, output, _ = cases.run("doctor", "--engine")
    for device in sorted(set(devices)):
        if not re.search(rf"{device}\s+\| usable", output):
            print(f"there is no {device} to test on")
            return 3
    for part in (cases.shards, cases.more_ranks, cases.collectives, cases.sizes, cases.loops, cases.absences,
                 cases.delays, cases.times, cases.refusals):
        if not options.only or part.__name__ in options.only:
            part()
    print(f"{cases.failed} case(s) failed" if cases.failed else "all good")
    return 1 if cases.failed else 0


if __name__ == "__main__":
    sys.exit(main())
