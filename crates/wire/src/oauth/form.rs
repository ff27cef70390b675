//! `application/x-www-form-urlencoded`, both ways.

use interlingua_model::percent;
use percent_encoding::utf8_percent_encode;
use zeroize::Zeroizing;

/// Writes `name=value` pairs. What was written is wiped when it is dropped: it holds secrets.
#[derive(Default)]
pub(super) struct Form(Zeroizing<String>);

impl Form {
    pub(super) fn add(&mut self, name: &str, value: &str) {
        if !self.0.is_empty() {
            self.0.push('&');
        }
        encode(name, &mut self.0);
        self.0.push('=');
        encode(value, &mut self.0);
    }

    pub(super) fn into_text(self) -> Zeroizing<String> {
        self.0
    }
}

/// Everything but letters, digits and `-._~` is escaped; that reads alike in a query and in a form.
pub(super) fn encode(text: &str, out: &mut String) {
    out.extend(utf8_percent_encode(text, &percent::RESERVED));
}

/// `None` where an escape is broken or the text is not UTF-8.
pub(super) fn decode(text: &str) -> Option<String> {
    percent::decoded(&text.replace('+', " "))
}
