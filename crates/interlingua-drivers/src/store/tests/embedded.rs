//! What only this driver promises: its directory, its commits, its files.
