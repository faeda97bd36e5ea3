"""Shares the checks of all pages among processes, and prints what they have found as a table."""
import importlib
import multiprocessing
import time
from dataclasses import dataclass
from functools import cache

from .checks import Page, Result, summary

PAGES = ("lock", "joint", "several", "readers", "handover", "min_hold", "warm", "agreement", "debts", "order", "sent",
         "lemmas")
PROCESSES = 2


@dataclass(frozen=True)
class Task:
    page: str
    kind: str
    name: str


@cache
def page(name):
    """Returns a page, which each process builds once."""
    return Page(name, importlib.import_module(name).build)


def tasks(names, solvers):
    """Returns all that is to be checked, the longest first."""
    found = []
    for name in names:
        model = page(name).model
        found += [Task(name, "mutant", rule.name) for rule in model.rules.values()]
        found += [Task(name, solver, part) for solver in solvers for part in page(name).parts()]
        found += [Task(name, "vacuity", case) for case in page(name).possible()]
        found += [Task(name, "place", "")]
    order = ["mutant", "cvc5", "z3", "vacuity", "place"]
    return sorted(found, key=lambda task: order.index(task.kind))


def perform(task):
    """Does one task, in any process. What cannot be checked is not good."""
    try:
        this = page(task.page)
        if task.kind == "mutant":
            return [this.mutant(task.name)]
        if task.kind == "vacuity":
            return [this.vacuity(task.name)]
        if task.kind == "place":
            return this.places()
        return this.prove(task.name, task.kind)
    except Exception as error:
        return [Result(task.page, task.kind, task.name, False, f"{type(error).__name__}: {error}", 0.0)]


def run(names, solvers):
    """Checks pages. Prints a line for whatever is not good, then a table. Returns whether all is well."""
    began, results = time.monotonic(), []
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for found in pool.imap_unordered(perform, tasks(names, solvers)):
            for result in found:
                if not result.is_good:
                    print(f"NOT GOOD {result.page} {result.kind} {result.name}: {result.detail}", flush=True)
            results += found
    failed = summary(results, names)
    for result in failed:
        if result not in results:
            print(f"NOT GOOD {result.page} {result.kind} {result.name}: {result.detail}")
    print_table(names, solvers, results)
    print(f"{len(results)} checks in {time.monotonic() - began:.0f} s, {len(failed)} not good")
    return not failed


def margins_of(place):
    """Returns what an action of a page requires and no obligation needs, in any process."""
    name, action = place
    return name, action, page(name).margins(action)


def sweep(names):
    """Prints, for each action, the conditions that no obligation needs: they make it more like the code."""
    places = [(name, action) for name in names for action in page(name).model.actions]
    with multiprocessing.get_context("spawn").Pool(PROCESSES) as pool:
        for name, action, margins in pool.imap(margins_of, places):
            if margins:
                print(f"{name} {action}: {margins}", flush=True)


def print_table(names, solvers, results):
    """Prints a row for each page: how much of it there is, how much of that is good, and the seconds that it took."""
    kinds = [*solvers, "mutant", "vacuity"]
    head = ["page", "actions", "conjuncts", "goals", *(f"{kind}, s" for kind in kinds)]
    rows = []
    for name in names:
        model = page(name).model
        row = [name, len(model.actions), len(model.invariant), len(model.goals)]
        for kind in kinds:
            of_kind = [result for result in results if (result.page, result.kind) == (name, kind)]
            good = sum(result.is_good for result in of_kind)
            row.append(f"{good}/{len(of_kind)}, {sum(result.seconds for result in of_kind):.1f}")
        rows.append([str(cell) for cell in row])
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    for row in [head, *rows]:
        print("  ".join(cell.rjust(width) if place else cell.ljust(width)
                        for place, (cell, width) in enumerate(zip(row, widths, strict=True))))
