# SPDX-License-Identifier: Apache-2.0
"""A decoder with random weights: an iteration of inference, and the loss of a training step.

Norms, rotary embedding, SwiGLU and the loss are small functions that torch.compile fuses. All products are cuBLAS's.
"""
import contextlib
import math
import types

import torch
import torch._dynamo
import torch.nn.functional as F

try:
    from torch.nn.attention import SDPBackend, sdpa_kernel
    KERNELS = {"cudnn": SDPBackend.CUDNN_ATTENTION, "flash": SDPBackend.FLASH_ATTENTION}
except ImportError:
    KERNELS = {}


def add_norm(residual, change, weight):
    added = residual + change
    wide = added.float()
    return added, (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(added.dtype) * weight


def norm(x, weight):
    wide = x.float()
    return (wide * torch.rsqrt(wide.square().mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * weight


def rope(qkv, cos, sin, weight, heads, kv_heads):
    """Queries [tokens, heads, dim], and keys with values [tokens, 2, kv_heads, dim]. `weight` normalises q and k."""
    x = qkv.view(qkv.shape[0], heads + 2 * kv_heads, -1)
    turned = x[:, :heads + kv_heads].float()
    if weight is not None:
        turned = turned * torch.rsqrt(turned.square().mean(-1, keepdim=True) + 1e-6) * weight
    a, b = turned.chunk(2, -1)
    c, s = cos[:, None], sin[:, None]
    turned = torch.cat((a * c - b * s, b * c + a * s), -1).to(qkv.dtype)
    return turned[:, :heads].contiguous(), torch.stack((turned[:, heads:], x[:, heads + kv_heads:]), 1)


def swiglu(x):
    gate, up = x.chunk(2, -1)
    return F.silu(gate.float()).to(x.dtype) * up


def loss_of(logits, targets):
    return F.cross_entropy(logits.float(), targets)


PLAIN = types.SimpleNamespace(add_norm=add_norm, norm=norm, rope=rope, swiglu=swiglu, loss_of=loss_of)


def for_any_tokens(compiled):
    """One kernel for every number of tokens (one token has its own), instead of a new one for each."""
    def call(x, *others):
        for tensor in (x, *others):
            if isinstance(tensor, torch.Tensor) and tensor.dim() > 1 and tensor.shape[0] == x.shape[0]:
                torch._dynamo.maybe_mark_dynamic(tensor, 0)
        return compiled(x, *others)
    return call


def fused(any_tokens):
    """The small functions, compiled afresh: earlier shapes do not count."""
    torch._dynamo.reset()
    compiled = {name: torch.compile(function, fullgraph=True) for name, function in vars(PLAIN).items()}
    return types.SimpleNamespace(**{name: for_any_tokens(x) if any_tokens else x for name, x in compiled.items()})


def attend(q, k, v, causal, kernel):
    """q [batch, tokens, heads, dim]; k and v with fewer heads. `kernel` is one of KERNELS, or None: PyTorch's choice."""
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    with sdpa_kernel(KERNELS[kernel]) if kernel else contextlib.nullcontext():
        if k.shape[1] == q.shape[1]:
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)
        if kernel or hasattr(torch.nn, "attention"):
            return F.scaled_dot_product_attention(q, k, v, is_causal=causal, enable_gqa=True).transpose(1, 2)
        k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
        return F.scaled_dot_product_attention(q, k, v, is_causal=causal).transpose(1, 2)


class Decoder:
    def __init__(self, shape, device, dtype, trains=False):
        """`shape` has the keys of SHAPES in whole_models.py."""
        self.shape, self.device, self.dtype, self.trains = shape, device, dtype, trains
        self.parameters, self.calls, self.kernel = [], PLAIN, None
        hidden, dim, heads, kv_heads = shape["hidden"], shape["head_dim"], shape["query_heads"], shape["kv_heads"]
        self.embedding = self.made(shape["vocab"], hidden, deviation=1.0)
        self.head = self.embedding if shape["tied"] else self.made(shape["vocab"], hidden)
        self.last_norm = self.ones(hidden)
        self.layers = []
        for _ in range(shape["layers"]):
            layer = types.SimpleNamespace(first=self.ones(hidden), second=self.ones(hidden), qk=None,
                                          qkv=self.made((heads + 2 * kv_heads) * dim, hidden),
                                          out=self.made(hidden, heads * dim))
            if shape.get("qk_norm"):
                layer.qk = self.ones(heads + kv_heads, dim).float()
            if "experts" in shape:
                layer.router = self.made(shape["experts"], hidden)
                layer.up = self.made(shape["experts"], 2 * shape["ffn"], hidden)
                layer.down = self.made(shape["experts"], hidden, shape["ffn"])
            else:
                layer.up, layer.down = self.made(2 * shape["ffn"], hidden), self.made(hidden, shape["ffn"])
            self.layers.append(layer)

    def made(self, *sizes, deviation=None):
        deviation = deviation or 1 / math.sqrt(sizes[-1])
        return self.kept(torch.empty(sizes, device=self.device, dtype=self.dtype).normal_(0, deviation))

    def ones(self, *sizes):
        return self.kept(torch.ones(sizes, device=self.device, dtype=self.dtype))

    def kept(self, parameter):
        self.parameters.append(parameter.requires_grad_(self.trains))
        return parameter

    def angles(self, positions):
        half = self.shape["head_dim"] // 2
        rates = 500000.0 ** (-torch.arange(half, device=self.device, dtype=torch.float32) / half)
        angles = positions.to(torch.float32)[:, None] * rates
        return angles.cos(), angles.sin()

    def feed_forward(self, layer, x):
        if "experts" in self.shape:
            return self.mixture(layer, x)
        return F.linear(self.calls.swiglu(F.linear(x, layer.up)), layer.down)

    def mixture(self, layer, x):
        """Top-k experts, drawn evenly: the draw outweighs the router. One grouped product for all experts."""
        k = self.shape["top_k"]
        weights, experts = (F.linear(x, layer.router).float() * 1e-3 + self.draw[:x.shape[0]]).softmax(-1).topk(k)
        order = experts.flatten().argsort()
        ends = (experts.flatten()[:, None] == self.numbers).sum(0).cumsum(0).to(torch.int32)
        up = grouped(x[order // k], layer.up, ends)
        down = grouped(self.calls.swiglu(up), layer.down, ends)
        weighted = torch.empty_like(down)
        weighted[order] = down
        return (weighted.view(-1, k, x.shape[-1]) * weights[..., None].to(x.dtype)).sum(1)

    def prepare(self, tokens):
        if "experts" in self.shape:
            self.draw = torch.rand(tokens, self.shape["experts"], device=self.device)
            self.numbers = torch.arange(self.shape["experts"], device=self.device)

    def body(self, ids, cos, sin, attention):
        """All layers. `attention(i, q, kv)` gives [tokens, heads · dim]."""
        calls, heads, kv_heads = self.calls, self.shape["query_heads"], self.shape["kv_heads"]
        residual, change = F.embedding(ids, self.embedding), None
        for i, layer in enumerate(self.layers):
            if change is None:
                x = calls.norm(residual, layer.first)
            else:
                residual, x = calls.add_norm(residual, change, layer.first)
            q, kv = calls.rope(F.linear(x, layer.qkv), cos, sin, layer.qk, heads, kv_heads)
            change = F.linear(attention(i, q, kv), layer.out)
            residual, x = calls.add_norm(residual, change, layer.second)
            change = self.feed_forward(layer, x)
        return calls.add_norm(residual, change, self.last_norm)[1]

    def decode(self, ids, cos, sin, caches):
        """One token of each sequence. `caches`: for each layer [batch, context, 2, kv_heads, dim]; None: no attention."""
        def attention(i, q, kv):
            if caches is None:
                return q.view(q.shape[0], -1)
            caches[i][:, -1].copy_(kv)
            return self.attend_caches(i, q, caches)
        return F.linear(self.body(ids, cos, sin, attention), self.head).argmax(-1)

    def attend_caches(self, i, q, caches):
        k, v = caches[i][:, :, 0], caches[i][:, :, 1]
        return attend(q[:, None], k, v, False, self.kernel).reshape(q.shape[0], -1)

    def whole_sequences(self, ids, cos, sin, sequences):
        def attention(_, q, kv):
            q, kv = q.view(sequences, -1, *q.shape[1:]), kv.view(sequences, -1, *kv.shape[1:])
            return attend(q, kv[:, :, 0], kv[:, :, 1], True, self.kernel).reshape(ids.shape[0], -1)
        return self.body(ids, cos, sin, attention)

    def prefill(self, ids, cos, sin, sequences):
        x = self.whole_sequences(ids, cos, sin, sequences)
        return F.linear(x.view(sequences, -1, x.shape[-1])[:, -1], self.head).argmax(-1)

    def loss(self, ids, cos, sin, targets, sequences):
        return self.calls.loss_of(F.linear(self.whole_sequences(ids, cos, sin, sequences), self.head), targets)


def grouped(x, weights, ends):
    """Rows up to ends[e] times the transposed weights of expert e."""
    if not x.is_cpu:
        product = F.grouped_mm if hasattr(F, "grouped_mm") else torch._grouped_mm
        return product(x, weights.transpose(-2, -1), offs=ends)
    starts = [0, *ends.tolist()]
    return torch.cat([F.linear(x[a:b], w) for a, b, w in zip(starts, starts[1:], weights)])
