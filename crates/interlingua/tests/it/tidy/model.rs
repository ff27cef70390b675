//! The model holds what is used and nothing else: every variant and every public field of it is made and read by the program.
//!
//! A field is found by its name alone, so a homonym can hide one that is never read; a variant is found with the name of its enum.

use std::collections::BTreeSet;

use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::{BinOp, Expr, Fields, Item, Member, Pat, Path, Token, Visibility};

use super::modules::is_of_tests;
use super::tracked;

/// Where the model is.
const MODEL: &str = "crates/model/src/";
/// What stands beside the model in its crate: readers of JSON and of its schemas.
const READERS: [&str; 2] = ["json/", "schema/"];
/// What the sources do with the names of the model.
#[derive(Default)]
struct Uses {
    made: BTreeSet<(String, String)>,
    read: BTreeSet<(String, String)>,
    set_fields: BTreeSet<String>,
    read_fields: BTreeSet<String>,
    /// What `Self` is here.
    within: String,
}

impl Uses {
    fn pair(&self, path: &Path) -> Option<(String, String)> {
        let mut last = path.segments.iter().rev().map(|segment| segment.ident.to_string());
        let name = last.next()?;
        let of = last.next().unwrap_or_default();
        Some((if of == "Self" { self.within.clone() } else { of }, name))
    }

    fn makes(&mut self, path: &Path) {
        let pair = self.pair(path);
        self.made.extend(pair);
    }

    fn reads(&mut self, path: &Path) {
        let pair = self.pair(path);
        self.read.extend(pair);
    }

    /// One side of a comparison reads what it names.
    fn compared(&mut self, side: &Expr) {
        match side {
            Expr::Path(named) => self.reads(&named.path),
            other => self.visit_expr(other),
        }
    }

    /// What is assigned to is set; what leads to it is read.
    fn assigned(&mut self, place: &Expr) {
        match place {
            Expr::Field(field) => {
                self.set_fields.extend(member(&field.member));
                self.visit_expr(&field.base);
            }
            Expr::Tuple(several) => several.elems.iter().for_each(|one| self.assigned(one)),
            other => self.visit_expr(other),
        }
    }
}

fn member(member: &Member) -> Option<String> {
    match member {
        Member::Named(name) => Some(name.to_string()),
        Member::Unnamed(_) => None,
    }
}

