#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that retired words stay retired; docs/glossary.md has the words that are used instead.

check_words.py ROOT         prints every retired word below ROOT; exit status 1 if there is any
check_words.py --self-test  plants retired words in a scratch tree and expects them found
"""

import re

import checking

CODE = {".cpp", ".hpp", ".cu", ".cuh"}
PROSE = {".md", ".yaml", ".js", ".html", ".py", ".cmake"}

CONVENTIONS = re.compile(r"^calibrate/conventions/.*\.yaml$")
SIM = re.compile(r"^(sim|cli)/.*\.[ch]pp$")  # a warp and a vector unit have lanes

# Where it is looked for, by suffix or path, a pattern, and what to say instead.
RETIRED = [
    # Names in code.
    (CODE, r"\b(StepCost|step_cost|StepTimes?|PassTime|PassCosts|PassRounds|PassMix)\b", "iteration"),
    (CODE, r"\b[a-z_]*(?<!forward_)(?<!backward_)(?<!epilogue_)(decode|prefill|prompt|mixed)_pass(es)?\b", "iteration"),
    (CODE, r"\b(RememberedCosts|remembered)\b", "cached"),
    (CODE, r"\b(TurnedScenario|turned_document|turned)\b", "overridden"),
    (CODE, r"\b(Promptcrowd|PromptCrowd|crowd)\b", "prompt group"),
    (SIM, r"\b(lanes?_?|Lane)\b", "micro-batch"),
    (CODE, r"\b(second_choice|second_experts)\b", "alternative kernel"),
    (CODE, r"\b(frees_late)\b", "delayed release"),
    (CODE, r"\b(decode_step|prompt_step|prefill_step|add_step)\b", "iteration"),
    (CODE, r"\b[Dd]ecode step\b", "iteration"),
    (CONVENTIONS, r"\brun\.(step|prefill_step)\b", "run.iteration, run.prefill_iteration"),
    (CODE, r"\b(make_room|make_way|lag_of)\b", "evict, preempt, delay"),
    # A participle or a verb is no name of a value or a function.
    (CODE, r"\b(?:auto|bool|double|int|int64_t|size_t|string|Seconds)[>*& ]+(shown|asked|serves)_?\b",
     "a noun of the glossary"),
    # Keys and columns.
    (PROSE, r"\b(max_tokens_per_step|tokens_per_step|second_experts|frees_late|found_share|reused_share)\b",
     "tokens_per_iteration, alternative_experts, delayed_release, prefix_hit_rate"),
    # Labels and prose.
    (CODE | PROSE, r"(TTFT|TPOT), (mean|median|95 %|99 %)", "TTFT p95"),
    (PROSE, r"\bper cent\b", "%"),
    (PROSE, r"\brequests (that|which) arrive by themselves\b", "open loop"),
    (PROSE, r"\bclients (that|which|who) wait\b", "closed loop"),
    (PROSE, r"\btells? the times?\b", "reports"),
    (PROSE, r"\bfor who decides\b", "for whoever decides"),
    (PROSE, r"\b(in)?feasible\b", "fits (it can run) or meets every constraint"),
]

# Old names that are still read for one release, notes of what changed, and this list.
EXEMPT = re.compile(
    r"^(base/document/renamed\.cpp|CHANGELOG\.md|tests/architecture/check_words\.py|tests/.*renamed.*|"
    r"tests/measured_logs/.*|docs/glossary\.md)$")


def violations(root):
    """Every retired word below root, as one line of text each."""
    found = []
    for name in sorted(checking.tracked(root)):
        path = root / name
        kind = path.suffix
        if EXEMPT.match(name) or not path.is_file() or kind not in CODE | PROSE:
            continue
        text = path.read_text(encoding="utf-8", errors="replace")
        for kinds, pattern, instead in RETIRED:
            if kind not in kinds if isinstance(kinds, set) else not kinds.match(name):
                continue
            for match in re.finditer(pattern, text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f'{name}:{line}: "{match.group(0)}" is retired; say {instead}')
    return found


def self_test():
    """One planted word each; a clean tree must pass, and each plant must be named."""
    plants = [
        ("sim/a.cpp", {"sim/a.cpp": "StepCost cost;\n"}, "sim/a.cpp:1"),
        ("sim/a.hpp", {"sim/a.hpp": "// one\nint decode_pass = 0;\n"}, "sim/a.hpp:2"),
        ("sim/c.cpp", {"sim/c.cpp": "const double shown = 1.0;\n"}, "a noun"),
        ("sim/d.cpp", {"sim/d.cpp": "// of a decode step\n"}, "say iteration"),
        ("a convention", {"calibrate/conventions/a.yaml": "set: {run.step: 1}\n"}, "say run.iteration"),
        ("docs/a.md", {"docs/a.md": "about 3 per cent\n"}, "say %"),
        ("docs/b.md", {"docs/b.md": "the metric TTFT, 95 % is\n"}, "say TTFT p95"),
        ("workloads/stacks/a.yaml", {"workloads/stacks/a.yaml": "limits: {max_tokens_per_step: 1}\n"}, "is retired"),
    ]
    clean = {"sim/b.cpp": "IterationCost cost; int forward_pass = 1;  // as shown\n", "docs/c.md": "3 % of TTFT p95\n"}
    return checking.planted(violations, clean, plants)


if __name__ == "__main__":
    checking.main(__doc__, violations, self_test)
