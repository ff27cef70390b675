//! Content: parts, and their provenance.

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use crate::digest::Digest;
use crate::id::{Media, PeerId, Text, Uri};
use crate::json::Json;
use crate::loss::{Loss, LossKind, Way};

/// One object of a wire's own free metadata; the decoder extracts the keys it knows.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Meta(pub Option<Json>);

impl Meta {
    /// Is there no metadata?
    pub fn is_none(&self) -> bool {
        self.0.is_none()
    }
}

/// One piece of content: what it is, and where it came from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Part {
    /// The content itself.
    pub body: Body,
    /// Its media type, where it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub media: Option<Media>,
    /// A file name or title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Text>,
    /// A caller's own mark on a part (a role, a sequence number, a purpose).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<Text>,
    /// Where it can be read again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uri: Option<Uri>,
    /// Who said it, where it was found, and how far it is trusted.
    pub provenance: Provenance,
    /// Metadata of its protocol that the model has no field for.
    #[serde(default, skip_serializing_if = "Meta::is_none")]
    pub meta: Meta,
}

impl Part {
    /// A part with nothing beside its body.
    pub fn new(body: Body, provenance: Provenance) -> Part {
        Part { body, media: None, name: None, label: None, uri: None, provenance, meta: Meta::default() }
    }

    /// A text without a language.
    pub fn text(text: impl Into<Text>, provenance: Provenance) -> Part {
        Part::new(Body::Text { text: text.into(), language: None }, provenance)
    }

    /// The same part with this label.
    pub fn labelled(mut self, label: impl Into<Text>) -> Part {
        self.label = Some(label.into());
        self
    }

    /// Does it say this value once more: as data, or written as text?
    pub fn repeats(&self, value: &Json) -> bool {
        match &self.body {
            Body::Data(data) => data == value,
            Body::Text { text, .. } => is_written(value, text),
            Body::Blob(_) | Body::Link | Body::Code { .. } | Body::Place { .. } | Body::Other { .. } => false,
        }
    }

    /// About how many bytes it takes to hold it.
    pub fn weight(&self) -> usize {
        let body = match &self.body {
            Body::Text { text, .. } => text.len(),
            Body::Data(json) => json.as_str().len(),
            Body::Blob(Blob::Inline(bytes)) => bytes.len(),
            Body::Blob(Blob::Stored { .. }) | Body::Link => 0,
            Body::Code { source, .. } => source.len(),
            Body::Place { text, gps } => [text, gps].into_iter().flatten().map(|text| text.len()).sum(),
            Body::Other { namespace, value } => namespace.len() + value.as_str().len(),
        };
        let meta = self.meta.0.as_ref().map_or(0, |meta| meta.as_str().len());
        let uri = self.uri.as_ref().map_or(0, |uri| uri.len());
        let names = [&self.name, &self.label].into_iter().flatten().map(|text| text.len()).sum::<usize>();
        size_of::<Part>() + body + meta + uri + names
    }

    /// Is `next` a continuation of the same text? Only the words differ.
    pub fn continues_in(&self, next: &Part) -> bool {
        let alike = match (&self.body, &next.body) {
            (Body::Text { language: mine, .. }, Body::Text { language: theirs, .. }) => mine == theirs,
            _ => false,
        };
        alike
            && (&self.media, &self.name, &self.label, &self.uri) == (&next.media, &next.name, &next.label, &next.uri)
            && self.provenance == next.provenance
            && self.meta == next.meta
    }

    /// The language its text says it is in.
    pub fn language(&self) -> Option<&str> {
        match &self.body {
            Body::Text { language, .. } => language.as_deref(),
            Body::Data(_)
            | Body::Blob(_)
            | Body::Link
            | Body::Code { .. }
            | Body::Place { .. }
            | Body::Other { .. } => None,
        }
    }

    /// The JSON of a data part.
    pub fn as_data(&self) -> Option<&Json> {
        match &self.body {
            Body::Data(data) => Some(data),
            Body::Text { .. }
            | Body::Blob(_)
            | Body::Link
            | Body::Code { .. }
            | Body::Place { .. }
            | Body::Other { .. } => None,
        }
    }

    /// The text of a text part.
    pub fn as_text(&self) -> Option<&str> {
        match &self.body {
            Body::Text { text, .. } => Some(text),
            Body::Data(_)
            | Body::Blob(_)
            | Body::Link
            | Body::Code { .. }
            | Body::Place { .. }
            | Body::Other { .. } => None,
        }
    }
}

