"""What `maquette calibrate` and `maquette profile` say and write, measuring left out.

    python3 tests/calibrate/command_test.py ROOT MAQUETTE
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, PROGRAM = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
sys.argv[1:] = []
DEVICES = ROOT / "scenarios/catalog/devices"


class Commands(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_program(self, *arguments):
        return subprocess.run([PROGRAM, *map(str, arguments)], cwd=self.folder,
                              capture_output=True, text=True, timeout=60)

    def file(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def refused(self, expected, *arguments, code=1):
        result = self.run_program(*arguments)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertIn(expected, result.stderr)
        self.assertEqual(list(self.folder.glob("*.h5.part")), [])

    def test_without_a_gpu_it_says_so_and_what_can_be_done(self):
        self.refused("no GPU can be measured here", "calibrate")
        self.refused("maquette calibrate --host", "calibrate")

    def test_a_wrong_command_line_is_told(self):
        self.refused("--minutes 0", "calibrate", "--host", "--minutes", "0", code=2)
        self.refused("it ends in .h5", "calibrate", "--host", "-o", "host.txt", code=2)
        self.refused("--into h100-sxm", "profile", "import", "a.log", code=2)

    def test_an_import_replaces_curves_and_the_profile_can_be_shown(self):
        samples = ROOT / "tests/golden/import/samples.csv"
        result = self.run_program("profile", "import", samples, "--into", "h100-sxm", "-o", "o.h5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("wrote o.h5", result.stdout)
        shown = self.run_program("profile", "show", "o.h5").stdout
        self.assertIn("source: imported from samples.csv: all_reduce", shown)
        self.assertIn("limits all_reduce: ranks 8, up to 256 MiB", shown)
        self.assertIn("gemm bf16 forward", shown)

    def test_a_log_of_nccl_tests_over_hosts_is_refused_at_its_header(self):
        log = ROOT / "tests/golden/nccl/two-hosts.txt"
        self.refused("a test over 2 hosts", "profile", "import", log, "--into", "h100-sxm")

    def test_rows_that_cannot_be_are_refused_with_their_line(self):
        log = self.file("zero.csv", "op,shape,time [us]\nall_reduce,8 x 1 MiB,0\n")
        self.refused("zero.csv:2:22: error: '0' is no time", "profile", "import", log, "--into",
                     "h100-sxm")
        log = self.file("unit.csv", "op,shape,time\nall_reduce,8 x 1 MiB,3\n")
        self.refused("unit.csv:1:10: error: unknown unit", "profile", "import", log, "--into",
                     "h100-sxm")

    def test_files_that_are_no_profiles_are_refused(self):
        whole = (DEVICES / "h100-sxm.h5").read_bytes()
        (self.folder / "cut.h5").write_bytes(whole[: len(whole) // 2])
        self.refused("cut short or changed", "profile", "show", "cut.h5")
        (self.folder / "foreign.h5").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(2000))
        self.refused("does not start like a profile", "profile", "show", "foreign.h5")
        self.refused("cannot open profile", "profile", "show", "nothing.h5")
        self.refused("holds no samples", "profile", "compare", DEVICES / "h100-sxm.h5",
                     DEVICES / "h100-sxm.h5")


if __name__ == "__main__":
    unittest.main()
