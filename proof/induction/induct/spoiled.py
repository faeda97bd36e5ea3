"""Spoiled pages, each of which must be refused for its own reason. Without them a proof that checks nothing would look
like one that holds.
"""
from functools import partial

from z3 import And, IntSort, Or

from .checks import Page, summary


def tank(m, *, invariant=lambda level: level <= 2, rule_breaks=("fill/low",), happens=True, code=("world",),
         rule_matters=True, case=lambda level: level >= 0, reads=(), writes="KEYS[1]"):
    """A tank that is never above two, since a valve closes it: what is well is spoiled by one argument."""
    m.variable("level", IntSort())
    level = m.state.level
    m.starts(level == 0)
    for text in reads:
        m.reads("release.lua", text)
    m.writes("release.lua", writes)
    closes = m.rule("valve", "the valve closes", level < 2 if rule_matters else And(level < 2, level < 3),
                    without=True if rule_matters else level < 2, breaks=rule_breaks)
    m.action("fill", "the tank fills", code, [closes, Or(happens, level > 9)], ("level", (), level + 1))
    m.action("empty", "the tank is emptied", ["world"], [level > 0], ("level", (), level - 1))
    m.conjunct("low", "the tank is not above two", lambda x: invariant(x.level))
    m.goal("dry", "the tank is below five", [case(level)], level < 5)


def checked(name, build, limit=None):
    """Checks a spoiled page as any other, in this process, and returns what is not good."""
    page = Page(name, build)
    results = [result for part in page.parts() for result in page.prove(part, "z3", limit)]
    if limit is None and page.obligations:
        results += [page.vacuity(case) for case in page.possible()]
        results += [page.mutant(rule) for rule in page.model.rules]
        results += page.places()
    return summary(results, [name])


CASES = [
    ("nothing is wrong", tank, {}, []),
    ("a conjunct that is not kept", tank, {"invariant": lambda level: level <= 1}, ["z3 fill/low"]),
    ("a conjunct that does not hold at first", tank, {"invariant": lambda level: level < 0},
     ["z3 init/low", "z3 fill/low", "vacuity goal/dry", "vacuity empty"]),
    ("a goal about a case that there is not", tank, {"case": lambda level: level > 5}, ["vacuity goal/dry"]),
    ("a goal that does not follow", tank, {"invariant": lambda level: level <= 9, "rule_breaks": ()},
     ["z3 goal/dry", "mutant valve"]),
    ("a mutant that survives", tank, {"rule_matters": False}, ["mutant valve"]),
    ("a mutant that breaks another obligation", tank, {"rule_breaks": ["empty/low"]}, ["mutant valve"]),
    ("a mutant that breaks more", tank, {"rule_breaks": ["empty/low", "fill/low"]}, ["mutant valve"]),
    ("an action that cannot happen", tank, {"happens": False}, ["vacuity fill", "mutant valve"]),
    ("an action that is nowhere in the code", tank, {"code": ["lock/acquire.rs:never"]}, ["place fill"]),
    ("a statement that is no longer in the code", tank, {"reads": ["return 0", "return 9"]}, ["place return 9"]),
    ("a script that writes more", tank, {"writes": "KEYS[2]"}, ["place release.lua writes"]),
]


def self_test():
    """Returns a line for each spoiled page that was not refused as it must be."""
    wrong = []
    # One step is too few for any proof.
    unknown = checked("a solver that answers unknown", tank, limit=1)
    for name, build, spoils, expected in CASES:
        found = checked(name, partial(build, **spoils))
        kinds = [f"{result.kind} {result.name}" for result in found]
        if sorted(kinds) != sorted(expected):
            wrong.append(f"{name}: refused {kinds}, and not {expected}")
    if not any("answers unknown" in result.detail for result in unknown):
        wrong.append(f"a solver that answers unknown: {unknown}")
    unspoiled = [kind.page for kind in summary([], ["no page"])]
    if len(unspoiled) != 2:
        wrong.append(f"a page without obligations and mutants: {unspoiled}")
    empty = checked("a page without obligations", lambda m: None)
    if not any("no obligations" in result.detail for result in empty):
        wrong.append(f"a page without obligations: {empty}")
    return wrong


__all__ = ["self_test"]
