//! Programs that the hub starts, and what they leave behind.
