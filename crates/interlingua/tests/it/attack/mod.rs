//! What attackers do, each as a test that fails where they succeed.

mod outgoing;
