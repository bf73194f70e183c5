//! What a script can see and do.

use crate::support::{bash, python};

#[tokio::test]
async fn the_skill_is_read_only_and_so_is_everything_but_three_folders() {
    let content = "for d in / /usr /skill /skill/scripts /etc /dev /runtime /runtime/bin /proc /bin; do\n\
        if touch $d/x 2>/dev/null; then echo \"wrote $d\"; fi; done\n\
        for d in /workspace /tmp /dev/shm; do touch $d/x || echo \"no $d\"; done\n\
        mount -o remount,rw /skill 2>/dev/null && echo remounted\n\
        (echo x >> /skill/scripts/main.sh) 2>/dev/null && echo appended; true";
    assert_eq!(bash(content).output().await, "");
}

#[tokio::test]
async fn each_writable_folder_has_a_size_and_an_inode_limit() {
    let content = "import os\n\
        def fill(d):\n    n = 0\n    try:\n        with open(d + '/big', 'wb', 0) as f:\n            while n < 300:\n                f.write(b'x' * (1 << 20)); n += 1\n    except OSError: pass\n    os.unlink(d + '/big')\n    return n\n\
        def count(d):\n    n = 0\n    try:\n        while n < 9000:\n            open(f'{d}/{n}', 'w').close(); n += 1\n    except OSError: pass\n    return n\n\
        print([(d, fill(d), count(d)) for d in ('/workspace', '/tmp', '/dev/shm')])";
    // A tmpfs keeps a page or two for itself in some kernels.
    assert_eq!(
        python(content).output().await,
        "[('/workspace', 128, 4096), ('/tmp', 64, 4096), ('/dev/shm', 16, 1024)]\n"
    );
}

#[tokio::test]
async fn identity_and_rights_are_nobodys() {
    let content = "s = dict(l.split(':', 1) for l in open('/proc/self/status') if ':' in l)\n\
        print([s[k].split() for k in ('Uid', 'Gid', 'CapInh', 'CapPrm', 'CapEff', 'CapBnd', 'CapAmb', 'NoNewPrivs', 'Seccomp')])\n\
        import pwd, os; print(pwd.getpwuid(os.getuid()).pw_name, os.getpid() != 1, os.getppid(), oct(os.umask(0)))";
    let none = "['0000000000000000']";
    let four = "['65534', '65534', '65534', '65534']";
    let expected =
        format!("[{four}, {four}, {none}, {none}, {none}, {none}, {none}, ['1'], ['2']]\nnobody True 1 0o22\n");
    assert_eq!(python(content).output().await, expected);
}

#[tokio::test]
async fn signals_are_at_their_defaults() {
    let content = "s = dict(l.split(':', 1) for l in open('/proc/self/status') if ':' in l)\nprint(s['SigBlk'].strip(), s['SigIgn'].strip())";
    // Python itself ignores PIPE and XFSZ.
    assert_eq!(python(content).output().await, "0000000000000000 0000000001001000\n");
}

#[tokio::test]
async fn namespaces_cannot_be_nested() {
    let content = "unshare -U true 2>&1; unshare -Urm true 2>&1; cat /proc/sys/user/max_user_namespaces; echo 5 > /proc/sys/user/max_user_namespaces";
    let text = bash(&format!("({content}) 2>&1; true")).output().await;
    assert_eq!(text.matches("Operation not permitted").count(), 2, "{text}");
    assert!(text.contains("\n0\n") && text.contains("denied"), "{text}");
}

#[tokio::test]
async fn denied_calls_answer_as_the_profile_says() {
    let content = "import ctypes, platform\n\
        L = ctypes.CDLL(None, use_errno=True)\n\
        def call(n, *a):\n    ctypes.set_errno(0); L.syscall(ctypes.c_long(n), *map(ctypes.c_long, a)); return ctypes.get_errno()\n\
        print(call(425, 1, 0), call(435, 0, 0), call(321, 0, 0, 0), call(323, 0), call(999), call(0x40000027), call(16, 0, 0x100005412, 0), call(101, 16, 1, 0, 0), call(135, 0xffffffff), call(135, 0x400000))";
    if cfg!(target_arch = "x86_64") {
        assert_eq!(python(content).output().await, "38 38 1 1 38 38 1 1 0 1\n");
    }
}

