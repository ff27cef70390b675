//! Server-sent events, as the WHATWG standard reads them: fields in lines, an empty line ends an event.

use super::Failure;
use super::transport::Answer;
use crate::cli::Exit;
use interlingua_api::view::{EventView, StepView};

/// No line of an event is longer.
const LINE: usize = 64 << 20;

/// The events of one exchange, as they come.
pub(crate) struct Events {
    answer: Answer,
    lines: EventLines,
    /// The number of the last event, to go on after it.
    pub(crate) last: Option<String>,
}

impl Events {
    pub(super) fn new(answer: Answer) -> Events {
        Events { answer, lines: EventLines::default(), last: None }
    }

    /// The task these events belong to, when the hub said so.
    pub(crate) fn task(&self) -> Option<String> {
        let place = self.answer.headers.get(http::header::LOCATION)?.to_str().ok()?;
        place.rsplit('/').next().map(str::to_owned)
    }

    /// The token of the conversation these events belong to, when the hub said so.
    pub(crate) fn conversation(&self) -> Option<String> {
        let token = self.answer.headers.get("interlingua-conversation")?.to_str().ok()?;
        Some(token.to_owned())
    }

    /// The next event this program knows; none when the response has ended.
    pub(crate) async fn next(&mut self) -> Result<Option<EventView>, Failure> {
        while let Some(event) = self.sent().await? {
            let unknown = |_| Failure::new(Exit::Failed, "the hub sent an event that cannot be read");
            if let Some(event) = EventView::read(&event.name, &event.data).map_err(unknown)? {
                return Ok(Some(event));
            }
        }
        Ok(None)
    }

    /// The next step, of a timeline.
    pub(crate) async fn step(&mut self) -> Result<Option<StepView>, Failure> {
        let Some(event) = self.sent().await? else { return Ok(None) };
        let step = serde_json::from_str(&event.data);
        step.map(Some).map_err(|_| Failure::new(Exit::Failed, "the hub sent a step that cannot be read"))
    }

    /// The next event, whatever it is. Nothing is lost when it is not waited for to the end.
    async fn sent(&mut self) -> Result<Option<Sent>, Failure> {
        loop {
            if let Some(mut event) = self.lines.event() {
                if let Some(id) = event.id.take() {
                    self.last = Some(id);
                }
                return Ok(Some(event));
            }
            match self.answer.piece().await? {
                None => return Ok(None),
                Some(piece) if self.lines.pending() + piece.len() <= LINE => self.lines.push(&piece),
                Some(_) => return Err(Failure::new(Exit::Failed, "the hub sent an event that is too large")),
            }
        }
    }
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Sent {
    name: String,
    data: String,
    id: Option<String>,
}

/// Bytes into events.
#[derive(Default)]
struct EventLines {
    buffer: Vec<u8>,
    /// So far there is no line end.
    scanned: usize,
    current: Sent,
}

impl EventLines {
    fn push(&mut self, piece: &[u8]) {
        self.buffer.extend_from_slice(piece);
    }

    fn pending(&self) -> usize {
        self.buffer.len() + self.current.data.len()
    }

    /// The next whole event in what has come so far.
    fn event(&mut self) -> Option<Sent> {
        while let Some(found) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.buffer.drain(..=self.scanned + found).collect();
            self.scanned = 0;
            let line = String::from_utf8_lossy(&line);
            let line = line.trim_end_matches(['\n', '\r']);
            if line.is_empty() {
                let event = std::mem::take(&mut self.current);
                if !event.name.is_empty() {
                    return Some(event);
                }
                continue;
            }
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "event" => value.clone_into(&mut self.current.name),
                "id" => self.current.id = Some(value.to_owned()),
                "data" if self.current.data.is_empty() => value.clone_into(&mut self.current.data),
                "data" => {
                    self.current.data.push('\n');
                    self.current.data.push_str(value);
                }
                // Comments keep the connection open; other fields are for others.
                _ => {}
            }
        }
        self.scanned = self.buffer.len();
        None
    }
}

#[cfg(test)]
mod tests {
    use super::EventLines;

    #[test]
    fn events_are_put_together_however_they_are_cut() {
        let text = ": hello\n\nevent: said\r\nid: 4\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: finished\ndata:x\n\n";
        for cut in 1..text.len() {
            let mut lines = EventLines::default();
            let mut events = Vec::new();
            for piece in text.as_bytes().chunks(cut) {
                lines.push(piece);
                while let Some(event) = lines.event() {
                    events.push((event.name, event.data, event.id));
                }
            }
            let expected = [
                ("said".to_owned(), "{\"a\":\n1}".to_owned(), Some("4".to_owned())),
                ("finished".to_owned(), "x".to_owned(), None),
            ];
            assert_eq!(events, expected, "cut every {cut} bytes");
        }
    }
}
