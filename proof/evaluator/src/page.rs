//! One page: what it declares, and its formulas.

use crate::again::Part;
use crate::formula::{Formula, FunctionId, Reader, SortId};
use crate::nested;
use crate::text::Text;
use rustc_hash::FxHashMap;
use std::fs;
use std::path::Path;

/// A function of a page: a constant, or a part of the state.
#[derive(Clone, Debug)]
pub(crate) struct Function {
    pub(crate) arguments: Vec<SortId>,
    /// It is a part of the state, and not a constant.
    pub(crate) varies: bool,
}

/// A formula with a name: a conjunct, an assumption, or a goal.
#[derive(Debug)]
pub struct Definition {
    pub name: String,
    /// What it says, in words.
    pub words: String,
    /// The names and sorts of its parameters; a time has no sort.
    pub(crate) parameters: Vec<(String, Option<SortId>)>,
    pub(crate) slots: usize,
    /// The parts of a conjunction, each with its text.
    pub(crate) parts: Vec<(Formula, String)>,
    /// If it speaks of one state: all parts, for all elements that its parameters could be.
    pub(crate) always: Vec<Part>,
    /// Of a goal of a step: all parts after each action of its page, for all elements that the parameters
    /// which are not the action's could be.
    pub(crate) after: Vec<Formula>,
    /// It speaks of a state after a step.
    pub is_of_step: bool,
}

/// An action: the relation between the states before and after a step.
pub type Action = Definition;

/// A page of the proof.
#[derive(Debug)]
pub struct Page {
    pub name: String,
    pub(crate) sorts: FxHashMap<String, SortId>,
    pub(crate) names: FxHashMap<String, (FunctionId, bool)>,
    pub(crate) functions: Vec<Function>,
    pub actions: Vec<Action>,
    pub conjuncts: Vec<Definition>,
    pub assumptions: Vec<Definition>,
    pub goals: Vec<Definition>,
    /// The functions and sorts on which the value of any conjunct or goal depends.
    pub(crate) judged: u128,
}

/// What the state after a step is called.
const NEXT: &str = "_next";

impl Page {
    /// Reads a page from the folder to which it was exported.
    ///
    /// # Errors
    ///
    /// If a file is missing or is not understood, with its name.
    pub fn read(folder: &Path, name: &str) -> Result<Self, String> {
        let home = folder.join(name);
        let signature = home.join("signature.smt2");
        let declared = read(&signature)?;
        let mut page = Self {
            name: name.to_owned(),
            sorts: FxHashMap::default(),
            names: FxHashMap::default(),
            functions: Vec::new(),
            actions: Vec::new(),
            conjuncts: Vec::new(),
            assumptions: Vec::new(),
            goals: Vec::new(),
            judged: 0,
        };
        page.declare(&declared).map_err(|error| format!("{}: {error}", signature.display()))?;
        page.actions = page.definitions(&home.join("action"))?;
        page.conjuncts = page.definitions(&home.join("conjunct"))?;
        // A page may assume nothing.
        let assumptions = home.join("assumption");
        if assumptions.exists() {
            page.assumptions = page.definitions(&assumptions)?;
        }
        page.goals = page.definitions(&home.join("goal"))?;
        for goal in page.goals.iter_mut().filter(|goal| goal.is_of_step) {
            goal.after = page.actions.iter().map(|action| goal.for_all_but(action)).collect();
        }
        let judged = page.conjuncts.iter().chain(&page.goals).flat_map(|all| &all.always);
        page.judged = judged.fold(0, |set, part| set | part.speaks_of);
        Ok(page)
    }

    /// Returns the place of an action.
    #[must_use]
    pub fn action(&self, name: &str) -> Option<usize> {
        self.actions.iter().position(|action| action.name == name)
    }

    fn declare(&mut self, file: &str) -> Result<(), String> {
        for text in Text::read(file)? {
            self.declare_one(Declaration::of(&text)?)?;
        }
        Ok(())
    }

    fn declare_one(&mut self, declaration: Declaration) -> Result<(), String> {
        if declaration.is_sort {
            self.sorts.insert(declaration.name, self.sorts.len());
            return Ok(());
        }
        let arguments = declaration.arguments.iter().map(|sort| {
            let known = self.sorts.get(sort);
            known.copied().ok_or_else(|| format!("{}: {sort} is no sort", declaration.name))
        });
        let arguments = arguments.collect::<Result<Vec<_>, _>>()?;
        let now = declaration.name.strip_suffix(NEXT);
        let now = now.and_then(|name| self.names.get(name)).copied();
        let (id, is_after) = match now {
            Some((id, false)) => {
                self.functions[id].varies = true;
                (id, true)
            }
            _ => {
                self.functions.push(Function { arguments, varies: false });
                (self.functions.len() - 1, false)
            }
        };
        self.names.insert(declaration.name, (id, is_after));
        Ok(())
    }