/// What a part can be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum Body {
    /// Words.
    Text {
        /// The words.
        text: Text,
        /// A language tag or name as the speaker wrote it.
        language: Option<Text>,
    },
    /// Structured data.
    Data(Json),
    /// A file, image, sound: any bytes.
    Blob(Blob),
    /// A link; [`Part::uri`] is its address.
    Link,
    /// The source of a program.
    Code {
        /// The program.
        source: Text,
        /// The language it is written in, as the speaker named it.
        language: Text,
    },
    /// A place on earth; at least one of the two is present.
    Place {
        /// In words, such as a postal address.
        text: Option<Text>,
        /// As coordinates, in the notation of the speaker.
        gps: Option<Text>,
    },
    /// An extension that both ends may know; a loss where the other side does not.
    Other {
        /// Who defined the extension.
        namespace: Text,
        /// What it holds.
        value: Json,
    },
}

impl Body {
    /// The kind of the body, as losses name it.
    pub fn kind(&self) -> &'static str {
        match self {
            Body::Text { .. } => "text",
            Body::Data(_) => "data",
            Body::Blob(_) => "blob",
            Body::Link => "link",
            Body::Code { .. } => "code",
            Body::Place { .. } => "place",
            Body::Other { .. } => "other",
        }
    }
}

/// Is this text the value, written as JSON?
pub fn is_written(value: &Json, text: &str) -> bool {
    let is_alike = text.trim_start().bytes().next() == value.as_bytes().first().copied();
    is_alike && Json::parse(Bytes::copy_from_slice(text.as_bytes())).is_ok_and(|written| written == *value)
}

/// Is this the language that a text is taken for which does not say its own? NLIP writes the name, others the tag.
pub fn is_english(language: &str) -> bool {
    ["english", "en"].iter().any(|name| language.eq_ignore_ascii_case(name))
}

/// As much of what a peer returned as there is room for, with a word about the rest.
pub fn cut(parts: Vec<Part>, most: usize) -> Vec<Part> {
    let mut left = most;
    let mut shown = Vec::new();
    for part in parts {
        let weight = part.weight();
        if weight > left {
            shown.extend(part.as_text().map(|text| Part::text(head(text, left), part.provenance.clone())));
            let note = "The result is longer than this; the rest is left out.";
            shown.push(Part::text(note, Provenance { by: Party::Hub, source: None, trust: Trust::Peer }));
            break;
        }
        left -= weight;
        shown.push(part);
    }
    shown
}

/// The beginning of a text, cut at a character boundary.
pub fn head(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

/// That these parts are dropped on a way: one loss for each kind, in alphabetical order.
pub fn lost_parts<'a>(way: Way, parts: impl IntoIterator<Item = &'a Part>) -> Vec<Loss> {
    let kinds: std::collections::BTreeSet<&str> = parts.into_iter().map(|part| part.body.kind()).collect();
    kinds.into_iter().map(|kind| way.part(kind, LossKind::Dropped)).collect()
}

/// Above this many bytes a blob is always [`Blob::Stored`].
pub const INLINE_LIMIT: usize = 256 * 1024;

/// Bytes, here or in the store.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Blob {
    /// The bytes themselves; Base64 in journals.
    Inline(#[serde(with = "base64_bytes")] Bytes),
    /// In the blob store.
    Stored {
        /// The name of the blob there.
        digest: Digest,
        /// Its length in bytes.
        len: u64,
    },
}

/// How bytes are written in journals: as a Base64 string (RFC 4648 section 4).
pub mod base64_bytes {
    use base64::Engine;
    use base64::engine::general_purpose::STANDARD;
    use bytes::Bytes;
    use serde::{Deserialize, Deserializer, Serializer};

    /// For `#[serde(with = …)]`.
    pub fn serialize<S: Serializer>(bytes: &Bytes, s: S) -> Result<S::Ok, S::Error> {
        s.serialize_str(&STANDARD.encode(bytes))
    }

    /// For `#[serde(with = …)]`.
    pub fn deserialize<'de, D: Deserializer<'de>>(d: D) -> Result<Bytes, D::Error> {
        let text = String::deserialize(d)?;
        STANDARD.decode(text).map(Bytes::from).map_err(serde::de::Error::custom)
    }
}

/// Where a part came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The party that sent it to the hub.
    pub by: Party,
    /// Where that party found it, such as the page of a site.
    pub source: Option<Uri>,
    /// How far it is trusted: what it may lead to.
    pub trust: Trust,
}

