//! Live view of a team: its members side by side, each with its state, its last answer and its vote. It is made from the steps of the run's
//! timeline, and from the streamed texts of members.
//!
//! Texts of members are shown without terminal control sequences, and truncated to the available space.

use serde_json::Value;

use super::screen::plain;
use interlingua_api::view::StepView;

/// No member gets less room beside the others; then they are shown one below the other.
const NARROWEST: usize = 22;
const BETWEEN: &str = " │ ";
/// How many lines of each text are shown.
const ANSWER_LINES: usize = 5;
const REASON_LINES: usize = 2;
const WORDS_LINES: usize = 3;
/// How much of what a member says is remembered.
const WORDS: usize = 2_000;
/// How much of a text stands in a line of its own.
const LINE: usize = 200;

#[derive(Debug, Default)]
pub(super) struct Board {
    members: Vec<Member>,
    winner: Option<usize>,
}

#[derive(Debug, Default)]
struct Member {
    name: String,
    state: State,
    answer: Option<(u64, String)>,
    /// For whom, and why.
    vote: Option<(usize, String)>,
    words: String,
}

#[derive(Debug, Default)]
enum State {
    #[default]
    Waits,
    Works,
    Answered,
    Voted,
    Done,
    Out(String),
}

impl Board {
    /// Has a team been heard of?
    pub(super) fn is_team(&self) -> bool {
        !self.members.is_empty()
    }

    /// Takes a step; what a line of its own says of it.
    pub(super) fn take(&mut self, step: &StepView) -> Option<String> {
        let null = Value::Null;
        let data = step.data.as_ref().map_or(&null, |data| data.tree());
        match step.step.as_str() {
            "begun" => {
                let names = data["members"].as_array().into_iter().flatten().filter_map(Value::as_str);
                self.members = names.map(|name| Member { name: name.to_owned(), ..Member::default() }).collect();
                None
            }
            "chosen" => self.chosen(data),
            "restarted" => {
                self.winner = None;
                self.members.iter_mut().for_each(|member| {
                    *member = Member { name: std::mem::take(&mut member.name), ..Member::default() }
                });
                Some(format!("the team begins again: {}", cut(text(data, "reason"))))
            }
            other => self.member_step(other, data),
        }
    }

    /// A step of one member.
    fn member_step(&mut self, step: &str, data: &Value) -> Option<String> {
        let seat = usize::try_from(data["seat"].as_u64()?).ok()?;
        let member = self.members.get_mut(seat)?;
        let name = member.name.clone();
        match step {
            "round_begun" => {
                member.state = State::Works;
                member.words.clear();
                None
            }
            "answered" => {
                let (revision, said) = (data["revision"].as_u64().unwrap_or(1), text(data, "text"));
                member.state = State::Answered;
                member.answer = Some((revision, said.to_owned()));
                self.members.iter_mut().for_each(Member::lose_vote);
                Some(format!("{name} answers ({revision}): {}", cut(said)))
            }
            "voted" => {
                let (vote, reason) = (&data["vote"], text(&data["vote"], "reason"));
                let choice = usize::try_from(vote["choice"].as_u64()?).ok()?;
                member.state = State::Voted;
                member.vote = Some((choice, reason.to_owned()));
                Some(format!("{name} votes for {}: {}", self.name(choice), cut(reason)))
            }
            "vote_ignored" => {
                member.state = State::Waits;
                Some(format!(
                    "the vote of {name} does not count: there is an answer that it has not seen; it votes again"
                ))
            }
            "refused" => Some(format!("the decision of {name} was refused; it is asked for another")),
            "stopped" => {
                member.state = State::Done;
                None
            }
            "killed" => {
                member.state = State::Out(text(&data["why"], "public").to_owned());
                None
            }
            _ => None,
        }
    }

