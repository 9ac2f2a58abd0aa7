"""What came of compiled kernels on the PTX machine, joined to the evidence of their compilation."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

from porter.verify.evidence import FAILED, PASSED, SKIPPED, Evidence
from porter.verify.job import Done, Job


def execute(
    job: Job,
    backends: Sequence[str],
    compiled: dict[str, list[Evidence]],
    wrong: Collection[str] = (),
) -> tuple[dict[str, list[Evidence]], Done]:
    """Run what each package compiled, if the job keeps it, functions apart that are wrong already.

    Gives the evidence with the cases that were executed, and of each function the first run that
    failed.
    """
    failed: Done = {}
    for backend in backends if job.keeps else ():
        job.watch.says("running the compiled kernels")
        names = [name for name in compiled if name not in wrong]
        executed = job.execute(backend, names) if names else {}
        for name, every in compiled.items():
            for number, evidence in enumerate(every):
                done = executed.get(evidence.detail.get("arch", ""), {}).get(name)
                by = str(evidence.detail.get("backend", "")).split(" ")[0]
                if evidence.status == SKIPPED and "arch" not in evidence.detail:
                    # no launch was seen: the host function alone may be wrong
                    ran = (each[name] for each in executed.values() if name in each)
                    done = next((one for one in ran if one["mismatch"]), None)
                elif evidence.status != PASSED:
                    done = None
                if done is not None and by == backend:
                    every[number] = _with(evidence, done)
                    if done["mismatch"]:
                        failed.setdefault(name, done)
    return compiled, failed


def _with(evidence: Evidence, done: dict[str, Any]) -> Evidence:
    detail = evidence.detail | {"cases": done["cases"]}
    if done["mismatch"]:
        detail |= {"cases": 0, "error": done["mismatch"]["message"]}
        return replace(evidence, status=FAILED, detail=detail)
    worst = done["detail"].get("worst_share")
    detail |= {"worst_share": worst} if worst else {}
    if done["status"] != PASSED:
        # what the machine does not have is no failure of the kernel
        detail |= {"cases": 0, "not_executed": done["detail"].get("reason", "")}
    return replace(evidence, detail=detail)
