r"""Errata: slips of the notes, and the computations that show them

Notes are written fast and read for years. Here is where a note is at odds with itself or with what can be computed. A
line is given by note and line number of the text (003:207 is line 207 of note 003). Each row has what is printed, what
holds, and what a computation found; letters, numbers and spelling have none. Where notes merely differ from each other,
see [the table of conventions](../conventions.md). Table 23.1 is [that of note 004](004.md#example-23-3).
"""

from maxmargin.lectures.errata.note_000 import slips_000
from maxmargin.lectures.errata.note_001 import slips_001
from maxmargin.lectures.errata.note_002 import slips_002
from maxmargin.lectures.errata.note_003 import slips_003
from maxmargin.lectures.errata.note_004 import slips_004

DEMONSTRATIONS = (
    slips_000,
    slips_001,
    slips_002,
    slips_003,
    slips_004,
)
