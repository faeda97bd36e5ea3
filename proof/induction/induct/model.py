"""The language of a page: sorts, state, actions, an invariant of named conjuncts, goals, and rules.

A page has a function `build(m)` that declares all of this on a `Model`. Functions over uninterpreted sorts are the
state, so nothing bounds how many masters, clients or rounds there are, and time is a real number. An action has what
it requires and what it changes; the rest stays. What is proved is: the first state has each conjunct, each action
keeps each of them, and the goals follow.

A rule is a part of a page without which something fails. `Model(without=name)` builds the page with that rule taken
back: a mutant.
"""
from dataclasses import dataclass
from types import FunctionType

from z3 import And, AstRef, BoolVal, Const, DeclareSort, ForAll, Function, If, RealSort


@dataclass(frozen=True)
class Rule:
    """A part of a page, and exactly those obligations that fail without it."""

    name: str
    words: str
    breaks: tuple


@dataclass(frozen=True)
class Action:
    """One step: its meaning, the places in the code that do it, and the relation between two states."""

    name: str
    words: str
    code: tuple
    requires: tuple
    step: AstRef


@dataclass(frozen=True)
class Conjunct:
    """A part of the invariant, or an assumption, with its meaning. `of` takes the state."""

    name: str
    words: str
    of: FunctionType


@dataclass(frozen=True)
class Goal:
    """What follows from the invariant."""

    name: str
    words: str
    hypotheses: tuple
    conclusion: AstRef


@dataclass(frozen=True)
class Obligation:
    """The hypotheses imply the conclusion: a solver must find no way in which they do not."""

    name: str
    hypotheses: tuple
    conclusion: AstRef

    def key(self):
        """Z3 shares equal formulas, so equal obligations have equal keys, as long as both live."""
        return tuple(formula.get_id() for formula in (*self.hypotheses, self.conclusion))


class State:
    """The functions of the state, each under its name."""


class Model:
    def __init__(self, without=None, without_condition=None):
        self.without, self.without_condition = without, without_condition
        self.sizes = {}
        self.variables, self.given = {}, {}
        self.state, self.next = State(), State()
        self.rules, self.actions, self.invariant, self.goals, self.assumptions = {}, {}, {}, {}, {}
        self.first, self.texts, self.written = [], [], []
        self.variable("now", RealSort())

    # What there is.

    def sort(self, name, size):
        """Declares a sort, of any number of elements. `size`: how many of them a small world has."""
        self.sizes[name] = size
        return DeclareSort(name)

    def constant(self, name, *signature):
        """Declares what never changes: the sorts of its arguments, then its own."""
        self.given[name] = symbol(name, signature)
        return self.given[name]

    def variable(self, name, *signature):
        """Declares a part of the state: the sorts of its arguments, then its own."""
        self.variables[name] = signature
        setattr(self.state, name, symbol(name, signature))
        setattr(self.next, name, symbol(name + "_next", signature))

    # What holds.

    def rule(self, name, words, holds, without=True, breaks=()):
        """Returns `holds`, or `without` if this rule is taken back: then exactly the obligations `breaks` fail."""
        assert name not in self.rules, name
        self.rules[name] = Rule(name, words, tuple(breaks))
        return holds if name != self.without else BoolVal(without) if isinstance(without, bool) else without

    def keeps(self, name):
        """Returns whether a rule holds here."""
        return name != self.without

    def assume(self, name, words, formula):
        """Declares what is assumed of the constants."""
        assert name not in self.assumptions, name
        self.assumptions[name] = Conjunct(name, words, lambda _: formula)

    def starts(self, *formulas):
        """Declares the first states."""
        self.first += formulas

    def action(self, name, words, code, requires, *changes):
        """Declares a step. A change is `to(variable, *arguments, value)`, `to(variable, function)`; the rest stays."""
        assert name not in self.actions, name
        by_variable = {}
        for variable, arguments, value in changes:
            by_variable.setdefault(variable, []).append((arguments, value))
        # The sweep leaves out one condition of one action.
        parts = [condition for place, condition in enumerate(requires) if (name, place) != self.without_condition]
        for variable, signature in self.variables.items():
            before, after = getattr(self.state, variable), getattr(self.next, variable)
            every = [Const(f"{variable}_{place}", sort) for place, sort in enumerate(signature[:-1])]
            value = before(*every) if every else before
            for arguments, new in by_variable.pop(variable, []):
                if isinstance(new, FunctionType):
                    value = new(*every)
                elif every:
                    value = If(And([left == right for left, right in zip(every, arguments, strict=True)]), new, value)
                else:
                    value = new
            parts.append(ForAll(every, after(*every) == value) if every else after == value)
        assert not by_variable, by_variable
        self.actions[name] = Action(name, words, tuple(code), tuple(requires), And(parts))

    def reads(self, file, text):
        """Declares that a file of the code has this text: a number, a formula or a statement that this page repeats."""
        self.texts.append((file, text))

    def writes(self, file, *keys):
        """Declares that a script writes nothing but these of its keys, by the names that it has for them."""
        self.written.append((file, frozenset(keys)))

    def conjunct(self, name, words, of):
        """Declares a part of the invariant."""
        assert name not in self.invariant, name
        self.invariant[name] = Conjunct(name, words, of)

    def goal(self, name, words, hypotheses, conclusion):
        """Declares what follows from the invariant, and from `hypotheses` about the state or a step."""
        assert name not in self.goals, name
        conclusion = BoolVal(conclusion) if isinstance(conclusion, bool) else conclusion
        self.goals[name] = Goal(name, words, tuple(hypotheses), conclusion)

    def step(self, name):
        """Returns the relation of an action, as a hypothesis of a goal."""
        return self.actions[name].step

    # What has to be shown.

    def assumed(self):
        """Returns the assumptions."""
        return [assumption.of(self.state) for assumption in self.assumptions.values()]

    def hypotheses(self):
        """Returns the assumptions, and the invariant of the state."""
        return self.assumed() + [conjunct.of(self.state) for conjunct in self.invariant.values()]

    def obligations(self):
        """Yields everything that has to be shown, by name: `init/conjunct`, `action/conjunct`, `goal/name`."""
        assumed = tuple(self.assumed())
        hypotheses = tuple(self.hypotheses())
        after = [(conjunct.name, conjunct.of(self.next)) for conjunct in self.invariant.values()]
        for conjunct in self.invariant.values():
            yield Obligation(f"init/{conjunct.name}", assumed + tuple(self.first), conjunct.of(self.state))
        for action in self.actions.values():
            for name, kept in after:
                yield Obligation(f"{action.name}/{name}", (*hypotheses, action.step), kept)
        for goal in self.goals.values():
            yield Obligation(f"goal/{goal.name}", hypotheses + goal.hypotheses, goal.conclusion)


def symbol(name, signature):
    """Returns a function, or a constant if it has no arguments."""
    return Function(name, *signature) if len(signature) > 1 else Const(name, signature[0])


def to(variable, *arguments):
    """A change: `variable`, at the arguments, gets the last of them as its value. That is a function of all arguments
    if the variable changes in many places."""
    return variable, arguments[:-1], arguments[-1]
