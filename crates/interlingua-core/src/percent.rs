//! Text as one component of an address (RFC 3986, section 2.1): everything but the unreserved characters is escaped.

pub fn encoded(text: &str) -> String {
    let mut spelled = String::with_capacity(text.len());
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => spelled.push(char::from(byte)),
            byte => spelled.push_str(&format!("%{byte:02X}")),
        }
    }
    spelled
}

#[cfg(test)]
mod tests {
    use super::encoded;

    #[test]
    fn what_could_end_a_component_or_begin_another_is_escaped() {
        assert_eq!(encoded("a-Z_0.9~"), "a-Z_0.9~");
        assert_eq!(encoded("a/b?c=d&e#f %é"), "a%2Fb%3Fc%3Dd%26e%23f%20%25%C3%A9");
    }
}
