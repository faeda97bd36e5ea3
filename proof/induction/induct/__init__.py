"""Proofs by induction over systems of any size: what the pages beside this folder are written in.

`model` is the language of a page, `world` finds counterexamples, `solvers` ask Z3 and cvc5, `checks` says what is
checked of a page, `run` shares the work among processes and prints the table, `export` writes the formulas as text, and
`spoiled` has the pages that must be refused.
"""
from z3 import (And, BoolSort, BoolVal, Const, Consts, Distinct, Exists, ForAll, Function, If, Implies, Not, Or, Q,
                Real, Reals,
                RealSort, RealVal)

from .model import Model, to

Bool, Time = BoolSort(), RealSort()

__all__ = ["And", "Bool", "BoolVal", "Const", "Consts", "Distinct", "Exists", "ForAll", "Function", "If", "Implies",
           "Model", "Not",
           "Or", "Q", "Real", "RealVal", "Reals", "Time", "to"]
