//! Extraction from a page. The page's text is untrusted: it is cleaned and bounded here, and everything made of it stays data.

pub use interlingua_model::plain_text::{MAX_TEXT, clean, is_cut};
use jiff::civil::Date;

use super::Trouble;
use interlingua_model::id::Text;
use interlingua_model::json::Tree;

/// One field of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Within the row; `.` is the row itself.
    pub selector: Text,
    /// Instead of the visible text.
    pub attribute: Option<Text>,
    /// Every match instead of the first.
    pub list: bool,
    pub kind: Kind,
    pub required: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// As it stands there.
    Text,
    Number,
    /// `{"amount": 650, "currency": "USD", "text": "$650"}`
    Price,
    /// `2027-05-01`
    Date,
}

impl Kind {
    pub const ALL: [(&'static str, Kind); 4] =
        [("text", Kind::Text), ("number", Kind::Number), ("price", Kind::Price), ("date", Kind::Date)];
}

/// Rows of one extract, unless the definition says fewer.
pub const MAX_ROWS: usize = 1_000;

impl Field {
    /// `selector`, `selector@attribute`, or `.` and `.@attribute` for the row itself.
    pub fn parse(text: &str) -> Field {
        let plain = |selector: &str, attribute: Option<&str>| Field {
            selector: selector.trim().into(),
            attribute: attribute.map(Text::from),
            list: false,
            kind: Kind::Text,
            required: false,
        };
        let named = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
        match text.rsplit_once('@') {
            Some((selector, attribute)) if named(attribute) => {
                // In XPath the attribute is a step of its own.
                let selector = selector.trim_end_matches('/');
                plain(if selector.is_empty() { "." } else { selector }, Some(attribute))
            }
            _ => plain(text, None),
        }
    }

    /// What the page said as the value of this field; `None` leaves the field out of its row.
    pub fn value(&self, step: usize, name: &Text, said: Option<&Tree>) -> Result<Option<Tree>, Trouble> {
        let invalid =
            |problem: &str| Trouble::ExtractionInvalid { step, field: name.clone(), problem: problem.to_owned() };
        let read = |text: &str| match self.kind {
            Kind::Text => Some(Tree::from(clean(text))),
            Kind::Number => number(text).map(Tree::from),
            Kind::Price => price(text),
            Kind::Date => date(text).map(|date| Tree::from(date.to_string())),
        };
        let value = match said {
            Some(Tree::Array(all)) if self.list => {
                let read: Option<Vec<Tree>> = all.iter().filter_map(Tree::as_str).map(read).collect();
                Some(Tree::Array(read.ok_or_else(|| invalid("has a value that cannot be read"))?))
            }
            Some(Tree::String(text)) => match read(text) {
                Some(value) => Some(value),
                None if self.required => return Err(invalid("has a value that cannot be read")),
                None => None,
            },
            Some(_) | None => None,
        };
        match value {
            None if self.required => Err(invalid("is missing")),
            value => Ok(value),
        }
    }
}

/// The first number in a text, with either habit of writing thousands and decimals.
pub fn number(text: &str) -> Option<f64> {
    let start = text.find(|c: char| c.is_ascii_digit())?;
    let negative = text[..start].trim_end().ends_with(['-', '−']);
    let run: String = text[start..]
        .chars()
        .take_while(|c| c.is_ascii_digit() || matches!(c, '.' | ',' | '\'' | ' ' | '\u{a0}' | '\u{202f}'))
        .collect();
    let run = run.trim_end_matches(|c: char| !c.is_ascii_digit());
    let decimal = match (run.rfind('.'), run.rfind(',')) {
        (Some(dot), Some(comma)) => Some(dot.max(comma)),
        (Some(at), None) | (None, Some(at)) => {
            let mark = run.as_bytes()[at];
            let once = run.bytes().filter(|byte| *byte == mark).count() == 1;
            // Three digits after the only mark are thousands: 1,299 and 1.299.
            (once && run.len() - at - 1 != 3).then_some(at)
        }
        (None, None) => None,
    };
    let digits = |text: &str| text.chars().filter(char::is_ascii_digit).collect::<String>();
    let spelled = match decimal {
        Some(at) => format!("{}.{}", digits(&run[..at]), digits(&run[at + 1..])),
        None => digits(run),
    };
    let value: f64 = spelled.parse().ok()?;
    Some(if negative { -value } else { value })
}

fn price(text: &str) -> Option<Tree> {
    let amount = number(text)?;
    let signs = [("€", "EUR"), ("£", "GBP"), ("¥", "JPY"), ("₹", "INR"), ("US$", "USD"), ("$", "USD")];
    let code = text
        .split(|c: char| !c.is_ascii_alphabetic())
        .find(|word| word.len() == 3 && word.chars().all(|c| c.is_ascii_uppercase()));
    let currency = code.or_else(|| signs.iter().find(|(sign, _)| text.contains(sign)).map(|(_, code)| *code));
    let mut price = serde_json::Map::new();
    price.insert("amount".into(), amount.into());
    if let Some(currency) = currency {
        price.insert("currency".into(), currency.into());
    }
    price.insert("text".into(), clean(text).into());
    Some(Tree::Object(price))
}

/// Dates that say their year: nothing is guessed from a page.
fn date(text: &str) -> Option<Date> {
    let text = clean(text);
    if let Some(date) = text.get(..10).and_then(|head| head.parse::<Date>().ok()) {
        return Some(date);
    }
    let plain = text.replace(',', "");
    let forms = ["%B %d %Y", "%b %d %Y", "%d %B %Y", "%d %b %Y", "%d.%m.%Y", "%A %d %B %Y", "%A %B %d %Y", "%Y/%m/%d"];
    forms.iter().find_map(|form| Date::strptime(form, &plain).ok())
}
