//! Pure state machines. They take records and inputs and return records and effects; their driver does the I/O.
//!
//! Reading order: [`task`] (the life of a stored exchange), [`agent`] (a language model that uses skills), [`team`] (several that answer
//! and vote), [`graph`] (a plan of many calls), [`llm`] (requests to a language model and its replies), [`words`] (plain words to skills),
//! [`bus`] (messages between agents), [`audit`] (a tamper-evident log of decisions), [`limit`] (rate limits).
//!
//! Deliberately absent: I/O, a runtime, clocks (time is passed in), and the name of any protocol.

pub mod agent;
pub mod audit;
pub mod bus;
pub mod graph;
pub mod limit;
pub mod llm;
pub mod task;
pub mod team;
pub mod words;
