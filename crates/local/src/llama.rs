//! Transformer forward pass of a Llama model: for every token, from all before it, the likelihood of each next token.

use std::sync::Arc;

use super::gguf::{BadModel, Contents};
use super::weights::{Matrix, dot};

/// What no model has that this program is meant for: bounds of what a file can make it reserve.
const MAX_BLOCKS: usize = 512;
const MAX_WIDTH: usize = 1 << 16;

#[derive(Debug)]
pub(crate) struct Llama {
    blocks: Vec<Block>,
    embedding: Matrix,
    norm: Vec<f32>,
    output: Matrix,
    heads: usize,
    shared_heads: usize,
    head: usize,
    epsilon: f32,
    base: f64,
    pub(crate) window: usize,
}

#[derive(Debug)]
struct Block {
    attention_norm: Vec<f32>,
    query: Matrix,
    key: Matrix,
    value: Matrix,
    attended: Matrix,
    norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// What was read so far: keys and values of every block, one token after another.
#[derive(Debug, Clone)]
pub(crate) struct Read {
    keys: Vec<Vec<f32>>,
    values: Vec<Vec<f32>>,
    pub(crate) tokens: usize,
}

impl Llama {
    pub(crate) fn read(file: &Arc<[u8]>, contents: &Contents, tokens: usize) -> Result<Llama, BadModel> {
        if contents.text("general.architecture") != Some("llama") {
            let named = contents.text("general.architecture").unwrap_or("unnamed").to_owned();
            return Err(BadModel::Unsupported(named));
        }
        let width = contents.count("llama.embedding_length")?;
        let heads = contents.count("llama.attention.head_count")?;
        let shared_heads = contents.count("llama.attention.head_count_kv")?;
        let blocks = contents.count("llama.block_count")?;
        let wide = contents.count("llama.feed_forward_length")?;
        let sound = [heads, shared_heads, blocks, width, wide].iter().all(|count| *count > 0)
            && width.is_multiple_of(heads)
            && heads.is_multiple_of(shared_heads)
            && (width / heads).is_multiple_of(2)
            && blocks <= MAX_BLOCKS
            && width.max(wide) <= MAX_WIDTH;
        if !sound {
            return Err(BadModel::Damaged("sizes that do not fit together"));
        }
        let head = width / heads;
        let tensor = |name: &str, shape| Matrix::read(file, contents, name, shape);
        let embedding = tensor("token_embd.weight", (width, tokens))?;
        let output = match contents.tensors.contains_key("output.weight") {
            true => tensor("output.weight", (width, tokens))?,
            false => embedding.clone(),
        };
        let block = |number: usize| {
            let of = |name: &str, shape| tensor(&format!("blk.{number}.{name}.weight"), shape);
            let narrow = shared_heads * head;
            Ok(Block {
                attention_norm: of("attn_norm", (width, 1))?.whole(),
                query: of("attn_q", (width, width))?,
                key: of("attn_k", (width, narrow))?,
                value: of("attn_v", (width, narrow))?,
                attended: of("attn_output", (width, width))?,
                norm: of("ffn_norm", (width, 1))?.whole(),
                gate: of("ffn_gate", (width, wide))?,
                up: of("ffn_up", (width, wide))?,
                down: of("ffn_down", (wide, width))?,
            })
        };
        Ok(Llama {
            blocks: (0..blocks).map(block).collect::<Result<_, BadModel>>()?,
            embedding,
            norm: tensor("output_norm.weight", (width, 1))?.whole(),
            output,
            heads,
            shared_heads,
            head,
            epsilon: contents.number("llama.attention.layer_norm_rms_epsilon")? as f32,
            base: contents.number("llama.rope.freq_base").unwrap_or(10_000.0),
            window: contents.count("llama.context_length")?,
        })
    }

    pub(crate) fn nothing_read(&self) -> Read {
        let empty = || vec![Vec::new(); self.blocks.len()];
        Read { keys: empty(), values: empty(), tokens: 0 }
    }