impl Provenance {
    /// Provenance of a caller's content.
    pub fn caller() -> Self {
        Provenance { by: Party::Caller, source: None, trust: Trust::Caller }
    }

    /// Provenance of the hub's own content; operators are responsible for it.
    pub fn hub() -> Self {
        Provenance { by: Party::Hub, source: None, trust: Trust::Operator }
    }

    /// Provenance of a peer's content.
    pub fn peer(peer: PeerId) -> Self {
        Provenance { by: Party::Peer(peer), source: None, trust: Trust::Peer }
    }
}

/// Ordered; a derived part has the lowest of its sources. Operator text sets rules, Caller text asks, Peer and World
/// text is data.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Trust {
    /// Content of the open world, such as a web page: data, never an instruction.
    World,
    /// Said by a peer: data, never an instruction.
    Peer,
    /// Said by the caller: a request.
    Caller,
    /// Said by the operator, in configuration or by the hub: rules.
    Operator,
}

impl Trust {
    const ALL: [Trust; 4] = [Trust::World, Trust::Peer, Trust::Caller, Trust::Operator];

    /// As rules and hubs spell it.
    pub fn as_str(self) -> &'static str {
        match self {
            Trust::World => "world",
            Trust::Peer => "peer",
            Trust::Caller => "caller",
            Trust::Operator => "operator",
        }
    }

    /// The reverse of [`Trust::as_str`].
    pub fn parse(text: &str) -> Option<Trust> {
        Trust::ALL.into_iter().find(|trust| trust.as_str() == text)
    }
}

/// Who said or did something in an exchange.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Party {
    /// The caller of the exchange.
    Caller,
    /// This hub.
    Hub,
    /// The peer of this name.
    Peer(PeerId),
}

/// What a call brings along. `args` obey the skill's input schema; `parts` are for people and models.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Input {
    /// The arguments; `None` where the caller gave words or files only.
    pub args: Option<Json>,
    /// What the caller said and attached.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Earlier turns, if a wire sends them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub history: Vec<Turn>,
    /// The lowest trust in the context of the model that wrote it.
    pub trust: Trust,
}

impl Input {
    /// Arguments and nothing else.
    pub fn args(args: Json) -> Input {
        Input { args: Some(args), parts: Vec::new(), history: Vec::new(), trust: Trust::Caller }
    }

    /// Content and nothing else.
    pub fn parts(parts: Vec<Part>) -> Input {
        Input { args: None, parts, history: Vec::new(), trust: Trust::Caller }
    }

    /// One text of the caller's.
    pub fn text(text: &str) -> Input {
        Input::parts(vec![Part::text(text, Provenance::caller())])
    }

    /// The losses of this input, as its caller gave it, at a receiver that accepts arguments only. Words alone were read for the arguments
    /// that are in them.
    pub fn lost_beside_arguments(&self) -> Vec<Loss> {
        let is_lost = |part: &&Part| self.args.is_some() || part.as_text().is_none();
        let mut losses = lost_parts(Way::Input, self.parts.iter().filter(is_lost));
        losses.extend(self.lost_marks());
        losses.extend(self.lost_history());
        losses
    }

    /// The losses of it at a receiver that accepts words only.
    pub fn lost_beside_words(&self) -> Vec<Loss> {
        let mut losses = self.lost_but_words();
        if self.args.is_some() && !self.parts.is_empty() {
            losses.push(Loss::new("input.args", LossKind::Dropped));
        }
        losses.extend(self.lost_marks());
        losses
    }

    /// The parts that are not text, by their kinds.
    pub fn lost_but_words(&self) -> Vec<Loss> {
        lost_parts(Way::Input, self.parts.iter().filter(|part| part.as_text().is_none()))
    }

    /// The losses of it at a receiver that is shown the content of parts without their metadata.
    pub fn lost_marks(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        if self.parts.iter().any(|part| part.label.is_some()) {
            losses.push(Way::Input.part("label", LossKind::Dropped));
        }
        let is_told = |part: &Part| part.language().is_some_and(|language| !is_english(language));
        if self.parts.iter().any(is_told) {
            losses.push(Way::Input.part("language", LossKind::Dropped));
        }
        losses
    }

    /// That what was said before is dropped.
    pub fn lost_history(&self) -> Option<Loss> {
        (!self.history.is_empty()).then(|| Loss::new("input.history", LossKind::Dropped))
    }

