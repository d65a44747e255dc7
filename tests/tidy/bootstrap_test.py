"""The script `maquette`, with stand-ins for apt-get, dpkg-query, id, meson, ninja and the program.

    python3 tests/tidy/bootstrap_test.py ROOT
"""

import os
import pathlib
import shutil
import subprocess
import sys
import unittest

from small_tree import small_tree

ROOT = pathlib.Path(sys.argv.pop(1) if len(sys.argv) > 1 else ".").resolve()
PROGRAM = '#!/bin/sh\npwd\nfor a in "$@"; do echo "<$a>"; done\necho words >&2\nexit 3\n'
STAND_INS = {
    # Prints each package as installed, but those in the file `absent`.
    "dpkg-query": """
shift 2
for p in "$@"; do grep -qxF "$p" "$STATE/absent" || echo "$p installed"; done""",
    "apt-get": 'echo "apt-get $*" >>"$STATE/calls"; echo noise; exit "$(cat "$STATE/apt")"',
    "id": 'cat "$STATE/user"',
    "meson": """
echo "meson $1" >>"$STATE/calls"; echo noise
case $1 in
  setup) exit "$(cat "$STATE/setup")" ;;
  test) echo '{"name": "a", "result": "OK"}
{"name": "b", "result": "FAIL"}
{"name": "c", "result": "TIMEOUT"}
{"name": "d", "result": "SKIP"}' >"$3/meson-logs/testlog.json"; exit 1 ;;
esac""",
    "ninja": """
case $3 in -n) cat "$STATE/ninja"; exit ;; esac
echo "ninja $3" >>"$STATE/calls"; echo noise; exit "$(cat "$STATE/build")" """,
}
DEFAULTS = {"absent": "", "apt": "0", "user": "0", "setup": "0", "build": "0", "ninja": "[1/2] x",
            "calls": ""}


class Bootstrap(unittest.TestCase):
    def run_in_tree(self, *arguments, **state):
        files = {f"state/{name}": text for name, text in (DEFAULTS | state).items()}
        files |= {f"bin/{name}": f"#!/bin/sh\n{text}\n" for name, text in STAND_INS.items()}
        files |= {"build/sim/maquette": PROGRAM, "build/meson-logs/x": "", "here/x": ""}
        with small_tree(files) as root:
            shutil.copy(ROOT / "maquette", root / "maquette")
            for file in [*(root / "bin").iterdir(), root / "build/sim/maquette"]:
                file.chmod(0o755)
            environment = {"PATH": f"{root}/bin:{os.environ['PATH']}", "STATE": f"{root}/state"}
            result = subprocess.run(
                [root / "maquette", *arguments], cwd=root / "here", env=environment,
                capture_output=True, text=True, check=False)
            self.calls = (root / "state/calls").read_text().splitlines()
            self.here = str((root / "here").resolve())
        return result

    def test_program_alone_writes_to_stdout(self):
        result = self.run_in_tree("run", "a b.yaml", "--json")
        self.assertEqual(result.stdout, f"{self.here}\n<run>\n<a b.yaml>\n<--json>\n")
        self.assertEqual(result.returncode, 3)
        self.assertEqual(self.calls, ["meson setup", "ninja sim/maquette"])
        self.assertIn("words", result.stderr)

    def test_quiet_when_nothing_is_to_do(self):
        result = self.run_in_tree("run", ninja="ninja: no work to do.")
        self.assertNotIn("building", result.stderr)
        self.assertEqual(self.calls, ["meson setup"])

    def test_missing_packages_are_named(self):
        result = self.run_in_tree("run", absent="meson\nlibfmt-dev\n", user="1000")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        self.assertIn("missing package: meson\n", result.stderr)
        self.assertIn("missing package: libfmt-dev\n", result.stderr)
        self.assertIn("sudo apt-get install meson libfmt-dev", result.stderr)
        self.assertEqual(self.calls, [])

    def test_missing_packages_are_installed_by_root(self):
        result = self.run_in_tree("run", absent="meson\n")
        self.assertEqual(self.calls[0], "apt-get -qq update")
        self.assertEqual(self.calls[1], "apt-get -qq install -y --no-install-recommends meson")
        self.assertEqual(result.returncode, 3)
        self.assertNotIn("noise", result.stdout)

    def test_an_optional_package_is_tried_and_done_without(self):
        result = self.run_in_tree("run", absent="libopenblas-dev\n")
        self.assertEqual(self.calls[1],
                         "apt-get -qq install -y --no-install-recommends libopenblas-dev")
        result = self.run_in_tree("run", absent="libopenblas-dev\n", apt="100")
        self.assertIn("going without libopenblas-dev", result.stderr)
        self.assertEqual(result.returncode, 3)
        result = self.run_in_tree("run", absent="libopenblas-dev\n", user="1000")
        self.assertIn("'maquette calibrate --host': sudo apt-get install libopenblas-dev",
                      result.stderr)
        self.assertEqual(result.returncode, 3)

    def test_failures_stop(self):
        for state, message in [({"absent": "meson\n", "apt": "100"}, "could not install"),
                               ({"setup": "1"}, "could not configure"),
                               ({"build": "1"}, "the build failed")]:
            with self.subTest(message=message):
                result = self.run_in_tree("run", **state)
                self.assertEqual(result.returncode, 1)
                self.assertEqual(result.stdout, "")
                self.assertIn(message, result.stderr)

    def test_tests_end_with_a_count(self):
        result = self.run_in_tree("test")
        self.assertEqual(result.stdout.splitlines()[-1], "1 passed, 2 failed, 1 skipped")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(self.calls[-1], "meson test")


if __name__ == "__main__":
    unittest.main()