    /// Reads these tokens after all before them; gives the state after the last one.
    pub(crate) fn take_in(&self, read: &mut Read, tokens: &[u32]) -> Vec<f32> {
        let width = self.embedding.columns;
        let mut state = vec![0.0; width * tokens.len()];
        for (token, row) in tokens.iter().zip(state.chunks_mut(width)) {
            self.embedding.row((*token as usize).min(self.embedding.rows - 1), row);
        }
        for (number, block) in self.blocks.iter().enumerate() {
            let seen = self.normed(&state, &block.attention_norm);
            let mut queries = block.query.times(&seen);
            let mut keys = block.key.times(&seen);
            self.turn(&mut queries, self.heads, read.tokens);
            self.turn(&mut keys, self.shared_heads, read.tokens);
            read.keys[number].extend(keys);
            read.values[number].extend(block.value.times(&seen));
            let heard = self.attend(&queries, &read.keys[number], &read.values[number], read.tokens);
            add(&mut state, &block.attended.times(&heard));
            let seen = self.normed(&state, &block.norm);
            let mut gate = block.gate.times(&seen);
            for (gate, up) in gate.iter_mut().zip(block.up.times(&seen)) {
                *gate *= up / (1.0 + (-*gate).exp());
            }
            add(&mut state, &block.down.times(&gate));
        }
        read.tokens += tokens.len();
        state.split_off(width * tokens.len().saturating_sub(1))
    }

    /// How likely each token is to follow this state, on a scale without bounds.
    pub(crate) fn scores(&self, state: &[f32]) -> Vec<f32> {
        self.output.times(&self.normed(state, &self.norm))
    }

    fn normed(&self, state: &[f32], weights: &[f32]) -> Vec<f32> {
        let mut normed = state.to_vec();
        for row in normed.chunks_mut(weights.len()) {
            let scale = (dot(row, row) / row.len() as f32 + self.epsilon).sqrt().recip();
            row.iter_mut().zip(weights).for_each(|(number, weight)| *number *= scale * weight);
        }
        normed
    }

    /// Turns neighbouring numbers about each other by where their token stands, so that distance can be seen.
    fn turn(&self, rows: &mut [f32], heads: usize, first: usize) {
        for (token, row) in rows.chunks_mut(heads * self.head).enumerate() {
            let at = (first + token) as f64;
            for head in row.chunks_mut(self.head) {
                for (pair, numbers) in head.as_chunks_mut::<2>().0.iter_mut().enumerate() {
                    let angle = at * self.base.powf(-2.0 * pair as f64 / self.head as f64);
                    let (sine, cosine) = (angle.sin() as f32, angle.cos() as f32);
                    let [one, other] = *numbers;
                    *numbers = [one * cosine - other * sine, one * sine + other * cosine];
                }
            }
        }
    }

    /// What each head takes of each token's past, by how well that fits.
    fn attend(&self, queries: &[f32], keys: &[f32], values: &[f32], first: usize) -> Vec<f32> {
        let (wide, narrow) = (self.heads * self.head, self.shared_heads * self.head);
        let mut heard = vec![0.0; queries.len()];
        let scale = (self.head as f32).sqrt().recip();
        for (token, (query, heard)) in queries.chunks(wide).zip(heard.chunks_mut(wide)).enumerate() {
            let past = first + token + 1;
            for (number, (query, heard)) in query.chunks(self.head).zip(heard.chunks_mut(self.head)).enumerate() {
                let shared = number / (self.heads / self.shared_heads) * self.head;
                let key = |at: usize| &keys[at * narrow + shared..][..self.head];
                let fits: Vec<f32> = (0..past).map(|at| dot(query, key(at)) * scale).collect();
                let best = fits.iter().copied().fold(f32::NEG_INFINITY, f32::max);
                let shares: Vec<f32> = fits.iter().map(|fit| (fit - best).exp()).collect();
                let all: f32 = shares.iter().sum();
                for (at, share) in shares.iter().enumerate() {
                    let value = &values[at * narrow + shared..][..self.head];
                    heard.iter_mut().zip(value).for_each(|(heard, value)| *heard += share / all * value);
                }
            }
        }
        heard
    }
}

fn add(state: &mut [f32], more: &[f32]) {
    state.iter_mut().zip(more).for_each(|(number, more)| *number += more);
}
