"""How long a process may compute between two signs of life. What counts is the processor's time: a process that others
starve, or that is stopped for a while, is not at fault. The clock only ends what hangs."""

import os
import pathlib
import time

TICKS_PER_SECOND = os.sysconf("SC_CLK_TCK")


def processor_seconds(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    user, system = fields[11:13]
    return (int(user) + int(system)) / TICKS_PER_SECOND


class Patience:
    def __init__(self, pid, seconds=120, until_it_hangs=900):
        self.pid, self.seconds, self.until_it_hangs = pid, seconds, until_it_hangs
        self.renew()

    def renew(self):
        self.computed, self.began = processor_seconds(self.pid), time.monotonic()

    def fault(self):
        """What the process did wrong, or nothing. It must not have been waited for yet."""
        if processor_seconds(self.pid) - self.computed > self.seconds:
            return f"takes more than {self.seconds} s of a processor"
        if time.monotonic() - self.began > self.until_it_hangs:
            return f"hangs for more than {self.until_it_hangs} s"
        return ""
