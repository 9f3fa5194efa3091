//! The modules of a crate, read from its sources: the items that each file defines, imports and names. Test modules are left out.
//!
//! It reads tokens, so comments and strings are no code, and the arguments of macros are.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};

/// Files by their paths below `src/`.
pub type Sources = BTreeMap<String, String>;

/// The number of a module; 0 is the root.
pub type Id = usize;

#[derive(Default)]
pub struct Module {
    pub file: String,
    pub parent: Id,
    pub children: BTreeMap<String, Id>,
    /// Names of macros, functions, types and so on that are defined here.
    pub items: BTreeSet<String>,
    /// Paths imported by `use`, by their local names.
    pub imports: BTreeMap<String, Vec<String>>,
    pub globs: Vec<Vec<String>>,
    pub references: Vec<Reference>,
    /// All identifiers of the code, outside of `use`.
    pub identifiers: BTreeSet<String>,
}

/// A path that the code of a module names.
pub struct Reference {
    pub line: usize,
    pub path: Vec<String>,
    pub kind: ReferenceKind,
}

#[derive(PartialEq)]
pub enum ReferenceKind {
    /// A private `use`: the module needs the name, if only to have a trait's methods.
    Use,
    /// `pub use` under this name.
    ReExport(String),
    Glob,
    /// A path in an expression, a type or a macro.
    Path,
}

/// A crate that has been read.
#[derive(Default)]
pub struct Crate {
    pub name: String,
    pub modules: Vec<Module>,
    /// Macros with `#[macro_export]`, which are in the root for all to name.
    pub macros: BTreeMap<String, Id>,
    /// The files that were read.
    pub files: BTreeSet<String>,
    /// Test modules that are files, by their paths without `.rs`; those below them are theirs.
    pub tests: BTreeSet<String>,
}

impl Crate {
    /// Reads the crate that `root` begins. Its own code may call it by `name`.
    pub fn read(sources: &Sources, root: &str, name: &str) -> Crate {
        let mut reader = Reader { sources, all: Crate { name: name.to_owned(), ..Crate::default() } };
        reader.file(root, "", 0);
        reader.all
    }
}

struct Reader<'s> {
    sources: &'s Sources,
    all: Crate,
}

/// The attributes before an item.
#[derive(Default)]
struct Attributes {
    test: bool,
    exported: bool,
    paths: Vec<String>,
}

const DEFINES: &[&str] = &["fn", "struct", "enum", "union", "trait", "type", "const", "static"];