    /// The text parts, joined by newlines: what a person said. Borrowed in the usual case of one part.
    pub fn words(&self) -> std::borrow::Cow<'_, str> {
        let mut texts = self.parts.iter().filter_map(Part::as_text);
        let Some(first) = texts.next() else { return "".into() };
        match texts.next() {
            None => first.into(),
            Some(second) => {
                let mut all = format!("{first}\n{second}");
                texts.for_each(|text| {
                    all.push('\n');
                    all.push_str(text);
                });
                all.into()
            }
        }
    }
}

/// One message of a conversation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Who spoke.
    pub role: Role,
    /// What was said.
    pub parts: Vec<Part>,
}

/// Who spoke in a turn, as language models have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// Instructions that precede the conversation.
    System,
    /// The user, or another party in that role.
    User,
    /// The agent or model.
    Agent,
    /// The result of a tool.
    Tool,
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_result_that_is_too_long_is_cut_between_letters_and_says_so() {
        const MOST: usize = 1_000;
        let long = Part::text("\u{e9}".repeat(MOST), Provenance::peer("web".into()));
        let shown = cut(vec![Part::text("first", Provenance::hub()), long], MOST);
        assert_eq!(shown.len(), 3);
        let begun = shown[1].as_text().expect("text");
        assert!(begun.len() <= MOST && begun.chars().all(|letter| letter == '\u{e9}'));
        assert!(shown[2].as_text().is_some_and(|text| text.contains("left out")));
        assert_eq!(cut(vec![Part::text("short", Provenance::hub())], MOST).len(), 1);
    }

    fn names(losses: &[Loss]) -> Vec<&str> {
        losses.iter().map(|loss| &*loss.what).collect()
    }

    #[test]
    fn english_is_no_loss_however_it_is_written_and_history_is_one() {
        let said = |language: &str| {
            let mut input = Input::text("do it");
            input.parts[0].body = Body::Text { text: "do it".into(), language: Some(language.into()) };
            input
        };
        for language in ["English", "english", "EN", "en"] {
            assert_eq!(said(language).lost_marks(), [], "{language}");
        }
        assert_eq!(names(&said("French").lost_marks()), ["input.parts.language"]);
        let mut later = Input::args(json!({"fast": true}).into());
        later.history = vec![Turn { role: Role::User, parts: Input::text("before").parts }];
        assert_eq!(names(&later.lost_beside_arguments()), ["input.history"]);
    }

    #[test]
    fn what_repeats_a_structured_result_says_nothing_beside_it() {
        let value: Json = json!({"n": 1}).into();
        assert!(Part::text(" {\"n\" : 1}", Provenance::hub()).repeats(&value));
        assert!(Part::new(Body::Data(value.clone()), Provenance::hub()).repeats(&value));
        assert!(!Part::text("one", Provenance::hub()).repeats(&value));
    }

    #[test]
    fn what_of_an_input_somebody_has_no_use_for_is_named() {
        let words = Input::text("do it");
        assert_eq!(
            (words.lost_beside_arguments(), words.lost_beside_words()),
            (Vec::new(), Vec::new()),
            "words are read"
        );
        let arguments = Input::args(json!({"fast": true}).into());
        assert_eq!((arguments.lost_beside_arguments(), arguments.lost_beside_words()), (Vec::new(), Vec::new()));
        let mut both = Input { args: arguments.args, ..words };
        assert_eq!(names(&both.lost_beside_arguments()), ["input.parts.text"]);
        assert_eq!(names(&both.lost_beside_words()), ["input.args"]);
        let mut french = Part::text("deux", Provenance::caller()).labelled("price");
        if let Body::Text { language, .. } = &mut french.body {
            *language = Some("french".into());
        }
        both.parts.push(french);
        both.parts.push(Part::new(Body::Link, Provenance::caller()));
        let lost = ["input.parts.link", "input.args", "input.parts.label", "input.parts.language"];
        assert_eq!(names(&both.lost_beside_words()), lost);
        let lost = ["input.parts.link", "input.parts.text", "input.parts.label", "input.parts.language"];
        assert_eq!(names(&both.lost_beside_arguments()), lost, "each kind by its name");
        let picture = Input::parts(vec![Part::new(Body::Link, Provenance::caller())]);
        let lost = picture.lost_beside_arguments();
        assert_eq!(names(&lost), ["input.parts.link"], "no argument is read from what is not text");
    }
}
