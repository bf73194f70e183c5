//! From the commented data file to the BPF programs that a job installs.

use std::collections::BTreeMap;

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, sock_filter,
};
use serde::Deserialize;

const DEFAULT_PROFILE: &str = include_str!("../policy/seccomp.toml");

// Of the classic BPF machine, linux/bpf_common.h and linux/seccomp.h.
const LOAD_WORD: u16 = 0x20;
const JUMP_EQUAL: u16 = 0x15;
const JUMP_GREATER: u16 = 0x25;
const RETURN: u16 = 0x06;
const OFFSET_NUMBER: u32 = 0;
const OFFSET_ARCHITECTURE: u32 = 4;

/// Why a profile is no profile.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProfileError {
    #[error("the system call profile cannot be read: {0}")]
    Unreadable(#[from] toml::de::Error),
    #[error("the system call profile cannot be compiled: {0}")]
    Uncompilable(#[from] seccompiler::BackendError),
    #[error("the entry for `{0}` has a condition that says nothing")]
    EmptyCondition(String),
    #[error("no system call profile for this architecture")]
    Architecture,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profile {
    highest: Numbers,
    refuse: Vec<Entry>,
    unknown: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Numbers {
    x86_64: u32,
    aarch64: u32,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    call: String,
    x86_64: Option<u32>,
    aarch64: Option<u32>,
    #[expect(dead_code, reason = "for the reader of the file; read here so that no entry goes without")]
    reason: String,
    #[serde(default)]
    when: Vec<Vec<Condition>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Condition {
    argument: u8,
    mask: Option<u32>,
    equals: Option<u32>,
    #[serde(default)]
    none_of: Vec<u32>,
}

/// The default profile for the architecture this is built for, as bytes in the order of installation.
pub(crate) fn default_programs() -> Result<Vec<Vec<u8>>, ProfileError> {
    let architecture = TargetArch::try_from(std::env::consts::ARCH).map_err(|_| ProfileError::Architecture)?;
    let profile: Profile = toml::from_str(DEFAULT_PROFILE)?;
    Ok(profile.programs(architecture)?.iter().map(|program| bytes_of(program)).collect())
}

impl Profile {
    // The kernel runs all of them on every call and takes the strictest answer.
    fn programs(&self, architecture: TargetArch) -> Result<Vec<BpfProgram>, ProfileError> {
        Ok(vec![
            prologue(architecture, self.highest)?,
            compile(&self.unknown, errno(libc::ENOSYS), architecture)?,
            compile(&self.refuse, errno(libc::EPERM), architecture)?,
        ])
    }
}

impl Entry {
    const fn number(&self, architecture: TargetArch) -> Option<u32> {
        match architecture {
            TargetArch::x86_64 => self.x86_64,
            TargetArch::aarch64 => self.aarch64,
            TargetArch::riscv64 => None,
        }
    }

    fn rules(&self) -> Result<Vec<SeccompRule>, ProfileError> {
        let rule = |conditions: &Vec<Condition>| {
            let parts: Result<Vec<_>, _> = conditions.iter().map(|condition| condition.compiled(&self.call)).collect();
            Ok(SeccompRule::new(parts?.concat())?)
        };
        self.when.iter().map(rule).collect()
    }
}

impl Condition {
    fn compiled(&self, call: &str) -> Result<Vec<SeccompCondition>, ProfileError> {
        let compare = |operator, value: u32| {
            SeccompCondition::new(self.argument, SeccompCmpArgLen::Dword, operator, value.into()).map_err(Into::into)
        };
        match (self.equals, self.mask) {
            (Some(value), Some(mask)) => Ok(vec![compare(SeccompCmpOp::MaskedEq(mask.into()), value)?]),
            (Some(value), None) => Ok(vec![compare(SeccompCmpOp::Eq, value)?]),
            _ if self.none_of.is_empty() => Err(ProfileError::EmptyCondition(call.to_owned())),
            _ => self.none_of.iter().map(|value| compare(SeccompCmpOp::Ne, *value)).collect(),
        }
    }
}

fn errno(number: i32) -> SeccompAction {
    SeccompAction::Errno(number.unsigned_abs())
}

fn compile(entries: &[Entry], answer: SeccompAction, architecture: TargetArch) -> Result<BpfProgram, ProfileError> {
    let mut rules = BTreeMap::new();
    for entry in entries {
        if let Some(number) = entry.number(architecture) {
            rules.insert(i64::from(number), entry.rules()?);
        }
    }
    Ok(SeccompFilter::new(rules, SeccompAction::Allow, answer, architecture)?.try_into()?)
}

/// The architecture word before anything else, then every number that nobody has read about.
fn prologue(architecture: TargetArch, highest: Numbers) -> Result<BpfProgram, ProfileError> {
    // AUDIT_ARCH_X86_64 and AUDIT_ARCH_AARCH64 of linux/audit.h.
    let (word, highest) = match architecture {
        TargetArch::x86_64 => (0xC000_003E, highest.x86_64),
        TargetArch::aarch64 => (0xC000_00B7, highest.aarch64),
        TargetArch::riscv64 => return Err(ProfileError::Architecture),
    };
    let instruction = |code, jt, jf, k| sock_filter { code, jt, jf, k };
    Ok(vec![
        instruction(LOAD_WORD, 0, 0, OFFSET_ARCHITECTURE),
        instruction(JUMP_EQUAL, 1, 0, word),
        instruction(RETURN, 0, 0, SeccompAction::KillProcess.into()),
        instruction(LOAD_WORD, 0, 0, OFFSET_NUMBER),
        instruction(JUMP_GREATER, 0, 1, highest),
        instruction(RETURN, 0, 0, errno(libc::ENOSYS).into()),
        instruction(RETURN, 0, 0, SeccompAction::Allow.into()),
    ])
}

fn bytes_of(program: &[sock_filter]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(program.len() * 8);
    for instruction in program {
        bytes.extend(instruction.code.to_le_bytes());
        bytes.extend([instruction.jt, instruction.jf]);
        bytes.extend(instruction.k.to_le_bytes());
    }
    bytes
}

#[cfg(test)]
#[path = "seccomp_tests.rs"]
mod tests;
