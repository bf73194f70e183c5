//! Recall at its three levels, and the context of a task.

use belljar_core::options::OptionsDraft;
use belljar_mcp::Options;
use serde_json::{Value, json};

use crate::world::{World, agent, options, saving};

#[tokio::test(flavor = "multi_thread")]
async fn skills_are_listed_best_first_in_a_bounded_list() {
    let world = World::new().await;
    let mut client = world.client().await;
    for number in 0..22 {
        client.data("save_cloud_skill", saving(&format!("skill-{number}"), &[])).await;
    }
    let mut named = saving("weather", &[]);
    named["instructions"] = json!("Nothing to see.");
    client.data("save_cloud_skill", named).await;
    let mut mentioned = saving("other", &[]);
    mentioned["instructions"] = json!("Looks at the weather too.");
    client.data("save_cloud_skill", mentioned).await;
    let slugs = |data: &Value| -> Vec<String> {
        data["skills"].as_array().unwrap().iter().map(|skill| skill["slug"].as_str().unwrap().to_owned()).collect()
    };
    let found = client.data("recall_cloud_skill", json!({ "query": "weath" })).await;
    assert_eq!((slugs(&found), &found["more"]), (vec!["weather".to_owned(), "other".to_owned()], &json!(false)));
    let all = client.data("recall_cloud_skill", json!({})).await;
    assert_eq!((slugs(&all).len(), &all["more"]), (20, &json!(true)));
    let nothing = client.data("recall_cloud_skill", json!({ "query": "zebra" })).await;
    assert_eq!(nothing, json!({ "skills": [], "more": false }));
}

