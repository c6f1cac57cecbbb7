"""Level 4: a plan of problems in, machines and their solutions out; knows neither estimators nor scikit-learn."""

from collections.abc import Sequence

from maxmargin.machines.kernel import solve_kernel_plan
from maxmargin.machines.linear import solve_linear_plan
from maxmargin.machines.plan import Effort, Fitted, Job, KernelPlan, LazyJobs, LinearPlan, Machine
from maxmargin.machines.watching import Caller, Observer, Printer


def solve(plan: KernelPlan | LinearPlan, observers: Sequence[Observer] = ()) -> Fitted:
    """Carry out ``plan``, telling the observers of every step."""
    if isinstance(plan, KernelPlan):
        return solve_kernel_plan(plan, observers)
    return solve_linear_plan(plan, observers)


__all__ = [
    "Caller",
    "Effort",
    "Fitted",
    "Job",
    "KernelPlan",
    "LazyJobs",
    "LinearPlan",
    "Machine",
    "Observer",
    "Printer",
    "solve",
]
