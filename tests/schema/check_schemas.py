#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks what `roofcast schema` prints against what roofcast reads.

check_schemas.py ROOFCAST ROOT    exit status 1 on a violation, 77 where a module is missing

  - Every entry of the catalog and every example is valid.
  - Every bad document of tests/bad_input is refused, but those whose defect only the reader can see.
  - Documents changed in one place: what a schema refuses, the reader refuses; what the reader refuses
    for its form, the schema refuses.
"""

import collections
import copy
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
    from jsonschema import Draft202012Validator
except ImportError as error:
    print(f"skipped: {error} (Debian: python3-jsonschema, python3-yaml)")
    sys.exit(77)

FOLDERS = {
    "chip": "hardware/chips",
    "architecture": "hardware/architectures",
    "system": "hardware/systems",
    "calibration": "hardware/calibrated",
    "price": "hardware/prices",
    "model": "workloads/models",
    "precision": "workloads/precisions",
    "stack": "workloads/stacks",
    "trainer": "workloads/trainers",
    "failure": "workloads/failures",
    "acceptance": "workloads/acceptance",
    "score": "workloads/scores",
}

# Bad documents whose form is right: only the reader knows what is wrong in them.
MEANING = {
    "chip": {"cap_above_the_tdp", "empty_architecture", "misspelt_architecture"},
    "model": {
        "expert_load_no_way", "expert_load_too_few_counts", "expert_load_two_ways", "held_cache_needs_too_many_heads", "joint_norm_without_norm", "kv_heads_do_not_divide", "latent_attention_with_a_window", "latent_ratio_does_not_divide", "moe_without_group", "shared_experts_without_a_width", "shared_width_without_experts", "sliding_attention_without_window",
        "groups_do_not_divide", "more_groups_kept_than_there_are", "top_k_beyond_its_groups", "top_k_more_than_experts",
    },
    "system": {
        "chip_not_described_in_full", "chip_without_a_16_bit_rate", "domain_larger_than_system", "hosts_of_a_rack_that_is_a_domain", "mesh_that_reduces",
        "mesh_with_too_few_links", "no_nvlink_port", "no_scale_out", "pcie_rate_unknown", "switch_without_links",
        "unknown_chip",
    },
    "scenario": {
        "agents_too_many_turns", "cached_tokens_too_many", "lengths_of_no_shape", "missing_file", "pool_system_unknown", "pool_system_without_chips",
        "prices_unknown", "run_shrinks_without_spares", "speculative_acceptance_twice",
        "speculative_measured_too_short", "speculative_measured_unknown", "speculative_too_few_positions", "speculative_tree_too_small", "speculative_too_many_tokens",
        "speculative_without_acceptance", "trace_beside_lengths", "trace_missing", "trace_window", "unknown_chip_in_inline_system", "unknown_model",
        "unknown_model_without_precision", "unknown_precision", "unknown_system", "version_without_number",
    },
    "roadmap": {"option_that_an_axis_replaces", "star_without_factor"},
    "acceptance": {"lists_differ", "more_than_drafted", "not_ascending"},
    "sweep": {
        "axis_named_as_a_column", "base_is_bad", "factor_makes_a_fraction", "factor_on_text", "missing_base_file", "one_bad_value", "pareto_by_unknown_axis", "range_backwards",
        "range_from_zero_with_factor", "range_of_too_many_values", "too_many_points",
        "two_axes_set_one_knob", "unit_in_where", "unknown_chip_on_an_axis", "value_twice", "value_twice_in_other_words",
    },
}
# What the reader then says; a sweep may be wrong in any value that an axis sets.
MEANING_WORDS = re.compile(r" is called |need a top-level |is required: the system has more chips|one of .* is expected|needs autoregressive|needs shared_|kinds of dies have |unknown kind of memory ")

# Right documents of forms that the catalog has none of.
OTHER_FORMS = [
    ("chip", "{base: h100_sxm, name: unbuilt, tensor.bf16: x1.35, hbm: {bandwidth: x1.5}, source: made up}"),
    ("chip", """{name: a die, vendor: nobody, architecture: hopper, die: {sms: 100, clock: 2 GHz, source: made up},
      tensor: {fp8: 3000 TFLOPS}, hbm: {type: HBM4, capacity: 192 GB, bandwidth: 8 TB/s, source: made up},
      l2: {capacity: 80 MiB, source: made up}, power: {tdp: 900 W, source: made up}}"""),
    ("model", "{base: llama-3.1-8b, layers: [{count: 16, mixer: attention, ffn: mlp}], published: null}"),
    ("precision", "{weights: fp8, activations: fp8, kv_cache: fp8, head: {weights: fp8}, mlp: null}"),
    ("scenario", """{system: {base: hgx_h200, chip.hbm.bandwidth: x1.5, chip: {base: h100_sxm}},
      model: {base: llama-3.1-70b, max_context: 8192}, precision: {base: fp8, kv_cache: bf16},
      deployment: {tensor_parallel: 8.0, sequence_parallel: true},
      serving: {stack: {base: vllm, overhead.per_iteration: 0 us}, memory_fraction: 0.5},
      traffic: {input_tokens: 2e3, output_tokens: 0512, concurrency: +64, cached_tokens: null}}"""),
    ("sweep", """{question: 42, base: {system: {base: hgx_h200}, model: llama-3.1-8b, precision: fp8, deployment: {},
      serving: {stack: vllm}, traffic: {input_tokens: 1000}},
      axes: {system.chip: [h100_sxm, {base: h200_sxm, hbm.bandwidth: x2}], deployment.tensor_parallel: {from: 1, to: 2, step: 1},
      serving: {a: {traffic.requests: 9}, b: {traffic: {input_tokens: 8, output_tokens: 9, concurrency: 1}}},
      traffic.concurrency: [1], traffic.output_tokens: {from: 1, to: 4, factor: 2, step: null}},
      where: [fits, 'tpot_mean_s<=2', ' cost_usd_per_mtok  > 1e-1 ', 'ttft_p95 <= 500ms'],
      pareto: {minimize: [ttft_p50_s], by: serving}}"""),
]


class CoreLoader(yaml.SafeLoader):
    """YAML 1.2's core schema, which editors read (PyYAML knows 1.1: `on` would be true)."""

    yaml_implicit_resolvers = {}


