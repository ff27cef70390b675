//! Peer names: which are reserved, and what a valid name is.

/// Names with a meaning of their own: in some spelling of a skill, or in a list of who may read.
const RESERVED: [&str; 7] = ["mcp", "local", "hub", "graph", "custom_tool", "owner", "anonymous"];

/// The peer whose skills are the tools of this machine: files and custom tools.
pub const LOCAL: &str = "local";
/// The file tools of [`LOCAL`].
pub const FILE_TOOLS: [&str; 5] = ["read_file", "write_file", "edit_file", "search_files", "list_directory"];

/// Is it one of the file tools of [`LOCAL`]?
pub fn is_file_tool(skill: &str) -> bool {
    FILE_TOOLS.contains(&skill)
}

/// Is this a name of the hub's own, in any case?
pub fn is_reserved(name: &str) -> bool {
    RESERVED.iter().any(|reserved| reserved.eq_ignore_ascii_case(name))
}

/// No longer name of a peer fits into every spelling of its skills.
const NAME: usize = 50;

/// Is this byte allowed in the name of a peer or the id of a hub?
pub fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_'
}

/// Why this cannot be the name of a peer; `None` when it can.
pub fn name_problem(name: &str) -> Option<String> {
    if is_reserved(name) {
        return Some(format!("the name `{name}` is reserved; call this peer something else"));
    }
    if name.contains("__") {
        return Some("a peer's name has no `__`: it separates peer and skill in tool names".into());
    }
    let edges = name.starts_with(['-', '_']) || name.ends_with(['-', '_']);
    let unfit = name.is_empty() || name.len() > NAME || edges || !name.bytes().all(is_name_byte);
    let rule = "a peer's name is 1 to 50 letters, digits, `-` or `_`, with a letter or digit at both ends";
    unfit.then(|| rule.into())
}
