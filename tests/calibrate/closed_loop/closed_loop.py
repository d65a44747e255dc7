"""Measures this machine, then predicts and runs three small training steps; prints both.

    python3 closed_loop.py MAQUETTE-CALIBRATE CLOSED-LOOP [MINUTES]
"""

import subprocess
import sys
import tempfile

calibrate, loop, *minutes = sys.argv[1:]
with tempfile.TemporaryDirectory() as folder:
    measure = [calibrate, "calibrate", "--host", "--processes", "2", "--quiet"]
    measure += ["--minutes", (minutes or ["1"])[0], "-o", f"{folder}/host.h5"]
    subprocess.run(measure, check=True)
    sys.exit(subprocess.run([loop, f"{folder}/host.h5"]).returncode)
