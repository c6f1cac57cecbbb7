"""Certificates, statuses and traces as a user reads them."""

import math

from maxmargin.problems.solution import Certificate, Progress, Status, Trace, combine


def test_certificate_reads_well():
    proof = Certificate(2.0, 1.5, 0.5, 1e-4, 0.3, 1.0)
    assert proof.relative_gap == 0.25
    assert "primal     2" in repr(proof)
    assert "gap        0.5 (relative 0.25)" in repr(proof)
    assert "<table>" in proof._repr_html_()
    unproven = Certificate(math.nan, math.nan, math.nan, 1e-4, 0.0, 1.0, reason="a < b & c")
    assert "primal" not in repr(unproven)
    assert "a &lt; b &amp; c" in unproven._repr_html_()
    both = combine([proof, proof])
    assert both.gap == 1.0
    assert both.parts == (proof, proof)
    assert combine([proof]) is proof
    one_sided = proof._replace(dual=math.nan, reason="no dual value")
    assert one_sided.relative_gap == combine([one_sided, proof]).relative_gap == 0.25
    assert "\n  dual" not in repr(one_sided)
    assert Certificate(0.0, 0.0, 0.0, 0.0, 0.0, 0.0).relative_gap == 0.0
    assert Certificate(math.inf, 1.0, math.inf, 0.0, 0.0, 0.0).relative_gap == math.inf
    full = combine([proof._replace(moved=0.1, rounding=0.2, reason="why"), proof])
    assert all(word in repr(full) for word in ("moved", "rounding", "problems", "why"))


def test_status_and_trace():
    assert Status.CONVERGED.severity == 0 < Status.TIME_LIMIT.severity < Status.INFEASIBLE.severity
    assert str(Status.TIME_LIMIT).startswith("stopped at time_limit")
    trace = Trace([Progress(0, 0.0, 2.0, 0.0), Progress(9, 0.5, 1e-3, 4.0)])
    assert trace.column("violation") == [2.0, 1e-3]
    assert "9 iterations" in repr(trace)
    assert "empty" in repr(Trace())
