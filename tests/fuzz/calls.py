# SPDX-License-Identifier: Apache-2.0
"""Calls of every command that are right: what the soak changes. And the files that they read, all small."""

import csv
import functools
import gzip
import io
import itertools
import json
import pathlib
import shlex
import subprocess

# A document beginning with "use FILE" is that of the repository, with lines in place of others.
SCENARIOS = {
    "serve.yaml": """system: hgx_h200
model: llama-3.1-70b
precision: fp8
deployment: {tensor_parallel: 8, pipeline_parallel: 1, expert_parallel: 1, data_parallel: 1}
serving: {stack: vllm}
traffic: {input_tokens: 512, output_tokens: 64, concurrency: 8, requests: 60}
""",
    "experts.yaml": """system: hgx_h200
model: deepseek-v3
precision: fp8_block
deployment: {tensor_parallel: 1, expert_parallel: 8, data_parallel: 8}
serving: {stack: sglang, speculative: {method: mtp, draft_tokens: 2, acceptance: 0.8}}
traffic: {input_tokens: 1024, output_tokens: 64, concurrency: 32, requests: 60}
""",
    "hybrid.yaml": """system: hgx_h200
model: nemotron-3-super-120b-a12b
precision: nemotron3_fp8
deployment: {tensor_parallel: 4}
serving: {stack: trtllm, replicas: 2, router: least loaded}
traffic: {input_tokens: {uniform: [100, 900]}, output_tokens: {uniform: [8, 64]}, concurrency: 16, requests: 60, objectives: {ttft: 1 s, tpot: 50 ms}}
prices: us_colocation
""",
    "open.yaml": """system: hgx_h200
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm, scheduler: {prefix_cache: true}}
traffic: {input_tokens: {lognormal: {mean: 700, cv: 1, max: 4000}}, output_tokens: {lognormal: {mean: 50, cv: 0.8, max: 300}}, arrivals: {process: poisson, rate: 4 /s}, requests: 100, seed: 1, objectives: {ttft: 500 ms, tpot: 30 ms}}
""",
    "pools.yaml": """system: h200_cluster_128
model: llama-3.1-70b
precision: fp8
deployment: {prefill: {replicas: 2, tensor_parallel: 4}, decode: {replicas: 1, tensor_parallel: 8, max_sequences: 512}}
serving: {stack: vllm}
traffic: {input_tokens: 1024, output_tokens: 64, concurrency: 8, requests: 60}
""",
    "classes.yaml": """system: hgx_h100
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm, scheduler: {queue: priority}}
traffic:
  classes: [{name: chat, priority: 1, weight: 3, objectives: {ttft: 1 s}}, {name: batch, priority: 0, weight: 1, objectives: {ttft: 9 s}}]
  input_tokens: 500
  output_tokens: {uniform: [4, 60]}
  arrivals: {process: gamma, rate: 3 /s, cv: 2}
  requests: 80
""",
    "agents.yaml": """system: hgx_h200
model: glm-4.5-air
precision: fp8
deployment: {tensor_parallel: 4}
serving: {stack: vllm, replicas: 2, router: session}
traffic:
  agents: {concurrent: 4, tasks: 6, turns: {lognormal: {mean: 5, cv: 0.5, max: 15}}, initial_context: 2000, shared_context: 500, output_tokens: {lognormal: {mean: 60, cv: 1.4, max: 800}}, tool_tokens: 100, tool_calls: 1.1, tools: [{weight: 6, time: 35 ms}, {weight: 4, time: 2 s, cv: 0.6, timeout: 20 s}], max_context: 131072, subagents: {probability: 0.1, count: 2, turns: 3, initial_context: 500}}
  seed: 1
""",
    "stages.yaml": """system: hgx_h200
model: llama-3.1-8b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm}
traffic:
  agents: {arrivals: {process: poisson, rate: 2 /s}, tasks: 50, turns: 1, initial_context: 2000, shared_context: 500, output_tokens: 64, stages: [{time: 10 ms, servers: 1}, {time: 30 ms, cv: 0.5, servers: 4}]}
""",
    "training.yaml": """system: h100_cluster_128
model: llama-3.1-8b
precision: bf16
deployment: {tensor_parallel: 2, data_parallel: 64, sequence_parallel: true}
training: {global_batch: 512, sequence_length: 8192, gradients: bf16, trainer: megatron, recompute: [norms]}
""",
    "run.yaml": """system: {base: h100_cluster_128, chips: 16384, name: many}
model: llama-3.1-405b
precision: bf16
deployment: {tensor_parallel: 8, pipeline_parallel: 16, data_parallel: 128, sequence_parallel: true}
training: {global_batch: 2048, sequence_length: 8192, virtual_stages: 8, layout: "E|(t|)*126L", recompute: [norms, mlp], trainer: megatron}
run: {tokens: 15.6e12, failures: llama3_h100, detection: 2 min, silent_detection: 1 h, restart: {time: 5 min, per_thousand_gpus: 10 s}, repair: 1 d, spare_hosts: 32, checkpoint: {interval: 5 min, write: 2 TB/s}, maintenance: {every: 27.6 h, time: 15 min}}
""",
    "rl.yaml": """system: h100_cluster_128
model: qwen3-30b-a3b
precision: bf16
deployment: {tensor_parallel: 1, expert_parallel: 8, data_parallel: 64}
training: {global_batch: 512, sequence_length: 8192, recompute: full, gradients: bf16, trainer: nemo-rl}
serving: {stack: vllm, memory_fraction: 0.8}
rl: {responses: 512, samples: 32, prompt_tokens: 110, response_tokens: {lognormal: {mean: 400, cv: 0.8, max: 800}}, rollout: {tensor_parallel: 2, replicas: 32}, logprob_passes: 2}
""",
    "score.yaml": """system: hgx_b200
model: gpt-oss-120b
deployment: {tensor_parallel: 8}
serving: {stack: vllm}
traffic: {input_tokens: 512, output_tokens: 200, concurrency: 16, requests: 60}
accuracy: {benchmark: aime_2025, effort: high}
""",
    "traced.yaml": """system: hgx_h200
model: llama-3.1-70b
precision: fp8
deployment: {tensor_parallel: 1}
serving: {stack: vllm, replicas: 4}
traffic: {trace: {file: requests_trace.csv, speed: 2, from: 1 s, to: 40 s, repeat: 1, keep: 0.9}, objectives: {ttft: 2 s, tpot: 100 ms}}
""",
}
SWEEPS = {
    "sweep.yaml": """question: How much faster?
base: serve.yaml
axes:
  system.chip.hbm.bandwidth: [x1, x1.5]
  traffic.concurrency: {from: 1, to: 16, factor: 4}
  plan: {one: {deployment.tensor_parallel: 8}, two: {deployment: {tensor_parallel: 4}}}
where: [fits, 'ttft_p95_s <= 5']
pareto: {maximize: [throughput_tok_per_s_per_gpu, interactivity_tok_per_s_per_user], by: system.chip.hbm.bandwidth}
""",
    "chips.yaml": """question: Which chip?
base: {system: hgx_h200, model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 256, output_tokens: 32, concurrency: 4}}
axes:
  system: [hgx_h200, {name: more, base: hgx_b200, chip.hbm.bandwidth: x1.5}]
  model: [llama-3.1-8b, {name: hybrid, base: llama-3.1-8b, replace_attention: {by: mamba, keep_every: 8}, hold: {what: total parameters}}]
pareto: {minimize: [tpot_mean_s]}
""",
}
ROADMAP = """question: Which feature first?
set: {system: hgx_h200}
workloads:
  chat: {weight: 3, base: {model: llama-3.1-70b, precision: fp8, deployment: {tensor_parallel: 4}, serving: {stack: vllm}, traffic: {input_tokens: 512, output_tokens: 128}}, axes: {traffic.concurrency: [8, 32]}, where: ['tpot_p95_s <= 0.04']}
  prompts: {metric: ttft_p50_s, base: {model: llama-3.1-8b, precision: fp8, deployment: {tensor_parallel: 1}, serving: {stack: vllm}, traffic: {input_tokens: 4096, output_tokens: 16, concurrency: 2}}}
options: {B200: {system: hgx_b200}, HBM4: {system.chip.hbm.bandwidth: x1.67, system.chip.hbm.capacity: x1.5}}
features: {bandwidth: {system.chip.hbm.bandwidth: x1.2}, rates: {'system.chip.tensor.*': x1.35}}
"""
FOLDERS = {
    "chip": "hardware/chips", "system": "hardware/systems", "calibration": "hardware/calibrated",
    "price": "hardware/prices", "model": "workloads/models", "precision": "workloads/precisions",
    "stack": "workloads/stacks", "trainer": "workloads/trainers", "failure": "workloads/failures",
    "acceptance": "workloads/acceptance", "score": "workloads/scores", "claim": "calibrate/claims",
}
CATALOG = {"calibration": "calibrated", "stack": "stacks", "acceptance": "acceptance"}  # else kind + "s"
KERNELS = ["gemm", "moe", "routing", "attention", "decode_attention", "index", "mamba1", "mamba1_update", "mamba2", "mamba2_update", "gdn", "gdn_update",
           "elementwise", "lookup"]
