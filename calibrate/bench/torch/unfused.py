#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a training framework computes in kernels of PyTorch's own where none fuses it, and attention with dropout, bf16.

Prints milliseconds of the forward pass and of both passes. workloads/graph/unfused_kernels.hpp has figures from these on
an H100 (PyTorch 2.11): biases and clamps as in NVIDIA/Megatron-LM core/transformer/moe/experts.py, loss as in
core/tensor_parallel/cross_entropy.py, rope as in core/models/common/embeddings/rope_utils.py.

    python3 calibrate/bench/torch/unfused.py
"""
import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

TOKENS = 4096


def values(*shape, dtype=torch.bfloat16):
    return torch.randn(*shape, device="cuda", dtype=dtype, requires_grad=True)


def milliseconds(launch, times=10):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    for _ in range(3):
        launch()
    start.record()
    for _ in range(times):
        launch()
    end.record()
    torch.cuda.synchronize()
    return start.elapsed_time(end) / times


def show(name, forward, inputs):
    gradient = torch.randn_like(forward())
    both = milliseconds(lambda: torch.autograd.grad(forward(), inputs, gradient))
    print(f"{name}: forward {milliseconds(forward):.3f}, both {both:.3f}", flush=True)


class Loss(torch.autograd.Function):
    @staticmethod
    def forward(ctx, logits, target):
        logits = logits.float()
        logits -= logits.max(-1)[0][:, None]
        rows = torch.arange(len(target), device="cuda")
        predicted = logits[rows, target].clone()
        torch.exp(logits, out=logits)
        total = logits.sum(-1)
        logits.div_(total[:, None])
        ctx.kept = logits, target, rows
        return total.log() - predicted

    @staticmethod
    def backward(ctx, gradient):
        softmax, target, rows = ctx.kept
        softmax[rows, target] -= 1
        softmax.mul_(gradient[:, None])
        return softmax.to(torch.bfloat16), None


def experts(pairs, count, width=2880):
    out, weights = values(pairs, width), values(pairs, 1, dtype=torch.float32)
    biases = [values(width) for _ in range(count)]
    each = [pairs // count] * count
    show(f"bias of {count} experts, {pairs} rows of {width}",
         lambda: torch.cat([x + b * p for x, b, p in zip(out.split(each), biases, weights.split(each))]).to(out.dtype),
         [out, weights, *biases])
    wide = values(pairs, 2 * width)

    def clamp():
        gate, linear = wide.chunk(2, -1)
        return torch.cat((gate.clamp(max=7), linear.clamp(-7, 7)), -1)

    show(f"clamp, {pairs} rows of {2 * width}", clamp, [wide])


def rope(heads, dim=64):
    x = values(TOKENS, 1, heads, dim)
    cosine, sine = values(TOKENS, 1, 1, dim).detach(), values(TOKENS, 1, 1, dim).detach()

    def rotate():
        first, second = x.chunk(2, -1)
        return torch.cat((x * cosine + torch.cat((-second, first), -1) * sine, x[..., :0]), -1)

    show(f"rope of {heads} heads of {dim}", rotate, [x])


def attention(batch, heads, dim, dropout):
    q, k, v = (values(batch, heads, TOKENS, dim) for _ in range(3))

    def core():
        with sdpa_kernel(SDPBackend.CUDNN_ATTENTION):
            return torch.nn.functional.scaled_dot_product_attention(q, k, v, dropout_p=dropout, is_causal=True)

    show(f"attention, {batch} x {heads} heads of {dim}, dropout {dropout}", core, [q, k, v])


def main():
    experts(16384, 16)
    experts(65536, 2)
    rope(64)
    rope(8)
    for batch, heads, dim in ((1, 16, 128), (4, 16, 128), (1, 64, 64)):
        for dropout in (0.0, 0.1):
            attention(batch, heads, dim, dropout)
    logits, target = values(TOKENS, 131072), torch.randint(131072, (TOKENS,), device="cuda")
    show("loss, 131,072 logits of 4,096 tokens", lambda: Loss.apply(logits, target), [logits])


if __name__ == "__main__":
    main()
