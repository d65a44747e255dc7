#!/bin/sh
# The whole calibration of one GPU in at most eight minutes, for a machine that is lent for so long.
#
#   gpu_run.sh FOLDER [PROGRAM]
#
# PROGRAM, maquette-cuda, starts with nothing but the C library of Debian 12 or later beside it; it
# stands beside this script in build/calibrate/measure: carry it, this script and time_attention.py.
# FOLDER gets
#   check.txt            every kernel against the CPU                    at most 60 s
#   gpu.samples.csv      samples of products, memory, launches, ...      300 s
#   gpu.samples.clocks.csv   clocks, power and what slowed the GPU, batch by batch
#   attention.csv        fused attention through PyTorch, where it is    at most 115 s
#   run.txt              what was said
# Then, where Maquette is:
#   maquette calibrate --from FOLDER/gpu.samples.csv -o my-gpu.h5
# Ends with 77 where there is no GPU, with 1 where a kernel was wrong or nothing was measured.
set -u
if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "usage: gpu_run.sh FOLDER [PROGRAM]" >&2
  exit 2
fi
here=$(dirname -- "$(readlink -f -- "$0")")
folder=$1
program=${2:-$here/maquette-cuda}
mkdir -p "$folder" || exit 1
say() { echo "gpu_run: $*" | tee -a "$folder/run.txt"; }
: >"$folder/run.txt"
if [ ! -x "$program" ]; then
  say "error: there is no program $program; build it where nvcc is, or name it"
  exit 1
fi

# KILL, as a kernel that hangs hears nothing else.
say "checking kernels"
timeout -k 5 60 "$program" check >"$folder/check.txt" 2>&1
checked=$?
cat "$folder/check.txt"
if [ $checked = 77 ]; then
  say "there is no GPU: nothing was measured"
  exit 77
fi
[ $checked = 0 ] || say "error: the check ended with $checked; see check.txt"

say "measuring for five minutes"
# INT: what was measured is written.
timeout -s INT -k 10 305 "$program" measure --minutes 5 --out "$folder/gpu.samples.csv" \
  2>&1 | tee -a "$folder/run.txt"
[ -s "$folder/gpu.samples.csv" ] || say "error: nothing was measured"

if command -v python3 >/dev/null; then
  say "timing attention"
  timeout -k 5 115 python3 -B "$here/time_attention.py" --out "$folder/attention.csv" \
    --seconds 100 2>&1 | tee -a "$folder/run.txt"
else
  say "no python3: attention is not timed"
fi
say "done"
[ $checked = 0 ] && [ -s "$folder/gpu.samples.csv" ]
