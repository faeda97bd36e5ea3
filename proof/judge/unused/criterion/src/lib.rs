//! Nothing: see the manifest of the judge.