impl<'ast> Visit<'ast> for Uses {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_of_tests(&module.attrs) {
            visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        if !is_of_tests(&function.attrs) {
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_impl(&mut self, of: &'ast syn::ItemImpl) {
        if is_of_tests(&of.attrs) {
            return;
        }
        if let syn::Type::Path(named) = &*of.self_ty {
            self.within = named.path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
        }
        visit::visit_item_impl(self, of);
    }

    fn visit_expr_path(&mut self, named: &'ast syn::ExprPath) {
        self.makes(&named.path);
    }

    fn visit_expr_struct(&mut self, literal: &'ast syn::ExprStruct) {
        self.makes(&literal.path);
        self.set_fields.extend(literal.fields.iter().filter_map(|field| member(&field.member)));
        visit::visit_expr_struct(self, literal);
    }

    fn visit_expr_field(&mut self, field: &'ast syn::ExprField) {
        self.read_fields.extend(member(&field.member));
        visit::visit_expr_field(self, field);
    }

    fn visit_expr_assign(&mut self, assign: &'ast syn::ExprAssign) {
        self.assigned(&assign.left);
        self.visit_expr(&assign.right);
    }

    fn visit_expr_binary(&mut self, binary: &'ast syn::ExprBinary) {
        if matches!(binary.op, BinOp::Eq(_) | BinOp::Ne(_)) {
            self.compared(&binary.left);
            self.compared(&binary.right);
        } else {
            visit::visit_expr_binary(self, binary);
        }
    }

    fn visit_pat(&mut self, pattern: &'ast Pat) {
        match pattern {
            Pat::Path(named) => self.reads(&named.path),
            Pat::TupleStruct(tuple) => {
                self.reads(&tuple.path);
                tuple.elems.iter().for_each(|one| self.visit_pat(one));
            }
            Pat::Struct(fields) => {
                self.reads(&fields.path);
                for field in &fields.fields {
                    if !matches!(*field.pat, Pat::Wild(_)) {
                        self.read_fields.extend(member(&field.member));
                    }
                    self.visit_pat(&field.pat);
                }
            }
            other => visit::visit_pat(self, other),
        }
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let tokens = call.tokens.clone();
        if let Ok(list) = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(tokens.clone()) {
            list.iter().for_each(|one| self.visit_expr(one));
        } else if let Ok((tested, pattern)) =
            (|input: syn::parse::ParseStream<'_>| matched(input)).parse2(tokens.clone())
        {
            self.visit_expr(&tested);
            self.visit_pat(&pattern);
        } else {
            self.anything(tokens);
        }
    }
}

/// `matches!(tested, pattern if guard)`.
fn matched(input: syn::parse::ParseStream<'_>) -> syn::Result<(Expr, Pat)> {
    let tested = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let _guard: proc_macro2::TokenStream = input.parse()?;
    Ok((tested, pattern))
}

impl Uses {
    /// A macro with a language of its own: what it names may be made or read.
    fn anything(&mut self, tokens: proc_macro2::TokenStream) {
        let text = tokens.to_string().replace(" :: ", "::").replace(" . ", ".");
        let named = |character: char| {
            !(character.is_alphanumeric() || character == '_' || character == ':' || character == '.')
        };
        for word in text.split(named) {
            if let Some((of, name)) = word.rsplit_once("::") {
                let of = of.rsplit("::").next().unwrap_or_default();
                let of = if of == "Self" { self.within.clone() } else { of.to_owned() };
                self.made.insert((of.clone(), name.to_owned()));
                self.read.insert((of, name.to_owned()));
            }
            self.read_fields.extend(word.split('.').skip(1).map(str::to_owned));
        }
    }
}

/// The program's own sources: no tests, and nothing that only tests use.
fn sources() -> Vec<(String, syn::File)> {
    let of_tests = |path: &str| {
        ["/tests/", "/tests.rs", "/scenarios/", "crates/testkit/", "/examples/", "/races.rs"]
            .iter()
            .any(|part| path.contains(part))
    };
    let ours = |path: &str| path.starts_with("crates/") && path.contains("/src/") && !of_tests(path);
    let files = tracked(".rs").into_iter().filter(|file| ours(&file.path));
    files
        .map(|file| {
            (file.path.clone(), syn::parse_file(&file.text).unwrap_or_else(|error| panic!("{}: {error}", file.path)))
        })
        .collect()
}

fn is_of_the_model(path: &str) -> bool {
    path.strip_prefix(MODEL).is_some_and(|rest| !READERS.iter().any(|reader| rest.starts_with(reader)))
}

/// What the model declares and the program does not use.
fn unused(sources: &[(String, syn::File)]) -> Vec<String> {
    let mut uses = Uses::default();
    sources.iter().for_each(|(_, file)| uses.visit_file(file));
    let mut found = Vec::new();
    for (path, file) in sources.iter().filter(|(path, _)| is_of_the_model(path)) {
        for item in &file.items {
            match item {
                Item::Enum(one) => variants(&uses, one, &mut found),
                Item::Struct(one) => fields(&uses, &one.ident.to_string(), &one.fields, &mut found),
                _other => {}
            }
        }
        assert!(!file.items.is_empty(), "{path} declares nothing");
    }
    found
}

/// Whatever an error says is read by whoever is told of it.
fn is_an_error(one: &syn::ItemEnum) -> bool {
    one.attrs.iter().any(|attribute| {
        attribute.path().is_ident("derive") && attribute.to_token_stream().to_string().contains("thiserror :: Error")
    })
}

fn variants(uses: &Uses, one: &syn::ItemEnum, found: &mut Vec<String>) {
    let mut unread = Vec::new();
    for variant in &one.variants {
        let pair = (one.ident.to_string(), variant.ident.to_string());
        let bare = (String::new(), pair.1.clone());
        let is_in = |set: &BTreeSet<(String, String)>| set.contains(&pair) || set.contains(&bare);
        if !is_in(&uses.made) {
            found.push(format!("{}::{} is never made", pair.0, pair.1));
        }
        if !is_in(&uses.read) {
            unread.push(format!("{}::{} is never read", pair.0, pair.1));
        }
        fields(uses, &format!("{}::{}", pair.0, pair.1), &variant.fields, found);
    }
    // The one that is left when all others were asked for needs no question of its own.
    if !is_an_error(one) && (unread.len() > 1 || one.variants.len() == 1) {
        found.extend(unread);
    }
}

fn fields(uses: &Uses, of: &str, fields: &Fields, found: &mut Vec<String>) {
    let in_a_variant = of.contains("::");
    for field in fields {
        let Some(name) = &field.ident else { continue };
        if !(in_a_variant || matches!(field.vis, Visibility::Public(_))) {
            continue;
        }
        if !uses.set_fields.contains(&name.to_string()) {
            found.push(format!("{of}.{name} is never set"));
        }
        if !uses.read_fields.contains(&name.to_string()) {
            found.push(format!("{of}.{name} is never read"));
        }
    }
}

#[test]
fn every_variant_and_field_of_the_model_is_made_and_read() {
    let found = unused(&sources());
    assert!(found.is_empty(), "the model declares what nobody uses:\n{}", found.join("\n"));
}

#[test]
fn a_variant_that_nobody_makes_and_a_field_that_nobody_reads_are_found() {
    let text = "pub enum Weather { Fine, Foul } pub struct Day { pub rain: u8 }
        fn tell(day: Weather) -> Day { match day { Weather::Fine => Day { rain: 0 }, Weather::Foul => Day { rain: 9 } } }
        fn today() -> Weather { Weather::Fine }
        #[cfg(test)] mod tests { fn wet(day: Day) -> bool { day.rain > 0 && today() != Weather::Foul } }";
    let file = syn::parse_file(text).expect("Rust");
    let found = unused(&[(format!("{MODEL}weather.rs"), file)]);
    assert_eq!(found, ["Weather::Foul is never made", "Day.rain is never read"]);
}
