# SPDX-License-Identifier: Apache-2.0
"""roofcast's forecast of each row of whole_models.csv, over what was measured.

The forecast is the sum of the operators of an iteration, as `estimate --explain` tells them: no server, no host. Decode
and single prompts are iterations of vLLM. Several prompts at once, and training, are passes of a trainer without
overheads that has the same kernels. A burst runs at the full clock: its power has no limit that counts.
"""
import csv
import json
import math
import pathlib
import statistics
import subprocess
import tempfile

TRAINER = ("{name: plain, stack: vllm, pace: {slowdown: 1, operator: 0 us, expert_kernel: 0 us, counts: 0 ms, "
           "overlapped: 1, recurrence: 1, per_step: 0 ms, source: no overhead}}")


def model_of(shape):
    lines = ["model:", "  name: measured shape", "  native_precision: bf16", "  max_context: 131072",
             f"  hidden: {shape['hidden']}", f"  vocab: {shape['vocab']}",
             f"  tied_embeddings: {str(shape['tied']).lower()}",
             f"  attention: {{kind: gqa, query_heads: {shape['query_heads']}, kv_heads: {shape['kv_heads']}, "
             f"head_dim: {shape['head_dim']}, qkv_bias: false, qk_norm: {str(shape.get('qk_norm', False)).lower()}}}"]
    if "experts" in shape:
        lines.append(f"  moe: {{experts: {shape['experts']}, top_k: {shape['top_k']}, intermediate: {shape['ffn']}, "
                     "gated: true, shared_experts: 0, shared_intermediate: 0}")
    else:
        lines.append(f"  mlp: {{intermediate: {shape['ffn']}, gated: true}}")
    ffn = "moe" if "experts" in shape else "mlp"
    return lines + [f"  layers: [{{count: {shape['layers']}, mixer: attention, ffn: {ffn}}}]",
                    "  source: the shape that was measured"]


def scenario(row, system, shape):
    batch, context = int(row["batch"]), int(row["context"])
    lines = [f"system: {system}", *model_of(shape), "precision: bf16", "deployment: {tensor_parallel: 1}"]
    if row["phase"] == "train" or (row["phase"] == "prefill" and batch > 1):
        return lines + [f"training: {{global_batch: {batch}, micro_batch: {batch}, sequence_length: {context}, "
                        f"gradients: bf16, trainer: {TRAINER}}}"]
    graphs = ", cuda_graphs: {decode: none}" if row["mode"] == "eager" else ""
    # Long answers keep the batch full; their mean context is the one measured. A prompt lacks the token that decodes.
    lengths = (1, 2 * context - 1) if row["phase"] == "decode" else (context - 1, 1)
    return lines + [f"serving: {{stack: vllm, max_sequences: 1024, max_tokens_per_iteration: 16384{graphs}}}",
                    f"traffic: {{input_tokens: {lengths[0]}, output_tokens: {lengths[1]}, concurrency: {batch}}}"]


class Program:
    def __init__(self, path):
        self.path, self.known = path, {}

    def asked(self, *arguments):
        done = subprocess.run([self.path, *arguments], capture_output=True, text=True)
        if done.returncode:
            raise RuntimeError((done.stderr.strip() or "no answer").splitlines()[0])
        return json.loads(done.stdout)

    def estimate(self, text, full_clock):
        """Memory has no limit that counts: whether the batch would fit was seen when it was measured."""
        key = (text, full_clock)
        if key not in self.known:
            options = ["--explain", "--json", "--set", "system.chip.hbm.capacity=x16"]
            options += [] if "training:" in text else ["--no-replay"]
            options += ["--set", "system.chip.power.tdp=x3"] if full_clock else []
            with tempfile.TemporaryDirectory() as folder:
                path = pathlib.Path(folder) / "scenario.yaml"
                path.write_text(text)
                self.known[key] = self.asked("estimate", str(path), *options)
        return self.known[key]


def parts(program, row, system, shape):
    """Seconds of each part of a row's case."""
    found = program.estimate("\n".join(scenario(row, system, shape)) + "\n", row["load"] == "burst")
    if "iterations" not in found:
        raise RuntimeError(found.get("reason") or "no operators")
    if row["phase"] == "train":
        passes = sum(x["time_s"] for x in found["iterations"])
        return {"whole": found["step_s"], "passes": passes, "optimizer": found["step_s"] - passes}
    wanted = {"decode": ["decode iteration"], "prefill": ["iteration with prompts", "forward pass of a micro-batch"]}
    iteration = next(x for x in found["iterations"] if x["name"] in wanted[row["phase"]])
    attention = f"attention.{row['phase']}"
    dropped = {"host", "attention.decode"} - {attention}
    times = [(x["name"], x["time_s"]) for x in iteration["operators"] if x["name"] not in dropped]
    if iteration["name"].startswith("forward"):  # a loss needs the logits of all tokens, an answer those of the last ones
        times = [x for x in times if x[0] not in ("head.logits", "head.loss")]
        times.append(("head.logits", program.asked(
            "kernel", "gemm", "--m", row["batch"], "--n", str(shape["vocab"]), "--k", str(shape["hidden"]),
            "--system", system, "--json")["time_s"]))
    alone = sum(time for name, time in times if name == attention)
    whole = sum(time for _, time in times)
    if row["mode"] == "eager":
        whole = iteration["time_s"]
    return {"whole": whole, "attention": alone, "rest": whole - alone}


def compare(path, roofcast, shapes):
    program, groups = Program(roofcast), {}
    columns = "{:<8} {:<16} {:<9} {:<9} {:<6} {:>6} {:>7} {:>11} {:>11} {:>6} {:>6} {:>5}"
    print(columns.format("phase", "model", "part", "load", "mode", "batch", "context", "measured ms", "forecast ms", "ratio",
                         "MHz", "W"))
    with open(path, newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        if not row["time_ms"]:
            continue
        named = [row[x] for x in ("phase", "model", "part", "load", "mode", "batch", "context")]
        try:
            system = "hgx_" + row["system"].split("_")[0]
            forecast = parts(program, row, system, shapes[row["model"]])[row["part"]] * 1e3
        except (RuntimeError, KeyError, StopIteration) as error:
            print(*named, "no forecast:", error)
            continue
        ratio = forecast / float(row["time_ms"])
        groups.setdefault((row["phase"], row["mode"], row["part"], row["load"]), []).append(ratio)
        clock, power = (f"{float(row[x]):.0f}" if row[x] else "-" for x in ("sm_clock_mhz", "power_w"))
        print(columns.format(*named, f"{float(row['time_ms']):.4g}", f"{forecast:.4g}", f"{ratio:.3f}", clock, power))
    print()
    columns = "{:<8} {:<6} {:<9} {:<9} {:>4} {:>16} {:>14} {:>10} {:>8}"
    print(columns.format("phase", "mode", "part", "load", "rows", "forecast/measured", "median error", "least", "most"))
    for key, ratios in groups.items():
        errors = [math.expm1(abs(math.log(x))) for x in ratios]
        print(columns.format(*key, len(ratios), f"{statistics.median(ratios):.3f}", f"{statistics.median(errors):.1%}",
                             f"{min(ratios):.3f}", f"{max(ratios):.3f}"))
