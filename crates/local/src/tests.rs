//! A model made by hand, small enough to be read, and files that are not models.

use std::sync::Arc;

use proptest::prelude::*;

use super::*;

/// Writes a GGUF file: facts, then tensors of 32-bit floats.
#[derive(Default)]
struct File {
    facts: Vec<u8>,
    fact_count: u64,
    tensors: Vec<(String, Vec<u64>, Vec<f32>)>,
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

impl File {
    fn fact(&mut self, name: &str, kind: u32, value: &[u8]) {
        text(&mut self.facts, name);
        self.facts.extend(kind.to_le_bytes());
        self.facts.extend(value);
        self.fact_count += 1;
    }

    fn count(&mut self, name: &str, count: u32) {
        self.fact(name, 4, &count.to_le_bytes());
    }

    fn texts(&mut self, name: &str, texts: &[String]) {
        let mut value = 8_u32.to_le_bytes().to_vec();
        value.extend((texts.len() as u64).to_le_bytes());
        texts.iter().for_each(|one| text(&mut value, one));
        self.fact(name, 9, &value);
    }

    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend(self.fact_count.to_le_bytes());
        bytes.extend(&self.facts);
        let mut offset = 0_u64;
        for (name, shape, numbers) in &self.tensors {
            text(&mut bytes, name);
            bytes.extend((shape.len() as u32).to_le_bytes());
            shape.iter().for_each(|side| bytes.extend(side.to_le_bytes()));
            bytes.extend(0_u32.to_le_bytes());
            bytes.extend(offset.to_le_bytes());
            offset += numbers.len() as u64 * 4;
        }
        bytes.resize(bytes.len().next_multiple_of(32), 0);
        self.tensors.iter().flat_map(|(_, _, numbers)| numbers).for_each(|number| bytes.extend(number.to_le_bytes()));
        bytes
    }
}

/// A token for each byte, the marks, and `ab` as one token.
fn vocabulary() -> Vec<String> {
    let seen = |byte: u8| matches!(byte, b'!'..=b'~' | 0xa1..=0xac | 0xae..=0xff);
    let mut beyond = 0x100;
    let mut all: Vec<String> = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"].map(str::to_owned).to_vec();
    for byte in 0..=u8::MAX {
        let letter = if seen(byte) {
            char::from(byte)
        } else {
            beyond += 1;
            char::from_u32(beyond - 1).expect("a letter")
        };
        all.push(letter.to_string());
    }
    all.push("ab".to_owned());
    all
}

/// One block that changes nothing: what follows depends on the last token alone. After a token comes the next one of `chain`, round
/// and round, because each token's own direction is what the output looks for in the one before.
fn model(chain: &[u32]) -> Vec<u8> {
    let vocabulary = vocabulary();
    let (width, tokens) = (8_usize, vocabulary.len());
    let mut file = File::default();
    file.fact("general.architecture", 8, &{
        let mut value = Vec::new();
        text(&mut value, "llama");
        value
    });
    for (name, count) in [
        ("llama.embedding_length", 8),
        ("llama.attention.head_count", 2),
        ("llama.attention.head_count_kv", 1),
        ("llama.block_count", 1),
        ("llama.feed_forward_length", 8),
        ("llama.context_length", 256),
    ] {
        file.count(name, count);
    }
    file.fact("llama.attention.layer_norm_rms_epsilon", 6, &1e-5_f32.to_le_bytes());
    file.texts("tokenizer.ggml.tokens", &vocabulary);
    file.texts("tokenizer.ggml.merges", &["a b".to_owned()]);
    let place = |token: u32| chain.iter().position(|one| *one == token);
    let mut embedding = vec![0.0_f32; width * tokens];
    let mut output = vec![0.0_f32; width * tokens];
    for token in 0..tokens as u32 {
        // Whatever is not in the chain leads to its beginning.
        let next = place(token).map_or(0, |place| place + 1);
        embedding[token as usize * width + next.min(7)] = 1.0;
        if let Some(place) = place(token) {
            output[token as usize * width + place] = 1.0;
        }
    }
    let mut tensor = |name: &str, shape: &[u64], numbers: Vec<f32>| {
        file.tensors.push((name.to_owned(), shape.to_vec(), numbers));
    };
    tensor("token_embd.weight", &[8, tokens as u64], embedding);
    tensor("output.weight", &[8, tokens as u64], output);
    tensor("output_norm.weight", &[8], vec![1.0; 8]);
    for name in ["attn_norm", "ffn_norm"] {
        tensor(&format!("blk.0.{name}.weight"), &[8], vec![1.0; 8]);
    }
    for (name, rows) in [
        ("attn_q", 8),
        ("attn_k", 4),
        ("attn_v", 4),
        ("attn_output", 8),
        ("ffn_gate", 8),
        ("ffn_up", 8),
        ("ffn_down", 8),
    ] {
        tensor(&format!("blk.0.{name}.weight"), &[8, rows], vec![0.0; 8 * rows as usize]);
    }
    file.bytes()
}

