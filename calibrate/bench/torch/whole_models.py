#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whole models on one GPU: iterations of decode and of prompts, and training steps, bf16, random weights.

Nothing is fitted to these tables. They check that the times of operators add up to that of an iteration, also under
the power limit. PyTorch, with cuBLAS, and attention by cuDNN or FlashAttention-2, whichever is faster.

    python3 calibrate/bench/torch/whole_models.py --chip h200_sxm --out results --seconds 400
    python3 calibrate/bench/torch/whole_models.py --compare results/whole_models.csv --roofcast build/release/cli/roofcast
"""
import argparse
import csv
import functools
import gc
import pathlib
import platform
import statistics
import time

COLUMNS = ["system", "fw", "fw_version", "model", "layers", "tp", "phase", "part", "tokens", "batch", "context",
           "precision", "mode", "load", "elementwise", "attention_kernel", "time_ms", "time_p10_ms", "time_p90_ms",
           "samples", "host_ms", "sm_clock_mhz", "power_w", "memory_gb", "reason"]
LLAMA_8B = {"hidden": 4096, "vocab": 128256, "query_heads": 32, "kv_heads": 8, "head_dim": 128, "ffn": 14336,
            "layers": 32, "tied": False}
# The Llama 3.2 shapes are those of the published config.json. A shard of tensor parallelism computes a rank's part,
# without exchanges.
SHAPES = {
    "llama-3.1-8b": LLAMA_8B,
    "llama-3.1-70b/8": {"hidden": 8192, "vocab": 16032, "query_heads": 8, "kv_heads": 1, "head_dim": 128,
                        "ffn": 3584, "layers": 80, "tied": False, "tp": 8},
    "qwen3-30b-a3b": {"hidden": 2048, "vocab": 151936, "query_heads": 32, "kv_heads": 4, "head_dim": 128, "ffn": 768,
                      "layers": 16, "tied": False, "qk_norm": True, "experts": 128, "top_k": 8},
    "llama-3.2-1b": {"hidden": 2048, "vocab": 128256, "query_heads": 32, "kv_heads": 8, "head_dim": 64, "ffn": 8192,
                     "layers": 16, "tied": True},
    "llama-3.2-3b": {"hidden": 3072, "vocab": 128256, "query_heads": 24, "kv_heads": 8, "head_dim": 128, "ffn": 8192,
                     "layers": 28, "tied": True},
}


def cases():
    """(phase, model, sequences, tokens of each, mode), what matters most first."""
    decode = [("decode", "llama-3.1-8b", batch, context, "graph")
              for context, batches in ((1024, (64, 1, 8, 32, 128, 256)), (8192, (32, 1, 8, 64, 128, 256)))
              for batch in batches]
    eager = [("decode", "llama-3.1-8b", batch, 1024, "eager") for batch in (1, 64)]
    prefill = [("prefill", "llama-3.1-8b", n, tokens, "graph")
               for n, tokens in ((1, 8192), (1, 1024), (1, 4096), (1, 16384), (1, 256), (4, 4096), (4, 1024), (16, 1024))]
    one = [("train", "llama-3.2-1b", n, tokens, "eager")
           for n, tokens in ((2, 4096), (1, 8192), (1, 2048), (4, 4096), (1, 4096))]
    three = [("train", "llama-3.2-3b", n, tokens, "eager") for n, tokens in ((1, 4096), (2, 4096), (1, 8192), (1, 2048))]
    shard = [("decode", "llama-3.1-70b/8", n, context, "graph")
             for n, context in ((64, 1024), (1, 1024), (256, 1024), (64, 8192), (256, 8192))]
    shard += [("prefill", "llama-3.1-70b/8", 1, tokens, "graph") for tokens in (8192, 1024)]
    mixture = [("decode", "qwen3-30b-a3b", n, 1024, "graph") for n in (64, 1, 256)]
    mixture += [("prefill", "qwen3-30b-a3b", 1, tokens, "graph") for tokens in (8192, 1024)]
    return decode + eager + prefill + one + shard + three + mixture


class Bench:
    def __init__(self, options):
        import torch
        from meter import Meter
        self.torch, self.options = torch, options
        self.cuda = options.device == "cuda"
        self.meter = Meter()
        self.decoder, self.of, self.elementwise = None, None, "compiled"
        self.masters = self.optimizer = None
        self.quick = 0.02 if options.tiny else 1.0  # share of every duration
        for name in ("recompile_limit", "cache_size_limit"):
            if hasattr(torch._dynamo.config, name):
                setattr(torch._dynamo.config, name, 64)

    # ---- time

    def mark(self):
        if not self.cuda:
            return time.perf_counter()
        event = self.torch.cuda.Event(enable_timing=True)
        event.record()
        return event

    def seconds(self, a, b):
        return a.elapsed_time(b) * 1e-3 if self.cuda else b - a

    def wait(self):
        if self.cuda:
            self.torch.cuda.synchronize()

    def once(self, launch):
        self.wait()
        a = self.mark()
        launch()
        b = self.mark()
        self.wait()
        return self.seconds(a, b)

    def steady(self, launch, warm_s, measure_s):
        """Figures of a load without a pause: after `warm_s`, for `measure_s`. The host is one chunk ahead of the GPU."""
        warm_s, measure_s = warm_s * self.quick, measure_s * self.quick
        launch()
        launches = max(1, int(0.02 * self.quick / max(self.once(launch), 1e-6)))
        marks, counted, begin, window = [self.mark()], None, time.monotonic(), None
        while True:
            for _ in range(launches):
                launch()
            marks.append(self.mark())
            if self.cuda and len(marks) > 2:
                marks[-2].synchronize()
            now = time.monotonic()
            if counted is None and now - begin >= warm_s:
                counted, window = len(marks) - 1, now
            elif counted is not None and now - window >= measure_s and len(marks) - counted > 3:
                break
        self.wait()
        clock, power = self.meter.between(window, now)
        return self.figures([self.seconds(a, b) / launches for a, b in zip(marks[counted:], marks[counted + 1:])],
                            clock, power)

    def burst(self, launch):
        """A few launches after a second without work."""
        self.wait()
        time.sleep(1.0 * self.quick)
        begin = time.monotonic()
        first = self.once(launch)
        marks = [self.mark()]
        for _ in range(3 if first > 0.02 else 8):
            launch()
            marks.append(self.mark())
        self.wait()
        clock, _ = self.meter.between(begin, time.monotonic())
        return self.figures([self.seconds(a, b) for a, b in zip(marks, marks[1:])], clock, None)

    def figures(self, seconds, clock, power):
        deciles = statistics.quantiles(seconds, n=10, method="inclusive")
        row = {"time_ms": statistics.median(seconds) * 1e3, "time_p10_ms": deciles[0] * 1e3,
               "time_p90_ms": deciles[-1] * 1e3, "sm_clock_mhz": clock, "power_w": power}
        row = {name: "" if x is None else f"{x:.6g}" for name, x in row.items()}
        return row | {"samples": len(seconds)}

    def host_ms(self, launch):
        """Time of the host for one launch, the GPU idle before it."""
        self.wait()
        start = time.perf_counter()
        launch()
        elapsed = time.perf_counter() - start
        self.wait()
        return f"{elapsed * 1e3:.6g}"

    def graphed(self, launch):
        """The launch as a CUDA graph. What it reads and writes must stay."""
        if not self.cuda:
            return launch
        torch = self.torch
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(2):
                launch()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            launch()
        return graph.replay

    # ---- models

    def use(self, phase, model):
        """The decoder of a model, made anew where the model or the phase changes."""
        from decoder import Decoder, PLAIN, fused
        if self.of == (phase, model):
            return self.decoder
        trains = phase == "train"
        if self.of is None or self.of[1] != model or trains:
            self.decoder, self.of = None, None
            self.free()
            dtype = self.torch.bfloat16
            self.decoder = Decoder(self.shape(model), self.options.device, dtype, trains)
        self.decoder.calls = PLAIN if self.options.plain else fused(any_tokens=not trains)
        self.elementwise = "plain" if self.options.plain else "compiled"
        self.of = (phase, model)
        return self.decoder

    def shape(self, model):
        if not self.options.tiny:
            return SHAPES[model]
        small = {"hidden": 64, "vocab": 512, "head_dim": 16, "ffn": 96, "layers": 2, "experts": 8, "top_k": 2}
        return {name: small.get(name, x) for name, x in SHAPES[model].items()}

    def free(self):
        gc.collect()
        if self.cuda:
            self.torch.cuda.empty_cache()
            self.torch.cuda.reset_peak_memory_stats()

    def tried(self, launch):
        """Runs once. If the compiler fails, the small functions run as they are written."""
        from decoder import PLAIN
        try:
            launch()
            self.wait()
        except Exception as error:  # the compiler's errors have no common class
            if isinstance(error, self.out_of_memory()) or self.decoder.calls is PLAIN:
                raise
            print("  torch.compile failed:", str(error).strip().splitlines()[0][:160], flush=True)
            self.decoder.calls, self.elementwise = PLAIN, "plain"
            launch()
            self.wait()

    def out_of_memory(self):
        return self.torch.cuda.OutOfMemoryError

    def choose_kernel(self, attention):
        """The fastest attention kernel that runs, as launches of one graph each."""
        from decoder import KERNELS
        best = (float("inf"), None, None)
        for kernel in list(KERNELS) if self.cuda else [None]:
            self.decoder.kernel = kernel
            try:
                launch = self.graphed(attention)
                launch()
                taken = min(self.once(launch) for _ in range(3))
            except RuntimeError as error:
                if isinstance(error, self.out_of_memory()):
                    raise
                print(f"  attention by {kernel}:", str(error).splitlines()[0][:120], flush=True)
                continue
            print(f"  attention by {kernel}: {taken * 1e3:.4g} ms", flush=True)
            best = min(best, (taken, kernel, launch), key=lambda x: x[0])
        self.decoder.kernel = best[1]
        return best[2] or self.graphed(attention)

    def inputs(self, model, sequences, tokens, position=None):
        torch, shape = self.torch, self.shape(model)
        ids = torch.randint(shape["vocab"], (sequences * tokens,), device=self.options.device)
        positions = torch.arange(tokens, device=self.options.device).repeat(sequences) if position is None else \
            torch.full((sequences * tokens,), position, device=self.options.device)
        return (ids, *self.decoder.angles(positions))

    # ---- cases: each yields rows

    def decode(self, model, batch, context, mode):
        torch, decoder = self.torch, self.use("decode", model)
        shape = decoder.shape
        cache = shape["layers"] * batch * context * 2 * shape["kv_heads"] * shape["head_dim"] * 2
        if self.cuda and cache + (2 << 30) > torch.cuda.mem_get_info()[0]:
            raise RuntimeError(f"the KV cache takes {cache * 1e-9:.1f} GB")
        with torch.no_grad():
            inputs = self.inputs(model, batch, 1, context - 1)
            decoder.prepare(batch)
            caches = [torch.empty(batch, context, 2, shape["kv_heads"], shape["head_dim"], device=self.options.device,
                                  dtype=decoder.dtype).normal_() for _ in range(shape["layers"])]
            queries = torch.randn(batch, shape["query_heads"], shape["head_dim"], device=self.options.device,
                                  dtype=decoder.dtype)

            def attention():
                for i in range(shape["layers"]):
                    decoder.attend_caches(i, queries, caches)

            alone = self.choose_kernel(attention)
            def whole():
                decoder.decode(*inputs, caches)
            self.tried(whole)
            if mode == "eager":
                yield {"part": "whole", "host_ms": self.host_ms(whole)} | self.steady(whole, 0.3, 0.5)
                return
            yield {"part": "whole"} | self.steady(self.graphed(whole), 0.3, 0.6)
            yield {"part": "attention"} | self.steady(alone, 0.2, 0.3)
            def rest():
                decoder.decode(*inputs, None)
            yield {"part": "rest"} | self.steady(self.graphed(rest), 0.2, 0.4)

    def prefill(self, model, sequences, tokens, mode):
        torch, decoder = self.torch, self.use("prefill", model)
        with torch.no_grad():
            inputs = self.inputs(model, sequences, tokens)
            decoder.prepare(sequences * tokens)
            attention = self.causal_attention(sequences, tokens)
            alone = self.choose_kernel(attention)
            def whole():
                decoder.prefill(*inputs, sequences)
            self.tried(whole)
            launch = self.graphed(whole)
            yield {"part": "whole", "load": "burst"} | self.burst(launch)
            yield {"part": "whole", "load": "sustained"} | self.steady(launch, 2.2, 1.0)
            yield {"part": "attention", "load": "sustained"} | self.steady(alone, 0.3, 0.3)

    def causal_attention(self, sequences, tokens):
        """The attention of all layers, from inputs of one layer."""
        from decoder import attend
        decoder, shape = self.decoder, self.decoder.shape
        made = functools.partial(self.torch.randn, device=self.options.device, dtype=decoder.dtype)
        q = made(sequences, tokens, shape["query_heads"], shape["head_dim"])
        kv = made(sequences, tokens, 2, shape["kv_heads"], shape["head_dim"])
        def attention():
            for _ in range(shape["layers"]):
                attend(q, kv[:, :, 0], kv[:, :, 1], True, decoder.kernel)
        return attention

    def train(self, model, sequences, tokens, mode):
        """bf16 parameters and gradients; AdamW with fp32 weights and moments. Nothing is computed again."""
        torch = self.torch
        decoder = self.use("train", model)
        if self.masters is None:
            self.masters = [x.detach().float() for x in decoder.parameters]
            for master in self.masters:
                master.grad = torch.zeros_like(master)
            self.optimizer = torch.optim.AdamW(self.masters, lr=1e-5, fused=self.cuda)
            self.optimizer.step()
        inputs = self.inputs(model, sequences, tokens)
        targets = torch.randint(decoder.shape["vocab"], (sequences * tokens,), device=self.options.device)
        with torch.no_grad():
            self.choose_kernel(self.causal_attention(sequences, tokens))
        def passes():
            for parameter in decoder.parameters:
                parameter.grad = None
            decoder.loss(*inputs, targets, sequences).backward()
        @torch.no_grad()
        def update():
            torch._foreach_copy_([x.grad for x in self.masters], [x.grad for x in decoder.parameters])
            self.optimizer.step()
            torch._foreach_copy_(decoder.parameters, self.masters)
        def step():
            passes()
            update()
        self.tried(step)
        row = self.steady(step, 2.2, 1.0)
        yield {"part": "whole", "host_ms": self.host_ms(step), "load": "sustained"} | row
        yield {"part": "optimizer", "load": "sustained"} | self.steady(update, 0.1, 0.2)
        yield {"part": "passes", "load": "sustained"} | self.steady(passes, 0.4, 0.6)

    def memory_gb(self):
        return f"{self.torch.cuda.max_memory_allocated() * 1e-9:.5g}" if self.cuda else ""

    def drop(self):
        """What a model leaves behind, before another one or training is made."""
        self.masters = self.optimizer = None


def measure(options):
    import torch
    torch.manual_seed(1)
    options.out.mkdir(parents=True, exist_ok=True)
    deadline = time.monotonic() + options.seconds
    bench = Bench(options)
    environment(options, bench)
    wanted = [x for x in cases() if not options.only or any(f"{x[0]} {x[1]}".startswith(o) for o in options.only.split(","))]
    last, rows = {}, 0
    with open(options.out / "whole_models.csv", "w", newline="") as file:
        table = csv.DictWriter(file, COLUMNS, lineterminator="\n", restval="")
        table.writeheader()
        for phase, model, sequences, tokens, mode in wanted:
            if options.tiny:
                sequences, tokens = min(sequences, 4), max(tokens // 128, 8)
            shape = SHAPES[model]
            row = {"system": options.chip, "fw": "bench", "fw_version": torch.__version__.split("+")[0],
                   "model": model, "layers": shape["layers"], "tp": shape.get("tp", 1), "phase": phase,
                   "tokens": sequences if phase == "decode" else sequences * tokens, "batch": sequences,
                   "context": tokens, "precision": "bf16", "mode": mode, "load": "steady"}
            start = time.monotonic()
            spent = options.seconds - deadline + start
            print(f"{spent:5.0f} s  {phase} {model}: {sequences} x {tokens}, {mode}", flush=True)
            try:
                if start + last.get(phase, 0) > deadline:
                    raise RuntimeError("not tried: the time was spent")
                if bench.of and bench.of != (phase, model):
                    bench.drop()
                bench.free()
                for found in getattr(bench, phase)(model, sequences, tokens, mode):
                    found = row | {"elementwise": bench.elementwise, "attention_kernel": bench.decoder.kernel or "default",
                                   "memory_gb": bench.memory_gb()} | found
                    table.writerow(found)
                    file.flush()
                    rows += 1
                    print(f"         {found['part']} {found['load']}: {found['time_ms']} ms, {found['sm_clock_mhz']} MHz, "
                          f"{found['power_w']} W", flush=True)
                last[phase] = min(time.monotonic() - start, 15)
            except Exception as error:  # one case must not end the others
                reason = (str(error).strip() or type(error).__name__).splitlines()[0][:200]
                print("         no result:", reason, flush=True)
                table.writerow(row | {"part": "whole", "reason": reason})
                file.flush()
    print(rows, "rows", flush=True)


def environment(options, bench):
    """As roofcast-bench writes it, as far as PyTorch knows it."""
    torch = bench.torch
    lines = {"gpu": torch.cuda.get_device_name() if bench.cuda else platform.machine(),
             "sms": torch.cuda.get_device_properties(0).multi_processor_count if bench.cuda else 0,
             "memory_b": torch.cuda.get_device_properties(0).total_memory if bench.cuda else 0,
             "torch": torch.__version__, "cuda": torch.version.cuda or "none",
             "cudnn": torch.backends.cudnn.version() or "none", "python": platform.python_version(),
             "nvml": bench.meter.why_not or "read", "power_limit_w": bench.meter.limit() or "none",
             "date": time.strftime("%Y-%m-%d"), "seconds": options.seconds,
             "training": "bf16 parameters and gradients, AdamW with fp32 weights and moments, fused; no recompute",
             "timing": "CUDA events over chunks of 20 ms or one launch; the median chunk"}
    text = "".join(f"{name}: {str(value)!r}\n" if isinstance(value, str) else f"{name}: {value}\n"
                   for name, value in lines.items())
    (options.out / "whole_models.environment.yaml").write_text(text)
    print(text, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--chip", default="", help="id of the chip in the catalog")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("results"), help="directory of the table")
    parser.add_argument("--seconds", type=float, default=400.0, help="no case begins later")
    parser.add_argument("--only", help="beginnings of 'PHASE MODEL', separated by commas: decode llama-3.1-8b,train")
    parser.add_argument("--device", default="cuda", choices=["cuda", "cpu"])
    parser.add_argument("--tiny", action="store_true", help="tiny shapes and times: tries the program")
    parser.add_argument("--plain", action="store_true", help="without torch.compile")
    parser.add_argument("--compare", type=pathlib.Path, help="a table: print forecast over measured instead")
    parser.add_argument("--roofcast", default="roofcast", help="the program that forecasts")
    options = parser.parse_args()
    if options.compare:
        from forecasts import compare
        compare(options.compare, options.roofcast, SHAPES)
    elif not options.chip:
        parser.error("--chip is needed")
    else:
        measure(options)


if __name__ == "__main__":
    main()
