//! Glob patterns of allow lists, scopes, limits and hooks: `*` matches any run of characters, also an empty one. All lists share this
//! matcher, so a name that one list allows is the name that another list means.

/// Linear in what a star may cover: the last star is the only one that is ever tried again.
pub fn matches(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.as_bytes(), text.as_bytes());
    let (mut p, mut t, mut star) = (0, 0, None);
    while t < text.len() {
        match pattern.get(p) {
            Some(b'*') => {
                star = Some((p, t));
                p += 1;
            }
            Some(letter) if *letter == text[t] => {
                p += 1;
                t += 1;
            }
            Some(_) | None => match star {
                Some((star_p, star_t)) => {
                    star = Some((star_p, star_t + 1));
                    p = star_p + 1;
                    t = star_t + 1;
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|letter| *letter == b'*')
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn a_star_stands_for_any_letters() {
        for (pattern, text) in [("*", ""), ("*", "a"), ("delete_*", "delete_all"), ("a*b*c", "aXbYbZc"), ("abc", "abc")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in
            [("", "a"), ("delete_*", "undelete_all"), ("a*b", "abX"), ("abc", "abcd"), ("a*bc*", "ac")]
        {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
