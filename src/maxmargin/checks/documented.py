"""Where the documentation of an estimator is: notebooks link to it."""

from __future__ import annotations

from typing import Any

SITE = "https://maxmargin.readthedocs.io/en/latest"


class Documented:
    """The HTML that notebooks show of an estimator links to its entry in the reference."""

    _doc_link_module = "maxmargin"
    _doc_link_template = SITE + "/reference/maxmargin.html#{anchor}"

    def _doc_link_url_param_generator(self) -> dict[str, Any]:
        return {"anchor": type(self).__name__.lower()}
