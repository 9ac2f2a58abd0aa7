"""What the budgets of `test_budgets.py` and `test_dead_code.py` leave alone, and why."""

from __future__ import annotations

#: functions over 15 branches: at most 10, each read and found clearer in one piece
BRANCHES = {
    "convert/module_child.py spelled": "one case for each kind of value that can be written down",
    "inference/ranks.py _demand": "one case for each form of expression",
    "ir/interp.py statement": "the interpreter: one case for each statement of the IR",
    "ir/scalars.py operate": "Python's and C's arithmetic, one case for each group of operations",
    "lowering/expressions/evaluate.py _evaluate": "one case for each form of expression",
    "lowering/expressions/methods.py attribute": "one case for each attribute of an array",
    "lowering/statements/statements.py _small": "one case for each small statement of Python",
}

#: too large still; nothing may be added
LONG_FILES: set[str] = set()
LONG_FUNCTIONS: set[str] = set()
LARGE_STATES: set[str] = set()

#: why code that nobody calls by name is used: the file and the name, each with stars
ALIVE = {
    "a rule is found by its folder": ["rules/*/*.py [A-Z]*"],
    "Typer reads the members": ["commands/parameters.py *"],
    "libcst calls visitors": ["* visit_*", "* leave_*", "* on_leave"],
    "found by the node's class": ["resolve/effects.py _do_*", "resolve/effects.py _of_*"],
    "Numba reads what is set, and calls what is overridden": [
        "emulate/source/threads.py *",
        "verify/compile/backends.py _cached_cc",
        "verify/engines/scheduler.py syncthreads_*",
        "verify/engines/scheduler.py debug",
        "verify/engines/simulator.py *",
    ],
    "Click, CuPy's users, inspect and the source of a module read it": [
        "commands/plain.py display_type_rich",
        "verify/engines/cupy/stand_in.py __int__",
        "verify/engines/writes.py __setitem__",
        "verify/oracle/instances.py __signature__",
        "verify/oracle/numba_objects.py __signature__",
        "verify/oracle/original.py __package__",
        "verify/oracle/parts.py __signature__",
    ],
    "tests and benchmarks call it": [
        "codegen/module/module.py module_text",
        "ptx/instructions/rows.py opcodes",
        "rules/fixes.py apply_fixes",
        "schedule/registry.py registered",
    ],
    "the text of a translated kernel calls it": ["ptx/machine/wave.py special"],
    "the choice of a schedule is to ask it; tests do today": [
        "cost/candidates.py seconds_of_candidates",
    ],
    "written to JSON": ["verify/inputs/large.py costly", "verify/checks/verification.py costly"],
}
