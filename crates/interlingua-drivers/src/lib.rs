//! interlingua-drivers
