"""Measures this machine, one batch a shape, and uses the profile: show, compare, a scenario.

    python3 tests/calibrate/host_test.py MAQUETTE

Asserts no time. Skipped where the program was built without OpenBLAS.
"""

import pathlib
import subprocess
import sys
import tempfile

SCENARIO = """maquette: 1
name: a step on this machine
cluster:
  hosts: [{name: h, count: 1, type: ./host.yaml}]
operations:
  - {name: reduce, collective: all-reduce, bytes: 1 MiB, devices: [h0.gpu0, h0.gpu1]}
"""
program = str(pathlib.Path(sys.argv[1]).resolve())
with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)

    def run(*arguments):
        return subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True)

    # A second is too short for a fit; what it measured is kept.
    brief = run("calibrate", "--host", "--processes", "2", "--minutes", "0.02", "-o", "brief.h5")
    if "built without OpenBLAS" in brief.stderr:
        print("skipped: built without OpenBLAS")
        sys.exit(77)
    assert brief.returncode == 1 and "samples are kept in brief.samples.csv" in brief.stderr
    assert len((folder / "brief.samples.csv").read_text().splitlines()) > 1
    made = run("calibrate", "--host", "--processes", "2", "--samples", "1", "--minutes", "20",
               "-o", "host.h5")
    print(made.stdout, made.stderr)
    assert made.returncode == 0
    assert "gemm fp32 weight gradient" in made.stdout
    shown = run("profile", "show", "host.h5")
    assert shown.returncode == 0 and "origin: measured" in shown.stdout
    assert "environment OpenBLAS core:" in shown.stdout
    same = run("profile", "compare", "host.h5", "host.h5")
    assert same.returncode == 0 and "no shape differs beyond noise" in same.stdout
    (folder / "step.yaml").write_text(SCENARIO)
    result = run("run", "step.yaml", "--no-files")
    print(result.stdout, result.stderr)
    assert result.returncode == 0 and "measured" in result.stdout
