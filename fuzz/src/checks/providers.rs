//! Invariants of model providers' streams for any bytes, in any format and cut anywhere.

use interlingua_agents::providers::{Listener, Provider};
use interlingua_machines::llm::{Assembler, Bounds, Event};

/// The first byte says whose spelling, the second where the rest is cut. However it is cut the events are the same, nothing
/// follows a failure, and what is put together ends as a reply or as a failure.
pub(crate) fn stream(data: &[u8]) {
    let [spelling, cut, stream @ ..] = data else { return };
    let provider = match spelling % 4 {
        0 => Provider::Openai,
        1 => Provider::Anthropic,
        2 => Provider::Gemini,
        _ => Provider::Ollama,
    };
    let whole = heard(provider, &[stream]);
    let at = usize::from(*cut) % (stream.len() + 1);
    let (first, second) = stream.split_at(at);
    assert_eq!(heard(provider, &[first, second]), whole, "cut at {at}");
    let failed = whole.iter().position(|event| matches!(event, Event::Error(_)));
    assert!(failed.is_none_or(|at| at + 1 == whole.len()), "something follows a failure");
    let mut assembler = Assembler::new(Bounds::default());
    let ended = whole.iter().all(|event| assembler.push(event)) && assembler.has_ended();
    assert!(assembler.finish().is_err() || ended, "a reply without an end mark");
}

fn heard(provider: Provider, pieces: &[&[u8]]) -> Vec<Event> {
    let mut listener = Listener::new(provider);
    let mut events = Vec::new();
    for piece in pieces {
        listener.feed(piece);
        events.extend(std::iter::from_fn(|| listener.next_event()));
    }
    events
}