for tag, pattern, first in [
    ("null", r"~|null|Null|NULL|", "~nN"),
    ("bool", r"true|True|TRUE|false|False|FALSE", "tTfF"),
    ("int", r"[-+]?[0-9]+", "-+0123456789"),
    ("float", r"[-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?", "-+.0123456789"),
]:
    CoreLoader.add_implicit_resolver(
        f"tag:yaml.org,2002:{tag}", re.compile(f"^(?:{pattern})$"), list(first) + [""] * (tag == "null"))
CoreLoader.add_constructor("tag:yaml.org,2002:int", lambda loader, node: int(node.value))


def load(file):
    return yaml.load(file.read_text(encoding="utf-8"), CoreLoader)


def paths(node, above=()):
    """Every key and entry below a node."""
    items = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in items:
        yield (*above, key)
        yield from paths(value, (*above, key))


def changed(document):
    """(path, what was done, document) for changes to each key: left out, misspelt, another type."""
    for path in paths(document):
        where = ".".join(map(str, path))

        def change(what, do):
            result = copy.deepcopy(document)
            group = result
            for key in path[:-1]:
                group = group[key]
            do(group, path[-1])
            return path, f"{where} {what}", result

        if isinstance(path[-1], str):
            yield change("left out", lambda group, key: group.pop(key))
            yield change("misspelt", lambda group, key: group.update({key + "q": group.pop(key)}))
        for value in ({"a": 1}, ["a"], "a b", -1, 0, True, None, "7 GB", "-7 GB"):
            yield change(f"= {json.dumps(value)}", lambda group, key: group.__setitem__(key, value))


