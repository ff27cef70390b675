//! What one caller could read or change of another through agents, sessions, sites, hooks and push configurations.
