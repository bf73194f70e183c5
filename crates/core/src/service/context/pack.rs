//! The answer, filled until the next thing would not fit.

use std::fmt::Write;

use serde_json::{Value, json};

use super::{ContextRequest, ContextSkill, Excerpt, tokens};
use crate::envelope;

/// An answer that fits, always.
#[derive(Debug)]
pub(super) struct Pack<'r> {
    request: &'r ContextRequest,
    skills: Vec<ContextSkill>,
    items: usize,
    more: bool,
}

impl<'r> Pack<'r> {
    /// An empty one.
    pub(super) const fn new(request: &'r ContextRequest, more: bool) -> Self {
        Self { request, skills: Vec::new(), items: 0, more }
    }

    /// Adds a skill, if it fits.
    pub(super) fn add_skill(&mut self, skill: ContextSkill) -> bool {
        self.skills.push(skill);
        if self.fits() {
            return true;
        }
        self.skills.pop();
        self.more = true;
        false
    }

    /// Fills the skills that are in it: first what can be run, then what the best paragraphs say, then what
    /// was run.
    pub(super) fn fill(&mut self, mut whole: Vec<ContextSkill>) {
        for (at, skill) in whole.iter_mut().enumerate() {
            for script in std::mem::take(&mut skill.scripts) {
                self.add(at, script, |skill| &mut skill.scripts);
            }
        }
        let mut excerpts: Vec<(usize, Excerpt)> = Vec::new();
        for (at, skill) in whole.iter_mut().enumerate() {
            excerpts.extend(std::mem::take(&mut skill.excerpts).into_iter().map(|excerpt| (at, excerpt)));
        }
        // Stable: of equally good ones that of the better skill comes first.
        excerpts.sort_by_key(|(_, excerpt)| std::cmp::Reverse(excerpt.matches));
        for (at, excerpt) in excerpts {
            self.add(at, excerpt, |skill| &mut skill.excerpts);
        }
        for (at, skill) in whole.into_iter().enumerate() {
            for execution in skill.executions {
                self.add(at, execution, |skill| &mut skill.executions);
            }
        }
    }

    fn add<T>(&mut self, at: usize, item: T, list: impl Fn(&mut ContextSkill) -> &mut Vec<T>) {
        if self.items >= self.request.max_items as usize {
            self.more = true;
            return;
        }
        list(&mut self.skills[at]).push(item);
        if self.fits() {
            self.items += 1;
        } else {
            list(&mut self.skills[at]).pop();
            self.more = true;
        }
    }

    /// The envelope, with its own count in it.
    pub(super) fn into_envelope(self) -> Value {
        let tokens = tokens::count(&self.envelope(self.request.max_tokens as usize, true).to_string());
        self.envelope(tokens, self.more)
    }

    fn fits(&self) -> bool {
        let most = self.request.max_tokens as usize;
        tokens::count(&self.envelope(most, false).to_string()) <= most
    }

    fn envelope(&self, tokens: usize, more: bool) -> Value {
        let mut data = json!({
            "max_tokens": self.request.max_tokens,
            "tokens": tokens,
            "more": more,
        });
        if self.request.markdown {
            data["markdown"] = self.markdown().into();
        } else {
            data["skills"] = json!(self.skills);
        }
        envelope::of("context", data)
    }

    fn markdown(&self) -> String {
        let mut text = String::new();
        for skill in &self.skills {
            // Writing to a string does not fail.
            let _ = write_skill(&mut text, skill);
        }
        text
    }
}

fn write_skill(text: &mut String, skill: &ContextSkill) -> std::fmt::Result {
    writeln!(text, "## {}\n{}", skill.slug, skill.description)?;
    if let (Some(skill_id), Some(revision)) = (&skill.skill_id, &skill.revision_id) {
        writeln!(text, "skill_id: {skill_id}\nrevision_id: {revision}")?;
    }
    for script in &skill.scripts {
        writeln!(text, "- run {} (input: {})", script.path, script.input.as_str())?;
        if let Some(description) = &script.description {
            writeln!(text, "  {description}")?;
        }
        if let Some(parameters) = &script.parameters {
            writeln!(text, "  parameters: {parameters}")?;
        }
    }
    for excerpt in &skill.excerpts {
        writeln!(text, "\n{}:{}\n{}", excerpt.path, excerpt.line, excerpt.text)?;
    }
    for run in &skill.executions {
        writeln!(
            text,
            "- ran {} at {}: {} ({})",
            run.script_path,
            run.created_at,
            run.status.as_str(),
            run.execution_id
        )?;
    }
    writeln!(text)
}
