r"""Note 004: kernels, and machines at work

"Support vector machine, kernelization" (M. Z. Alom, University of Memphis). Labels are $-1$ and $+1$, the hyperplane
is $w^Tx + b = 0$, the soft margin machine minimises $\frac12\|w\|^2 + C\sum_i\xi_i$. The note calls $2/\|w\|$ the
margin (004:54) and, in figure 23.2, $1/\|w\|$ (004:370); here `margin_` is $1/\|w\|$. Numbers such as 004:54 are
lines of the note. The algorithms are in `maxmargin.textbook`; the machine for work is `SVC`.
"""

from maxmargin.lectures.note_004.boundaries import alphas_and_slacks, good_boundaries
from maxmargin.lectures.note_004.components import denoised_digits, dual_components, unrolled_components
from maxmargin.lectures.note_004.feature_spaces import angles, lifting, quadratic_map
from maxmargin.lectures.note_004.kernels_gallery import kernel_gallery, mercer_map
from maxmargin.lectures.note_004.machines_at_work import applications, black_art
from maxmargin.lectures.note_004.measured_strengths import strengths
from maxmargin.lectures.note_004.multiclass_loss import slide_losses
from maxmargin.lectures.note_004.optimisers import algorithm_23_1, infeasible_start
from maxmargin.lectures.note_004.photographs import tanks
from maxmargin.lectures.note_004.radial_networks import rbf_network
from maxmargin.lectures.note_004.support_counts import ockham
from maxmargin.lectures.note_004.worked_example import example_23_3

DEMONSTRATIONS = (
    good_boundaries,
    infeasible_start,
    alphas_and_slacks,
    lifting,
    mercer_map,
    angles,
    quadratic_map,
    kernel_gallery,
    example_23_3,
    rbf_network,
    algorithm_23_1,
    slide_losses,
    strengths,
    ockham,
    applications,
    black_art,
    tanks,
    dual_components,
    unrolled_components,
    denoised_digits,
)
