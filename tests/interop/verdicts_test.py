"""`debug accuracy` on faults planted into drawn networks, one test for each kind: the layer with the fault is named, with
the cause where it can be read from the numbers, and without the fault nobody is accused. Innocent differences, which
are other roundings, names and merged layers, accuse nobody."""

import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "bench"))

from models.plantings import CLEAN, KINDS, plantings, values_of

ASSAY = os.environ["ASSAY"]
COUNT = 3
SEED = 7
CAUSES = {"swapped_inputs": "inputs swapped", "transposed_weight": "input 1 transposed", "wrong_axis": "with axis=",
          "layout_bug": "in other places", "overflow_in_half": "infinite", "birth_of_nan": "are NaN",
          "other_operator": "would give as ", "finite_mask": "should be infinite", "padding_off_by_one": "with pads=[0,1,2,1]",
          "corrupted_weight": "only index"}


def judged(case):
    """The verdict, and the report that it was read from."""
    with tempfile.TemporaryDirectory() as folder:
        verdict = case.judge(ASSAY, pathlib.Path(folder))
        return verdict, json.loads(pathlib.Path(folder, "report.json").read_text())


class Verdicts(unittest.TestCase):
    def check_fault(self, kind):
        for number, case in plantings(kind, COUNT, SEED):
            with self.subTest(kind=kind, number=number):
                verdict, report = judged(case)
                self.assertEqual(verdict, "hit")
                self.assertIn(CAUSES.get(kind, ""), report["guilty"][0]["reason"])
                case.values, case.other = values_of(case.model, case.feeds), None
                verdict, _ = judged(case)
                self.assertEqual(verdict, "nobody")

    def check_clean(self, kind):
        for number, case in plantings(kind, COUNT, SEED):
            with self.subTest(kind=kind, number=number):
                self.assertEqual(judged(case)[0], "clean")


for name in KINDS:
    check = Verdicts.check_clean if name in CLEAN else Verdicts.check_fault
    setattr(Verdicts, f"test_{name}", lambda self, check=check, name=name: check(self, name))

if __name__ == "__main__":
    unittest.main()
