//! interlingua-testkit
