"""Memory, branches, barriers, warps, atomics, calls and errors of the machine, on small kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from porter.ptx.errors import AccessError, DeadlockError, TooLong, Unsupported
from porter.ptx.machine.counts import Counts
from porter.ptx.machine.task import Code, Work
from porter.ptx.text.parser import parse
from tests.support.ptx import HEAD, code, start

#: %d0 is the address of the thread's element of the first array (8 bytes), %d1 of the second
PLACE = "mad.wide.u32 %d0, %i, 8, %a0; mad.wide.u32 %d1, %i, 8, %a1;"


def ran(body: str, threads: int, *arrays: Any, block: int = 64, more: str = "", **how: Any) -> int:
    return start(code(body, len(arrays), more), list(arrays), threads, block, **how)


def test_threads_part_and_meet() -> None:
    x = np.arange(200, dtype=np.int64)
    out = np.zeros(200, np.int64)
    ran(
        PLACE + """
        ld.global.u64 %d2, [%d0]; mov.u64 %d3, 0;
        LOOP: setp.le.s64 %p0, %d2, 1; @%p0 bra DONE;
        and.b64 %d4, %d2, 1; setp.eq.s64 %p1, %d4, 0;
        @%p1 bra EVEN; mad.lo.s64 %d2, %d2, 3, 1; bra.uni NEXT;
        EVEN: shr.s64 %d2, %d2, 1;
        NEXT: add.s64 %d3, %d3, 1; bra LOOP;
        DONE: st.global.u64 [%d1], %d3;""",
        200, x, out, block=50,
    )  # fmt: skip

    def steps(n: int) -> int:
        count = 0
        while n > 1:
            n, count = (n // 2 if n % 2 == 0 else 3 * n + 1), count + 1
        return count

    assert out.tolist() == [steps(n) for n in range(200)]


@pytest.mark.parametrize("count", [2, 3])
def test_neighbouring_threads_access_several_arrays(count: int) -> None:
    sources = [np.arange(96, dtype=np.int64) + 1000 * k for k in range(count)]
    targets = [np.zeros(96, np.int64) for _ in range(count)]
    sums = [np.zeros(96, np.int64) for _ in range(count)]
    choose = "".join(
        f"setp.eq.u32 %p0, %r0, {k}; @%p0 mov.u64 %d0, %a{k}; @%p0 mov.u64 %d1, %a{k + count};"
        f"@%p0 mov.u64 %d2, %a{k + 2 * count};"
        for k in range(count)
    )
    ran(
        f"rem.u32 %r0, %i, {count};" + choose + """
        mad.wide.u32 %d0, %i, 8, %d0; mad.wide.u32 %d1, %i, 8, %d1;
        ld.global.u64 %d3, [%d0]; st.global.u64 [%d1], %d3;
        atom.global.add.u64 %d4, [%d2], %d3; red.global.add.u64 [%d2+8], %d4;""",
        96, *sources, *targets, *sums, block=48,
    )  # fmt: skip
    for k in range(count):
        own = np.arange(96) % count == k
        assert targets[k].tolist() == np.where(own, sources[k], 0).tolist()
        chosen = sources[k][own]
        before = np.cumsum(chosen) - chosen
        assert sums[k][:2].tolist() == [chosen.sum(), before.sum()]


def test_guards_and_branch_tables() -> None:
    x, out = np.arange(64) % 5, np.zeros(64, np.int64)
    ran(
        PLACE + """
        ld.global.u64 %d2, [%d0]; cvt.u32.u64 %r0, %d2; setp.ge.u32 %p0, %r0, 3;
        mov.u64 %d3, -1; @%p0 mov.u64 %d3, 30; @!%p0 add.s64 %d3, %d3, 1; @%p0 bra END;
        T: .branchtargets A, B, C;
        brx.idx %r0, T;
        A: add.s64 %d3, %d3, 10; bra END;
        B: add.s64 %d3, %d3, 11; bra END;
        C: add.s64 %d3, %d3, 12;
        END: st.global.u64 [%d1], %d3;""",
        64, x, out,
    )  # fmt: skip
    assert out.tolist() == [30 if k >= 3 else 10 + k for k in x]


REVERSE = (
    PLACE
    + """
    .shared .align 8 .b8 held[512];
    mov.u64 %d5, held; mov.u32 %r0, %tid.x; mad.wide.u32 %d6, %r0, 8, %d5;
    ld.global.u64 %d2, [%d0]; st.shared.u64 [%d6], %d2;
    BARRIER
    sub.u32 %r1, 63, %r0; mad.wide.u32 %d7, %r1, 8, %d5;
    ld.shared.u64 %d3, [%d7]; st.global.u64 [%d1], %d3;"""
)


def test_a_barrier_orders_shared_memory_and_its_want_shows() -> None:
    x, out = np.arange(192), np.zeros(192, np.int64)
    wanted = x.reshape(3, 64)[:, ::-1].ravel()
    for word in (
        "bar.sync 0;",
        "barrier.sync 0;",
        "bar.sync 0; membar.cta;",
        "bar.sync 0; fence.acq_rel.gpu; nanosleep.u32 20;",
    ):
        for seed in (None, 1, 2):
            ran(REVERSE.replace("BARRIER", word), 192, x, out, seed=seed)
            assert (out == wanted).all()
    # warps together hide it, one after another do not
    ran(REVERSE.replace("BARRIER", ""), 192, x, out)
    assert (out == wanted).all()
    ran(REVERSE.replace("BARRIER", ""), 192, x, out, seed=1)
    assert not (out == wanted).all() and (out == -1).any()


def test_barriers_reduce() -> None:
    out = np.zeros((3, 128), np.int64)
    ran(
        """mad.wide.u32 %d0, %i, 8, %a0; mov.u32 %r0, %tid.x; setp.lt.u32 %p0, %r0, 7;
        bar.red.popc.u32 %r1, 0, %p0; bar.red.and.pred %p1, 0, %p0; barrier.red.or.pred %p2, 0, %p0;
        barrier.red.popc.u32 %r6, 0, !%p0;
        bar.red.or.pred %p5, 0, !%p0; barrier.red.and.pred %p6, 0, %p0;
        selp.u32 %r2, 1, 0, %p1; selp.u32 %r3, 2, 0, %p2; or.b32 %r4, %r2, %r3;
        cvt.u64.u32 %d2, %r1; st.global.u64 [%d0], %d2; cvt.u64.u32 %d3, %r4;
        st.global.u64 [%d0+1024], %d3; cvt.u64.u32 %d4, %r6; st.global.u64 [%d0+2048], %d4;""",
        128, out.reshape(-1), seed=4,
    )  # fmt: skip
    assert (out[0] == 7).all() and (out[1] == 2).all() and (out[2] == 57).all()


def test_lanes_exchange() -> None:
    x, out = np.arange(96, dtype=np.int64), np.zeros(96, np.int64)

    def exchanged(operation: str) -> list[int]:
        ran(
            PLACE + f"ld.global.u64 %d2, [%d0]; cvt.u32.u64 %r0, %d2; {operation}"
            " cvt.u64.u32 %d3, %r1; st.global.u64 [%d1], %d3;",
            96, x, out, block=96,
        )  # fmt: skip
        return out.tolist()

    lane, first = x % 32, x // 32 * 32
    down = exchanged("shfl.sync.down.b32 %r1|%p0, %r0, 4, 31, -1;")
    assert down == np.where(lane + 4 < 32, x + 4, x).tolist()
    up = exchanged("shfl.sync.up.b32 %r1, %r0, 3, 0, -1;")
    assert up == np.where(lane >= 3, x - 3, x).tolist()
    assert exchanged("shfl.sync.bfly.b32 %r1, %r0, 5, 31, -1;") == (first + (lane ^ 5)).tolist()
    assert exchanged("shfl.sync.idx.b32 %r1, %r0, 9, 31, -1;") == (first + 9).tolist()
    # segments of 8 lanes
    parts = exchanged("shfl.sync.down.b32 %r1, %r0, 1, 6175, -1;")
    assert parts == np.where(x % 8 < 7, x + 1, x).tolist()
    odd = "and.b32 %r2, %r0, 1; setp.eq.u32 %p0, %r2, 1;"
    masked = exchanged("shfl.sync.bfly.b32 %r1, %r0, 1, 31, 1;")
    assert set(masked) == {0xFFFFFFFF}  # the ISA leaves open what a lane outside of its mask gets
    votes = exchanged(f"{odd} vote.sync.ballot.b32 %r1, %p0, -1;")
    assert set(votes) == {0xAAAAAAAA}
    for word, wanted in (("all", 0), ("any", 1), ("uni", 0)):
        text = f"setp.lt.u32 %p0, %r0, 70; vote.sync.{word}.pred %p1, %p0, -1;"
        text += " selp.u32 %r1, 1, 0, %p1;"
        assert exchanged(text)[95] == wanted and exchanged(text)[0] == 1
    assert exchanged("shr.u32 %r2, %r0, 3; match.any.sync.b32 %r1, %r2, -1;")[9] == 0xFF00
    assert exchanged("shr.u32 %r2, %r0, 5; match.all.sync.b32 %r1|%p0, %r2, -1;")[9] == 2**32 - 1
    sums = exchanged("redux.sync.add.u32 %r1, %r0, -1;")
    assert sums == (x.reshape(3, 32).sum(axis=1).repeat(32)).tolist()
    assert exchanged("redux.sync.min.s32 %r1, %r0, -1;") == first.tolist()
    active = exchanged("mov.u32 %r1, 0; setp.lt.u32 %p0, %r0, 5; @%p0 activemask.b32 %r1;")
    assert active[:6] == [31] * 5 + [0]
    assert exchanged("bar.warp.sync -1; mov.u32 %r1, %laneid;") == lane.tolist()
    assert exchanged("mov.u32 %r1, %lanemask_lt;") == ((1 << lane) - 1).tolist()


def test_lanes_wait_for_those_that_an_operation_names() -> None:
    x, out = np.arange(32, dtype=np.int64), np.zeros(32, np.int64)
    text = (
        PLACE
        + """
        mov.u32 %r0, %laneid; setp.lt.u32 %p0, %r0, 16; @%p0 bra LOW;
        shfl.sync.idx.b32 %r1, %r0, 20, 31, HIGH_MASK; bra END;
        LOW: shfl.sync.idx.b32 %r1, %r0, 3, 31, 65535;
        END: cvt.u64.u32 %d3, %r1; st.global.u64 [%d1], %d3;"""
    )
    ran(text.replace("HIGH_MASK", "-65536"), 32, x, out, block=32)
    assert out.tolist() == [3] * 16 + [20] * 16
    with pytest.raises(DeadlockError, match=r"some lanes of a warp at `shfl.sync.idx.b32`"):
        ran(text.replace("HIGH_MASK", "-1"), 32, x, out, block=32)


@pytest.mark.parametrize("threads", [40, 256])
@pytest.mark.parametrize("wanted", [True, False])
def test_atomics_take_one_thread_after_another(threads: int, wanted: bool) -> None:
    x = np.random.default_rng(2).integers(0, 1 << 31, threads)
    rows: dict[str, Any] = {
        "add.u64": lambda o, v: (o + v) % 2**64, "min.u64": min, "max.s64": max,
        "and.b64": lambda o, v: o & v, "or.b64": lambda o, v: o | v, "xor.b64": lambda o, v: o ^ v,
        "exch.b64": lambda o, v: v,
    }  # fmt: skip
    for name, function in rows.items():
        if not wanted and name == "exch.b64":
            continue
        total, old = np.full(5, 12345678), np.zeros(threads, np.int64)
        word = (
            f"atom.global.{name} %d3, [%d4], %d2;" if wanted else f"red.global.{name} [%d4], %d2;"
        )
        ran(
            f"""mad.wide.u32 %d0, %i, 8, %a0; mad.wide.u32 %d1, %i, 8, %a1; rem.u32 %r0, %i, 5;
            mad.wide.u32 %d4, %r0, 8, %a2; ld.global.u64 %d2, [%d0]; mov.u64 %d3, 0;
            {word} st.global.u64 [%d1], %d3;""",
            threads, x, old, total, block=threads,
        )  # fmt: skip
        cells, before = [12345678] * 5, []
        for k, value in enumerate(x.tolist()):
            before.append(cells[k % 5])
            cells[k % 5] = function(cells[k % 5], value)
        assert total.tolist() == cells
        assert not wanted or old.tolist() == before


def test_other_atomics() -> None:
    count, out = np.zeros(1, np.uint64), np.zeros(70, np.int64)
    ran(
        """mad.wide.u32 %d1, %i, 8, %a1; atom.global.inc.u32 %r1, [%a0], 9;
        atom.global.dec.u32 %r2, [%a0+4], 3; red.global.inc.u32 [%a0], 9;
        red.global.dec.u32 [%a0+4], 3;
        mad.lo.u32 %r3, %r2, 100, %r1; cvt.u64.u32 %d2, %r3; st.global.u64 [%d1], %d2;""",
        70, count, out, block=70,
    )  # fmt: skip
    assert (out % 100).tolist() == [k % 10 for k in range(70)]
    assert (out // 100).tolist() == [0 if k == 0 else (4 - k % 4) % 4 for k in range(70)]
    # the sum by compare-and-swap, as compilers spell what has no instruction
    total = np.zeros(1)
    x = np.random.default_rng(0).integers(0, 9, 300).astype(np.float64)
    ran(
        """mad.wide.u32 %d0, %i, 8, %a0; ld.global.f64 %g0, [%d0]; ld.global.u64 %d2, [%a1];
        AGAIN: mov.b64 %g1, %d2; add.f64 %g1, %g1, %g0; mov.b64 %d3, %g1; mov.u64 %d4, %d2;
        atom.global.cas.b64 %d2, [%a1], %d4, %d3; setp.ne.s64 %p0, %d2, %d4; @%p0 bra AGAIN;""",
        300, x, total, block=100,
    )  # fmt: skip
    assert total[0] == x.sum()


def test_local_memory_and_generic_addresses() -> None:
    out = np.zeros(96, np.int64)
    ran(
        """.local .align 8 .b8 own[80]; .shared .align 8 .b8 held[768]; .reg .b64 %s<9>;
        mad.wide.u32 %d0, %i, 8, %a0; cvt.u64.u32 %d1, %i; mov.u64 %s0, own;
        cvta.local.u64 %s1, %s0; rem.u32 %r0, %i, 10; mad.wide.u32 %s2, %r0, 8, %s1;
        st.u64 [%s2], %d1; mad.wide.u32 %s3, %r0, 8, %s0; ld.local.u64 %d2, [%s3];
        mov.u64 %s4, held; cvta.shared.u64 %s5, %s4; mov.u32 %r1, %tid.x;
        mad.wide.u32 %s6, %r1, 8, %s5; st.u64 [%s6], %d2; cvta.to.shared.u64 %s7, %s6;
        ld.shared.u64 %d3, [%s7]; cvta.global.u64 %d4, %d0; cvta.to.global.u64 %d0, %d4;
        st.u64 [%d0], %d3;""",
        96, out, block=32,
    )  # fmt: skip
    assert out.tolist() == list(range(96))


def test_vectors_and_small_types() -> None:
    x = np.arange(64, dtype=np.uint8)
    out = np.zeros(64, np.int64)
    ran(
        """mad.wide.u32 %d0, %i, 4, %a0; mad.wide.u32 %d1, %i, 32, %a1;
        ld.global.v4.u8 {%h0, %h1, %h2, %h3}, [%d0]; cvt.s64.s8 %d2, %h0; neg.s16 %h1, %h1;
        cvt.s64.s8 %d3, %h1; cvt.u64.u8 %d4, %h2; ld.global.s8 %h4, [%d0+3]; cvt.s64.s16 %d5, %h4;
        st.global.v2.u64 [%d1], {%d2, %d3}; st.global.v2.u64 [%d1+16], {%d4, %d5};""",
        16, x, out, block=16,
    )  # fmt: skip
    signs = np.where(np.arange(64) % 4 == 1, -1, 1)
    assert out.tolist() == (np.arange(64) * signs).tolist()


CALLED = """
.func (.param .b64 back) twice(.param .b64 x, .param .b32 n)
{ .reg .b64 %d<4>; .reg .b32 %r<4>; .reg .pred %p<2>;
  ld.param.u64 %d1, [x]; ld.param.u32 %r1, [n]; setp.eq.u32 %p1, %r1, 0; @%p1 bra NONE;
  add.s64 %d1, %d1, %d1; st.param.b64 [back+0], %d1; ret;
  NONE: st.param.b64 [back+0], %d1; ret; }
