"""What ends a process that is watched: computing for too long and hanging, but not waiting."""

import subprocess
import sys
import time
import unittest

from patience import Patience, processor_seconds

COMPUTES = "while True: pass"
SLEEPS = "import time; time.sleep(3000)"


class PatienceTest(unittest.TestCase):
    def start(self, code):
        process = subprocess.Popen([sys.executable, "-c", code])
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process

    def first_fault(self, patience):
        while not patience.fault():
            time.sleep(0.01)
        return patience.fault()

    def test_computing_ends_by_the_time_of_the_processor(self):
        process = self.start(COMPUTES)
        patience = Patience(process.pid, seconds=0.3)
        self.assertEqual(self.first_fault(patience), "takes more than 0.3 s of a processor")
        self.assertGreater(processor_seconds(process.pid), 0.3)
        patience.renew()
        self.assertEqual(patience.fault(), "")

    def test_waiting_for_the_processor_is_no_fault(self):
        patience = Patience(self.start(SLEEPS).pid, seconds=0.5)
        time.sleep(0.8)
        self.assertEqual(patience.fault(), "")

    def test_hanging_ends_by_the_clock(self):
        patience = Patience(self.start(SLEEPS).pid, until_it_hangs=0.3)
        self.assertEqual(self.first_fault(patience), "hangs for more than 0.3 s")


if __name__ == "__main__":
    unittest.main()
