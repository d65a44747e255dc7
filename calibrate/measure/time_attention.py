"""Times fused attention through PyTorch and writes the table that `maquette profile import` reads.

    python3 calibrate/measure/time_attention.py --out attention.csv [--seconds 120] [--full]

Kernels: FlashAttention-2 (package flash_attn, else PyTorch's own), FlashAttention-3 (package
flash_attn_interface), cuDNN through scaled_dot_product_attention, and Triton (PyTorch's flex
attention, which compiles to it). What is not installed is said and left out. Forward and backward,
causal, bf16; --full adds no mask. Ends with 1 where nothing can be timed.
"""

import argparse
import random
import statistics
import sys
import time

HEAD_SIZES = (64, 128, 256)
# Query and key heads of common transformers, and of them cut over 2, 4 and 8 ranks.
HEADS = ((32, 32), (32, 8), (64, 8), (16, 4), (8, 8), (8, 1), (4, 1))
LENGTHS = (512, 1024, 2048, 4096, 8192, 16384)
TOKENS_MOST = 32768
BATCH_LEAST = 0.010  # seconds of one sample
SAMPLES = 3


def shapes(head_size):
    """(sequences, heads, key heads, length) that are measured of one head size, at most 42."""
    for heads, kv_heads in HEADS:
        for length in LENGTHS:
            sequences = max(1, min(4, TOKENS_MOST // length // 2))
            if heads * length * sequences * head_size <= 2 ** 31:
                yield sequences, heads, kv_heads, length


def operation(kernel, direction, causal):
    return f"attention {kernel} {direction}" + ("" if causal else " full")


def row(name, shape, head_size, seconds):
    """One line of the table: what, sequences x heads x key heads x length x head size, time."""
    sizes = " x ".join(str(size) for size in (*shape, head_size))
    return f"{name},{sizes},{1e6 * seconds:.3f}\n"


def batch_size(seconds):
    """How many executions of `seconds` make a sample."""
    return max(1, min(1000, int(BATCH_LEAST / max(seconds, 1e-7)) + 1))


# What the kernels are called with. Each takes query[b, s, h, d], key and value[b, s, kv, d].
def flash2(torch):
    try:
        from flash_attn import flash_attn_func
        return lambda q, k, v, causal: flash_attn_func(q, k, v, causal=causal), "flash_attn"
    except ImportError:
        from torch.nn.attention import SDPBackend
        return through_sdpa(torch, SDPBackend.FLASH_ATTENTION), "PyTorch's own FlashAttention-2"


def flash3(_torch):
    from flash_attn_interface import flash_attn_func

    def call(q, k, v, causal):
        result = flash_attn_func(q, k, v, causal=causal)
        return result[0] if isinstance(result, tuple) else result
    return call, "flash_attn_interface"


def cudnn(torch):
    from torch.nn.attention import SDPBackend
    version = torch.backends.cudnn.version()
    return through_sdpa(torch, SDPBackend.CUDNN_ATTENTION), f"cuDNN {version}"


def through_sdpa(torch, backend):
    from torch.nn.attention import sdpa_kernel

    def call(q, k, v, causal):
        with sdpa_kernel(backend):
            q, k, v = (x.transpose(1, 2) for x in (q, k, v))
            return torch.nn.functional.scaled_dot_product_attention(
                q, k, v, is_causal=causal, enable_gqa=q.shape[1] != k.shape[1])
    return call


def triton(torch):
    from torch.nn.attention.flex_attention import create_block_mask, flex_attention
    compiled = torch.compile(flex_attention, dynamic=False)
    masks = {}

    def call(q, k, v, causal):
        length = q.shape[1]
        if causal and length not in masks:
            masks[length] = create_block_mask(lambda _b, _h, i, j: i >= j, None, None, length,
                                              length, device="cuda")
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        return compiled(q, k, v, block_mask=masks[length] if causal else None,
                        enable_gqa=q.shape[1] != k.shape[1])
    return call, "flex attention"


KERNELS = {"flash2": flash2, "flash3": flash3, "cudnn": cudnn, "triton": triton}


class Timer:
    def __init__(self, torch):
        self.torch = torch

    def batch(self, work, count):
        start, end = (self.torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        for _ in range(count):
            work()
        end.record()
        end.synchronize()
        return 1e-3 * start.elapsed_time(end) / count

    def samples(self, work):
        work()
        count = batch_size(self.batch(work, 1))
        self.batch(work, max(1, count // 2))
        return [self.batch(work, count) for _ in range(SAMPLES)]


def measure(torch, timer, kernel, call, shape, head_size, causal):
    """Rows of one shape, forward and backward."""
    sequences, heads, kv_heads, length = shape
    q = torch.randn(sequences, length, heads, head_size, device="cuda", dtype=torch.bfloat16)
    k, v = (torch.randn(sequences, length, kv_heads, head_size, device="cuda",
                        dtype=torch.bfloat16) for _ in range(2))
    with torch.no_grad():
        for seconds in timer.samples(lambda: call(q, k, v, causal)):
            yield row(operation(kernel, "forward", causal), shape, head_size, seconds)
    for x in (q, k, v):
        x.requires_grad_(True)
    output = call(q, k, v, causal)
    gradient = torch.randn_like(output)

    def backward():
        torch.autograd.grad(output, (q, k, v), gradient, retain_graph=True)
    for seconds in timer.samples(backward):
        yield row(operation(kernel, "backward", causal), shape, head_size, seconds)


def found_kernels(torch):
    """Kernels that can be called here, by name."""
    found = {}
    for name, load in KERNELS.items():
        try:
            found[name], origin = load(torch)
            print(f"time_attention: {name} by {origin}", file=sys.stderr)
        except (ImportError, AttributeError) as error:
            print(f"time_attention: no {name}: {error}", file=sys.stderr)
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--out", required=True, help="table to write")
    parser.add_argument("--seconds", type=float, default=120, help="budget")
    parser.add_argument("--full", action="store_true", help="without a mask, too")
    return parser.parse_args()


def main():
    options = arguments()
    try:
        import torch
    except ImportError:
        print("error: torch is not installed: attention cannot be timed\n"
              "  hint: pip install torch, or import a table of your own", file=sys.stderr)
        return 1
    if not torch.cuda.is_available():
        print("error: torch finds no GPU", file=sys.stderr)
        return 1
    kernels = found_kernels(torch)
    masks = [True, False] if options.full else [True]
    cases = [(name, shape, head_size, causal) for name in kernels for head_size in HEAD_SIZES
             for shape in shapes(head_size) for causal in masks]
    random.Random(1).shuffle(cases)
    end, refused, medians = time.monotonic() + options.seconds, {}, []
    timer = Timer(torch)
    with open(options.out, "w", encoding="utf-8") as out:
        out.write("op,shape,time [us]\n")
        out.write(f"# fact attention: {torch.cuda.get_device_name()}, torch {torch.__version__}\n")
        for name, shape, head_size, causal in cases:
            if time.monotonic() > end:
                print("time_attention: the budget ended it", file=sys.stderr)
                break
            try:
                rows = list(measure(torch, timer, name, kernels[name], shape, head_size, causal))
            except RuntimeError as error:  # no such kernel for this shape, or no memory
                refused.setdefault((name, head_size), str(error).split("\n", 1)[0])
                continue
            out.writelines(rows)
            out.flush()
            medians.append(statistics.median(float(line.rsplit(",", 1)[1]) for line in rows))
    for (name, head_size), why in sorted(refused.items()):
        print(f"time_attention: {name} head {head_size} refused shapes: {why}", file=sys.stderr)
    print(f"time_attention: {len(medians)} of {len(cases)} cases in {options.out}", file=sys.stderr)
    return 0 if medians else 1


if __name__ == "__main__":
    sys.exit(main())
