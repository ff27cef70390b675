//! interlingua-core
