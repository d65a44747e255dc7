"""`maquette calibrate` of a GPU where there is none: what is said, and the fit of a made-up table.

    python3 tests/calibrate/gpu_test.py ROOT MAQUETTE [MAQUETTE_CUDA]

Measures nothing: where there is a GPU, those parts are skipped.
"""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT, PROGRAM = (pathlib.Path(argument).resolve() for argument in sys.argv[1:3])
HELPER = pathlib.Path(sys.argv[3]).resolve() if len(sys.argv) > 3 else None
sys.argv[1:] = []
HAS_GPU = pathlib.Path("/proc/driver/nvidia/version").exists()
NO_DRIVER = """error: no GPU can be measured here: no NVIDIA driver is installed (libcuda.so.1)
  why:  kernels and collectives are timed on the devices of this machine
  hint: maquette calibrate --host --minutes 2 -o my-host.h5 measures the CPU
"""
SCRIPTS = ROOT / "calibrate/measure"
SCENARIO = """maquette: 1
name: a product on a made-up GPU
cluster:
  hosts: [{name: h, count: 1, type: ./gpu.yaml}]
operations:
  - {name: reduce, collective: all-reduce, bytes: 1 MiB, devices: [h0.gpu0, h0.gpu1]}
"""


def made_up_table():
    """What a GPU at 500 TFLOP/s and 3 TB/s would have measured."""
    facts = {"device": "a made-up GPU", "devices": 2, "multiprocessors": 100,
             "memory": "80000000000 B", "power limit": "700 W"}
    lines = ["op,shape,time [us]"] + [f"# fact {name}: {value}" for name, value in facts.items()]
    sizes = [2 ** (9 + i % 5) for i in range(40)]
    for i in range(40):
        m, n, k = sizes[i], sizes[(3 * i + 1) % 40], sizes[(7 * i + 2) % 40]
        n, k = n + 64 * (i % 7), k + 64 * (i % 3)
        for product, factor in (("bf16 forward", 1), ("bf16 weight gradient", 1.1),
                                ("fp16 forward", 1), ("tf32 forward", 2)):
            micro = factor * (4 + 2 * m * n * k / 500e6)
            lines.append(f"gemm {product},{m} x {n} x {k},{micro}")
        if i % 10 == 0:
            lines.append(f"sustained bf16 forward,{m} x {n} x {k},{1.2 * (4 + 2*m*n*k/500e6)}")
    for i in range(12):
        lines.append(f"memory copy,{4096 * 4 ** i} B,{2 + 4096 * 4 ** i / 3e6}")
        lines.append(f"send_receive,2 x {256 * 4 ** i} B,{8 + 256 * 4 ** i / 400e3}")
        lines.append(f"all_reduce,2 x {256 * 4 ** i} B,{10 + 256 * 4 ** i / 400e3}")
    return "\n".join([*lines, "launch graph,1,2.1", "transfer h2d pinned,1048576 B,20", ""])


