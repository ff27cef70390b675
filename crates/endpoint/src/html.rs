//! HTML escaping of text in the few pages that the hub shows to people.

/// Content security policy of the hub's pages: no script, nothing from elsewhere, in no frame, and no form.
pub const OWN_PAGE: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/// Escapes text of a page, also inside quotation marks.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_of_a_text_is_taken_for_the_page() {
        assert_eq!(escaped("<a href=\"x\">&amp;</a>"), "&lt;a href=&quot;x&quot;&gt;&amp;amp;&lt;/a&gt;");
    }
}