    fn definitions(&mut self, folder: &Path) -> Result<Vec<Definition>, String> {
        let files =
            fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        let mut paths = Vec::new();
        for file in files {
            paths.push(file.map_err(|error| format!("{}: {error}", folder.display()))?.path());
        }
        paths.sort();
        let definition = |path: &std::path::PathBuf| {
            let file = read(path)?;
            self.definition(&file).map_err(|error| format!("{}: {error}", path.display()))
        };
        paths.iter().map(definition).collect()
    }

    fn definition(&mut self, file: &str) -> Result<Definition, String> {
        let mut remarks = file.lines().filter_map(|line| line.strip_prefix("; "));
        let words = remarks.rfind(|remark| !remark.starts_with("code: "));
        let words = words.unwrap_or_default().to_owned();
        let mut texts = Text::read(file)?;
        let defined = texts.pop().ok_or("nothing is defined")?;
        let mut parameters = Vec::new();
        for text in &texts {
            let declaration = Declaration::of(text)?;
            if !declaration.arguments.is_empty() {
                // A parameter that is a function is set like a constant, for all actions that have one of its name.
                if !self.names.contains_key(&declaration.name) {
                    self.declare_one(declaration)?;
                }
                continue;
            }
            parameters.push((declaration.name, self.sorts.get(&declaration.range).copied()));
        }
        let Some([Text::Word(head), Text::Word(name), _, _, body]) = defined.list() else {
            return Err("no definition of a truth".into());
        };
        if head != "define-fun" {
            return Err(format!("{head} is no definition"));
        }
        let bound = parameters.iter().map(|(name, _)| name.as_str());
        let mut reader = Reader::new(&self.sorts, &self.names, &self.functions, bound);
        let formula = reader.read(body)?;
        let is_of_step = body.to_string().contains(NEXT);
        let slots = reader.slots();
        let parts = match (formula, conjunction(body)) {
            (Formula::And(parts), texts) if texts.len() == parts.len() => {
                parts.into_iter().zip(texts).collect()
            }
            (formula, _) => vec![(formula, name.clone())],
        };
        let (name, after) = (name.clone(), Vec::new());
        let always = match is_of_step {
            true => Vec::new(),
            false => for_all(&parameters, &parts, |_| true)
                .map(|part| Part::new(part, &self.functions))
                .collect(),
        };
        Ok(Definition { name, words, parameters, slots, parts, always, after, is_of_step })
    }
}

impl Definition {
    /// Returns the formula for all elements that the parameters could be that are none of an action's.
    fn for_all_but(&self, action: &Action) -> Formula {
        let is_open = |name: &str| !action.parameters.iter().any(|(known, _)| known == name);
        Formula::And(for_all(&self.parameters, &self.parts, is_open).collect())
    }
}

/// Returns each part, for all elements that those parameters could be that are open.
fn for_all(
    parameters: &[(String, Option<SortId>)],
    parts: &[(Formula, String)],
    is_open: impl Fn(&str) -> bool,
) -> impl Iterator<Item = Formula> {
    let open = parameters.iter().enumerate().filter(|(_, (name, _))| is_open(name));
    let variables: Vec<_> = open.filter_map(|(slot, (_, sort))| Some((slot, (*sort)?))).collect();
    parts.iter().map(move |(part, _)| nested::for_all(variables.clone(), part.clone()))
}

/// Returns the texts of the parts of a conjunction, whatever is named before it.
fn conjunction(body: &Text) -> Vec<String> {
    match body.list() {
        Some([Text::Word(head), bound, inner]) if head == "let" => {
            let names = bound.list().unwrap_or_default();
            let means = |text: String| {
                names.iter().fold(text, |text, pair| match pair.list() {
                    Some([name, meaning]) => text.replace(&name.to_string(), &meaning.to_string()),
                    _ => text,
                })
            };
            conjunction(inner).into_iter().map(means).collect()
        }
        Some([Text::Word(head), parts @ ..]) if head == "and" => {
            parts.iter().map(ToString::to_string).collect()
        }
        _ => Vec::new(),
    }
}

struct Declaration {
    name: String,
    is_sort: bool,
    arguments: Vec<String>,
    range: String,
}

impl Declaration {
    fn of(text: &Text) -> Result<Self, String> {
        let word = |text: &Text| text.word().map(str::to_owned);
        let read =
            match text.list().unwrap_or_default() {
                [Text::Word(head), name, _] if head == "declare-sort" => word(name).map(|name| {
                    Self { name, is_sort: true, arguments: Vec::new(), range: String::new() }
                }),
                [Text::Word(head), name, Text::List(arguments), range] if head == "declare-fun" => {
                    let arguments: Option<Vec<String>> = arguments.iter().map(word).collect();
                    match (word(name), arguments, word(range)) {
                        (Some(name), Some(arguments), Some(range)) => {
                            Some(Self { name, is_sort: false, arguments, range })
                        }
                        _ => None,
                    }
                }
                _ => None,
            };
        read.ok_or_else(|| format!("{text} declares nothing that is known"))
    }
}

fn read(path: &Path) -> Result<String, String> {
    fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}
