"""Numba's error messages as plain sentences in the user's words, each with its cure.

The forms are those that Numba 0.68 and numba-cuda 0.30 print; what none of them matches keeps
the first line of the message if it speaks of nothing but the user's code.
"""

from __future__ import annotations

import re

from porter.numba_report.typetext import readable

_OPERATORS = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**",
    "matmul": "@", "eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=",
    "and_": "&", "or_": "|", "xor": "^", "lshift": "<<", "rshift": ">>", "neg": "-",
    "iadd": "+=", "isub": "-=", "imul": "*=", "itruediv": "/=", "ifloordiv": "//=", "imod": "%=",
    "ipow": "**=", "imatmul": "@=", "iand": "&=", "ior": "|=", "ixor": "^=", "contains": "in",
    "getitem": "[]", "static_getitem": "[]", "setitem": "[] =", "static_setitem": "[] =",
    "delitem": "del []", "not_": "not", "invert": "~", "is_": "is",
}  # fmt: skip
_OPCODES = {
    "LOAD_BUILD_CLASS": "a class inside a function",
    "STORE_GLOBAL": "an assignment to a global variable",
    "DELETE_GLOBAL": "`del` of a global variable",
    "IMPORT_NAME": "an import inside a function",
    "IMPORT_FROM": "an import inside a function",
    "SETUP_ASYNC_WITH": "`async with`",
    "GET_AWAITABLE": "`await`",
    "DICT_MERGE": "`**` in a call",
    "DELETE_ATTR": "`del` of an attribute",
    "MATCH_CLASS": "a class pattern",
    "MATCH_MAPPING": "a mapping pattern",
    "GET_AITER": "`async for`",
}

_ONE_TYPE = "give it one type on every path"
_OUTSIDE = "do this outside of the compiled function"
_JIT = "decorate it with @njit, or with @cuda.jit(device=True) for kernels"

#: (pattern, sentence, help); the first that is found speaks
_FORMS: tuple[tuple[str, str, str], ...] = (
    (r"Unknown attribute '(\w+)' of type Module\(<module '([\w.]+)'",
     r"`\2.\1` is not known to Numba", _OUTSIDE),
    (r"Unknown attribute '(\w+)' of type ([^\n]+)",
     r"`.\1` of \2 is not known to Numba", _OUTSIDE),
    (r"Unknown attribute: (\w+)", r"`.\1` is not known to Numba", _OUTSIDE),
    (r"Cannot unify (.+?) and (.+?) for '(\w+)[\w.]*'",
     r"`\3` is \1 and also \2", _ONE_TYPE),
    (r"Can't unify return type from the following types: ([^\n]+)",
     r"it returns different types: \1", "return one type on every path"),
    (r"got an unexpected keyword argument '(\w+)'",
     r"{callee} takes no argument `\1` in Numba", "leave the argument out"),
    (r"missing a required argument: '(\w+)'",
     r"{callee} needs the argument `\1` in Numba", "pass it"),
    (r"too many positional arguments",
     r"{callee} takes fewer arguments in Numba", "leave the further arguments out"),
    (r"[Cc]annot index (\S+\([^()]*\)) with (\d+) indices",
     r"\2 indices for \1", "use one index for each dimension"),
    (r"NRT required but not enabled\s+During: lowering \"\w+\[slice",
     "a slice is filled from an array, which a kernel cannot do", "loop over the elements"),
    (r"NRT required but not enabled",
     "an array or list is made here, which a kernel cannot do",
     "loop over the elements, or use cuda.local.array with a constant shape"),
    (r"shared\.array|local\.array",
     "the shape is not a constant", "use a literal or a global integer for the shape"),
    (r"Only accept returning of array passed into the function as argument",
     "an array is made here, which a kernel cannot do",
     "use cuda.local.array or cuda.shared.array with a constant shape"),
    (r"compiler re-entrant to the same function|insert_unresolved_ref",
     "the function calls itself, which kernels cannot do", "write it as a loop"),
    (r"type inferred recursion|cannot type infer runaway recursion",
     "the types of the recursion are not known", "add a branch that returns without recursion"),
    (r"No conversion from (.+?) to none for '\$\w*return",
     r"a kernel returns \1", "write into an array argument instead"),
    (r"No conversion from (.+?) to (.+?) for '(\w+)",
     r"\1 cannot be converted to \2", _ONE_TYPE),
    (r"Cannot infer the type of variable '(\w+)[\w.]*'[^\n]*list\(undefined\)",
     r"the type of the empty list `\1` is not known",
     "append to it, or use numba.typed.List.empty_list"),
    (r"Cannot infer the type of variable '(\w+)[\w.]*'",
     r"the type of `\1` is not known", _ONE_TYPE),
    (r"Cannot type (?:infer )?empty (\w+)", r"the type of an empty \1 is not known",
     "put a typed element in"),
    (r"NameError: name '(\w+)' is not defined", r"`\1` is not defined", "define or import it"),
    (r"Untyped global name '(\w+)':.*<class 'function'>",
     r"`\1` is a plain Python function", _JIT),
    (r"Untyped global name '(\w+)':.*<class 'builtin_function_or_method'>",
     r"`\1` is not known to Numba", _OUTSIDE),
    (r"Untyped global name '(\w+)':.*<class '([\w.]+)'>",
     r"the global `\1` is a \2, which compiled code cannot use", "pass what it holds as arguments"),
    (r"Untyped global name '(\w+)'", r"`\1` is not known to Numba", _OUTSIDE),
    (r"Use of unknown opcode '?(\w+)|Use of unsupported opcode \((\w+)\)",
     "{opcode} is not supported", _OUTSIDE),
    (r"with \(context manager\) as \(variable\)", "`with ... as` is not supported", _OUTSIDE),
    (r"Unsupported context manager|unsupported context manager",
     "this `with` is not supported", _OUTSIDE),
    (r"format spec in f-strings", "a format in an f-string is not supported",
     "leave the format out, or make the text outside"),
    (r"yield in a closure|[Gg]enerator expression",
     "a generator expression is not supported", "write a loop or a list comprehension"),
    (r"non-precise type pyobject",
     "an argument is a Python object that Numba has no type for", "pass arrays and numbers"),
    (r"Signature mismatch: (\d+) argument types given, but function takes (\d+)",
     r"the signature has \1 types, the function \2 parameters", "give one type for each"),
    (r"set_try_status", "`try` is not supported in kernels", "test the condition instead"),
    (r"printing unimplemented for values of type",
     "kernels print numbers and constant text only", "pass the values to print"),
    (r"No definition for lowering (\w+)\.(\w+)\(", r"`.\2` of an \1 is not supported here",
     _OUTSIDE),
    (r"No definition for lowering ([^\n(]+)", r"`\1` is not supported here", _OUTSIDE),
    (r"^<ufunc '(\w+)'>$", r"`np.\1` of numbers is not available in kernels",
     r"use math.\1 or an operator"),
    (r"reflected list\(.*unsupported nested memory-managed|unsupported nested memory-managed",
     "a list of lists or arrays cannot come from outside", "use numba.typed.List or an array"),
    (r"No implementation of function Function\(<built-in function (\w+)>\) found for signature:"
     r"\s*>>> \w+\(([^\n]*)\)", "{operator} of {arguments} is not known to Numba", _OUTSIDE),
    (r"No implementation of function [^\n]* found for signature:\s*>>> [\w.]+\(([^\n]*)\)",
     r"Numba has no {callee} for {arguments}", "use other argument types, or " + _OUTSIDE),
    (r"Cannot resolve setitem: (.+?)\[(.+?)\] = ([^\n]+)",
     r"\3 cannot be stored in an element of \1", "convert it first"),
    (r"cannot determine Numba type of <class '([\w.]+)'>",
     r"a \1 is not known to Numba", _OUTSIDE),
)  # fmt: skip

