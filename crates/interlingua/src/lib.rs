//! interlingua