class Gpu(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)

    def run_here(self, *arguments):
        return subprocess.run([*map(str, arguments)], cwd=self.folder, capture_output=True,
                              text=True, timeout=200, check=False)

    @unittest.skipIf(HAS_GPU, "there is a GPU")
    def test_calibrate_says_what_is_missing(self):
        result = self.run_here(PROGRAM, "calibrate", "-o", "gpu.h5")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stdout, "")
        if HELPER:
            self.assertEqual(result.stderr, NO_DRIVER)
        else:
            self.assertIn("this program was built without nvcc", result.stderr)
        self.assertEqual(list(self.folder.iterdir()), [])

    @unittest.skipIf(HAS_GPU or not HELPER, "there is a GPU, or no nvcc")
    def test_check_is_skipped_and_the_script_ends_cleanly(self):
        result = self.run_here(HELPER, "check")
        self.assertEqual((result.returncode, result.stdout, result.stderr),
                         (77, "skipped: no kernel was checked\n", NO_DRIVER))
        # Carried elsewhere: the program and the scripts alone.
        carried = self.folder / "carried"
        carried.mkdir()
        for file in (HELPER, SCRIPTS / "gpu_run.sh", SCRIPTS / "time_attention.py"):
            shutil.copy(file, carried / file.name)
        result = self.run_here(carried / "gpu_run.sh", "out", carried / "maquette-cuda")
        self.assertEqual(result.returncode, 77, result.stdout + result.stderr)
        self.assertIn("there is no GPU: nothing was measured", result.stdout)
        self.assertIn("no NVIDIA driver", (self.folder / "out/check.txt").read_text())

    @unittest.skipIf(not HELPER, "no nvcc")
    def test_the_helper_needs_the_c_library_alone(self):
        result = self.run_here("ldd", HELPER)
        needed = r"linux-vdso|libc\.so|libm\.so|libdl\.|librt\.|libpthread|ld-linux"
        for line in result.stdout.splitlines():
            self.assertRegex(line, needed)

    @unittest.skipIf(not HELPER, "no nvcc")
    def test_wrong_command_lines_of_the_helper(self):
        for arguments, said in [([], "nothing to do"), (["fly"], "unknown command 'fly'"),
                                (["measure"], "--out says where"),
                                (["measure", "--out"], "--out has no value"),
                                (["measure", "--fast"], "unknown option '--fast'"),
                                (["measure", "--minutes", "x"], "--minutes 'x': a number from")]:
            result = self.run_here(HELPER, *arguments)
            self.assertEqual(result.returncode, 2, arguments)
            self.assertIn(said, result.stderr)

    def test_scripts_say_how_they_are_used(self):
        self.assertEqual(self.run_here(SCRIPTS / "gpu_run.sh").returncode, 2)
        result = self.run_here(SCRIPTS / "gpu_run.sh", "out", "nothing-there")
        self.assertEqual(result.returncode, 1)
        self.assertIn("there is no program nothing-there", result.stdout)

    def test_options_of_the_other_backend_are_refused(self):
        for arguments, said in [(["--host", "--warm"], "--warm has no meaning with --host"),
                                (["--host", "--from", "a.csv"], "--from has no meaning"),
                                (["--threads", "2"], "--threads is for the CPU")]:
            result = self.run_here(PROGRAM, "calibrate", *arguments)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn(said, result.stderr)

    def test_a_table_from_elsewhere_becomes_a_profile_that_a_scenario_uses(self):
        (self.folder / "table.csv").write_text(made_up_table())
        result = self.run_here(PROGRAM, "calibrate", "--from", "table.csv", "-o", "gpu.h5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("gemm bf16 weight gradient", result.stdout)
        self.assertIn("wrote gpu.yaml", result.stdout)
        shown = self.run_here(PROGRAM, "profile", "show", "gpu.h5").stdout
        self.assertIn("origin: measured", shown)
        self.assertIn("sustained gemm x 1.2", shown)
        attention = "".join(
            f"attention {kernel} forward,1 x {heads} x {heads} x {length} x 128,"
            f"{10 + 256 * heads * length * length / 250e6}\n" for kernel in ("cudnn", "flash2")
            for heads in (4, 8, 16, 32) for length in (512, 1024, 2048, 4096, 8192))
        (self.folder / "attention.csv").write_text("op,shape,time [us]\n" + attention)
        result = self.run_here(PROGRAM, "profile", "import", "attention.csv", "--into", "gpu.h5",
                               "-o", "gpu.h5")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("attention cudnn head 128 forward", result.stdout)
        (self.folder / "one.yaml").write_text(SCENARIO)
        result = self.run_here(PROGRAM, "run", "one.yaml", "--no-files")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("measured", result.stdout)
        # The same table, into a device of the catalog.
        result = self.run_here(PROGRAM, "profile", "import", "table.csv", "--into", "h200-sxm",
                               "-o", "h200.h5")
        self.assertEqual(result.returncode, 0, result.stderr)
        shown = self.run_here(PROGRAM, "profile", "show", "h200.h5").stdout
        self.assertIn("gemm bf16 weight gradient", shown)
        self.assertIn("gemm tf32 forward", shown)

    def test_a_table_that_does_not_say_its_device_is_refused(self):
        (self.folder / "table.csv").write_text("op,shape,time [us]\nmemory copy,1 MiB,3\n")
        result = self.run_here(PROGRAM, "calibrate", "--from", "table.csv")
        self.assertEqual(result.returncode, 1)
        self.assertIn("the samples do not say 'multiprocessors'", result.stderr)
        self.assertIn("maquette profile import --into DEVICE", result.stderr)


class Attention(unittest.TestCase):
    """The script that times attention, torch left out."""

    @classmethod
    def setUpClass(cls):
        sys.path.insert(0, str(SCRIPTS))
        import time_attention
        cls.script = time_attention

    def test_without_torch_it_says_so(self):
        with tempfile.TemporaryDirectory() as name:
            result = subprocess.run(
                [sys.executable, "-B", "-S", SCRIPTS / "time_attention.py", "--out", "a.csv"],
                cwd=name, capture_output=True, text=True, timeout=60, check=False)
            self.assertEqual(result.returncode, 1)
            self.assertIn("error: torch is not installed", result.stderr)
            self.assertEqual(list(pathlib.Path(name).iterdir()), [])

    def test_rows_are_what_import_reads(self):
        name = self.script.operation("cudnn", "backward", False)
        self.assertEqual(self.script.row(name, (2, 8, 4, 512), 128, 0.001),
                         "attention cudnn backward full,2 x 8 x 4 x 512 x 128,1000.000\n")

    def test_enough_shapes_of_every_head_size_for_a_fit(self):
        for head_size in self.script.HEAD_SIZES:
            shapes = set(self.script.shapes(head_size))
            self.assertGreaterEqual(len(shapes), 20)
            for _, heads, kv_heads, _ in shapes:
                self.assertEqual(heads % kv_heads, 0)

    def test_a_batch_lasts_ten_milliseconds(self):
        self.assertEqual(self.script.batch_size(0.001), 11)
        self.assertEqual(self.script.batch_size(1), 1)
        self.assertEqual(self.script.batch_size(0), 1000)


if __name__ == "__main__":
    unittest.main()
