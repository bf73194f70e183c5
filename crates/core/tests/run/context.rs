//! The context of a task: the best skills, and never more tokens than asked for.

use belljar_core::caller::{Caller, Scope};
use belljar_core::code::Code;
use belljar_core::service::{ChangeRequest, ContextRequest, ContextScope};
use belljar_core::skill::{Changes, ComponentChange};
use belljar_executor::SkillName;
use proptest::prelude::*;
use serde_json::Value;

use crate::support::{Scripted, TestWorld, call, caller, tenant};

fn request(query: &str) -> ContextRequest {
    ContextRequest {
        query: query.into(),
        limit: 5,
        max_items: 20,
        max_tokens: 4000,
        scope: ContextScope::All,
        path_filter: String::new(),
        markdown: false,
    }
}

async fn save(
    world: &TestWorld,
    name: &str,
    team: Option<&str>,
    description: &str,
    instructions: &str,
    components: &str,
) {
    let changes = Changes {
        name: SkillName::parse(name).unwrap(),
        description: Some(description.into()),
        instructions: Some(instructions.into()),
        components: ComponentChange::parse_all(components).unwrap(),
    };
    let request = ChangeRequest { changes, team: team.map(str::to_owned), expected: None, publish: true };
    let ana = Caller::authenticated(tenant(), "ana", ["red".into()], Scope::ALL);
    world.belljar.change_skill(&ana, request).await.unwrap();
}

/// What the documentation says of the count, written a second time.
fn tokens(text: &str) -> usize {
    let mut tokens = 0;
    let mut characters = text.chars().peekable();
    let mut previous = 'x';
    while let Some(character) = characters.next() {
        if character.is_ascii_alphanumeric() {
            let mut together = 1_usize;
            while characters.peek().is_some_and(char::is_ascii_alphanumeric) {
                previous = characters.next().unwrap();
                together += 1;
            }
            tokens += together.div_ceil(3);
            if together == 1 {
                previous = character;
            }
            continue;
        }
        if !(character == ' ' && previous != ' ') {
            tokens += if character.is_ascii() { 1 } else { character.len_utf8() - 1 };
        }
        previous = character;
    }
    tokens
}

fn check(envelope: &Value, request: &ContextRequest) {
    assert_eq!(envelope["kind"], "context");
    let counted = tokens(&envelope.to_string());
    assert!(counted <= request.max_tokens as usize, "{counted} of {}", request.max_tokens);
    let told = usize::try_from(envelope["data"]["tokens"].as_u64().unwrap()).unwrap();
    assert!(counted <= told && told <= request.max_tokens as usize, "{counted} told as {told}");
}

#[tokio::test]
async fn the_best_skills_with_excerpts_scripts_and_runs() {
    let world = TestWorld::new(Scripted::exits(7)).await;
    world.ready().await;
    world.belljar.execute(&caller(), call()).await.unwrap();
    let reference =
        r#"[{"path": "references/staging.md", "content": "\nUnrelated.\n\nThe staging rollout\nneeds a ticket.\n"}]"#;
    save(&world, "rollout", None, "Rolls out to staging.", "First look.\n\nThen start the rollout.", reference).await;
    let request = request("staging rollout");
    let envelope = world.belljar.context(&caller(), &request).await.unwrap();
    check(&envelope, &request);
    let skills = envelope["data"]["skills"].as_array().unwrap();
    assert_eq!(skills.len(), 1);
    assert_eq!((skills[0]["slug"].as_str(), skills[0]["revision_id"].is_string()), (Some("rollout"), true));
    let excerpts = skills[0]["excerpts"].as_array().unwrap();
    assert_eq!((excerpts[0]["path"].as_str(), excerpts[0]["line"].as_u64()), (Some("references/staging.md"), Some(4)));
    assert_eq!(excerpts[0]["text"], "The staging rollout\nneeds a ticket.");
    assert_eq!((excerpts[1]["path"].as_str(), excerpts[1]["line"].as_u64()), (Some("SKILL.md"), Some(8)));
    assert_eq!(envelope["data"]["more"], false);

    let demo = ContextRequest { query: "tests".into(), ..request.clone() };
    let envelope = world.belljar.context(&caller(), &demo).await.unwrap();
    let skill = &envelope["data"]["skills"][0];
    assert_eq!((skill["slug"].as_str(), skill["scripts"][0]["path"].as_str()), (Some("demo"), Some("scripts/a.sh")));
    assert_eq!(
        (skill["executions"][0]["status"].as_str(), skill["executions"][0]["exit_code"].as_i64()),
        (Some("failed"), Some(7))
    );
    // What nobody granted is not offered, nor what this caller may not run; another's runs are not shown.
    let reader = Caller::authenticated(tenant(), "ana", [], [Scope::MemoryRead]);
    let envelope = world.belljar.context(&reader, &demo).await.unwrap();
    assert!(
        envelope["data"]["skills"][0]["scripts"].is_null() && envelope["data"]["skills"][0]["executions"].is_array()
    );
    let filtered = ContextRequest { path_filter: "SKILL".into(), ..request.clone() };
    let envelope = world.belljar.context(&caller(), &filtered).await.unwrap();
    assert_eq!(envelope["data"]["skills"][0]["excerpts"].as_array().unwrap().len(), 1);
    let markdown = ContextRequest { markdown: true, ..request };
    let envelope = world.belljar.context(&caller(), &markdown).await.unwrap();
    check(&envelope, &markdown);
    assert!(envelope["data"]["markdown"].as_str().unwrap().contains("references/staging.md:4\nThe staging rollout"));
}

