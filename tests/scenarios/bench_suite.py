"""Records a suite twice, and with a change: equal records compare as equal, a change exits with 4.

    python3 tests/scenarios/bench_suite.py MAQUETTE SUITE
"""

import pathlib
import subprocess
import sys
import tempfile
import xml.etree.ElementTree


def main(program, suite):
    with tempfile.TemporaryDirectory() as folder:
        def bench(*arguments):
            command = [program, "bench", *arguments]
            return subprocess.run(command, cwd=folder, capture_output=True, text=True)

        for name, options in (("a", []), ("b", []), ("c", ["--set", "run.iterations=3"])):
            assert bench("record", suite, "-o", name, *options).returncode == 0
        same = bench("compare", "a", "b")
        assert same.returncode == 0 and " 0 changes" in same.stdout, same.stdout
        changed = bench("compare", "a", "c", "--junit", "j.xml", "--markdown", "m.md")
        assert changed.returncode == 4, changed.stdout
        assert "REGRESSION iteration time [s]" in changed.stdout, changed.stdout
        cases = xml.etree.ElementTree.parse(f"{folder}/j.xml").getroot()
        assert int(cases.get("failures")) > 0 and len(cases) == int(cases.get("tests"))
        assert "**regression**" in pathlib.Path(folder, "m.md").read_text()
        assert bench("compare", "a", "missing").returncode == 1
        assert bench("compare", "a").returncode == 2
    print("bench: recorded, compared")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