impl Reader<'_> {
    /// Reads a file whose children lie in `folder`.
    fn file(&mut self, file: &str, folder: &str, parent: Id) -> Id {
        let tokens = self.text(file);
        self.module(file, folder, parent, tokens)
    }

    fn text(&mut self, file: &str) -> TokenStream {
        self.all.files.insert(file.to_owned());
        let text = self.sources.get(file).unwrap_or_else(|| panic!("{file} does not exist"));
        text.parse().unwrap_or_else(|error| panic!("{file}: {error}"))
    }

    /// The path of a file that lies beside that of a module.
    fn beside(&self, id: Id, path: &str) -> String {
        join(self.all.modules[id].file.rsplit_once('/').map_or("", |(folder, _)| folder), path)
    }

    fn module(&mut self, file: &str, folder: &str, parent: Id, tokens: TokenStream) -> Id {
        let id = self.all.modules.len();
        self.all.modules.push(Module { file: file.to_owned(), parent, ..Module::default() });
        self.tokens(id, folder, &tokens.into_iter().collect::<Vec<_>>(), true);
        id
    }

    /// Reads the tokens of a module, or of a group inside one of its items.
    fn tokens(&mut self, id: Id, folder: &str, tokens: &[TokenTree], is_top: bool) {
        let mut attributes = Attributes::default();
        let mut is_public = false;
        let mut at = 0;
        while at < tokens.len() {
            let next = tokens.get(at + 1);
            match &tokens[at] {
                TokenTree::Punct(punct) if punct.as_char() == '#' => {
                    let after = at + if is_punct(next, '!') { 2 } else { 1 };
                    if let Some(TokenTree::Group(group)) = tokens.get(after)
                        && group.delimiter() == Delimiter::Bracket
                    {
                        attributes.add(group.stream());
                        at = after + 1;
                        if attributes.test {
                            let end = end_of_item(tokens, at);
                            self.leave_out(id, folder, &attributes, &tokens[at..end]);
                            at = end;
                            attributes = Attributes::default();
                        }
                        continue;
                    }
                }
                TokenTree::Group(group) => {
                    self.tokens(id, folder, &group.stream().into_iter().collect::<Vec<_>>(), false);
                }
                TokenTree::Ident(ident) => {
                    let word = ident.to_string();
                    match (&*word, next) {
                        ("pub", _) => {
                            at += 1 + usize::from(is_group(next, Delimiter::Parenthesis));
                            is_public = true;
                            continue;
                        }
                        ("mod", Some(TokenTree::Ident(name))) if is_top => {
                            self.child(id, folder, &name.to_string(), &attributes, tokens.get(at + 2));
                            at += 2;
                        }
                        ("use", Some(_)) if !is_punct(next, '<') => {
                            let end = tokens[at..].iter().position(|token| is_punct(Some(token), ';'));
                            let end = end.map_or(tokens.len(), |end| at + end);
                            self.tree(id, &tokens[at + 1..end], &[], is_public, is_top);
                            at = end;
                        }
                        ("include", _) if is_top && is_punct(next, '!') => {
                            let path = tokens[at + 2].to_string();
                            let included = self.text(&self.beside(id, path.trim_matches(['(', ')', '"'])));
                            self.tokens(id, folder, &included.into_iter().collect::<Vec<_>>(), true);
                            at += 2;
                        }
                        ("macro_rules", _) if is_punct(next, '!') => {
                            let name = tokens[at + 2].to_string();
                            if attributes.exported {
                                self.all.macros.insert(name.clone(), id);
                            }
                            self.all.modules[id].items.insert(name);
                            at += 2;
                        }
                        _ => {
                            if is_top
                                && DEFINES.contains(&&*word)
                                && let Some(TokenTree::Ident(name)) = next
                            {
                                self.all.modules[id].items.insert(name.to_string());
                            }
                            at = self.path(id, tokens, at);
                            is_public = false;
                            continue;
                        }
                    }
                    (is_public, attributes) = (false, Attributes::default());
                }
                _ => {}
            }
            at += 1;
        }
    }

    /// `mod name;` or `mod name { ... }`.
    fn child(&mut self, id: Id, folder: &str, name: &str, attributes: &Attributes, body: Option<&TokenTree>) {
        let below = join(folder, name);
        let file = self.all.modules[id].file.clone();
        let mut children = Vec::new();
        if let Some(TokenTree::Group(group)) = body {
            children.push(self.module(&file, &below, id, group.stream()));
        } else {
            let usual = [format!("{below}.rs"), format!("{below}/mod.rs")];
            // One for each platform or build; the usual one, where no condition holds.
            let files: BTreeSet<String> = attributes
                .paths
                .iter()
                .map(|path| self.beside(id, path))
                .chain(usual.into_iter().filter(|file| self.sources.contains_key(file)))
                .collect();
            assert!(!files.is_empty(), "no file for {below}");
            children.extend(files.iter().map(|file| self.file(file, &below, id)));
        }
        self.all.modules[id].children.entry(name.to_owned()).or_insert(children[0]);
    }

    /// Notes the file of a test module.
    fn leave_out(&mut self, id: Id, folder: &str, attributes: &Attributes, item: &[TokenTree]) {
        if let [.., TokenTree::Ident(word), TokenTree::Ident(name), TokenTree::Punct(_)] = item
            && word == "mod"
        {
            let paths = attributes.paths.iter().map(|path| self.beside(id, path.trim_end_matches(".rs")));
            let tests: Vec<_> = paths.chain([join(folder, &name.to_string())]).collect();
            self.all.tests.extend(tests);
        }
    }

    /// One tree of a `use`, after `prefix`.
    fn tree(&mut self, id: Id, tokens: &[TokenTree], prefix: &[String], is_public: bool, is_top: bool) {
        let mut path = prefix.to_vec();
        let mut at = 0;
        while let Some(token) = tokens.get(at) {
            match token {
                TokenTree::Group(group) => {
                    let inside: Vec<_> = group.stream().into_iter().collect();
                    for tree in inside.split(|token| is_punct(Some(token), ',')) {
                        self.tree(id, tree, &path, is_public, is_top);
                    }
                    return;
                }
                TokenTree::Punct(punct) if punct.as_char() == '*' => {
                    if is_top {
                        self.all.modules[id].globs.push(path.clone());
                    }
                    return self.refer(id, token, path, ReferenceKind::Glob);
                }
                // The crate of another edition's path.
                TokenTree::Punct(punct) if punct.as_char() == ':' && path.is_empty() => path.push("::".to_owned()),
                TokenTree::Ident(ident) if ident == "as" => break,
                TokenTree::Ident(ident) => path.push(ident.to_string()),
                _ => {}
            }
            at += 1;
        }
        let Some(first) = tokens.first() else { return };
        if path.len() > 1 {
            path.pop_if(|last| last == "self");
        }
        let renamed = tokens.get(at + 1).map(ToString::to_string);
        let name = renamed.or_else(|| path.last().cloned()).unwrap_or_default();
        if is_top {
            self.all.modules[id].imports.insert(name.clone(), path.clone());
        }
        self.refer(id, first, path, if is_public { ReferenceKind::ReExport(name) } else { ReferenceKind::Use });
    }

    /// Reads the path that begins here, if it is one, and returns where it ends.
    fn path(&mut self, id: Id, tokens: &[TokenTree], begin: usize) -> usize {
        let mut path = Vec::new();
        if begin >= 2 && is_path_separator(tokens, begin - 2) {
            let before = begin.checked_sub(3).map(|at| &tokens[at]);
            // `<T as Trait>::name` and `Type::<T>::name` are names of a type; `::name` is another crate.
            if is_punct(before, '>') || matches!(before, Some(TokenTree::Ident(_))) && !is_keyword(before) {
                return begin + 1;
            }
            path.push("::".to_owned());
        }
        let mut at = begin;
        while let Some(TokenTree::Ident(ident)) = tokens.get(at) {
            self.all.modules[id].identifiers.insert(ident.to_string());
            path.push(ident.to_string());
            at += 1;
            if !is_path_separator(tokens, at) || !matches!(tokens.get(at + 2), Some(TokenTree::Ident(_))) {
                break;
            }
            at += 2;
        }
        // `$name::...` is whatever the macro's caller gives.
        let is_variable = begin > 0 && is_punct(tokens.get(begin - 1), '$') && path[0] != "crate";
        if path.len() > 1 && !is_variable {
            self.refer(id, &tokens[begin], path, ReferenceKind::Path);
        }
        at
    }

    fn refer(&mut self, id: Id, at: &TokenTree, path: Vec<String>, kind: ReferenceKind) {
        let line = at.span().start().line;
        self.all.modules[id].references.push(Reference { line, path, kind });
    }
}

