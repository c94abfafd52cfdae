# SPDX-License-Identifier: Apache-2.0
"""Power and SM clock of the first GPU, read by NVML in a thread."""
import ctypes
import statistics
import threading
import time


class Meter:
    def __init__(self, interval_s=0.02):
        self.samples, self.interval_s, self.why_not = [], interval_s, ""
        try:
            self.nvml = ctypes.CDLL("libnvidia-ml.so.1")
            self.device = ctypes.c_void_p()
            if self.nvml.nvmlInit_v2() or self.nvml.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self.device)):
                raise OSError("NVML answers with an error")
        except (OSError, AttributeError) as error:
            self.why_not = str(error)
            return
        threading.Thread(target=self.watch, daemon=True).start()

    def read(self, name, result, *arguments):
        call = getattr(self.nvml, name)
        return result.value if call(self.device, *arguments, ctypes.byref(result)) == 0 else None

    def limit(self):
        """The power limit in W."""
        mw = None if self.why_not else self.read("nvmlDeviceGetEnforcedPowerLimit", ctypes.c_uint())
        return None if mw is None else mw * 1e-3

    def joules(self):
        if self.why_not:
            return None
        mj = self.read("nvmlDeviceGetTotalEnergyConsumption", ctypes.c_ulonglong())
        return None if mj is None else mj * 1e-3

    def watch(self):
        while True:
            clock = self.read("nvmlDeviceGetClockInfo", ctypes.c_uint(), 1)  # 1: NVML_CLOCK_SM
            power = self.read("nvmlDeviceGetPowerUsage", ctypes.c_uint())
            self.samples.append((time.monotonic(), clock, None if power is None else power * 1e-3, self.joules()))
            time.sleep(self.interval_s)

    def between(self, start, end):
        """Mean SM clock in MHz and mean power in W of a span of time.monotonic(). The energy counter decides."""
        inside = [x for x in list(self.samples) if start <= x[0] <= end]
        clocks = [x[1] for x in inside if x[1] is not None]
        energies = [(x[0], x[3]) for x in inside if x[3] is not None]
        powers = [x[2] for x in inside if x[2] is not None]
        power = statistics.mean(powers) if powers else None
        if energies and energies[-1][0] - energies[0][0] >= 0.3:
            power = (energies[-1][1] - energies[0][1]) / (energies[-1][0] - energies[0][0])
        return (statistics.mean(clocks) if clocks else None), power