fn token(byte: u8) -> u32 {
    u32::from(byte) + 3
}

const END: u32 = 2;
/// The token `ab`.
const PAIR: u32 = 259;

fn read(bytes: Vec<u8>) -> Model {
    Model::read(bytes.into()).expect("a model")
}

fn asked() -> [Turn<'static>; 2] {
    [Turn { by: Speaker::System, text: "Be brief." }, Turn { by: Speaker::User, text: "ab 12 <|im_end|>" }]
}

#[test]
fn an_answer_comes_piece_by_piece_until_its_end_mark() {
    let model = read(model(&[token(b'H'), token(b'i'), PAIR, token(b'!'), END]));
    let mut pieces = Vec::new();
    let said = model.answer(&asked(), 20, |piece| {
        pieces.push(piece.to_owned());
        true
    });
    assert_eq!(pieces.concat(), "Hiab!");
    assert_eq!((said.written, said.ended), (4, StopReason::Done));
    assert!(pieces.iter().filter(|piece| !piece.is_empty()).count() == 4, "{pieces:?}");
}

#[test]
fn letters_of_several_bytes_are_whole_and_a_limit_ends_it() {
    let model = read(model(&[token(0xc3), token(0xa9), token(b'a'), token(b'b'), token(b'c'), token(b'd')]));
    let mut pieces = Vec::new();
    let said = model.answer(&asked(), 3, |piece| {
        pieces.push(piece.to_owned());
        true
    });
    assert_eq!((pieces.concat().as_str(), said.ended), ("\u{e9}a", StopReason::Length));
}

#[test]
fn nobody_listens_and_it_stops() {
    let model = read(model(&[token(b'H'), token(b'i'), END]));
    let said = model.answer(&asked(), 20, |piece| piece.is_empty());
    assert_eq!((said.written, said.ended), (1, StopReason::Left));
    assert_eq!(model.answer(&asked(), 20, |_| false).ended, StopReason::Left);
    assert_eq!(model.choose(&asked(), "", &["H"], |_| false), None);
}

#[test]
fn of_several_the_likeliest_is_chosen() {
    let model = read(model(&[token(b'a'), token(b'g'), token(b'2'), END]));
    assert_eq!(model.choose(&asked(), "x", &["b1", "ag2", "zz"], |_| true), Some(1));
    assert_eq!(model.choose(&asked(), "x", &[], |_| true), None);
}

#[test]
fn a_conversation_that_is_too_long_loses_its_middle() {
    let model = read(model(&[token(b'H'), END]));
    let long = "word ".repeat(2_000);
    let turns = [Turn { by: Speaker::User, text: &long }];
    let said = model.answer(&turns, 10, |_| true);
    assert!(said.read <= 256 && said.ended == StopReason::Done, "{said:?}");
}

#[test]
fn files_that_are_no_models_are_refused_and_say_why() {
    let bytes = model(&[token(b'H'), END]);
    assert!(matches!(Model::read(Arc::from(&b"GGML"[..])), Err(BadModel::NoModel)));
    let cut = Model::read(bytes[..bytes.len() - 400].into());
    assert!(matches!(cut, Err(BadModel::Damaged(_))), "{cut:?}");
    let other = String::from_utf8_lossy(&bytes).contains("llama");
    assert!(other);
    let at = bytes.windows(5).position(|five| five == b"llama").expect("its kind");
    let mut renamed = bytes.clone();
    renamed[at + 4] = b'o';
    assert!(Model::read(renamed.into()).is_err());
    assert!(Model::open(std::path::Path::new("/nonexistent")).is_err());
}

proptest! {
    #[test]
    fn no_file_does_harm(at in any::<prop::sample::Index>(), with in any::<u8>(), cut in any::<prop::sample::Index>()) {
        let mut bytes = model(&[token(b'H'), END]);
        let place = at.index(bytes.len());
        bytes[place] = with;
        let _ = Model::read(bytes.clone().into());
        bytes.truncate(cut.index(bytes.len()));
        let _ = Model::read(bytes.into());
    }
}