    fn chosen(&mut self, data: &Value) -> Option<String> {
        let winner = usize::try_from(data["winner"].as_u64()?).ok()?;
        self.winner = Some(winner);
        let votes = match data["votes"].as_u64().unwrap_or(0) {
            1 => "1 vote".to_owned(),
            votes => format!("{votes} votes"),
        };
        let tied = if data["tied"].as_bool() == Some(true) { ", as others do, and comes first" } else { "" };
        Some(format!("{} has {votes}{tied}", self.name(winner)))
    }

    fn name(&self, seat: usize) -> &str {
        self.members.get(seat).map_or("somebody", |member| &member.name)
    }

    /// Takes what a member was overheard to say; false when nobody of that name is on the team.
    pub(super) fn overhear(&mut self, by: &str, text: &str) -> bool {
        let Some(member) = self.members.iter_mut().find(|member| member.name == by) else { return false };
        member.words.push_str(text);
        let surplus = member.words.chars().count().saturating_sub(WORDS);
        if surplus > 0 {
            member.words = member.words.chars().skip(surplus).collect();
        }
        true
    }

    /// Side by side where there is room, else one below the other.
    pub(super) fn draw(&self, width: usize) -> String {
        let count = self.members.len().max(1);
        let room = (width + BETWEEN.chars().count()) / count;
        let column = room.saturating_sub(BETWEEN.chars().count());
        if column < NARROWEST {
            let each = self.members.iter().enumerate().flat_map(|(seat, member)| self.column(seat, member, width));
            return each.collect::<Vec<_>>().join("\n");
        }
        let columns: Vec<Vec<String>> =
            self.members.iter().enumerate().map(|(seat, member)| self.column(seat, member, column)).collect();
        let height = columns.iter().map(Vec::len).max().unwrap_or(0);
        let row = |line: usize| {
            let cells = columns.iter().map(|lines| padded(lines.get(line).map_or("", String::as_str), column));
            cells.collect::<Vec<_>>().join(BETWEEN).trim_end().to_owned()
        };
        (0..height).map(row).collect::<Vec<_>>().join("\n")
    }

    fn column(&self, seat: usize, member: &Member, width: usize) -> Vec<String> {
        let crown = if self.winner == Some(seat) { "★ " } else { "" };
        let state = match &member.state {
            State::Waits => "waits",
            State::Works => "at work",
            State::Answered => "has answered",
            State::Voted => "has voted",
            State::Done => "is done",
            State::Out(_) => "is out",
        };
        let mut lines = wrapped(&format!("{crown}{}: {state}", member.name), width, 1);
        if let State::Out(why) = &member.state {
            lines.extend(wrapped(why, width, REASON_LINES));
        }
        if let Some((revision, answer)) = &member.answer {
            lines.extend(wrapped(&format!("[{revision}] {answer}"), width, ANSWER_LINES));
        }
        if let Some((choice, reason)) = &member.vote {
            lines.extend(wrapped(&format!("→ {}: {reason}", self.name(*choice)), width, REASON_LINES));
        }
        if matches!(member.state, State::Works) {
            lines.extend(last_lines(&member.words, width, WORDS_LINES));
        }
        lines
    }
}

impl Member {
    /// An answer makes every vote void.
    fn lose_vote(&mut self) {
        if self.vote.take().is_some() {
            self.state = State::Waits;
        }
    }
}

/// A text of a step, or nothing.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value.get(key).and_then(Value::as_str).unwrap_or_default()
}

/// On one line, as much as is read in passing.
fn cut(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE) {
        None => line,
        Some((end, _)) => format!("{}…", &line[..end]),
    }
}

fn padded(text: &str, width: usize) -> String {
    let missing = width.saturating_sub(text.chars().count());
    format!("{text}{}", " ".repeat(missing))
}

/// The text in lines of this width, broken between words where that is possible.
fn lines_of(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in plain(text).split_whitespace() {
        let mut word: Vec<char> = word.chars().collect();
        while !word.is_empty() {
            let Some(line) = lines.last_mut() else { break };
            let used = line.chars().count();
            let gap = usize::from(used > 0);
            if used + gap + word.len() <= width {
                line.push_str(&" ".repeat(gap));
                line.extend(word.drain(..));
            } else if used > 0 {
                lines.push(String::new());
            } else {
                line.extend(word.drain(..width.max(1).min(word.len())));
                lines.push(String::new());
            }
        }
    }
    lines.retain(|line| !line.is_empty());
    lines
}

