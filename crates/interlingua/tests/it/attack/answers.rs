//! Answers of hostile peers and hooks: how large, how many values, how slowly.
