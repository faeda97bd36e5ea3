"""Proves the pages of this folder: `scripts/prove` calls it with the solvers installed.

    prove.py                 all: both solvers, every mutant, and that each action can happen
    prove.py --quick         the same by Z3 alone
    prove.py lock warm       these pages only
    prove.py --show lock grant/stays
                             a state in which an obligation fails, in a small world, if there is one
    prove.py --sweep         the conditions of actions that no obligation needs
    prove.py --export DIR    writes all formulas as SMT-LIB text, and proves nothing
"""
import argparse
import sys

from induct import export, run, spoiled


def arguments():
    parser = argparse.ArgumentParser(description="Proves the guarantees for any number of masters and clients.")
    parser.add_argument("--quick", action="store_true", help="by Z3 alone")
    parser.add_argument("--export", metavar="DIR", help="write all formulas below DIR, and prove nothing")
    parser.add_argument("--show", nargs=2, metavar=("PAGE", "OBLIGATION"),
                        help="look for a counterexample in a small world")
    parser.add_argument("--sweep", action="store_true", help="list the conditions that no obligation needs")
    parser.add_argument("pages", nargs="*", help="the pages, if not all", metavar="PAGE")
    chosen = parser.parse_args()
    unknown = set(chosen.pages) - set(run.PAGES)
    if unknown:
        parser.error(f"no such page: {', '.join(sorted(unknown))}; there are {', '.join(run.PAGES)}")
    return chosen


def show(name, obligation):
    """Prints a counterexample in the small world, if there is one."""
    page = run.page(name)
    found = [known for known in page.obligations if known.name == obligation]
    if not found:
        print(f"{name} has no such obligation; it has {', '.join(known.name for known in page.obligations)}")
        return False
    answer, state = page.counterexample(found[0])
    print(answer if state is None else state)
    return True


def main():
    chosen = arguments()
    if chosen.show:
        return show(*chosen.show)
    pages = chosen.pages or run.PAGES
    if chosen.sweep:
        run.sweep(pages)
        return True
    if chosen.export:
        for name in pages:
            print(f"{name}: {export.export(run.page(name), chosen.export)} files")
        return True
    wrong = spoiled.self_test()
    for line in wrong:
        print(f"NOT GOOD self-test, {line}")
    solvers = ("z3",) if chosen.quick else ("z3", "cvc5")
    return run.run(pages, solvers) and not wrong


if __name__ == "__main__":
    sys.exit(0 if main() else 1)
