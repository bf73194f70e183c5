use super::*;

const BOTH: [TargetArch; 2] = [TargetArch::x86_64, TargetArch::aarch64];

fn profile() -> Profile {
    toml::from_str(DEFAULT_PROFILE).unwrap()
}

/// The same entry by name, through the table of names of the other project; `None` when it has no such name.
fn by_name(entry: &Entry, architecture: TargetArch) -> Option<BpfProgram> {
    let json = format!(
        r#"{{"t": {{"mismatch_action": "allow", "match_action": {{"errno": 1}}, "filter": [{{"syscall": "{}"}}]}}}}"#,
        entry.call
    );
    seccompiler::compile_from_json(json.as_bytes(), architecture).ok()?.remove("t")
}

#[test]
fn every_number_belongs_to_its_name() {
    let profile = profile();
    let mut compared = 0;
    for entry in profile.refuse.iter().chain(&profile.unknown) {
        for architecture in BOTH {
            let Some(expected) = by_name(entry, architecture) else { continue };
            let plain = Entry { when: Vec::new(), reason: String::new(), call: entry.call.clone(), ..*entry };
            let found = compile(&[plain], errno(libc::EPERM), architecture).unwrap();
            assert_eq!(found, expected, "{} on {architecture:?}", entry.call);
            compared += 1;
        }
    }
    assert!(compared > 120, "only {compared} numbers could be compared");
}

#[test]
fn every_entry_compiles_for_both_architectures_and_has_a_reason() {
    let profile = profile();
    for entry in profile.refuse.iter().chain(&profile.unknown) {
        assert!(entry.x86_64.is_some() || entry.aarch64.is_some(), "{}", entry.call);
    }
    for architecture in BOTH {
        for program in profile.programs(architecture).unwrap() {
            assert!(program.len() > 5 && program.len() < 4096);
        }
    }
    assert_eq!(DEFAULT_PROFILE.matches("\nreason = \"").count(), profile.refuse.len() + profile.unknown.len());
}

#[test]
fn a_condition_that_says_nothing_is_an_error() {
    let text = "highest = { x86_64 = 1, aarch64 = 1 }\nunknown = []\n[[refuse]]\ncall = \"a\"\nx86_64 = 1\nreason = \"r\"\nwhen = [[{ argument = 0 }]]";
    let profile: Profile = toml::from_str(text).unwrap();
    assert!(matches!(profile.programs(TargetArch::x86_64), Err(ProfileError::EmptyCondition(_))));
}
