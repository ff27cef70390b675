//! Extracts JSON from a model's text. Models wrap it in fences and sentences; the extracted value is then checked as a whole.

use bytes::Bytes;

use interlingua_model::json::Json;

/// The first of these that is JSON: the whole text, the first fenced block, what stands between the outermost brackets.
pub(super) fn extract(text: &str) -> Option<Json> {
    [Some(text), fenced(text), bracketed(text, '{', '}'), bracketed(text, '[', ']')]
        .into_iter()
        .flatten()
        .find_map(|candidate| Json::parse(Bytes::copy_from_slice(candidate.trim().as_bytes())).ok())
}

fn fenced(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("```")?;
    let (_, rest) = rest.split_once('\n')?;
    rest.split_once("```").map(|(block, _)| block)
}

fn bracketed(text: &str, open: char, close: char) -> Option<&str> {
    let start = text.find(open)?;
    let end = text.rfind(close)?;
    text.get(start..=end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_found_alone_in_a_fence_and_in_a_sentence() {
        for text in
            [r#" {"a": 1} "#, "Here it is:\n```json\n{\"a\": 1}\n```\nDone.", r#"The answer is {"a": 1}, I think."#]
        {
            assert_eq!(extract(text).map(|json| json.to_string()), Some(r#"{"a": 1}"#.to_owned()), "{text}");
        }
        assert_eq!(extract("[1, 2] it is").map(|json| json.to_string()), Some("[1, 2]".to_owned()));
    }

    #[test]
    fn what_is_not_json_is_none() {
        for text in ["", "no", "}{", "```", "```json\n{\"a\": \n```", "{\"a\": 1, \"a\": 2}"] {
            assert_eq!(extract(text), None, "{text}");
        }
    }
}
