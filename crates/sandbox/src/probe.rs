//! The probe: the full production set-up, with a job that checks its sandbox from inside.

use std::collections::BTreeMap;
use std::fs;
use std::time::Duration;

use belljar_executor::{Cancel, Cause, Limits, Report, RuntimeName, Unavailable};
use belljar_init::order::ResourceLimit;

use crate::driver::{Driver, RunEnding};
use crate::failure::{self, RunError};
use crate::findings;
use crate::job::Job;
use crate::policy::{Policy, Writable};
use crate::sandboxed;

/// What the self-probe printed: every value of a key, in order.
#[derive(Debug, Default)]
pub(crate) struct Facts(BTreeMap<String, Vec<String>>);

/// What the service knows about itself and about the job, to compare the facts with.
#[derive(Debug)]
pub(crate) struct Expected {
    pub(crate) namespaces: BTreeMap<String, String>,
    pub(crate) further_groups: usize,
    pub(crate) is_root: bool,
    pub(crate) writable: [Writable; 3],
    pub(crate) limits: Vec<ResourceLimit>,
    pub(crate) variables: String,
    pub(crate) views: Vec<String>,
}

impl Facts {
    pub(crate) fn parse(output: &[u8]) -> Self {
        let mut facts: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for line in String::from_utf8_lossy(output).lines() {
            if let Some((key, value)) = line.split_once('=') {
                facts.entry(key.to_owned()).or_default().push(value.to_owned());
            }
        }
        Self(facts)
    }

    /// The only value of a key. One that was told twice is not to be believed.
    pub(crate) fn one(&self, key: &str) -> Option<&str> {
        match self.all(key) {
            [value] => Some(value),
            _ => None,
        }
    }

    pub(crate) fn all(&self, key: &str) -> &[String] {
        self.0.get(key).map_or(&[], Vec::as_slice)
    }

    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        self.one(key)?.parse().ok()
    }

    pub(crate) fn is(&self, key: &str, value: &str) -> bool {
        self.one(key) == Some(value)
    }

    /// Whether an attempt was refused; `false` also when nobody tried.
    pub(crate) fn refused(&self, key: &str) -> bool {
        self.number(key).is_some_and(|errno| errno != 0)
    }

    pub(crate) fn with_prefix<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.iter().filter_map(move |(key, values)| Some((key.strip_prefix(prefix)?, values.first()?.as_str())))
    }
}

/// Tries everything and says what holds.
pub(crate) async fn probe(
    driver: &Driver,
    timeout: Duration,
    runtimes: BTreeMap<RuntimeName, String>,
) -> Result<Report, Unavailable> {
    let job = Job::self_probe(Limits::default(), timeout);
    let expected = expected(driver, &job);
    let inconclusive = |message: String| {
        failure::unavailable(Cause::Other, None, message, "run the probe again; if it stays, report it")
    };
    let (finished, output) = match sandboxed::run(driver, &job, &Cancel::new()).await {
        Ok(result) => result,
        Err(RunError::Unavailable(unavailable)) => return Err(unavailable),
        Err(error) => return Err(inconclusive(format!("the probe could not run: {error}"))),
    };
    let facts = Facts::parse(&output);
    if finished.ending != RunEnding::Exited(0) || !facts.is("complete", "yes") {
        return Err(inconclusive(format!("the probe did not end well: {:?}", finished.ending)));
    }
    let controls = findings::of(&facts, &expected);
    Ok(Report { driver: Some(driver.name().to_owned()), controls, runtimes: Some(runtimes) })
}

pub(crate) fn expected(driver: &Driver, job: &Job) -> Expected {
    let namespaces = ["user", "mnt", "pid", "net", "ipc", "uts", "cgroup"].into_iter().filter_map(|name| {
        let link = fs::read_link(format!("/proc/self/ns/{name}")).ok()?;
        Some((name.to_owned(), link.to_string_lossy().into_owned()))
    });
    let own_group = rustix::process::getegid();
    let groups = rustix::process::getgroups().unwrap_or_default();
    Expected {
        namespaces: namespaces.collect(),
        further_groups: groups.iter().filter(|group| **group != own_group).count(),
        is_root: rustix::process::geteuid().is_root(),
        writable: Policy::writable(&job.limits),
        limits: Policy::resource_limits(&job.limits, job.timeout_seconds()),
        variables: job.environment.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(","),
        views: driver.policy.views(),
    }
}