/// The first lines of it.
fn wrapped(text: &str, width: usize, most: usize) -> Vec<String> {
    let mut lines = lines_of(text, width);
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            *last = last.chars().take(width.saturating_sub(1)).chain(['…']).collect();
        }
    }
    lines
}

/// The last lines of it.
fn last_lines(text: &str, width: usize, most: usize) -> Vec<String> {
    let lines = lines_of(text, width);
    let skip = lines.len().saturating_sub(most);
    lines.into_iter().skip(skip).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn step(step: &str, data: Value) -> StepView {
        StepView { seq: 1, at: String::new(), step: step.to_owned(), data: Some(data.into()) }
    }

    fn board() -> Board {
        let mut board = Board::default();
        assert!(!board.is_team());
        assert_eq!(board.take(&step("begun", json!({"members": ["ann", "bob"]}))), None);
        board.take(&step("round_begun", json!({"seat": 0, "round": 1})));
        board.take(&step("round_begun", json!({"seat": 1, "round": 2})));
        board
    }

    #[test]
    fn members_stand_side_by_side_with_answers_and_votes() {
        let mut board = board();
        assert!(board.overhear("ann", "Let me see\u{1b}[2J") && !board.overhear("eve", "x"));
        let said = board.take(&step("answered", json!({"seat": 1, "revision": 1, "text": "Forty-\ntwo."})));
        assert_eq!(said.as_deref(), Some("bob answers (1): Forty- two."));
        let vote = json!({"seat": 1, "vote": {"choice": 1, "revision": 1, "reason": "mine"}});
        assert_eq!(board.take(&step("voted", vote)).as_deref(), Some("bob votes for bob: mine"));
        let drawn = board.draw(60);
        let rows: Vec<&str> = drawn.lines().collect();
        assert_eq!(rows[0], "ann: at work                 │ bob: has voted");
        assert_eq!(rows[1], "Let me see\\u{1b}[2J          │ [1] Forty- two.");
        assert_eq!(rows[2], "                             │ → bob: mine");
        let chosen = board.take(&step("chosen", json!({"winner": 1, "votes": 2, "tied": false, "how": "AllVoted"})));
        assert_eq!(chosen.as_deref(), Some("bob has 2 votes"));
        assert!(board.draw(60).contains("★ bob"));
    }

    #[test]
    fn an_answer_takes_every_vote_back() {
        let mut board = board();
        board.take(&step("voted", json!({"seat": 0, "vote": {"choice": 1, "reason": "good"}})));
        board.take(&step("answered", json!({"seat": 1, "revision": 2, "text": "Better."})));
        assert!(board.draw(60).starts_with("ann: waits") && !board.draw(60).contains("good"));
    }

    #[test]
    fn without_room_they_stand_one_below_the_other_and_nothing_is_wider_than_the_screen() {
        let mut board = board();
        board.take(&step("answered", json!({"seat": 0, "revision": 1, "text": "word ".repeat(400)})));
        board.take(&step("killed", json!({"seat": 1, "why": {"public": "x".repeat(300)}})));
        for width in [1, 20, 30, 47, 80] {
            let drawn = board.draw(width);
            assert!(drawn.lines().all(|line| line.chars().count() <= width.max(1)), "{width}: {drawn}");
            assert!(drawn.lines().count() <= 2 * (1 + ANSWER_LINES + REASON_LINES + WORDS_LINES));
        }
    }

    #[test]
    fn what_it_does_not_know_does_no_harm() {
        let mut board = board();
        for data in [json!(null), json!({"seat": 9}), json!({"seat": "x"}), json!({"seat": 0, "vote": {"choice": 77}})]
        {
            for name in ["answered", "voted", "killed", "chosen", "other"] {
                board.take(&step(name, data.clone()));
            }
        }
        board.draw(40);
    }
}
