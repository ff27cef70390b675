//! Frames as text, and frames to the model and back.

mod mapping;
mod wire;
