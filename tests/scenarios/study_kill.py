"""Kills a study at random moments and lets it go on: nothing is lost, the bytes are the same.

    python3 tests/scenarios/study_kill.py MAQUETTE STUDY KILLS

Every kill is a SIGKILL, most of them soon after a candidate was finished. A study that ends before
its kill begins again in an empty folder, so the kills always hit one that runs.
"""

import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

FILES = ("study.h5", "study.csv", "study.json", "report.html")


def run(program, study, out, *options):
    command = [program, "study", study, "--out", out, "--quiet", *options]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL)


def records(out):
    """Finished candidates: lines of the logs but the first, if whole."""
    texts = [log.read_bytes() for log in pathlib.Path(out, "logs").glob("*.log")]
    return sum(max(text.count(b"\n") - 1, 0) for text in texts)


def same(a, b):
    return all(pathlib.Path(a, f).read_bytes() == pathlib.Path(b, f).read_bytes() for f in FILES)


def main(program, study, kills):
    draw = random.Random(1)
    passed = failed = killed = finished = partial = 0
    with tempfile.TemporaryDirectory() as folder:
        whole, out = f"{folder}/whole", f"{folder}/out"
        begun = time.monotonic()
        assert run(program, study, whole, "--threads", "1").wait() == 0
        length = time.monotonic() - begun
        kept = 0
        while killed < kills:
            process = run(program, study, out, "--resume", "--threads", draw.choice("12"))
            # Reading the input takes most of a run of this size, so most kills wait for a record.
            patience = time.monotonic() + 10 * length
            waits = draw.random() < 0.9
            while (waits and process.poll() is None and records(out) <= kept
                   and time.monotonic() < patience):
                time.sleep(0.001)
            try:
                process.wait(timeout=draw.uniform(0, length / 50))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                killed += 1
                now = records(out)
                ok = now >= kept  # what was finished before is still there
                partial += now > kept
                kept = now
            else:
                finished += 1
                ok = process.returncode == 0 and same(whole, out)
                shutil.rmtree(out)
                kept = 0
            passed, failed = passed + ok, failed + (not ok)
        ok = run(program, study, out, "--resume").wait() == 0 and same(whole, out)
        passed, failed = passed + ok, failed + (not ok)
    print(f"{killed} kills, {partial} of them after new records, {finished} runs ended before")
    print(f"{passed} passed, {failed} failed")
    return failed > 0 or partial == 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