#: errors that no choice of argument types avoids
_CERTAIN = re.compile(
    r"of type Module\(|unsupported opcode|unknown opcode|with \(context manager\)|f-strings"
    r"|yield in a closure|NameError: name|Untyped global name|set_try_status|re-entrant"
    r"|insert_unresolved_ref|shared\.array|local\.array"
)
_FRAME = re.compile(r"^\s*(During:|File \"|Failed in |Overload|raised from|\^)")
_TAIL = re.compile(r"\s*(\.?\s*Raised from .*|defined at .*|\(?at \S+ \(\d+\)\)?)$")


def sentence(message: str, kind: str, by_numba: bool = True) -> tuple[str, str]:
    """(sentence, help) for the text of an error of the class `kind`.

    `by_numba` says whether Numba raised it on purpose.
    """
    for pattern, said, cure in _FORMS:
        match = re.search(pattern, message)
        if match:
            text = match.expand(said) if "\\" in said else said
            cure = match.expand(cure) if "\\" in cure else cure
            return readable(_filled(text, match, message)), cure
    first = _first(message)
    if not first or "0x" in first or "$" in first:
        return f"Numba fails on this ({kind})", _OUTSIDE
    return f"Numba {'says' if by_numba else 'fails on this'}: {first}", _OUTSIDE


def is_certain(message: str) -> bool:
    """Whether an error is one for all types of the arguments."""
    return _CERTAIN.search(message) is not None


def _filled(text: str, match: re.Match[str], message: str) -> str:
    if "{callee}" in text:
        text = text.replace("{callee}", f"`{callee(message)}`")
    if "{operator}" in text:
        name = match[1]
        shown = _OPERATORS.get(name, name)
        text = text.replace("{operator}", f"`{shown}`")
    if "{opcode}" in text:
        text = text.replace("{opcode}", _OPCODES.get(match[1] or match[2], "this statement"))
    if "{arguments}" in text:
        text = text.replace("{arguments}", _arguments(match[match.lastindex or 0]))
    return text


def callee(message: str) -> str:
    """The function that an error about a call speaks of, by its bare name if it gives one."""
    match = re.search(r">>> ([\w.]+)\(", message)
    return match[1] if match else "the function"


def _arguments(text: str) -> str:
    types = _split(readable(text))
    return " and ".join(types) if len(types) <= 2 else f"({', '.join(types)})"


def _split(text: str) -> list[str]:
    """The types between the commas that no bracket encloses."""
    parts, depth, start = [], 0, 0
    for at, char in enumerate(text):
        depth += (char in "([") - (char in ")]")
        if char == "," and not depth:
            parts.append(text[start:at].strip())
            start = at + 1
    return [p for p in (*parts, text[start:].strip()) if p]


def _first(message: str) -> str:
    """The first line that speaks of the code and not of the compiler, shortened."""
    for line in message.splitlines():
        line = _TAIL.sub("", line.strip())
        if line and not _FRAME.match(line) and not line.startswith("- Resolution failure"):
            return readable(line).strip().rstrip(".")[:160]
    return ""