"""


def test_functions_are_called() -> None:
    x, out = np.arange(64), np.zeros(64, np.int64)
    text = (
        PLACE
        + """
        ld.global.u64 %d2, [%d0]; and.b32 %r0, %i, 1;
        { .param .b64 one; .param .b32 two; st.param.b64 [one+0], %d2; st.param.b32 [two+0], %r0;
          .param .b64 result; call.uni (result), twice, (one, two); ld.param.b64 %d3, [result+0]; }
        st.global.u64 [%d1], %d3;"""
    )
    ran(text, 64, x, out, more=CALLED)
    assert out.tolist() == [k * (1 + k % 2) for k in range(64)]
    with pytest.raises(Unsupported, match="a call of `other`, which is not in the module"):
        ran(text.replace("twice", "other"), 64, x, out, more=CALLED)


def test_what_lies_outside_of_all_arrays_is_reported() -> None:
    x, out = np.arange(64), np.zeros(64, np.int64)
    text = ".loc 1 17 0\n" + PLACE + "ld.global.u64 %d2, [%d0+8]; st.global.u64 [%d1], %d2;"
    with pytest.raises(AccessError) as found:
        ran(text, 64, x.reshape(-1), out, block=32)
    assert str(found.value) == (
        "thread (31, 0, 0) of block (1, 0, 0) reads 8 bytes at an address outside of all arrays,"
        " 8 bytes beyond the end of `x0` (`ld.global.u64`, line 17)"
    )
    text = PLACE + "st.global.u64 [%d0-8], %d0;"
    with pytest.raises(AccessError, match=r"writes 8 bytes .* 8 bytes before `x0`"):
        ran(text, 64, x, out)
    with pytest.raises(AccessError, match="an address that is not aligned"):
        ran(PLACE + "ld.global.u64 %d2, [%d0+4];", 64, x, out)
    shared = ".shared .align 8 .b8 held[64]; mov.u64 %d5, held; st.shared.u64 [%d5+64], %d5;"
    with pytest.raises(AccessError, match="offset 64 of 64 bytes of shared memory"):
        ran(shared, 4, x, block=4)


def test_threads_that_never_meet_are_reported() -> None:
    x = np.arange(64)
    text = "setp.lt.u32 %p0, %r17, 8; @%p0 bra A; bar.sync 0; bra B; A: bar.sync 1; B:"
    with pytest.raises(DeadlockError, match="threads of a block at barriers of different numbers"):
        ran(text, 64, x)
    # warps that have ended are not waited for; lanes of a warp have to wait together
    text = "setp.lt.u32 %p0, %r17, {}; @%p0 exit; {}.sync 0;"
    ran(text.format(32, "bar"), 64, x)
    ran(text.format(8, "barrier"), 64, x)
    with pytest.raises(DeadlockError, match="lanes of a warp ended before the barrier"):
        ran(text.format(8, "bar"), 64, x)
    # warps may wait at different barriers of one number, the lanes of a warp may not
    text = "setp.lt.u32 %p0, %r17, {}; @%p0 bra A; {}.sync 0; bra B; A: {}.sync 0; B:"
    ran(text.format(32, "bar", "bar"), 64, x)
    ran(text.format(8, "barrier", "barrier"), 64, x)
    with pytest.raises(DeadlockError, match="lanes of one warp wait at different barriers"):
        ran(text.format(8, "bar", "bar"), 64, x)
    with pytest.raises(TooLong):
        ran("A: bra A;", 64, x, work=Work(100_000))
    # one thread takes as long as some
    for threads, taken in ((1, 32), (64, 64)):
        work = Work(10**6, least=32)
        ran("add.u32 %r0, %i, 1;", threads, x, block=threads, work=work)
        assert work.spent == taken * (work.spent // taken) > 0
        plain = Work(10**6)
        ran("add.u32 %r0, %i, 1;", threads, x, block=threads, work=plain)
        assert work.spent // taken == plain.spent // threads


def test_dynamic_shared_memory_and_module_variables() -> None:
    more = (
        ".extern .shared .align 16 .b8 given[];\n"
        ".const .align 8 .f64 table[3] = {0d3FF0000000000000,"
        " 0d4000000000000000, 0d4008000000000000};\n.global .align 4 .u32 counter;"
    )
    out = np.zeros(32)
    body = """mov.u64 %d2, given; mov.u32 %r0, %tid.x; mad.wide.u32 %d3, %r0, 8, %d2;
        rem.u32 %r1, %r0, 3; mov.u64 %d4, table; mad.wide.u32 %d5, %r1, 8, %d4;
        ld.const.f64 %g0, [%d5]; st.shared.f64 [%d3], %g0; mov.u64 %d6, counter;
        atom.global.add.u32 %r2, [%d6], 1; mad.wide.u32 %d0, %i, 8, %a0; ld.shared.f64 %g1, [%d3];
        cvt.rn.f64.u32 %g2, %r2; fma.rn.f64 %g1, %g2, 0d4024000000000000, %g1;
        st.global.f64 [%d0], %g1;"""
    ran(body, 32, out, block=32, more=more, dynamic=256)
    assert out.tolist() == [k % 3 + 1 + 10 * k for k in range(32)]
    size = """mov.u32 %r0, %dynamic_smem_size; cvt.rn.f64.u32 %g1, %r0;
        mad.wide.u32 %d0, %i, 8, %a0; st.global.f64 [%d0], %g1;"""
    ran(size, 32, out, block=32, more=more, dynamic=256)
    assert set(out.tolist()) == {256.0}
    with pytest.raises(AccessError, match="of 128 bytes of shared memory"):
        ran(body, 32, out, block=32, more=more, dynamic=128)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("tex.2d.v4.f32.f32 {%f0, %f1, %f2, %f3}, [%d0, {%f0, %f1}];", "tex.2d.v4.f32.f32"),
        ("mov.u32 %r0, %clock;", "the register `%clock`"),
        ("add.f64 %g0, %g1;", "the operands of `add.f64`"),
        ("add.rz.f64 %g0, %g1, %g1;", "the instruction `add.rz.f64`"),
        ("bra NOWHERE;", "a branch to `NOWHERE`, which is no label"),
        ("bar.sync 0, 32;", "`bar.sync` with a number of threads"),
        ("mov.u32 %r0, %q0;", "the register `%q0`"),
        ("cvt.f32.f64 %f0, %g0;", "the instruction `cvt.f32.f64`"),
    ],
)
def test_what_the_machine_does_not_have_is_named_with_its_line(text: str, said: str) -> None:
    with pytest.raises(Unsupported) as found:
        code(f"\n\n{text}")
    assert said in str(found.value)
    line = int(str(found.value).split("line ")[1].split(" ")[0])
    assert text.split(" ")[0] in code_line(f"\n\n{text}", line)


def code_line(body: str, line: int) -> str:
    """A line of the text that `code` makes of a body."""
    captured: list[str] = []
    plain = Code.__init__
    try:
        Code.__init__ = lambda self, text: captured.append(text)  # type: ignore[method-assign]
        code(body)
    finally:
        Code.__init__ = plain  # type: ignore[method-assign]
    return captured[0].splitlines()[line - 1]


@pytest.mark.parametrize(
    "text",
    [".entry k() { .reg .b128 %x; }", ".section .debug_info { }", ".entry k() { add.u32 a, b; } ?"],
)
def test_text_outside_of_the_grammar_is_named(text: str) -> None:
    with pytest.raises(Unsupported, match="line 4 of the PTX"):
        parse(HEAD + text)


def test_a_module_is_immutable_records() -> None:
    module = parse(
        HEAD + ".visible .entry k(.param .u64 p) { .reg .b32 %r<2>; mov.u32 %r1, 5; ret; }"
    )
    (kernel,) = module.functions
    assert (module.version, module.target, kernel.name, kernel.entry) == ("8.0", "sm_90", "k", True)
    assert kernel.registers == {"%r0": "b32", "%r1": "b32"} and kernel.parameters[0].size == 8
    assert kernel.body is not None
    assert [getattr(s, "opcode", "") for s in kernel.body] == ["mov.u32", "ret"]
    with pytest.raises(AttributeError):
        kernel.name = "other"  # type: ignore[misc]


@pytest.mark.parametrize("said", [".ptr", ".ptr .global", ".ptr .align 1", ".ptr .global .align 8"])
def test_a_parameter_may_say_what_it_points_to(said: str) -> None:
    module = parse(HEAD + f".entry k(.param .u64 {said} p, .param .u32 q) {{ ret; }}")
    first, second = module.functions[0].parameters
    # the alignment is that of what it points to
    assert (first.name, first.type, first.size, first.align) == ("p", "u64", 8, 8)
    assert (second.name, second.size) == ("q", 4)


#: what a warp reads of 4-byte elements, the sectors that it takes, and the fewest
SECTORS = [
    ("shl.b32 %r0, %i, 2;", 4, 4),  # unit stride
    ("shl.b32 %r0, %i, 3;", 8, 4),  # stride 2
    ("shl.b32 %r0, %i, 7;", 32, 4),  # stride 32
    ("mov.u32 %r0, 0;", 1, 1),  # broadcast
    ("shl.b32 %r0, %i, 2; add.u32 %r0, %r0, 4;", 5, 4),  # misaligned
    ("sub.u32 %r0, 31, %i; shl.b32 %r0, %r0, 2;", 4, 4),  # reversed
]


@pytest.mark.parametrize(("place", "sectors", "ideal"), SECTORS)
def test_sectors_are_counted(place: str, sectors: int, ideal: int) -> None:
    memory = np.zeros(2048, np.float32)
    aligned = memory[(-memory.ctypes.data % 32) // 4 :][:1100]
    counts = Counts()
    body = f"{place} cvt.u64.u32 %d0, %r0; add.s64 %d0, %d0, %a0; ld.global.f32 %f0, [%d0];"
    ran(body, 32, aligned, block=32, counts=counts)
    assert (counts.requests, counts.sectors, counts.ideal) == (1, sectors, ideal)
    assert counts.unique_bytes(False) == (4 if "mov" in place else 128)
    assert counts.threads["load"] >= 32 and counts.active == 1


#: how a warp stores into shared memory, the bytes of each, and the passes beyond the fewest
BANKS = [
    ("shl.b32 %r0, %i, 2;", "b32", 0),
    ("shl.b32 %r0, %i, 3;", "b32", 1),
    ("shl.b32 %r0, %i, 7;", "b32", 31),  # a column of an unpadded tile
    ("mul.lo.u32 %r0, %i, 132;", "b32", 0),  # of a padded one
    ("mov.u32 %r0, 0;", "b32", 0),  # broadcast
    ("shl.b32 %r0, %i, 3;", "b64", 0),
    ("shl.b32 %r0, %i, 4;", "b64", 2),
]


@pytest.mark.parametrize(("place", "kind", "conflicts"), BANKS)
def test_bank_conflicts_are_counted(place: str, kind: str, conflicts: int) -> None:
    counts, x = Counts(), np.zeros(1)
    value = "%r0" if kind == "b32" else "%d1"
    body = f""".shared .align 8 .b8 held[8192]; {place} mov.u64 %d1, held; cvt.u64.u32 %d2, %r0;
        add.s64 %d2, %d2, %d1; st.shared.{kind} [%d2], {value}; bar.sync 0;"""
    ran(body, 32, x, block=32, counts=counts)
    assert (counts.shared_requests, counts.conflicts, counts.barriers) == (1, conflicts, 1)


def test_active_lanes_are_counted() -> None:
    counts, x = Counts(), np.zeros(1)
    made = code(
        "setp.lt.u32 %p0, %i, 8; @%p0 bra A; bra B; A: " + "add.u32 %r0, %i, 1;" * 40 + "B:"
    )
    before = start(made, [x], 64, block=64, counts=counts)
    # of two warps seven instructions before they part, `bra B` and `ret`; of one the sums
    assert counts.instructions == before and counts.warps == 2 * 9 + 40
    assert counts.threads["integer"] == 2 * 64 + 40 * 8
    assert counts.to_json()["active_lanes"] == round(before / (32 * counts.warps), 4)
