"""An agent's day with the official client: save, publish, recall, refused, approved by a person, executed.

usage: flow.py MODE BELLJAR STATE, where MODE is legacy, auto or a protocol revision. Prints what was seen as JSON.
"""

import asyncio
import json
import subprocess
import sys

from mcp import Client, StdioServerParameters

MODE, BELLJAR, STATE = sys.argv[1:]
SCRIPT = 'cat; echo; seq 1 5000; test ! -e "$HOME/.ssh"'


async def main():
    server = StdioServerParameters(command=BELLJAR, args=["mcp", "--state", STATE])
    seen = {}
    async with Client(server, mode=MODE) as client:
        seen["protocol"] = client.protocol_version
        seen["tools"] = [tool.name for tool in (await client.list_tools()).tools]

        async def call(tool, **arguments):
            result = await client.call_tool(tool, arguments, progress_callback=progress)
            envelope = result.structured_content
            assert json.loads(result.content[0].text) == envelope, "the text says the same"
            assert result.is_error == (envelope["kind"] == "error"), envelope
            return result, envelope.get("data") or envelope["error"]

        told = []

        async def progress(done, total, message):
            told.append(done)

        components = json.dumps([{"path": "scripts/count.sh", "content": SCRIPT}])
        _, saved = await call(
            "save_cloud_skill", name="counting", description="Counts up to five thousand.", components_json=components
        )
        assert "published_revision_id" not in saved, saved
        _, published = await call(
            "save_cloud_skill", name="counting", expected_revision_id=saved["revision_id"], publish=True
        )
        assert published["published_revision_id"] == saved["revision_id"] and not published["is_new_revision"]
        _, found = await call("recall_cloud_skill", query="counts thousand")
        skill = found["skills"][0]
        _, one = await call("recall_cloud_skill", skill_id=skill["skill_id"])
        assert one["scripts"][0]["reason"] == "grant_missing", one
        run = dict(
            skill_id=skill["skill_id"], revision_id=skill["revision_id"], script_path="scripts/count.sh",
            input_args={"to": 5000},
        )
        _, refused = await call("execute_cloud_skill", **run)
        seen["refused"] = [refused["code"], refused["details"]["reason"]]
        approve = [BELLJAR, "grant", "add", "--state", STATE, "--pending", refused["details"]["pending_id"]]
        subprocess.run(approve, check=True, stdout=subprocess.DEVNULL)
        told.clear()
        result, executed = await call("execute_cloud_skill", **run)
        seen["executed"] = [executed["status"], executed["executor"], executed["stdout"].splitlines()[0]]
        link = next(block for block in result.content if block.type == "resource_link")
        whole = (await client.read_resource(str(link.uri))).contents[0].text
        assert len(whole.encode()) == link.size and whole.startswith(executed["stdout"])
        seen["last_line"] = whole.splitlines()[-1]
        assert told == sorted(set(told)) and told, told
        _, context = await call("recall_context", query="counts thousand")
        seen["recent"] = context["skills"][0]["executions"][0]["status"]
        _, wrong = await call("execute_cloud_skill", script="scripts/count.sh")
        seen["wrong"] = [wrong["code"], wrong["details"]["argument"]]
    print(json.dumps(seen))


asyncio.run(main())
