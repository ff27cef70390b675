//! Local inference. A small language model on this machine's processor: a file of weights, and what it says to a conversation,
//! piece by piece.
//!
//! Reading order: [`gguf`] (the file), [`weights`] (its numbers, in blocks of few bits), [`tokens`] (text as the model reads it),
//! [`llama`] (what the model computes), [`speech`] (a conversation, and the most likely words that follow). It is a crate of its own
//! because its arithmetic is of no use unless it is optimised, in builds for development too.
//!
//! Deliberately absent: any other architecture or form of weights than those of the models this is meant for (Llama; 32-bit
//! floats, Q8_0 and Q4_1), graphics processors, training, and chance: the same conversation is always answered alike.

mod gguf;
mod llama;
mod speech;
#[cfg(test)]
mod tests;
mod tokens;
mod weights;

pub use gguf::BadModel;
pub use speech::{Model, Said, Speaker, StopReason, Turn};
