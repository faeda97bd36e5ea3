"""What is checked of a page. Each check returns its results, of which every one has to be good."""
import re
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from z3 import Not, is_false

from . import solvers
from .model import Model
from .world import World

ROOT = Path(__file__).resolve().parents[3]
PLACES = (ROOT / "core/src", ROOT / "core/src/wire/scripts", ROOT / "src")
# The commands of a script that change no key.
READS = {"GET", "PTTL", "PUBLISH", "TIME", "ZCARD", "ZRANGE", "ZRANGEBYSCORE", "ZRANK", "ZSCORE"}
# A mutant's obligations that are kept are proved as easily as the page's own, or there is a counterexample.
FIRST_TRY = 20_000_000


@dataclass(frozen=True)
class Result:
    """One line of what was checked."""

    page: str
    kind: str
    name: str
    is_good: bool
    detail: str
    seconds: float


class Page:
    """A page, its mutants, and its small world."""

    def __init__(self, name, build):
        self.name, self.build = name, build
        self.model = self.built()
        self.world = World(self.model.sizes)
        self.obligations = list(self.model.obligations())

    def built(self, without=None, without_condition=None):
        model = Model(without, without_condition)
        self.build(model)
        return model

    def timed(self, kind, name, check):
        """Runs a check, which returns whether all is well, and a remark."""
        began = time.monotonic()
        is_good, detail = check()
        return Result(self.name, kind, name, is_good, detail, time.monotonic() - began)

    # The proof.

    def parts(self):
        """Returns the parts in which the proof may be shared out: the first state, each action, the goals."""
        return list(dict.fromkeys(obligation.name.split("/")[0] for obligation in self.obligations))

    def prove(self, part, solver, limit=None):
        """Proves the obligations of one part."""
        ask = solvers.BY_NAME[solver]
        limits = {} if limit is None else {"limit": limit}

        def proved(obligation):
            answer = ask(obligation, **limits)
            if answer == "unsat":
                return True, ""
            return False, f"{solver} answers {answer}; in a small world there is {self.counterexample(obligation)[0]}"

        chosen = [obligation for obligation in self.obligations if obligation.name.split("/")[0] == part]
        return [self.timed(solver, claim.name, lambda claim=claim: proved(claim)) for claim in chosen]

    def counterexample(self, obligation):
        """Looks for a counterexample in the small world, and returns how that ended, and the state."""
        return self.world.solve([*obligation.hypotheses, Not(obligation.conclusion)])

    # That it could fail.

    def possible(self):
        """Returns what has to be possible: a first state, each action, and the case that each goal speaks of, unless
        the goal is that there is no such case."""
        cases = [f"goal/{goal.name}" for goal in self.model.goals.values() if not is_false(goal.conclusion)]
        return ["init", *cases, *self.model.actions]

    def vacuity(self, name):
        """Checks that there is a first state, or a state with the whole invariant in which an action, or a case, is
        possible."""
        if name == "init":
            formulas = [*self.model.assumed(), *self.model.first]
        elif name in self.model.actions:
            formulas = [*self.model.hypotheses(), self.model.step(name)]
        else:
            formulas = [*self.model.hypotheses(), *self.model.goals[name.removeprefix("goal/")].hypotheses]

        def is_possible():
            answer, _ = self.world.solve(formulas)
            return answer == "sat", "" if answer == "sat" else f"cannot happen under the invariant: {answer}"

        return self.timed("vacuity", name, is_possible)

    def broken(self, without):
        """Returns the obligations that fail if a rule is taken back, and those of which nothing is known. What the rule
        does not change was proved with the page."""
        return self.failing(self.built(without), self.model.rules[without].breaks)

    def failing(self, model, expected=()):
        """Returns the obligations of a model that fail, and those of which nothing is known."""
        proved = {obligation.name: obligation.key() for obligation in self.obligations}
        broken, undecided = set(), set()
        for obligation in model.obligations():
            if proved.get(obligation.name) == obligation.key():
                continue
            if obligation.name not in expected and solvers.z3(obligation, FIRST_TRY) == "unsat":
                continue
            if self.counterexample(obligation)[0] == "sat":
                broken.add(obligation.name)
            elif solvers.z3(obligation) != "unsat":
                undecided.add(obligation.name)
        return broken, undecided

    def mutant(self, name):
        """Checks that exactly the obligations fail that a rule names, once it is taken back."""
        expected = set(self.model.rules[name].breaks)

        def refuted():
            broken, undecided = self.broken(name)
            remarks = []
            if not broken:
                remarks.append("survives")
            if expected - broken:
                remarks.append(f"named, but not broken: {', '.join(sorted(expected - broken))}")
            if broken - expected:
                remarks.append(f"broken, but not named: {', '.join(sorted(broken - expected))}")
            if undecided:
                remarks.append(f"neither proved nor refuted: {', '.join(sorted(undecided))}")
            return not remarks, "; ".join(remarks)

        return self.timed("mutant", name, refuted)

    def margins(self, name):
        """Returns the conditions of an action that no obligation needs: without each of them, all are kept."""
        action = self.model.actions[name]
        needless = [condition for place, condition in enumerate(action.requires)
                    if self.failing(self.built(without_condition=(name, place))) == (set(), set())]
        return " & ".join(" ".join(str(condition).split()) for condition in needless)

    # That it speaks of the code.

    def places(self):
        """Checks that each place in the code that an action names is there, and each text that the page repeats, and
        that a script writes what the page says."""
        results = []
        for action in self.model.actions.values():
            missing = [place for place in action.code if not is_there(place)]
            detail = f"not in the code: {', '.join(missing)}" if missing else ""
            results.append(Result(self.name, "place", action.name, not missing, detail, 0.0))
        for file, text in self.model.texts:
            is_read = any(text in words(found) for found in texts_of(file))
            detail = "" if is_read else f"{file} has no such text any more"
            results.append(Result(self.name, "place", text, is_read, detail, 0.0))
        for file, keys in self.model.written:
            found = [sorted(written_by(text) - keys) for text in texts_of(file)]
            detail = "" if found == [[]] else f"{file} writes {found}, too, or is not there"
            results.append(Result(self.name, "place", f"{file} writes", found == [[]], detail, 0.0))
        return results


def is_there(place):
    """Returns whether a place is in the code: `file`, or `file:function`. What the world does has no place."""
    if place in ("world", "operator"):
        return True
    file, _, function = place.partition(":")
    return any(not function or re.search(rf"\bfn {function}\b", text) for text in texts_of(file))


def texts_of(file):
    """Returns the text of a file of the code, if it is there."""
    return [text for folder in PLACES if (text := text_of(folder / file)) is not None]


def written_by(script):
    """Returns the keys that a script writes, by its names for them: the first argument of each such command."""
    calls = re.findall(r"redis\.p?call\((?:'(\w+)'(?:, ([^,)]+))?)?", script)
    return {key for command, key in calls if command not in READS}


def words(text):
    """Returns a text with single spaces."""
    return " ".join(text.split())


@cache
def text_of(path):
    return path.read_text() if path.is_file() else None


def summary(results, pages):
    """Returns the results that are not good, and what should be there and is not."""
    failed = [result for result in results if not result.is_good]
    for page in pages:
        for kind, missing in [("z3", "there are no obligations"), ("mutant", "no rule is taken back")]:
            if not any(result.page == page and result.kind == kind for result in results):
                failed.append(Result(page, kind, "-", False, f"nothing shows that this page holds: {missing}", 0.0))
    return failed