impl Attributes {
    fn add(&mut self, attribute: TokenStream) {
        let tokens: Vec<_> = attribute.into_iter().collect();
        let Some(TokenTree::Ident(name)) = tokens.first() else { return };
        match (&*name.to_string(), tokens.get(1)) {
            ("cfg", Some(TokenTree::Group(condition))) => self.test |= needs_test(condition.stream()),
            ("cfg_attr", Some(TokenTree::Group(group))) => {
                let inside: Vec<_> = group.stream().into_iter().collect();
                inside.split(|token| is_punct(Some(token), ',')).for_each(|part| self.path(part));
            }
            ("macro_export", _) => self.exported = true,
            _ => self.path(&tokens),
        }
    }

    /// `path = "..."`
    fn path(&mut self, tokens: &[TokenTree]) {
        if let [TokenTree::Ident(name), _, TokenTree::Literal(path)] = tokens
            && name == "path"
        {
            self.paths.push(path.to_string().trim_matches('"').to_owned());
        }
    }
}

/// Whether a condition of `cfg` is false in every build that is no test.
fn needs_test(condition: TokenStream) -> bool {
    let tokens: Vec<_> = condition.into_iter().collect();
    match &tokens[..] {
        [TokenTree::Ident(name)] => name == "test",
        [TokenTree::Ident(name), TokenTree::Group(group), ..] => {
            let inside: Vec<_> = group.stream().into_iter().collect();
            let mut parts = inside.split(|token| is_punct(Some(token), ',')).filter(|part| !part.is_empty());
            let needs = |part: &[TokenTree]| needs_test(part.iter().cloned().collect());
            (name == "all" && parts.clone().any(needs)) || (name == "any" && parts.all(needs))
        }
        _ => false,
    }
}

/// Where the item, field, variant or statement ends that begins here.
fn end_of_item(tokens: &[TokenTree], begin: usize) -> usize {
    const ITEMS: &[&str] = &["pub", "mod", "use", "impl", "unsafe", "extern", "async", "macro_rules"];
    let is_word = |word: &proc_macro2::Ident, words: &[&str]| words.iter().any(|one| word == one);
    let mut at = begin;
    while is_punct(tokens.get(at), '#') {
        at += 2;
    }
    let is_item =
        matches!(tokens.get(at), Some(TokenTree::Ident(word)) if is_word(word, ITEMS) || is_word(word, DEFINES));
    while let Some(token) = tokens.get(at) {
        at += 1;
        if is_punct(Some(token), ';')
            || is_group(Some(token), Delimiter::Brace)
            || !is_item && is_punct(Some(token), ',')
        {
            break;
        }
    }
    at
}

fn is_punct(token: Option<&TokenTree>, is: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == is)
}

fn is_group(token: Option<&TokenTree>, delimiter: Delimiter) -> bool {
    matches!(token, Some(TokenTree::Group(group)) if group.delimiter() == delimiter)
}

fn is_path_separator(tokens: &[TokenTree], at: usize) -> bool {
    let joint = |token: &TokenTree| matches!(token, TokenTree::Punct(punct) if punct.as_char() == ':' && punct.spacing() == Spacing::Joint);
    tokens.get(at).is_some_and(joint) && is_punct(tokens.get(at + 1), ':')
}

fn is_keyword(token: Option<&TokenTree>) -> bool {
    const BEFORE_A_PATH: &[&str] = &["as", "dyn", "else", "for", "impl", "in", "match", "mut", "return", "use"];
    token.is_some_and(|token| BEFORE_A_PATH.contains(&&*token.to_string()))
}

fn join(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}