COLLECTIVES = ["all_reduce", "all_gather", "reduce_scatter", "all_to_all", "broadcast", "send_receive"]
SMALL = 60_000  # bytes of a file that is worth changing


@functools.lru_cache(maxsize=1)
def columns_of(path):
    """The lines of a transposed table, some of which have megabytes."""
    with gzip.open(path, "rt") as lines:
        return lines.read().splitlines()


def cells_of(line):
    return next(csv.reader([line])) if '"' in line else line.split(",")


def rows_of(path, rows, where=()):
    """A few rows, from the whole of a table that may be compressed or transposed."""
    if ".columns" in path.name:
        columns = columns_of(path)
        found = set(range(1, len(cells_of(columns[0]))))
        for word in where:
            found &= {i for column in columns if word in column for i, cell in enumerate(cells_of(column)) if cell == word}
        chosen = [0] + sorted(found)[:: max(1, len(found) // rows)][:rows]
        picked = list(zip(*([cells[i] for i in chosen] for cells in map(cells_of, columns))))
    else:
        with path.open(newline="") as text:
            lines = list(csv.reader(text))
        body = [line for line in lines[1:] if all(word in line for word in where)]
        picked = [lines[0]] + body[:: max(1, len(body) // rows)][:rows]
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(picked)
    return out.getvalue()


def gather(roofcast, root, folder):
    """Writes the files into `folder` and returns the calls: (words of the command, files that it reads)."""
    root = pathlib.Path(root)
    for name, text in {**SCENARIOS, **SWEEPS, "roadmap.yaml": ROADMAP}.items():
        (folder / name).write_text(text)
    measured = root / "calibrate/measurements"
    for table in sorted((measured / "ops").glob("*.columns.gz")) + [measured / "e2e/serving_silicon.columns.gz"]:
        name = table.name.split(".")[0]
        (folder / f"{name}.csv").write_text(rows_of(table, 6))
        (folder / f"h200_{name}.csv").write_text(rows_of(table, 40, ("h200_sxm", "vllm")))
    (folder / "training.csv").write_text(rows_of(measured / "published/training_validation_megatron_bridge.csv", 4))
    (folder / "rl.csv").write_text(rows_of(measured / "e2e/nemo_rl.csv", 4))
    (folder / "requests_trace.csv").write_text(rows_of(root / "examples/traces/azure_busy_minutes.csv", 30))
    for name in ("AzureLLMInferenceTrace_code.csv.gz", "mooncake_conversation.jsonl.gz"):
        with gzip.open(measured / "traces" / name, "rt") as lines:
            (folder / name[:-3]).write_text("".join(itertools.islice(lines, 20)))
    run = measured / "requests/RTX4090_Llama-3.1-8B"
    for name in ("config.json", "meta.json", "timeseries.csv", "requests.jsonl"):
        text = (run / name).read_text()
        (folder / f"run.{name}").write_text("".join(text.splitlines(keepends=True)[:20]) if name == "requests.jsonl" else text)
    (folder / "lengths.csv").write_text("tokens\n" + "".join(f"{n}\n" for n in (100, 900, 8000, 12, 512, 1, 77)))
    (folder / "jobs.csv").write_text("job,memory,time\na,20 GB,30 min\nb,60 GB,1 h\nc,79 GB,5 s\nd,1 GB,1 d\n")
    (folder / "foreign.csv").write_text("name,speed,price\na,1,3\nb,2,4\nc,2,2\nd,,1\n")
    for log in sorted((root / "tests/measured_logs").iterdir()):
        if log.suffix != ".md":
            (folder / log.name).write_bytes(log.read_bytes())
    configs = sorted((root / "tests/unit/hugging_face").glob("*.json"))
    for path in configs:
        (folder / f"config_{path.name}").write_bytes(path.read_bytes())
    entries = []
    for kind, place in FOLDERS.items():
        for path in sorted((root / place).glob("*.yaml")):
            if path.stat().st_size < SMALL:
                (folder / f"{kind}_{path.name}").write_bytes(path.read_bytes())
                entries.append((kind, path.stem))

    def write(*words):
        subprocess.run([roofcast, *words], cwd=folder, check=True, stdin=subprocess.DEVNULL, capture_output=True)

    write("sweep", "sweep.yaml", "--csv", "old.csv", "--no-replay", "--quiet")
    (folder / "faster.yaml").write_text(SWEEPS["sweep.yaml"].replace("x1.5", "x1.6"))
    write("sweep", "faster.yaml", "--csv", "new.csv", "--no-replay", "--quiet")
    write("sweep", "sweep.yaml", "--csv", "parts.csv", "--shard", "1/1", "--quiet")
    write("simulate", "serve.yaml", "--csv", "served.csv")
    results = ["old.csv", "old.sweep.yaml", "old.provenance.json"]
    parts = [f"parts.csv.parts/{path.name}" for path in sorted((folder / "parts.csv.parts").iterdir())]
    provenance = json.loads((folder / "served.provenance.json").read_text())
    provenance["directory"] = "."
    (folder / "served.provenance.json").write_text(json.dumps(provenance, indent=1))
    found = calls(results, parts, entries, [path.name for path in configs])
    for command in [("kernel", name) for name in KERNELS] + [("collective", name) for name in COLLECTIVES]:
        found += [(words, []) for words in examples_of(roofcast, *command)]
    return found


def examples_of(roofcast, *command):
    """The examples of a help text."""
    text = subprocess.run([roofcast, *command, "--help"], capture_output=True, text=True, check=True).stdout
    return [shlex.split(line)[1:] for line in text.split("Examples:\n")[-1].splitlines()]


def calls(results, parts, entries, configs):
    found = []

    def add(line, *files):
        found.append((line.split(" ") if isinstance(line, str) else line, list(files)))

    for name in SCENARIOS:
        files = [name] + (["requests_trace.csv"] if name == "traced.yaml" else [])
        add(f"estimate {name} --no-replay --format json", *files)
        add(f"estimate {name} --no-replay --format json", *files)
        add(f"estimate {name} --format json", *files)
        add(f"estimate {name} --explain --no-replay", *files)
        trains = name in ("training.yaml", "run.yaml", "rl.yaml")
        if not trains or name == "run.yaml":
            add(f"simulate {name} --format json", *files)
        if not trains:
            add(f"simulate {name} --csv o.csv --timeline t.csv --report o.html", *files)
        add(f"check {name} --json", *files)
        if name == "agents.yaml":
            continue  # its network takes seconds to ask so often
        metric = "step_s" if trains else "tpot_mean_s"
        if name != "stages.yaml":  # 150 estimates, each of which follows some thousand requests: 4 s
            add(f"brief {name} --no-replay", *files)
            add(f"sensitivity {name} --metric {metric} --format json", *files)
        add(f"sensitivity {name} --metric {metric} --vary system.chip.hbm.bandwidth=x0.8..x2 --rows 32", *files)
        add(["solve", name, "--vary", "system.chip.hbm.bandwidth=x0.5..x2", "--until", f"{metric} <= 0.03", "--no-replay"], *files)
    for name in ("serve.yaml", "open.yaml"):
        add(["solve", name, "--vary", "deployment.tensor_parallel=1,2,4,8", "--until", "tpot_p95_s <= 0.03", "--minimize", "gpus", "--format", "json"], name)
        add(["simulate", name, "--breach", "5%", "--window", "10 s", "--replications", "3", "--set", "traffic.objectives={ttft: 2 s, tpot: 50 ms}"], name)
        for trace in ("requests_trace.csv", "AzureLLMInferenceTrace_code.csv", "mooncake_conversation.jsonl"):
            add(f"simulate {name} --trace {trace} --format json", name, trace)
        add(f"recommend {name} --gpus 2 --no-replay --format json --quiet", name)
    add(["recommend", "--model", "llama-3.1-8b", "--precision", "fp8", "--system", "hgx_h200,hgx_h100", "--gpus", "2", "--input", "500", "--output", "50", "--rate", "4 /s", "--ttft-p95", "1s", "--tpot-p95", "30ms", "--no-replay", "--csv", "o.csv", "--save", "o.yaml"])
    for name in [*SWEEPS]:
        files = [name, "serve.yaml"]
        add(f"sweep {name} --csv o.csv --no-replay --threads 1 --json", *files)
        add(f"sweep {name} --csv o.csv --report o.html --threads 1", *files)
        add(f"sweep {name} --csv o.csv --shard 1/1 --threads 1", *files)
        add(f"brief {name} --no-replay -o o.html", *files)
        add(f"check {name}", *files)
    add("merge parts.csv.parts --csv o.csv --threads 1", *parts)
    add("merge parts.csv.parts --csv o.csv --threads 1 --no-replay --report o.html", *parts)
    add("compare roadmap.yaml --csv o.csv --report o.html", "roadmap.yaml")
    add("brief roadmap.yaml -o o.md", "roadmap.yaml")
    add("check roadmap.yaml", "roadmap.yaml")
    for extra in ("", " --gpus 16..1024 --csv o.csv", " --strong --gpus 8,16 --format json", " --gpus 64 --report o.html"):
        add("scale run.yaml" + extra, "run.yaml")
    add("blast-radius run.yaml --ports 32 --format json", "run.yaml")
    add("compare old.csv new.csv --csv o.csv", "old.csv", "new.csv")
    add("compare old.csv new.csv --metric tpot_mean_s --tolerance 2% --key point", "old.csv", "new.csv")
    add("compare foreign.csv foreign.csv --key name --maximize speed --minimize price", "foreign.csv")
    for log in ("vllm_result.json", "vllm_output.txt", "sglang_output.txt", "trtllm_engine.txt", "trtllm_requests.txt", "nccl_all_reduce_16.txt", "kineto_trace.json", "nsys_kernels.csv"):
        more = " --set system=h100_cluster_128" if log.startswith("nccl") else ""
        add(f"compare serve.yaml {log} --iterations 2 --anyway --csv o.csv --format json" + more, "serve.yaml", log)
    for extra in ("", " --by plan --csv o.csv", " --epsilon tpot_mean_s=5% --json", " --reference tpot_mean_s=1"):
        add("pareto old.csv --maximize throughput_tok_per_s_per_gpu --minimize tpot_mean_s" + extra, "old.csv")
    add("pareto foreign.csv --maximize speed --minimize price --json", "foreign.csv")
    add("pareto new.csv --against old.csv --minimize tpot_mean_s ttft_p50_s", "old.csv", "new.csv")
    add("report old.csv -o o.html", *results)
    add("reproduce served.csv", "served.csv", "served.provenance.json", "serve.yaml")
    add("reproduce served.provenance.json", "served.csv", "served.provenance.json", "serve.yaml")
    add(["pack", "--lengths", "{lognormal: {mean: 1500, cv: 1.2, max: 8192}}", "--tokens", "8192", "--count", "300", "--csv", "o.csv"])
    add("pack lengths.csv --tokens 8192 --format json", "lengths.csv")
    add("pack AzureLLMInferenceTrace_code.csv --part both --scenario serve.yaml --format json", "AzureLLMInferenceTrace_code.csv", "serve.yaml")
    add(["pack", "jobs.csv", "--memory", "80 GB", "--gpus", "2", "--csv", "o.csv", "--format", "json"], "jobs.csv")
    add(["pack", "jobs.csv", "--memory", "80 GB", "--order", "kept", "--window", "2"], "jobs.csv")
    for kind, name in entries:
        folder = CATALOG.get(kind, kind + "s")
        add(f"check --kind {kind} {kind}_{name}.yaml --json", f"{kind}_{name}.yaml")
        if kind not in ("claim", "score", "acceptance", "failure"):
            add(f"show {kind} ./{kind}_{name}.yaml", f"{kind}_{name}.yaml")
        path = {"chip": "system.chip", "price": "prices", "stack": "serving.stack", "trainer": "training.trainer",
                "failure": "run.failures", "calibration": "system.calibration"}.get(kind, kind)
        scenario = {"trainer": "training.yaml", "failure": "run.yaml"}.get(kind, "serve.yaml")
        if kind in ("system", "model", "precision", "price", "stack", "trainer", "failure", "chip", "calibration"):
            add(["estimate", scenario, "--no-replay", "--format", "json", "--set", f"{path}=./{kind}_{name}.yaml"], scenario, f"{kind}_{name}.yaml")
        if kind == "claim":
            add("calibrate claims --page runs", f"{kind}_{name}.yaml>own/{folder}/{name}.yaml")
        if name in ("h200_sxm", "hgx_h200", "llama-3.1-70b", "fp8", "vllm", "h200_sxm.vllm", "generic"):
            add("estimate serve.yaml --no-replay --format json", "serve.yaml", f"{kind}_{name}.yaml>own/{folder}/{name}.yaml")
            add(f"show {kind} {name}", f"{kind}_{name}.yaml>own/{folder}/{name}.yaml")
    for config in configs:
        add(f"check config_{config}", f"config_{config}")
        add(f"show model ./config_{config}", f"config_{config}")
        add(f"estimate serve.yaml --no-replay --format json --set model=./config_{config} --set precision=bf16", "serve.yaml", f"config_{config}")
    for kind in ("gemm", "gemm_power", "attention_context", "attention_generation", "mla_context", "mla_generation", "moe", "mamba2", "gdn", "deepep_ll", "deepep_normal", "trtllm_alltoall", "custom_allreduce", "nccl", "serving", "training", "rl"):
        table = "serving_silicon.csv" if kind == "serving" else f"{kind}.csv"
        add(f"calibrate validate {kind} {table} --out o.csv", table)
    add("calibrate validate requests run --out o.csv --report o.html", *(f"run.{name}>run/{name}" for name in ("meta.json", "requests.jsonl", "timeseries.csv", "config.json")))
    add("calibrate validate simulation --scenarios 2 --threads 1")
    add("calibrate validate simulation --scenarios 20 --check-only --threads 1")
    tables = [f"h200_{kind}.csv>{kind}.csv" for kind in ("gemm", "attention_context", "attention_generation", "moe", "custom_allreduce")]
    add("calibrate fit . --chip h200_sxm --stack vllm -o o.yaml", *tables)
    add("calibrate accuracy . -o o.md --spreads s.yaml", *tables)
    shape = "--chip h100_sxm --stack vllm --kind gemm --fill m=64,n=64,k=64,gemm_dtype=bfloat16"
    for log, more in (("nccl_all_reduce_16.txt", "--chip h100_sxm"), ("nsys_kernels.csv", shape), ("kineto_trace.json", shape + " --kernel sgemm")):
        add(f"calibrate import {log} -o o.csv {more}", log)
    for kind in ("gemm", "moe", "nccl"):
        add(f"calibrate import {kind}.csv -o o.csv", f"{kind}.csv")
    add("calibrate fit gemm.csv --chip h200_sxm --stack vllm --fix gemm.wave_tail -o o.yaml", "gemm.csv")
    for line in ("list", "list models --csv", "list metrics", "list knobs bandwidth", "list questions --json", "list chips --json", "explain cost_usd_per_mtok", "explain ttft_mean_s tpot_mean_s --json", "schema scenario", "schema chip", "show chip h200_sxm", "show example llama-70b", "show claim latent_attention", "show convention servers", "completion bash", "man", "help sweep", "help calibrate validate", "estimate", "sweep", "--version", "--help"):
        add(line)
    return found
