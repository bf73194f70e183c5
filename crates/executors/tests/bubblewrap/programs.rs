//! Ordinary programs keep working.

use crate::support::{bash, executor, python, script};
use belljar_executor::Executor;

#[tokio::test]
async fn python_with_processes_and_threads() {
    let content = "\
import subprocess, threading, multiprocessing, asyncio, concurrent.futures
print(subprocess.run(['echo', 'child'], capture_output=True, text=True).stdout.strip())
print(subprocess.check_output('echo shell | tr a-z A-Z', shell=True, text=True).strip())
seen = []
threads = [threading.Thread(target=seen.append, args=(n,)) for n in range(8)]
[t.start() for t in threads]; [t.join() for t in threads]
print(sorted(seen))
with multiprocessing.Pool(3) as pool:
    print(pool.map(abs, [-1, -2, -3]))
q = multiprocessing.get_context('spawn').Queue() if False else multiprocessing.Queue()
q.put(5); print(q.get(timeout=5))
with concurrent.futures.ProcessPoolExecutor(2) as executor:
    print(list(executor.map(abs, [-4])))
async def main():
    p = await asyncio.create_subprocess_exec('echo', 'async', stdout=asyncio.subprocess.PIPE)
    out, _ = await p.communicate()
    server = await asyncio.start_server(lambda r, w: w.close(), '127.0.0.1', 0)
    await asyncio.open_connection(*server.sockets[0].getsockname())
    return out.decode().strip()
print(asyncio.run(main()))
";
    assert_eq!(python(content).output().await, "child\nSHELL\n[0, 1, 2, 3, 4, 5, 6, 7]\n[1, 2, 3]\n5\n[4]\nasync\n");
}

#[tokio::test]
async fn python_with_its_library() {
    let content = "\
import sqlite3, ssl, tempfile, zoneinfo, datetime, os, json, hashlib, shutil, pathlib, mmap, locale, uuid, random, http.client
from multiprocessing import shared_memory
db = sqlite3.connect('/workspace/x.db'); db.execute('create table t (a)'); db.execute('insert into t values (1)'); db.commit()
print(db.execute('select * from t').fetchall())
ssl.create_default_context()
with tempfile.NamedTemporaryFile() as f: print(f.name.startswith('/tmp/'))
print(datetime.datetime(2024, 7, 1, tzinfo=zoneinfo.ZoneInfo('Europe/Berlin')).utcoffset())
m = shared_memory.SharedMemory(create=True, size=4096); m.buf[0] = 7; print(m.buf[0]); m.close(); m.unlink()
print(os.path.expanduser('~'), os.getlogin() if False else 'no login', os.cpu_count() > 0)
shutil.copytree('/skill', '/workspace/copy'); print(pathlib.Path('/workspace/copy/scripts/main.py').exists())
open('/dev/null', 'w').write('x'); open('/dev/stdout', 'w').write('reopened\\n')
print(len(os.urandom(8)), os.path.realpath('/proc/self/exe').startswith('/usr/'))
";
    assert_eq!(
        python(content).output().await,
        "reopened\n[(1,)]\nTrue\n2:00:00\n7\n/tmp no login True\nTrue\n8 True\n"
    );
}

#[tokio::test]
async fn python_beside_python3_and_imports_of_the_skill() {
    let wanted =
        bash("python -c 'import sys; print(sys.version_info[0])'; command -v python; cd /skill && ls").output().await;
    assert_eq!(wanted, "3\n/runtime/bin/python\nscripts\n");
    let text = python("import helper, lib.deep\nprint(helper.x, lib.deep.y)")
        .file("helper.py", b"x = 1\n")
        .file("lib/deep.py", b"y = 2\n")
        .output();
    assert_eq!(text.await, "1 2\n");
}

#[tokio::test]
async fn bash_with_pipes_here_documents_and_process_substitution() {
    let content = "\
cat <<END | sort -r
a
b
END
diff <(echo same) <(echo same) && echo equal
read -r first < <(printf '%s\\n' one two); echo $first
echo err > /dev/stderr; echo out > /dev/stdout; echo fd > /dev/fd/1
x=$(seq 1000 | awk '{s += $1} END {print s}'); echo $x
mkfifo /tmp/f; (echo fifo > /tmp/f &); cat /tmp/f
printf 'a,b\\n' | sed 's/,/;/' | tee /workspace/t | tr a-z A-Z
coproc cat; echo hi >&${COPROC[1]}; read -r -u ${COPROC[0]} back; echo $back
date +%Z > /dev/null && test -e /etc/localtime && echo zone
";
    assert_eq!(bash(content).output().await, "b\na\nequal\none\nout\nfd\n500500\nfifo\nA;B\nhi\nzone\n");
}

#[tokio::test]
async fn node_when_it_is_installed() {
    let runtimes = executor().probe().await.unwrap().runtimes.unwrap();
    if !runtimes.keys().any(|name| name.as_str() == "node") {
        println!("skipped: node is not installed");
        return;
    }
    let content = "const { execSync } = require('child_process'); const fs = require('fs');\n\
        const { Worker } = require('worker_threads');\n\
        console.log(execSync('echo child').toString().trim(), JSON.parse(fs.readFileSync(0)).n);\n\
        new Worker('console.log(1)', { eval: true }).on('exit', () => console.log('done'));";
    let text = script("node", content).input("{\"n\": 5}").output().await;
    assert_eq!(text, "child 5\n1\ndone\n");
}
