#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Causal attention of the libraries that PyTorch brings: cuDNN and FlashAttention, forward and backward, bf16.

roofcast-bench's own prefill kernel is an upper bound on Hopper and Blackwell. These are the kernels that trainers run.
Two tables have the columns of roofcast-bench's `attention_context`: `attention_forward` and `attention_backward` (five
products, the gradients of q, k and v). Each time is a median over runs of many launches, without time of the host.

    python3 calibrate/bench/torch/attention.py --chip h200_sxm --out results --budget-s 60
"""
import argparse
import csv
import pathlib
import random
import statistics
import time

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

BACKENDS = {"torch_cudnn": SDPBackend.CUDNN_ATTENTION, "torch_flash": SDPBackend.FLASH_ATTENTION}
HEADS = [(32, 8, 128), (64, 8, 128), (8, 1, 128), (64, 8, 64), (32, 32, 128), (16, 16, 128)]
TOKENS = [512, 1024, 2048, 4096, 8192, 16384, 32768]
COLUMNS = ["system", "fw", "fw_version", "kernel_source", "attn_dtype", "kv_cache_dtype", "batch_size", "isl", "prefix_len",
           "num_heads", "num_key_value_heads", "head_dim", "window_size", "latency_ms", "latency_p10_ms", "latency_p90_ms",
           "samples", "tflop_per_s", "reason"]


def shapes():
    grid = [(kernel, direction, batch, tokens, heads)
            for kernel in BACKENDS for direction in ("forward", "backward") for heads in HEADS
            for batch in (1, 2, 4, 8) for tokens in TOKENS if batch * tokens <= 32768]
    random.Random(1).shuffle(grid)
    return grid


def flop(direction, batch, tokens, heads, head_dim):
    products = 2 if direction == "forward" else 5
    return products * 2.0 * batch * heads * head_dim * tokens * (tokens + 1) / 2


def seconds_of(launch):
    """Seconds of one launch, sorted. The GPU spins while the host enqueues, so that no host time is in between."""
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        launch()
    start.record()
    launch()
    end.record()
    end.synchronize()
    once = max(start.elapsed_time(end) * 1e-3, 1e-6)
    launches = max(1, min(20, int(2e-3 / once)))
    seconds = []
    for _ in range(max(5, min(11, int(0.1 / (once * launches))))):
        torch.cuda._sleep(int(launches * 5e5))  # clocks, 0.25 ms for each launch
        start.record()
        for _ in range(launches):
            launch()
        end.record()
        end.synchronize()
        seconds.append(start.elapsed_time(end) * 1e-3 / launches)
    return sorted(seconds)


def checked(kernel):
    """The kernel's output and gradients against the plain formula in fp32, on a small shape."""
    q, k, v = (torch.randn(2, heads, 160, 128, device="cuda", dtype=torch.bfloat16, requires_grad=True)
               for heads in (8, 2, 2))
    grad = torch.randn(2, 8, 160, 128, device="cuda", dtype=torch.bfloat16)
    with sdpa_kernel(BACKENDS[kernel]):
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
    got = (out, *torch.autograd.grad(out, (q, k, v), grad))
    fq, fk, fv = (x.detach().float().requires_grad_() for x in (q, k, v))
    scores = fq @ fk.repeat_interleave(4, 1).transpose(-1, -2) * 128 ** -0.5
    mask = torch.ones(160, 160, dtype=torch.bool, device="cuda").tril()
    reference = scores.masked_fill(~mask, float("-inf")).softmax(-1) @ fv.repeat_interleave(4, 1)
    expected = (reference, *torch.autograd.grad(reference, (fq, fk, fv), grad.float()))
    for a, b in zip(got, expected):
        error = ((a.float() - b).norm() / b.norm()).item()
        if not error < 1e-2:
            return f"misses the reference by {error:.3g}"
    return ""


def measure(kernel, direction, batch, tokens, heads):
    n, kv, dim = heads
    def made(h):
        return torch.randn(batch, tokens, h, dim, device="cuda", dtype=torch.bfloat16).transpose(1, 2)
    q, k, v = made(n), made(kv), made(kv)
    with sdpa_kernel(BACKENDS[kernel]):
        def forward():
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True, enable_gqa=True)
        if direction == "forward":
            return seconds_of(forward)
        for x in (q, k, v):
            x.requires_grad_()
        out = forward()
        grad = torch.randn_like(out)
        return seconds_of(lambda: torch.autograd.grad(out, (q, k, v), grad, retain_graph=True))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", required=True, help="id of the chip in the catalog")
    parser.add_argument("--out", type=pathlib.Path, required=True, help="directory of the table")
    parser.add_argument("--budget-s", type=float, default=60.0)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + options.budget_s
    wrong = {}
    for kernel in BACKENDS:
        try:
            wrong[kernel] = checked(kernel)
        except RuntimeError as error:
            wrong[kernel] = str(error).splitlines()[0]
        print(kernel, wrong[kernel] or "agrees with the reference", flush=True)
    rows = 0
    files = {name: open(options.out / f"attention_{name}.csv", "w", newline="") for name in ("forward", "backward")}
    tables = {name: csv.DictWriter(file, COLUMNS, lineterminator="\n") for name, file in files.items()}
    for table in tables.values():
        table.writeheader()
    for kernel, direction, batch, tokens, heads in shapes():
        row = {"system": options.chip, "fw": "bench", "fw_version": torch.__version__.split("+")[0],
               "kernel_source": kernel, "attn_dtype": "bfloat16", "kv_cache_dtype": "bfloat16", "batch_size": batch,
               "isl": tokens, "prefix_len": 0, "num_heads": heads[0], "num_key_value_heads": heads[1],
               "head_dim": heads[2], "window_size": 0}
        try:
            if wrong[kernel]:
                raise RuntimeError(wrong[kernel])
            if time.monotonic() > deadline:
                raise RuntimeError("not tried: the time was spent")
            seconds = measure(kernel, direction, batch, tokens, heads)
            deciles = statistics.quantiles(seconds, n=10, method="inclusive")
            median = statistics.median(seconds)
            row |= {"latency_ms": f"{median * 1e3:.6g}", "latency_p10_ms": f"{deciles[0] * 1e3:.6g}",
                    "latency_p90_ms": f"{deciles[-1] * 1e3:.6g}", "samples": len(seconds),
                    "tflop_per_s": f"{flop(direction, batch, tokens, heads[0], heads[2]) / median * 1e-12:.5g}"}
            rows += 1
        except RuntimeError as error:
            row["reason"] = str(error).splitlines()[0]
        tables[direction].writerow(row)
        files[direction].flush()
    print(rows, "shapes measured")


if __name__ == "__main__":
    main()
