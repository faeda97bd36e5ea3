"""Small worlds: each sort has two or three elements, and all quantifiers are written out over them.

Nothing is left to guess then: if a solver finds a state there, that state is a fact. A counterexample in a small world
is one in general, since the pages bound no sort from below.
"""
import itertools

from z3 import (And, Const, Distinct, Or, Solver, Z3_OP_AND, Z3_OP_OR, Z3_OP_UNINTERPRETED, Z3_UNINTERPRETED_SORT,
                is_app, is_quantifier, substitute_vars)

# In solver steps, not in seconds: the answer does not depend on how busy the machine is.
LIMIT = 400_000_000


class World:
    """A world of so many elements of each sort. It remembers what it has written out."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.elements_of, self.functions, self.written = {}, {}, {}

    def elements(self, sort):
        name = sort.name()
        if name not in self.elements_of:
            self.elements_of[name] = [Const(f"{name}!{number}", sort) for number in range(self.sizes[name])]
        return self.elements_of[name]

    def choices(self, sorts):
        return itertools.product(*(self.elements(sort) for sort in sorts))

    def write_out(self, formula):
        """Returns the formula without quantifiers."""
        key = formula.get_id()
        if key not in self.written:
            # With the formula itself: otherwise another could get its number.
            self.written[key] = (self.written_out(formula), formula)
        return self.written[key][0]

    def written_out(self, formula):
        if is_quantifier(formula):
            sorts = [formula.var_sort(place) for place in range(formula.num_vars())]
            body = formula.body()
            cases = [self.write_out(substitute_vars(body, *reversed(choice))) for choice in self.choices(sorts)]
            return And(cases) if formula.is_forall() else Or(cases)
        if not is_app(formula):
            return formula
        function = formula.decl()
        if function.kind() == Z3_OP_UNINTERPRETED:
            self.functions[function.name()] = function
        parts = [self.write_out(part) for part in formula.children()]
        if not parts:
            return formula
        if function.kind() in (Z3_OP_AND, Z3_OP_OR):
            return And(parts) if function.kind() == Z3_OP_AND else Or(parts)
        return function(*parts)

    def closed(self):
        """Yields that each function has a value among the elements, and that these differ."""
        for function in list(self.functions.values()):
            if function.range().kind() == Z3_UNINTERPRETED_SORT and "!" not in function.name():
                sorts = [function.domain(place) for place in range(function.arity())]
                for choice in self.choices(sorts):
                    value = function(*choice) if choice else function()
                    yield Or([value == element for element in self.elements(function.range())])
        for elements in self.elements_of.values():
            if len(elements) > 1:
                yield Distinct(*elements)

    def solve(self, formulas):
        """Returns "sat", "unsat" or "unknown", and the state if there is one."""
        solver = Solver()
        solver.set("rlimit", LIMIT)
        solver.add([self.write_out(formula) for formula in formulas])
        solver.add(list(self.closed()))
        answer = str(solver.check())
        return answer, solver.model() if answer == "sat" else None