#[tokio::test]
async fn scopes_limits_and_wrong_requests() {
    let world = TestWorld::new(Scripted::exits(0)).await;
    save(&world, "mine", None, "Same words.", "Same words.\n\nSame words again.", "[]").await;
    save(&world, "ours", Some("red"), "Same words.", "Same words.", "[]").await;
    let ana = Caller::authenticated(tenant(), "ana", ["red".into()], Scope::ALL);
    let slugs = async |caller: &Caller, scope: ContextScope| {
        let envelope = world.belljar.context(caller, &ContextRequest { scope, ..request("words") }).await?;
        let skills = envelope["data"]["skills"].as_array().unwrap().clone();
        let mut slugs: Vec<_> = skills.iter().map(|skill| skill["slug"].as_str().unwrap().to_owned()).collect();
        slugs.sort();
        Ok::<_, belljar_core::refusal::Refusal>(slugs)
    };
    assert_eq!(slugs(&ana, ContextScope::All).await.unwrap(), ["mine", "ours"]);
    assert_eq!(slugs(&ana, ContextScope::Personal).await.unwrap(), ["mine"]);
    assert_eq!(slugs(&ana, ContextScope::Team("red".into())).await.unwrap(), ["ours"]);
    let eve = Caller::authenticated(tenant(), "eve", ["blue".into()], Scope::ALL);
    assert_eq!(slugs(&eve, ContextScope::All).await.unwrap(), [""; 0]);
    for team in ["red", "none"] {
        let refusal = slugs(&eve, ContextScope::Team(team.into())).await.unwrap_err();
        assert_eq!(refusal.code(), Code::AccessDenied);
    }
    let one =
        world.belljar.context(&ana, &ContextRequest { limit: 1, max_items: 1, ..request("words") }).await.unwrap();
    assert_eq!((one["data"]["skills"].as_array().unwrap().len(), &one["data"]["more"]), (1, &Value::Bool(true)));
    assert_eq!(one["data"]["skills"][0]["excerpts"].as_array().unwrap().len(), 1);
    for wrong in [request(" ** "), ContextRequest { max_tokens: ContextRequest::FEWEST_TOKENS - 1, ..request("words") }]
    {
        assert_eq!(world.belljar.context(&ana, &wrong).await.unwrap_err().code(), Code::InvalidArgument);
    }
    let nobody = Caller::authenticated(tenant(), "ana", [], []);
    assert_eq!(world.belljar.context(&nobody, &request("words")).await.unwrap_err().code(), Code::AccessDenied);
}

fn text() -> impl Strategy<Value = String> {
    // Words, markup, other scripts, and what has to be escaped in JSON.
    prop::collection::vec(
        prop::sample::select(vec![
            "word ",
            "words\n\n",
            "語",
            "🫙 ",
            "\"\\",
            "\u{1}",
            "  ",
            "{}[]",
            "émigré ",
            "x1y2z3 ",
        ]),
        1..200,
    )
    .prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn never_more_tokens_than_asked_for(
        texts in prop::collection::vec((text(), text()), 1..6),
        max_tokens in prop_oneof![Just(ContextRequest::FEWEST_TOKENS), ContextRequest::FEWEST_TOKENS..3000],
        max_items in 1_u32..50,
        markdown: bool,
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let world = TestWorld::new(Scripted::exits(0)).await;
            for (number, (instructions, reference)) in texts.iter().enumerate() {
                let description: String = format!("Word {instructions}").replace('\u{1}', "").chars().take(900).collect();
                let components = serde_json::json!([
                    {"path": "references/a.md", "content": format!("word {reference}")},
                    {"path": "scripts/a.sh", "content": "echo", "description": description, "parameters": {"title": reference}},
                ]);
                save(&world, &format!("skill-{number}"), None, &description, instructions, &components.to_string()).await;
            }
            let request = ContextRequest { max_tokens, max_items, markdown, ..request("word words 語") };
            let envelope = world.belljar.context(&caller(), &request).await.unwrap();
            check(&envelope, &request);
        });
    }
}
