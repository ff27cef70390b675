//! Exhaustive exploration of the pure machines of sessions and of plans up to a stated bound: every reachable state of the real code, by
//! every order of events, is visited once.
//!
//! | model | what moves | bound | states |
//! |---|---|---|---|
//! | [`session`] | the server's rules, one device, one constellation and the connections between them | up to two tasks, one command each, two connections of each client, a broken line, a restart of the device, a task withdrawn | 875 to 24,317 for each test, about 37,000 in all |
//! | [`graph`] | a plan, its journal, the calls it makes and the hub that runs it | up to four steps, two deaths of the hub, two absences of the peer, two edits, a cancel; a planner that answers or not | 809 to 2,595 for each test |
//!
//! Each test says the least number of its states: a model in which little can happen proves little.

mod explore;
mod graph;
mod session;
