//! Every protocol decodes and encodes in one shape (`interlingua_wire::codec`): a newcomer who has read one codec can read all.

use quote::ToTokens;
use syn::{FnArg, Item, ItemFn, ReturnType};

use super::tracked;

/// The protocols. The hub's own HTTP interface is not among them: its views are the model itself in JSON.
const PROTOCOLS: [&str; 6] = ["nlip", "envelope", "mcp", "a2a", "aip", "nlweb"];

/// A function that every codec has: its name and module, the type of its second parameter, and what it returns.
struct Shape {
    name: &'static str,
    second: &'static str,
    returns: &'static str,
}

const DECODE: Shape = Shape { name: "decode", second: "&Context<'_>", returns: "Result<Carried<Incoming>,Invalid>" };
const ENCODE: Shape = Shape { name: "encode", second: "&mutTelling<'_>", returns: "Carried<Frames>" };

fn spelled(tokens: &impl ToTokens) -> String {
    tokens.to_token_stream().to_string().replace(char::is_whitespace, "")
}

fn parameters(function: &ItemFn) -> Vec<String> {
    let of = |given: &FnArg| match given {
        FnArg::Typed(typed) => spelled(&typed.ty),
        FnArg::Receiver(receiver) => spelled(receiver),
    };
    function.sig.inputs.iter().map(of).collect()
}

/// What differs from the shape in a module's source; nothing where the function fits.
fn misfit(shape: &Shape, source: &str) -> Option<String> {
    let file = syn::parse_file(source).expect("a source is Rust");
    let named = |item: Item| match item {
        Item::Fn(function) if function.sig.ident == shape.name => Some(function),
        _ => None,
    };
    let Some(function) = file.items.into_iter().find_map(named) else {
        return Some(format!("there is no function {}", shape.name));
    };
    let parameters = parameters(&function);
    let returns = match &function.sig.output {
        ReturnType::Default => String::new(),
        ReturnType::Type(_, returned) => spelled(returned),
    };
    match parameters.as_slice() {
        [first, second] if second == shape.second && returns == shape.returns => {
            let entry = shape.name == "encode" && first != "&Entry";
            entry.then(|| format!("it takes {first}, not an entry of the journal"))
        }
        _ => Some(format!("it is ({}) -> {returns}", parameters.join(", "))),
    }
}

#[test]
fn every_protocol_decodes_and_encodes_in_one_shape() {
    let files = tracked(".rs");
    let mut found = Vec::new();
    for (protocol, shape) in PROTOCOLS.into_iter().flat_map(|protocol| [(protocol, DECODE), (protocol, ENCODE)]) {
        let below = format!("crates/protocols/{protocol}/src/{}", shape.name);
        let file =
            files.iter().find(|file| file.path == format!("{below}.rs") || file.path == format!("{below}/mod.rs"));
        let problem =
            file.map_or_else(|| Some("there is no such module".to_owned()), |file| misfit(&shape, &file.text));
        found.extend(problem.map(|problem| format!("{protocol}, {}: {problem}", shape.name)));
    }
    assert!(found.is_empty(), "codecs of another shape:\n{}", found.join("\n"));
}

#[test]
fn a_codec_of_another_shape_is_found() {
    let good = "pub fn encode(entry: &Entry, telling: &mut Telling<'_>) -> Carried<Frames> { todo() }";
    assert_eq!(misfit(&ENCODE, good), None);
    assert!(misfit(&ENCODE, &good.replace("&Entry", "&Event")).is_some());
    assert!(misfit(&ENCODE, &good.replace("Carried<Frames>", "Option<Message>")).is_some());
    assert!(misfit(&ENCODE, &good.replace("fn encode", "fn write")).is_some());
    let bare = "pub fn decode(send: Send, context: &Context<'_>) -> Result<Incoming, Invalid> { todo() }";
    assert!(misfit(&DECODE, bare).is_some());
    assert_eq!(misfit(&DECODE, &bare.replace("Result<Incoming,", "Result<Carried<Incoming>,")), None);
}
