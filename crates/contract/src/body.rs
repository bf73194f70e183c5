//! The scripts, as POSIX `sh`, each with what it has to do in any other language.

/// A script of the contract. The description of each is what an override must do.
///
/// `@WORD@` in a body is replaced by a number of seconds, about 47, that no other process sleeps for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Body {
    /// Writes standard input to standard output, byte for byte.
    Echo,
    /// As `Echo`, and stays for two seconds.
    SlowEcho,
    /// Reads standard input to its end and writes it, then a line `end`.
    ReadToEnd,
    /// Writes a line `approved`.
    Content,
    /// Writes a line `decoy`.
    Decoy,
    /// Writes a line `problem` to standard error and exits with 7.
    Problem,
    /// Writes at least 200,000 `x` and line ends to each stream and exits with 3.
    Flood,
    /// Writes a line `begun` to standard output and one `problem` to standard error, and sleeps 30
    /// seconds without reading.
    Sleep,
    /// Makes a file in `TRACON_SKILL_TEMP` and writes every variable as a line `NAME=value`.
    Environment,
    /// Writes standard input to `note` in `TRACON_SKILL_TEMP`, waits two seconds and writes all files there.
    Note,
    /// Writes the bytes `a`, 255, `b`.
    InvalidText,
    /// Closes standard input unread, waits a second and writes a line `done`.
    CloseInput,
    /// Starts a child that keeps standard output open for 30 seconds, writes a line `done` and exits.
    HoldOutput,
    /// Starts `sleep @WORD@` in a session of its own with all three streams closed, stays two seconds.
    Daemon,
    /// Starts `sleep @WORD@` in a session of its own, and sleeps `@WORD@` itself.
    Stay,
    /// Ignores TERM, INT and HUP, with its children, for 30 seconds.
    IgnoreTerm,
    /// Makes `left` in `TRACON_SKILL_TEMP` and writes that folder's path without a line end.
    LeaveTemp,
    /// Gets a path as a JSON string, writes a line `kept` when it has `left` in it, then the names of
    /// all files in its own `TRACON_SKILL_TEMP`, then a line `end`.
    LookTemp,
    /// Kills itself with signal 9.
    Signal,
}

impl Body {
    /// The body in POSIX `sh`.
    #[must_use]
    pub const fn sh(self) -> &'static str {
        match self {
            Self::Echo => "cat\n",
            Self::SlowEcho => "cat\nsleep 2\n",
            Self::ReadToEnd => "cat\necho end\n",
            Self::Content => "echo approved\n",
            Self::Decoy => "echo decoy\n",
            Self::Problem => "echo problem >&2\nexit 7\n",
            Self::Flood => {
                "i=0\nwhile [ $i -lt 20000 ]; do echo xxxxxxxxx; echo xxxxxxxxx >&2; i=$((i+1)); done\nexit 3\n"
            }
            Self::Sleep => "echo begun\necho problem >&2\nsleep 30\n",
            Self::Environment => ": > \"$TRACON_SKILL_TEMP/writable\" && env\n",
            Self::Note => "cat > \"$TRACON_SKILL_TEMP/note\"\nsleep 2\ncat \"$TRACON_SKILL_TEMP\"/*\n",
            Self::InvalidText => "printf 'a\\377b'\n",
            Self::CloseInput => "exec 0<&-\nsleep 1\necho done\n",
            Self::HoldOutput => "sleep 30 &\necho done\n",
            Self::Daemon => {
                "own=; if command -v setsid >/dev/null; then own=setsid; fi\n\
                 ($own sleep @WORD@ </dev/null >/dev/null 2>&1 &)\nsleep 2\n"
            }
            Self::Stay => {
                "own=; if command -v setsid >/dev/null; then own=setsid; fi\n\
                 $own sleep @WORD@ &\nsleep @WORD@\n"
            }
            Self::IgnoreTerm => "trap '' TERM INT HUP\nsleep 15\nsleep 15\n",
            Self::LeaveTemp => "echo left > \"$TRACON_SKILL_TEMP/left\"\nprintf '%s' \"$TRACON_SKILL_TEMP\"\n",
            Self::LookTemp => {
                "read -r path || :\npath=${path#\\\"}\npath=${path%\\\"}\n\
                 if [ -e \"$path/left\" ]; then echo kept; fi\nls -A \"$TRACON_SKILL_TEMP\"\necho end\n"
            }
            Self::Signal => "kill -KILL $$\n",
        }
    }
}
