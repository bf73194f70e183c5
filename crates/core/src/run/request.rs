//! What the executor gets, from what was resolved.

use belljar_executor::{ExecutionId, ExecutionRequest, Interpreter, LanguageKey, RequestParts, ScriptName};

use super::{Resolved, World};

/// What the gates found out about a resolved script.
#[derive(Clone, Debug)]
pub(super) struct Runnable {
    pub(super) language: LanguageKey,
    pub(super) interpreter: Interpreter,
    pub(super) script_name: ScriptName,
}

impl Runnable {
    /// The request of this execution.
    pub(super) fn request(&self, world: &World, resolved: &Resolved, execution_id: ExecutionId) -> ExecutionRequest {
        let limits_class = world.options.limits_class(Some(&self.language)).clone();
        let limits = resolved.declaration.limits.tighten(&world.options.limits(&limits_class));
        ExecutionRequest::new(RequestParts {
            tenant_id: resolved.edition.tenant.clone(),
            run_id: resolved.run_id.clone(),
            execution_id,
            skill_name: resolved.edition.slug().clone(),
            script_name: self.script_name.clone(),
            script_path: resolved.path.clone(),
            origin: resolved.edition.origin(),
            interpreter: self.interpreter.clone(),
            language: self.language.clone(),
            extension: resolved.path.extension().unwrap_or_default(),
            content: resolved.content.clone(),
            source_path: resolved.edition.source_path(&resolved.path),
            arguments_json: resolved.arguments_json.clone(),
            argv: resolved.argv.clone(),
            cwd: resolved.declaration.cwd,
            standalone: resolved.declaration.standalone,
            files: resolved.edition.files().clone(),
            limits_class,
            limits,
            timeout: resolved.timeout,
            max_output_bytes: world.options.max_output_bytes(),
        })
    }
}
