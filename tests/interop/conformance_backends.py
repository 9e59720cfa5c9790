"""What backends other than the reference may fail of ONNX's own tests, and why (for conformance_test.py).

A file conformance_<backend>.txt has lines `because REASON`, each followed by the names of the tests, indented. After
`sometimes because REASON`, for what depends on the machine, the tests may pass.
"""

import pathlib

import conformance_rivals


def known_failures(backend):
    """(tests that fail, tests that may), each from name to reason."""
    always, sometimes = {}, {}
    reason, listed = "", always
    for line in (pathlib.Path(__file__).parent / f"conformance_{backend}.txt").read_text().splitlines():
        if line.startswith(("because ", "sometimes because ")):
            listed = always if line.startswith("because ") else sometimes
            reason = line.partition("because ")[2]
        elif line and not line.startswith("#"):
            listed |= dict.fromkeys(line.split(), reason)
    return always, sometimes


def judge_by_list(backend, reasons):
    """The lines about what is not as the backend's list says."""
    always, sometimes = known_failures(backend)
    lines = [f"FAIL {backend} {name}: {reason}" for name, reason in reasons.items()
             if reason and name not in always and name not in sometimes]
    for name, why in always.items():
        if not reasons.get(name, "?"):
            lines.append(f"{backend} passes {name}, which conformance_{backend}.txt lists ({why})")
    lines += [f"conformance_{backend}.txt lists {name}, which does not exist"
              for name in [*always, *sometimes] if name not in reasons]
    return lines


def judge_by_package(ours, package):
    """The lines about where our way to ONNX Runtime and its own Python package differ. Ours passes what the package
    passes, and besides only what the package passes when versions are lowered: ours lowers them where nothing changes."""
    as_it_is, lowered = package[conformance_rivals.ORT], package[conformance_rivals.LOWERED]
    lines = [f"FAIL onnxrt {name}: {reason}; the Python package passes it" for name, reason in ours.items()
             if reason and not as_it_is[name]]
    lines += [f"onnxrt passes {name}, the Python package does not: {lowered[name]}" for name, reason in ours.items()
              if not reason and lowered[name]]
    return lines
