"""Writes the formulas of a page as SMT-LIB text, a file for each, so that other programs can read the same formulas.

    PAGE/signature.smt2           sorts, constants and the state; the state after a step has the suffix `_next`
    PAGE/assumption/NAME.smt2     what is assumed of the constants
    PAGE/conjunct/NAME.smt2       a part of the invariant, of the state
    PAGE/action/NAME.smt2         the relation of a step, behind the declarations of its parameters
    PAGE/goal/NAME.smt2           what follows from the invariant: hypotheses and conclusion

The signature before any of the other files is a complete text. A file defines one name, in spaces' place an
underscore.
"""
from pathlib import Path
from shutil import rmtree

from z3 import And, Implies, Z3_OP_UNINTERPRETED, is_app, is_quantifier, parse_smt2_string


def export(page, folder):
    """Writes all formulas of a page below `folder`, and returns how many files there are."""
    model, home = page.model, Path(folder) / page.name
    signature = declarations(model)
    known = {symbol.name() for symbol in known_symbols(model)}
    files = {"signature": signature}
    for kind, parts in [("assumption", model.assumptions), ("conjunct", model.invariant)]:
        for part in parts.values():
            files[f"{kind}/{file_name(part.name)}"] = definition(part.name, part.words, part.of(model.state), known)
    for action in model.actions.values():
        places = f"; code: {', '.join(action.code)}\n"
        files[f"action/{file_name(action.name)}"] = places + definition(action.name, action.words, action.step, known)
    for goal in model.goals.values():
        formula = Implies(And(list(goal.hypotheses)), goal.conclusion)
        files[f"goal/{file_name(goal.name)}"] = definition(goal.name, goal.words, formula, known)
    # What a page no longer has is no formula of it.
    rmtree(home, ignore_errors=True)
    for name, text in files.items():
        path = home / f"{name}.smt2"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        # What cannot be read back is an error here, and not where it is read.
        parse_smt2_string(text if name == "signature" else signature + text)
    return len(files)


def file_name(name):
    words = {"<=": "at_most", "<": "below", "+": "and"}
    return "_".join(words.get(word, word) for word in name.split())


def declarations(model):
    """Returns the declarations of sorts, constants and state, each with its kind."""
    lines = [f"(declare-sort {sort} 0)" for sort in model.sizes]
    for kind, symbols in [("constant", model.given.values()), ("state", state_of(model, model.state)),
                          ("state after a step", state_of(model, model.next))]:
        lines += [f"{declaration(symbol)} ; {kind}" for symbol in map(function_of, symbols)]
    return "\n".join(lines) + "\n"


def state_of(model, state):
    return [getattr(state, name) for name in model.variables]


def known_symbols(model):
    symbols = [*model.given.values(), *state_of(model, model.state), *state_of(model, model.next)]
    return [function_of(symbol) for symbol in symbols]


def function_of(symbol):
    return symbol.decl() if is_app(symbol) else symbol


def declaration(function):
    arguments = " ".join(function.domain(place).sexpr() for place in range(function.arity()))
    return f"(declare-fun {function.name()} ({arguments}) {function.range().sexpr()})"


def definition(name, words, formula, known):
    """Returns the definition of a formula under its name, behind the declarations of its parameters."""
    parameters = [function for function in free_symbols(formula) if function.name() not in known]
    lines = [f"; {words}"] + [f"{declaration(function)} ; parameter" for function in parameters]
    return "\n".join(lines) + f"\n(define-fun |{name}| () Bool\n{formula.sexpr()})\n"


def free_symbols(formula):
    """Returns the symbols of a formula that are not of a theory, in the order in which they are met."""
    found, seen, left = {}, set(), [formula]
    while left:
        part = left.pop()
        if part.get_id() in seen:
            continue
        seen.add(part.get_id())
        if is_quantifier(part):
            left.append(part.body())
        elif is_app(part):
            if part.decl().kind() == Z3_OP_UNINTERPRETED:
                found[part.decl().name()] = part.decl()
            left += reversed(part.children())
    return list(found.values())
