"""Several processes share a study: one is killed, the others end with the bytes of a run alone.

    python3 tests/scenarios/study_share.py MAQUETTE STUDY
"""

import os
import pathlib
import subprocess
import sys
import tempfile
import time

from study_kill import records, same

LIMIT = 120  # seconds; nothing may wait for a dead process


def start(program, study, out, *options, rank=None):
    environment = dict(os.environ)
    if rank is not None:
        environment["SLURM_PROCID"] = str(rank)
    command = [program, "study", study, "--out", out, "--quiet", "--threads", "1", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)


def main(program, study):
    checks = []
    with tempfile.TemporaryDirectory() as folder:
        alone = start(program, study, f"{folder}/alone")
        text = alone.communicate(timeout=LIMIT)[0]
        candidates = records(f"{folder}/alone")

        # Of three that a launcher started, the first prints.
        out = f"{folder}/three"
        three = [start(program, study, out, "--share", rank=rank) for rank in range(3)]
        texts = [process.communicate(timeout=LIMIT)[0] for process in three]
        checks.append(("three end", all(process.returncode == 0 for process in three)))
        checks.append(("the first prints", texts == [text, b"", b""]))
        checks.append(("the same bytes", same(f"{folder}/alone", out)))
        done = [len(log.read_bytes().splitlines()) - 1
                for log in pathlib.Path(out, "logs").glob("*.log")]
        checks.append((f"all take part: {done} of {candidates}",
                       len(done) == 3 and min(done) > 0 and sum(done) < 2 * candidates))

        # Killed after some of its candidates, with one begun.
        out = f"{folder}/killed"
        victim = start(program, study, out, "--share")
        while records(out) < 2:
            time.sleep(0.001)
        other = start(program, study, out, "--share")
        victim.kill()
        victim.wait()
        checks.append(("the other ends alone", other.communicate(timeout=LIMIT)[0] == text))
        checks.append(("with the same bytes", same(f"{folder}/alone", out)))

        # Both killed: the next goes on, whatever they had claimed.
        out = f"{folder}/both"
        both = [start(program, study, out, "--share") for _ in range(2)]
        while records(out) < 2:
            time.sleep(0.001)
        for process in both:
            process.kill()
            process.wait()
        after = start(program, study, out, "--share")
        checks.append(("the next goes on", after.communicate(timeout=LIMIT)[0] == text))
        checks.append(("to the same bytes", same(f"{folder}/alone", out)))
    for name, is_right in checks:
        print(f"{'ok' if is_right else 'FAILED'}: {name}")
    return not all(is_right for _, is_right in checks)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
