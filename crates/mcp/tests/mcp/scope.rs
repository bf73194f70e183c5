//! Two people of different teams over one store.

use belljar_core::caller::{Caller, Scope};
use belljar_executor::TenantId;
use belljar_mcp::Options;
use serde_json::{Value, json};

use crate::client::Client;
use crate::world::{World, agent, saving};

async fn save(client: &mut Client, name: &str, team: &str) -> Value {
    let mut arguments = saving(name, &[("scripts/a.sh", "exit 0")]);
    arguments["team_id"] = json!(team);
    client.data("save_cloud_skill", arguments).await
}

/// Every way to reach a skill, with what it answers to whom does not see it.
fn ways(name: &str, skill: &Value, revision: &Value, team: &str) -> Vec<(&'static str, Value, &'static str)> {
    let script = "scripts/a.sh";
    vec![
        ("recall_cloud_skill", json!({ "slug": name }), "SKILL_NOT_FOUND"),
        ("recall_cloud_skill", json!({ "skill_id": skill }), "ACCESS_DENIED"),
        ("recall_cloud_skill", json!({ "skill_id": skill, "slug": name }), "ACCESS_DENIED"),
        ("recall_cloud_skill", json!({ "skill_id": skill, "revision_id": revision }), "ACCESS_DENIED"),
        (
            "recall_cloud_skill",
            json!({ "skill_id": skill, "revision_id": revision, "resource": script }),
            "ACCESS_DENIED",
        ),
        ("recall_cloud_skill", json!({ "slug": name, "team_id": team }), "ACCESS_DENIED"),
        ("execute_cloud_skill", json!({ "slug": name, "script_path": script }), "SKILL_NOT_FOUND"),
        ("execute_cloud_skill", json!({ "skill_id": skill, "script_path": script }), "ACCESS_DENIED"),
        ("execute_cloud_skill", json!({ "slug": name, "team_id": team, "script_path": script }), "ACCESS_DENIED"),
        (
            "save_cloud_skill",
            json!({ "name": name, "expected_revision_id": revision, "instructions": "x" }),
            "SKILL_NOT_FOUND",
        ),
        ("save_cloud_skill", json!({ "name": name, "description": "x", "team_id": team }), "ACCESS_DENIED"),
        ("recall_context", json!({ "query": name, "scope": "team", "team_id": team }), "ACCESS_DENIED"),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn who_is_not_in_a_team_reaches_nothing_of_it_and_learns_nothing_of_it() {
    let world = World::new().await;
    let mut red = world.client_of(agent("ana", &["red"]), Options::default()).await;
    let mut blue = world.client_of(agent("ben", &["blue"]), Options::default()).await;
    let team = save(&mut red, "of-red", "red").await;
    let own = save(&mut red, "of-ana", "").await;
    save(&mut blue, "of-blue", "blue").await;
    for (saved, name, team) in [(&team, "of-red", "red"), (&own, "of-ana", "red")] {
        let there = ways(name, &saved["skill_id"], &saved["revision_id"], team);
        let nowhere = ways("nothing", &json!("no-such-skill"), &json!("no-such-revision"), "no-such-team");
        for ((tool, arguments, code), (_, unknown, _)) in there.into_iter().zip(nowhere) {
            let refused = blue.error(tool, arguments.clone()).await;
            assert_eq!(refused["code"], code, "{tool} {arguments}");
            // What is there and out of reach is answered as what is not there at all.
            let alike = |error: &Value| error.to_string().replace(name, "NAME").replace("nothing", "NAME");
            assert_eq!(alike(&refused), alike(&blue.error(tool, unknown).await), "{tool} {arguments}");
        }
    }
    let seen = |data: Value| -> Vec<String> {
        let mut slugs: Vec<_> =
            data["skills"].as_array().unwrap().iter().map(|skill| skill["slug"].as_str().unwrap().to_owned()).collect();
        slugs.sort();
        slugs
    };
    assert_eq!(seen(blue.data("recall_cloud_skill", json!({})).await), ["of-blue"]);
    assert_eq!(seen(red.data("recall_cloud_skill", json!({})).await), ["of-ana", "of-red"]);
    for (query, scope, expected) in [
        ("of", json!({}), vec!["of-ana", "of-red"]),
        ("of", json!({ "scope": "personal" }), vec!["of-ana"]),
        ("of", json!({ "scope": "team", "team_id": "red" }), vec!["of-red"]),
    ] {
        let mut arguments = json!({ "query": query });
        arguments.as_object_mut().unwrap().extend(scope.as_object().unwrap().clone());
        assert_eq!(seen(red.data("recall_context", arguments).await), expected);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn members_of_a_team_share_its_skills_and_their_own_come_first() {
    let world = World::new().await;
    let mut ana = world.client_of(agent("ana", &["red"]), Options::default()).await;
    let mut eve = world.client_of(agent("eve", &["red"]), Options::default()).await;
    let team = save(&mut ana, "shared", "red").await;
    let change = json!({ "name": "shared", "team_id": "red", "expected_revision_id": team["revision_id"], "instructions": "Eve's." });
    let changed = eve.data("save_cloud_skill", change).await;
    assert_eq!((&changed["skill_id"], &changed["revision_number"]), (&team["skill_id"], &json!(2)));
    let own = save(&mut eve, "shared", "").await;
    let by_name = eve.data("recall_cloud_skill", json!({ "slug": "shared" })).await;
    assert_eq!(by_name["skill_id"], own["skill_id"]);
    let by_team = eve.data("recall_cloud_skill", json!({ "slug": "shared", "team_id": "red" })).await;
    assert_eq!((&by_team["skill_id"], &by_team["owner"]), (&team["skill_id"], &json!("team:red")));
    assert_eq!(ana.data("recall_cloud_skill", json!({ "slug": "shared" })).await["skill_id"], team["skill_id"]);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_scope_that_a_caller_lacks_closes_its_tools() {
    let world = World::new().await;
    let caller =
        |scopes: &[Scope]| Caller::authenticated(TenantId::parse("local").unwrap(), "ana", [], scopes.iter().copied());
    let calls = [
        ("recall_cloud_skill", json!({}), Scope::MemoryRead),
        ("recall_cloud_skill", json!({ "slug": "demo" }), Scope::MemoryRead),
        ("recall_context", json!({ "query": "x" }), Scope::MemoryRead),
        ("save_cloud_skill", saving("demo", &[]), Scope::MemoryWrite),
        ("execute_cloud_skill", json!({ "slug": "demo", "script_path": "a.sh" }), Scope::MemoryWrite),
    ];
    for scopes in [&[][..], &[Scope::MemoryRead], &[Scope::MemoryWrite]] {
        let mut client = world.client_of(caller(scopes), Options::default()).await;
        for (tool, arguments, scope) in &calls {
            let result = client.call(tool, arguments.clone()).await;
            let error = &result["structuredContent"]["error"];
            let is_closed = error["code"] == "ACCESS_DENIED";
            assert_eq!(is_closed, !scopes.contains(scope), "{tool} with {scopes:?}: {result}");
            assert!(!is_closed || error["message"].as_str().unwrap().contains(scope.as_str()));
        }
    }
}
