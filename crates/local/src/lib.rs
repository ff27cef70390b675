//! Local inference: a small language model on this machine's processor. It loads a file of weights and answers a conversation piece by
//! piece.
//!
//! Reading order: [`gguf`] (the file), [`weights`] (quantized matrices), [`tokens`] (tokenizer), [`llama`] (forward pass), [`speech`] (chat
//! template, and the most likely tokens that follow). It is a crate of its own because its arithmetic must be optimised, in builds for
//! development too.
//!
//! Deliberately absent: any other architecture or weight format than those of the intended models (Llama; 32-bit floats, Q8_0 and Q4_1),
//! graphics processors, training, and randomness: the same conversation always has the same answer.

mod gguf;
mod llama;
mod speech;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

pub use gguf::BadModel;
pub use speech::{Model, Said, Speaker, StopReason, Turn};