class Check:
    def __init__(self, roofcast, root):
        self.roofcast, self.root, self.failures = roofcast, root, []
        self.validators = {}
        for kind in [*FOLDERS, "scenario", "sweep", "roadmap"]:
            text = subprocess.run([roofcast, "schema", kind], check=True, capture_output=True, text=True).stdout
            Draft202012Validator.check_schema(json.loads(text))
            self.validators[kind] = Draft202012Validator(json.loads(text))

    def expect(self, condition, message):
        if not condition:
            self.failures.append(message)

    def complaint(self, kind, document):
        errors = [f"{'.'.join(map(str, e.absolute_path))}: {e.message}" for e in
                  self.validators[kind].iter_errors(document)]
        return "; ".join(errors)

    def good_documents(self):
        """(kind, file) of the catalog and the examples."""
        for kind, folder in FOLDERS.items():
            for file in sorted((self.root / folder).glob("*.yaml")):
                yield kind, file
        for file in sorted((self.root / "examples").glob("*.yaml")):
            document = load(file)
            yield ("roadmap" if "workloads" in document else "sweep" if "axes" in document else "scenario"), file

    def every_good_document_is_valid(self):
        kinds = []
        for kind, file in self.good_documents():
            complaint = self.complaint(kind, load(file))
            self.expect(not complaint, f"{file}: {complaint}")
            kinds.append(kind)
        for kind in self.validators:
            self.expect(kind in kinds, f"there is no document of kind {kind}")
        print(f"{len(kinds)} documents of the catalog and the examples")

    def other_forms_are_valid(self):
        for kind, text in OTHER_FORMS:
            complaint = self.complaint(kind, yaml.load(text, CoreLoader))
            self.expect(not complaint, f"a {kind} of another form: {complaint}")
            with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
                file.write(text)
                file.flush()
                self.expect(file.name in self.taken(kind, [file.name])[0], f"no {kind} of another form: {text}")

    def taken(self, kind, files):
        """Those that roofcast reads, and what it says about the others, by file."""
        as_kind = kind if kind in FOLDERS else "example"
        result = subprocess.run([self.roofcast, "check", "--kind", as_kind, *files],
                                capture_output=True, text=True, check=False)
        errors = collections.defaultdict(list)
        for file, message in re.findall(r"^(\S+?):\d+:\d+: error: (.*)$", result.stderr, re.MULTILINE):
            errors[file].append(message)
        return set(re.findall(r"^(.*?): ok, ", result.stdout, re.MULTILINE)), errors

    def bad_documents_are_refused(self):
        refused = 0
        for kind, by_meaning in MEANING.items():
            files = sorted((self.root / "tests/bad_input" / kind).glob("*.yaml"))
            self.expect(files, f"there is no bad {kind}")
            for file in files:
                valid = not self.complaint(kind, load(file))
                self.expect(valid == (file.stem in by_meaning),
                            f"{file}: {'taken' if valid else 'refused, but listed as a defect of meaning'}")
                refused += not valid
        print(f"{refused} bad documents refused, {sum(map(len, MEANING.values()))} wrong in meaning only")

    def schema_and_reader_agree(self):
        """On changes to the first and the last whole document of each kind: any path may change a derived one."""
        by_kind = {}
        for kind, file in self.good_documents():
            if kind in ("sweep", "roadmap") or "base" not in load(file):
                by_kind.setdefault(kind, []).append(file)
        for kind, files in by_kind.items():
            with tempfile.TemporaryDirectory() as folder:
                for example in (self.root / "examples").glob("*.yaml"):  # the bases of sweeps
                    shutil.copy(example, folder)
                self.agree_on(kind, {files[0], files[-1]}, pathlib.Path(folder))

    def agree_on(self, kind, files, folder):
        made, complaints = {}, {}
        for original in sorted(files):
            for path, what, document in changed(load(original)):
                if (kind == "sweep" and path[0] == "base") or (kind == "roadmap" and path[0] == "workloads"):
                    continue  # the axes may replace what is wrong there
                file = str(folder / f"{len(made)}.json")
                pathlib.Path(file).write_text(json.dumps(document), encoding="utf-8")
                made[file] = f"{kind} {original.stem}: {what}"
                complaints[file] = self.complaint(kind, document)
        taken, errors = self.taken(kind, made)
        for file, what in made.items():
            if file in taken:
                self.expect(not complaints[file],
                            f"{what}: the reader takes what the schema refuses: {complaints[file]}")
            elif kind not in ("sweep", "roadmap") and not all(map(MEANING_WORDS.search, errors[file] or [""])):
                self.expect(complaints[file], f"{what}: the schema takes what the reader refuses: {errors[file]}")
        print(f"{kind}: {len(made)} changes, {len(made) - len(taken)} refused by the reader, "
              f"{sum(map(bool, complaints.values()))} by the schema")


def main():
    check = Check(sys.argv[1], pathlib.Path(sys.argv[2]))
    check.every_good_document_is_valid()
    check.other_forms_are_valid()
    check.bad_documents_are_refused()
    check.schema_and_reader_agree()
    for failure in check.failures:
        print(f"error: {failure}")
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