#[tokio::test]
#[cfg(target_arch = "x86_64")]
async fn a_32_bit_entry_into_the_kernel_ends_the_script() {
    // mov eax, 20 (getpid); int 0x80; ret
    let content = "import ctypes, mmap\n\
        m = mmap.mmap(-1, 4096, prot=7); m.write(bytes.fromhex('b814000000cd80c3'))\n\
        f = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(m)))\nprint(f())";
    let outcome = python(content).run().await;
    assert_eq!(outcome.ending(), belljar_executor::Ending::Exited { code: 128 + 31, signal: Some(31) });
}

#[tokio::test]
async fn the_network_is_ones_own_loopback() {
    let content = "import socket, os\n\
        s = socket.create_server(('127.0.0.1', 0)); c = socket.create_connection(('localhost', s.getsockname()[1])); print('local')\n\
        print(sorted(n for _, n in socket.if_nameindex()))\n\
        a, b = socket.socketpair(); a.send(b'x'); print(b.recv(1))\n\
        for f, t, p in ((2, 3, 1), (10, 3, 58), (17, 3, 0), (16, 3, 12), (2, 10, 0), (40, 1, 0), (38, 5, 0)):\n\
        \x20   try: socket.socket(f, t, p); print('granted', f)\n    except OSError as e: print(e.errno, end=' ')\n\
        try: socket.create_connection(('192.0.2.1', 80), 1)\nexcept OSError as e: print(e.errno)";
    assert_eq!(python(content).output().await, "local\n['lo']\nb'x'\n1 1 1 1 1 1 1 101\n");
}

#[tokio::test]
async fn the_supervisor_is_out_of_reach() {
    let content = "kill -9 1; kill -STOP 1; kill -TERM 1; for f in environ mem maps fd root cwd exe; do\n\
        cat /proc/1/$f 2>/dev/null && echo \"read $f\"; ls /proc/1/$f/. 2>/dev/null && echo \"listed $f\"; done; tr '\\0' ' ' < /proc/1/cmdline; echo; ls /proc | grep -c '^[0-9]*$'";
    let text = bash(content).output().await;
    assert!(!text.contains("read") && !text.contains("listed"), "{text}");
    assert!(text.starts_with("/proc/self/fd/"), "{text}");
}

#[tokio::test]
async fn no_descriptor_beyond_the_three_is_open() {
    let text = python("import os; print(sorted(os.listdir('/proc/self/fd')))").output().await;
    // The fourth is the listing itself.
    assert_eq!(text, "['0', '1', '2', '3']\n");
}

#[tokio::test]
async fn tasks_and_memory_of_a_process_are_limited() {
    let content = "import os, time\nn = 0\ntry:\n    while n < 500:\n        if os.fork() == 0:\n            time.sleep(60); os._exit(0)\n        n += 1\nexcept OSError: pass\nprint(n)";
    assert_eq!(python(content).output().await, "63\n");
    let text = python("try:\n    bytearray(600 << 20)\nexcept MemoryError: print('no memory')").output().await;
    assert_eq!(text, "no memory\n");
}

#[tokio::test]
async fn no_path_or_word_of_the_host_is_visible() {
    let text =
        bash("cat /proc/self/mountinfo /proc/self/cgroup /proc/1/cgroup /proc/self/maps; hostname").output().await;
    let here = std::env::current_dir().unwrap();
    assert!(!text.contains(here.to_str().unwrap()), "{text}");
    assert!(text.ends_with("belljar\n"));
    let names = bash("ls /").output().await;
    for hidden in ["home", "root", "run", "sys", "var", "opt", "mnt", "srv", "boot"] {
        assert!(!names.lines().any(|name| name == hidden), "{hidden}");
    }
}