#[tokio::test(flavor = "multi_thread")]
async fn long_instructions_and_files_come_in_parts_that_make_the_whole() {
    let world = World::new().await;
    let mut client = world.client_of(agent("ana", &[]), Options::new(1024).unwrap()).await;
    let text = "Grüße an alle €\n".repeat(400);
    let mut arguments = saving("demo", &[("references/r.md", &text), ("references/empty.md", "")]);
    arguments["instructions"] = json!(text);
    let saved = client.data("save_cloud_skill", arguments).await;
    let skill = client.data("recall_cloud_skill", json!({ "slug": "demo" })).await;
    let shown = skill["instructions"].as_str().unwrap();
    assert_eq!(skill["instructions_inline_bytes"], shown.len());
    assert!(shown.len() <= 1024 && text.starts_with(shown));
    let part = |resource: &str| json!({ "slug": "demo", "revision_id": saved["revision_id"], "resource": resource });
    for first in ["references/r.md", skill["next_resource"].as_str().unwrap()] {
        let (mut read, mut resource) = (String::new(), Some(first.to_owned()));
        while let Some(wanted) = resource {
            let data = client.data("recall_cloud_skill", part(&wanted)).await;
            read.push_str(data["text"].as_str().unwrap());
            resource = data["next_resource"].as_str().map(str::to_owned);
        }
        assert!(read.contains(text.trim_end()), "the parts make the whole");
    }
    for (range, text, next) in [
        ("0-4", "Grü", Some("4-")),
        // In the middle of a character it ends before it, and one that is too short for any gets it.
        ("0-2", "Gr", Some("2-")),
        ("2-2", "ü", Some("4-")),
    ] {
        let data = client.data("recall_cloud_skill", part(&format!("references/r.md#bytes={range}"))).await;
        assert_eq!(data["text"], text, "{range}");
        assert_eq!(data["next_resource"].as_str(), next.map(|next| format!("references/r.md#bytes={next}")).as_deref());
    }
    let empty = client.data("recall_cloud_skill", part("references/empty.md")).await;
    assert_eq!((&empty["text"], empty.get("next_resource")), (&json!(""), None));
    for wrong in [
        "references/r.md#bytes=",
        "references/r.md#bytes=5",
        "references/r.md#bytes=5-4",
        "references/r.md#bytes=a-b",
        "references/r.md#bytes=99999-",
        "references/r.md#bytes=+1-2",
        // Inside a character.
        "references/r.md#bytes=5-5",
    ] {
        let error = client.error("recall_cloud_skill", part(wrong)).await;
        assert_eq!(
            (&error["code"], &error["details"]["argument"]),
            (&json!("INVALID_ARGUMENT"), &json!("resource")),
            "{wrong}"
        );
    }
    assert_eq!(client.error("recall_cloud_skill", part("references/none.md")).await["code"], "SCRIPT_NOT_FOUND");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_is_read_by_its_component_id_as_by_its_path() {
    let world = World::new().await;
    let mut client = world.client().await;
    let saved = client.data("save_cloud_skill", saving("demo", &[("references/r.md", "read me")])).await;
    let file = &saved["components"][1];
    let arguments =
        json!({ "skill_id": saved["skill_id"], "revision_id": saved["revision_id"], "resource": file["component_id"] });
    let data = client.data("recall_cloud_skill", arguments).await;
    assert_eq!((&data["text"], &data["path"], &data["sha256"]), (&json!("read me"), &file["path"], &file["sha256"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_context_of_a_task_fits_and_comes_in_two_forms() {
    let world = World::new().await;
    let mut client = world.client().await;
    world.approved(&mut client, "weather", "exit 0").await;
    client.data("execute_cloud_skill", json!({ "slug": "weather", "script_path": "scripts/a.sh" })).await;
    let data = client.data("recall_context", json!({ "query": "weather" })).await;
    let skill = &data["skills"][0];
    assert_eq!((&skill["slug"], &skill["scripts"][0]["path"]), (&json!("weather"), &json!("scripts/a.sh")));
    assert_eq!(skill["executions"][0]["status"], "success");
    assert!(skill["revision_id"].is_string());
    assert!(data["tokens"].as_u64().unwrap() <= 4000 && data["max_tokens"] == 4000);
    let text =
        client.data("recall_context", json!({ "query": "weather", "output_json": false, "max_tokens": 256 })).await;
    assert!(text["markdown"].as_str().unwrap().starts_with("## weather\n") && text.get("skills").is_none());
    let clamped =
        client.data("recall_context", json!({ "query": "weather", "max_tokens": 10_000_000, "limit": 0 })).await;
    assert_eq!(clamped["max_tokens"], 25_000);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_file_skill_is_found_read_and_run_by_its_name_and_has_no_revision() {
    let root = tempfile::TempDir::new().unwrap();
    let folder = root.path().join("from-a-folder");
    std::fs::create_dir_all(folder.join("scripts")).unwrap();
    std::fs::write(folder.join("SKILL.md"), "---\nname: from-a-folder\ndescription: Lies around.\n---\nBody.\n")
        .unwrap();
    std::fs::write(folder.join("scripts/a.sh"), "exit 0").unwrap();
    let options = OptionsDraft { skill_roots: vec![root.path().to_owned()], pin_file_scripts: true, ..options() };
    let world = World::with(options, true).await;
    let mut client = world.client().await;
    let found = client.data("recall_cloud_skill", json!({ "query": "lies" })).await;
    assert_eq!(found["skills"], json!([{ "slug": "from-a-folder", "description": "Lies around.", "source": "file" }]));
    let skill = client.data("recall_cloud_skill", json!({ "slug": "from-a-folder" })).await;
    assert_eq!((&skill["instructions"], skill.get("revision_id")), (&json!("Body."), None));
    let file = json!({ "slug": "from-a-folder", "resource": "scripts/a.sh" });
    assert_eq!(client.data("recall_cloud_skill", file).await["text"], "exit 0");
    let call = json!({ "slug": "from-a-folder", "script_path": "scripts/a.sh" });
    assert_eq!(client.error("execute_cloud_skill", call.clone()).await["details"]["reason"], "grant_missing");
    world.approve().await;
    let ran = client.call("execute_cloud_skill", call.clone()).await;
    let data = &ran["structuredContent"]["data"];
    assert_eq!((&data["status"], data.get("skill_id"), data.get("revision_id")), (&json!("success"), None, None));
    let context = client.data("recall_context", json!({ "query": "lies" })).await;
    assert_eq!(context["skills"][0]["executions"][0]["status"], "success");
    let mut fixed = call;
    fixed["revision_id"] = json!("any");
    assert_eq!(client.error("execute_cloud_skill", fixed).await["code"], "REVISION_NOT_FOUND");
    // Nothing tells an agent where on the host it lies.
    assert!(!format!("{found}{skill}{ran}{context}").contains(root.path().to_str().unwrap()));
}
