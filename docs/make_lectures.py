"""Runs every demonstration and writes the pages of docs/lectures: ``python docs/make_lectures.py [PAGE ...]``."""

import pathlib
import sys
import time

from maxmargin.lectures.page import pages, remove_unused_pictures, write_page

FOLDER = pathlib.Path(__file__).parent / "lectures"

if __name__ == "__main__":
    chosen = sys.argv[1:]
    for page in pages():
        if not chosen or page.name in chosen:
            begun = time.perf_counter()
            write_page(page, FOLDER)
            print(f"lectures/{page.name}.md  {time.perf_counter() - begun:.1f} s", flush=True)
    if not chosen:
        for name in remove_unused_pictures(FOLDER):
            print(f"lectures/images/{name}  removed: no page shows it")
