//! Decides whether a caller has seen what it should.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::behaviour::{Behaviour, Content, Named, Scene, TIMES};
use super::seen::Seen;

/// How much of a scene a caller can see.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Sight {
    /// All of it.
    Full,
    /// What came in pieces comes as one.
    Whole,
    /// Nobody can be asked: the call fails and says so.
    Unanswered,
    /// Content or name of the result has no place, and this is declared lost.
    Less(&'static str),
    /// It is not there: the callee cannot do it, or it is no part of the answer.
    Absent,
}

type Verdict = Result<(), String>;

/// One call that came to its end.
pub(super) struct Trial<'a> {
    pub(super) on: Behaviour,
    pub(super) scene: &'a Scene,
    pub(super) sight: Sight,
    pub(super) seen: &'a Seen,
    /// What is large.
    pub(super) bytes: &'a [u8],
    /// How the caller's own word for giving up is.
    pub(super) leaves: &'a str,
}

fn want(holds: bool, what: &str) -> Verdict {
    if holds { Ok(()) } else { Err(what.to_owned()) }
}

impl Trial<'_> {
    /// What is missing, if something is.
    pub(super) fn judge(&self) -> Verdict {
        match self.on {
            Behaviour::Answer => self.completed(),
            Behaviour::Stream => self.stream(),
            Behaviour::Question => self.question(),
            Behaviour::Failure => self.failure(),
            Behaviour::Cancel => self.outcome(self.leaves),
            Behaviour::Deadline => self.deadline(),
            Behaviour::Large => self.large(),
            Behaviour::Artifact => self.artifact(),
        }
    }

    fn outcome(&self, wanted: &str) -> Verdict {
        want(self.seen.outcome == wanted, &format!("no outcome `{wanted}`"))
    }

    /// Pieces may come in lines of their own.
    fn says(&self, words: &str) -> Verdict {
        let said = self.seen.words().split_whitespace().collect::<Vec<_>>().join(" ");
        want(said.contains(words), &format!("nobody says `{words}`"))
    }

    fn completed(&self) -> Verdict {
        self.outcome("completed")?;
        self.says(self.scene.says)
    }

    /// It was declared lost, and something else was not.
    fn declared(&self, loss: &str) -> Verdict {
        let losses = &self.seen.losses;
        want(losses.iter().any(|declared| declared == loss), &format!("`{loss}` is not declared"))
    }

    fn stream(&self) -> Verdict {
        self.completed()?;
        let pieces = in_order(&self.seen.pieces, self.scene.pieces);
        match self.sight {
            Sight::Full => want(pieces >= 2, &format!("{pieces} pieces came before the end")),
            _ => want(pieces < 2, "pieces come before the end: this has become possible"),
        }
    }

    fn question(&self) -> Verdict {
        let asked = self.seen.question.as_deref();
        match self.sight {
            Sight::Unanswered => {
                self.outcome("failed")?;
                want(asked.is_none(), "somebody is asked: this has become possible")?;
                let fault = self.seen.fault.as_deref().unwrap_or_default();
                want(fault.contains("ask") || fault.contains("answer"), &format!("the fault is `{fault}`"))
            }
            // It asks in words, which are an answer like any other.
            Sight::Absent => {
                want(asked.is_none(), "it asks: this has become possible")?;
                self.outcome("completed")?;
                self.says(self.scene.asks)
            }
            Sight::Full | Sight::Whole | Sight::Less(_) => {
                let asks = self.scene.asks;
                want(asked.is_some_and(|asked| asked.contains(asks)), &format!("nobody asks `{asks}`"))?;
                self.completed()
            }
        }
    }

    fn failure(&self) -> Verdict {
        self.outcome("failed")?;
        let told = format!("{} {}", self.seen.words(), self.seen.fault.as_deref().unwrap_or_default());
        match self.scene.hidden {
            None => want(told.contains(self.scene.says), &format!("nobody says `{}`", self.scene.says)),
            Some((_, instead)) => {
                want(told.contains(instead), &format!("nobody says `{instead}`"))?;
                want(!told.contains(self.scene.says), "the callee's words arrive: they are not hidden any more")
            }
        }
    }

    fn deadline(&self) -> Verdict {
        self.outcome("failed")?;
        let fault = self.seen.fault.as_deref().unwrap_or_default();
        // Whoever notices first, hub or callee: that is what it is called.
        want(fault.contains("deadline"), &format!("the fault is `{fault}`"))
    }

    fn large(&self) -> Verdict {
        self.outcome("completed")?;
        let arrived = match self.scene.content {
            Content::Bytes | Content::Picture | Content::Words => self.seen.bytes().any(|blob| blob == self.bytes),
            Content::AsText => self.encoded(),
        };
        if self.scene.content == Content::Words {
            let times = self.seen.words().matches("a long answer").count();
            want(times >= TIMES, &format!("only {times} of {TIMES} words arrived"))?;
        }
        match self.sight {
            Sight::Full | Sight::Whole | Sight::Unanswered => want(arrived, "the bytes did not arrive"),
            Sight::Less(loss) => {
                want(!arrived, "the bytes arrive: this has become possible")?;
                self.declared(loss)
            }
            Sight::Absent => want(!arrived, "the bytes arrive: this has become possible"),
        }
    }

    /// Do the bytes stand in a text behind `base64,`? Beside the value there may be a line for people that shortens it.
    fn encoded(&self) -> bool {
        let is_base64 = |c: char| c.is_ascii_alphanumeric() || "+/=".contains(c);
        self.seen.words().split("base64,").skip(1).any(|encoded| {
            let end = encoded.find(|c| !is_base64(c)).unwrap_or(encoded.len());
            STANDARD.decode(&encoded[..end]).is_ok_and(|decoded| decoded == self.bytes)
        })
    }

    fn artifact(&self) -> Verdict {
        self.completed()?;
        let beside = self.seen.names.iter().any(|name| name.contains(self.scene.name));
        let named = match self.scene.named {
            Named::Beside => beside,
            Named::Within | Named::Kept => beside || self.seen.words().contains(self.scene.name),
        };
        match self.sight {
            Sight::Full | Sight::Whole | Sight::Unanswered => want(named, "it has no name"),
            Sight::Less(loss) => {
                want(!named, "the name arrives: this has become possible")?;
                self.declared(loss)
            }
            Sight::Absent => want(!beside, "the name arrives: this has become possible"),
        }
    }
}

/// How many pieces bring something new of these, in this order.
fn in_order(pieces: &[String], wanted: &[&str]) -> usize {
    let (mut count, mut left) = (0, wanted);
    for piece in pieces {
        let before = left.len();
        while let [next, rest @ ..] = left
            && piece.contains(next)
        {
            left = rest;
        }
        count += usize::from(left.len() < before);
    }
    count
}

#[test]
fn pieces_count_only_in_their_order_and_each_once() {
    let pieces = |said: &[&str]| said.iter().map(ToString::to_string).collect::<Vec<_>>();
    let wanted = ["one", "two", "three"];
    assert_eq!(in_order(&pieces(&["one", "two", "three"]), &wanted), 3);
    assert_eq!(in_order(&pieces(&["begun", "one two three"]), &wanted), 1);
    assert_eq!(in_order(&pieces(&["three", "two", "one"]), &wanted), 1);
    assert_eq!(in_order(&pieces(&["one", "one", "three"]), &wanted), 1);
}
