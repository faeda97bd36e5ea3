//! The tests of the models, in one program: each model is compiled once for all of them. Those of scripts, each
//! with a server of its own, are other programs.

mod agreement;
mod checker;
mod fair;
mod line;
mod models;
mod promised;
mod protocol;
mod question;
mod sharing;
