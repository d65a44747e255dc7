"""Compares the predictions of a suite with a committed record: what moved, and by how much.

    python3 tests/scenarios/bench_golden.py MAQUETTE SUITE RECORD

MAQUETTE_UPDATE_GOLDEN=1 in front writes the record instead.
"""

import os
import pathlib
import subprocess
import sys
import tempfile

# Machines may round the timing models differently; the engine itself is exact.
TOLERANCE = "0.1 %"


def main(program, suite, golden):
    def bench(*arguments):
        return subprocess.run([program, "bench", *arguments], capture_output=True, text=True)

    if os.environ.get("MAQUETTE_UPDATE_GOLDEN"):
        assert bench("record", suite, "-o", golden).returncode == 0
        return
    with tempfile.TemporaryDirectory() as folder:
        now = str(pathlib.Path(folder, "now.bench"))
        recorded = bench("record", suite, "-o", now)
        assert recorded.returncode == 0, recorded.stderr
        compared = bench("compare", golden, now, "--tolerance", TOLERANCE)
        print(compared.stdout, compared.stderr)
        known = pathlib.Path(golden).read_text().count("\nscenario\t")
        scenarios = len(list(pathlib.Path(suite).glob("*.yaml")))
        assert known == scenarios, f"{known} scenarios in the record, {scenarios} in the suite"
        assert compared.returncode == 0, "predictions changed: see above"


if __name__ == "__main__":
    main(*sys.argv[1:])
