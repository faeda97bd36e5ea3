"""Two solvers, which know nothing of each other. Each is asked for a counterexample, and has to answer that there is
none: "unsat". Both read the same formulas: cvc5 as the SMT-LIB text that Z3 writes.
"""
from z3 import Not, Solver

# In Z3's own steps, not in seconds: a busy machine gives the same answer, only later.
LIMIT = 200_000_000
# Milliseconds for each of the ways in which cvc5 tries.
PATIENCE = 30_000
# How cvc5 chooses the instances of a quantified formula: most obligations need the first way only.
WAYS = ({}, {"mbqi": "true"}, {"enum-inst": "true"}, {"enum-inst": "true", "e-matching": "false"},
        {"full-saturate-quant": "true"})


def query(obligation):
    """Returns a solver that holds the hypotheses, and that the conclusion is false."""
    solver = Solver()
    solver.add(list(obligation.hypotheses))
    solver.add(Not(obligation.conclusion))
    return solver


def z3(obligation, limit=LIMIT):
    """Asks Z3."""
    solver = query(obligation)
    solver.set("rlimit", limit)
    return str(solver.check())


def cvc5(obligation, limit=None):
    """Asks cvc5, in one way after the other until one of them answers."""
    import cvc5 as library

    text = query(obligation).to_smt2()
    # Formulas about numbers alone have a decision procedure.
    text = f"(set-logic {'ALL' if 'declare-sort' in text else 'QF_NRA'})\n{text}"
    answer = "unknown"
    for way in WAYS:
        solver = library.Solver(library.TermManager())
        solver.setOption("tlimit-per", str(limit or PATIENCE))
        solver.setOption("verbosity", "-1")
        for option, value in way.items():
            solver.setOption(option, value)
        parser = library.InputParser(solver)
        parser.setStringInput(library.InputLanguage.SMT_LIB_2_6, text, obligation.name)
        symbols, lines = parser.getSymbolManager(), []
        while not (command := parser.nextCommand()).isNull():
            lines.append(str(command.invoke(solver, symbols)).strip())
        answer = next((line for line in reversed(lines) if line in ("sat", "unsat")), "unknown")
        if answer != "unknown":
            break
    return answer


BY_NAME = {"z3": z3, "cvc5": cvc5}
