fn main() {
    let mut names = Vec::new();
    dyntrace::code::View::with(|view| names.extend(view.modules().into_iter().map(|module| module.name)));
}
