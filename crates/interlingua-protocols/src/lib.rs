//! interlingua-protocols
