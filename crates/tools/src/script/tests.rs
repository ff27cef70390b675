//! Which scene is played.

use super::file::{Script, Step};

#[test]
fn the_most_particular_scene_is_played() {
    let script: Script = serde_saphyr::from_str(
        "
scenes:
  - play: [{ say: any }]
  - { wire: a2a/0.3, play: [{ say: old }] }
  - { id: tck-, play: [{ say: short }] }
  - { id: tck-long, play: [{ say: long }] }
  - { text: hello, play: [{ say: words }] }
",
    )
    .expect("a script");
    let said = |id: &str, text: &str, wire| match script.scene(id, text, wire).as_slice() {
        [Step::Say(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    assert_eq!(said("x", "", None), "any");
    assert_eq!(said("x", "", Some("a2a/0.3")), "old");
    assert_eq!(said("tck-1", "", Some("a2a/1.0")), "short");
    assert_eq!(said("tck-long-1", "", None), "long");
    assert_eq!(said("x", "hello there", None), "words");
}
