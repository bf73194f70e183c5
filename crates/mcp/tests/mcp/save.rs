//! Saving skills: new, in part, and against the revision that was seen.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use crate::world::{World, saving};

#[tokio::test(flavor = "multi_thread")]
async fn a_change_in_part_keeps_what_it_leaves_out_and_wants_the_latest_revision() {
    let world = World::new().await;
    let mut client = world.client().await;
    let files = [("scripts/a.sh", "exit 0"), ("references/r.md", "read me")];
    let first = client.data("save_cloud_skill", saving("demo", &files)).await;
    assert_eq!((&first["revision_number"], &first["is_new_revision"]), (&json!(1), &json!(true)));
    assert_eq!(first["published_revision_id"], first["revision_id"]);
    let change = json!({
        "slug": "demo",
        "expected_revision_id": first["revision_id"],
        "instructions": "Other words.",
        "components_json": r#"[{"path":"scripts/b.sh","content":"exit 1","input":"argv","timeout_seconds":5}]"#,
    });
    let second = client.data("save_cloud_skill", change.clone()).await;
    let paths = |data: &Value| -> Vec<String> {
        data["components"].as_array().unwrap().iter().map(|file| file["path"].as_str().unwrap().to_owned()).collect()
    };
    assert_eq!(paths(&second), ["SKILL.md", "references/r.md", "scripts/a.sh", "scripts/b.sh"]);
    assert_eq!(
        (&second["published_revision_id"], &second["latest_revision_id"]),
        (&first["revision_id"], &second["revision_id"])
    );
    let recalled =
        client.data("recall_cloud_skill", json!({ "slug": "demo", "revision_id": second["revision_id"] })).await;
    assert_eq!(
        (&recalled["instructions"], &recalled["scripts"][1]["timeout_seconds"]),
        (&json!("Other words."), &json!(5))
    );
    // Who has seen only the first revision changes nothing.
    assert_eq!(client.error("save_cloud_skill", change).await["code"], "CONFLICT");
    // The same once more is no new revision.
    let same = json!({ "name": "demo", "expected_revision_id": second["revision_id"], "instructions": "Other words.", "publish": true });
    let same = client.data("save_cloud_skill", same).await;
    assert_eq!((&same["is_new_revision"], &same["published_revision_id"]), (&json!(false), &second["revision_id"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_with_a_skill_is_told_all_at_once_and_nothing_is_saved() {
    let world = World::new().await;
    let mut client = world.client().await;
    for (change, problem) in [
        (json!({ "name": "demo" }), "description"),
        (json!({ "components_json": "[{\"path\":\"../x\",\"content\":\"\"}]" }), "path"),
        (json!({ "components_json": "[{\"path\":\"a.md\"}]" }), "content"),
        (json!({ "components_json": "[{\"path\":\"a.md\",\"content\":\"\",\"base64\":\"\"}]" }), "base64"),
        (json!({ "components_json": "[{\"path\":\"a.md\",\"path\":\"b.md\",\"content\":\"\"}]" }), "path"),
        (json!({ "components_json": "[{\"path\":\"scripts/a.sh\",\"content\":\"\",\"no_such\":1}]" }), "no_such"),
        (json!({ "components_json": "[{\"path\":\".env\",\"content\":\"\"}]" }), ".env"),
        (json!({ "components_json": "[{\"path\":\"SKILL.md\",\"content\":\"\"}]" }), "SKILL.md"),
    ] {
        let mut arguments = saving("demo", &[]);
        if change.get("components_json").is_none() {
            arguments = json!({});
        }
        arguments.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        let error = client.error("save_cloud_skill", arguments).await;
        assert_eq!(error["code"], "INVALID_ARGUMENT", "{error}");
        assert!(error["message"].as_str().unwrap().contains(problem), "{problem}: {error}");
    }
    assert_eq!(client.data("recall_cloud_skill", json!({})).await["skills"], json!([]));
}

#[tokio::test(flavor = "multi_thread")]
async fn bytes_go_in_and_come_out_as_they_are() {
    let world = World::new().await;
    let mut client = world.client().await;
    let bytes: Vec<u8> = (0..=255).cycle().take(40_000).collect();
    let components = json!([{ "path": "assets/data.bin", "base64": STANDARD.encode(&bytes) }]);
    let mut arguments = saving("demo", &[]);
    arguments["components_json"] = json!(components.to_string());
    let saved = client.data("save_cloud_skill", arguments).await;
    let mut read = Vec::new();
    let mut resource = json!("assets/data.bin");
    while !resource.is_null() {
        let part = json!({ "slug": "demo", "revision_id": saved["revision_id"], "resource": resource });
        let data = client.data("recall_cloud_skill", part).await;
        assert_eq!((data["first_byte"].as_u64().unwrap(), &data["size"]), (read.len() as u64, &json!(bytes.len())));
        let part = STANDARD.decode(data["base64"].as_str().unwrap()).unwrap();
        assert_eq!(data["bytes"], part.len());
        assert!(part.len() <= 16 * 1024);
        read.extend(part);
        resource = data["next_resource"].clone();
    }
    assert_eq!(read, bytes);
}
