"""Workers of `durability`, and the search for what they have on record.

durability.py work|check|final WORK OUT. `work` runs in the guest, WORK being a folder
on the mount; its workers append to OUT/acks.NAME, after a system call has returned,
what it has acknowledged. `check` looks for all of that below WORK (the host's own path
of that folder) while a worker may be amid its next step; `final` does when all have
ended, and wants the unsynced file whole too.

Records are JSON, one a line: ["blocks", FILE, N]: the first N blocks are there;
["over", FILE, G]: block 0 is of generation G or later; ["is", NAME, SIZE], ["dir",
NAME], ["link", NAME, TARGET], ["gone", NAME]: a name with its content, or none;
["maybe", NAME]: about to change, so nothing is known.
"""

import errno
import json
import mmap
import os
import random
import sys
import time
import traceback

ACTION, WORK, OUT = sys.argv[1:4]
BLOCK = 4096


def pattern(name, i, size=BLOCK):
    return random.Random(f'{name} {i}').randbytes(size)


def record(worker, *what):
    # Closing writes it out of the guest.
    with open(f'{OUT}/acks.{worker}', 'a') as f:
        f.write(json.dumps(what) + '\n')


def open_sync():
    """O_SYNC: each write is stable when it returns (FILE_SYNC, or with a COMMIT)."""
    fd, i = os.open('osync', os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o644), 0
    while True:
        os.pwrite(fd, pattern('osync', i), i * BLOCK)
        i += 1
        record('osync', 'blocks', 'osync', i)
        yield


def overwrite():
    """The same block again and again, with O_SYNC."""
    fd, i = os.open('over', os.O_WRONLY | os.O_CREAT | os.O_SYNC, 0o644), 0
    while True:
        i += 1
        os.pwrite(fd, i.to_bytes(8, 'big') + pattern('over', i, BLOCK - 8), 0)
        record('over', 'over', 'over', i)
        yield


def write_fsync():
    """Many unstable writes, then one COMMIT."""
    fd, i = os.open('commit', os.O_WRONLY | os.O_CREAT, 0o644), 0
    while True:
        for _ in range(random.randrange(1, 200)):
            os.pwrite(fd, pattern('commit', i), i * BLOCK)
            i += 1
        os.fsync(fd)
        record('commit', 'blocks', 'commit', i)
        yield


def direct():
    """O_DIRECT: no page cache of the client's; fdatasync makes it stable."""
    fd, i = os.open('direct', os.O_WRONLY | os.O_CREAT | os.O_DIRECT, 0o644), 0
    page = mmap.mmap(-1, BLOCK)
    while True:
        for _ in range(8):
            page[:] = pattern('direct', i)
            os.pwrite(fd, page, i * BLOCK)
            i += 1
        os.fdatasync(fd)
        record('direct', 'blocks', 'direct', i)
        yield


def tolerant(call, wrong):
    """call(), whose second try after a restart may find it done already (see once() in
    restart.py; what has happened is looked at by the check itself)."""
    start = time.monotonic()
    try:
        call()
    except OSError as e:
        if e.errno != wrong or time.monotonic() - start < 0.2:
            raise


def names():
    """Names: done when the call returns, as NFS has no later sync for them. (With the
    server's --sync-metadata false this need not hold over a power cut.)"""
    i = 0
    while True:
        i += 1
        name, size = f'n{i}', i * 977 % 9000
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        os.write(fd, pattern(name, 0, size))
        os.fsync(fd)
        os.close(fd)
        record('names', 'is', name, size)
        if i % 2 == 0:
            # Told apart by content, so the new name holds the old one's pattern.
            tolerant(lambda: os.rename(name, 'r' + name), errno.ENOENT)
            record('names', 'gone', name, 0)
            record('names', 'is', 'r' + name, size)
        if i % 3 == 0:
            tolerant(lambda: os.mkdir(f'd{i}'), errno.EEXIST)
            record('names', 'dir', f'd{i}', 0)
        if i % 5 == 0:
            old = f'n{i - 4}' if (i - 4) % 2 else f'rn{i - 4}'
            record('names', 'maybe', old, 0)  # from here on either is right
            tolerant(lambda: os.unlink(old), errno.ENOENT)
            record('names', 'gone', old, 0)
        yield


def only_names():
    """Directories, links and attributes alone: no fsync of this worker's helps. To see a server that
    does not make them stable by itself, leave out the others, whose fsyncs do:
    LAB_SKIP="osync over commit direct names stream"."""
    i = 0
    while True:
        i += 1
        tolerant(lambda: os.mkdir(f'm{i}'), errno.EEXIST)
        record('only-names', 'dir', f'm{i}', 0)
        tolerant(lambda: os.symlink(f'to-{i}', f's{i}'), errno.EEXIST)
        record('only-names', 'link', f's{i}', f'to-{i}')
        if i % 2 == 0:
            record('only-names', 'maybe', f'm{i}', 0)
            tolerant(lambda: os.rename(f'm{i}', f'k{i}'), errno.ENOENT)
            record('only-names', 'gone', f'm{i}', 0)
            record('only-names', 'dir', f'k{i}', 0)
            mode = 0o700 | i % 0o77
            os.chmod(f'k{i}', mode)
            record('only-names', 'mode', f'k{i}', mode)
            os.setxattr(f'k{i}', 'user.number', str(i).encode())
            record('only-names', 'attrs', f'k{i}', mode)
        if i % 3 == 0:
            record('only-names', 'maybe', f's{i}', 0)
            tolerant(lambda: os.unlink(f's{i}'), errno.ENOENT)
            record('only-names', 'gone', f's{i}', 0)
        time.sleep(0.01)
        yield


STREAM = 96 << 20


def stream():
    """Written all along, never synced until the end."""
    fd, i = os.open('stream', os.O_RDWR | os.O_CREAT, 0o644), 0
    size = BLOCK * 16
    try:
        while True:
            if i * size < STREAM:
                os.pwrite(fd, pattern('stream', i, size), i * size)
                i += 1
            time.sleep(0.02)
            record('stream', 'unsynced', 'stream', i)
            if i % 16 == 0:
                # Lets the client send it, unstable, without waiting for it.
                os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
            yield
    finally:
        os.fsync(fd)
        os.close(fd)
        record('stream', 'whole', 'stream', i)


WORKERS = {'osync': open_sync, 'over': overwrite, 'commit': write_fsync, 'direct': direct,
           'names': names, 'only-names': only_names, 'stream': stream}
skip = os.environ.get('LAB_SKIP', '').split()
WORKERS = {n: w for n, w in WORKERS.items() if n not in skip}


def run(name):
    try:
        os.chdir(WORK)
        steps = WORKERS[name]()
        n = 0
        for _ in steps:
            n += 1
            if os.path.exists(f'{OUT}/stop'):
                break
        steps.close()  # runs what is in its `finally`
        print(f'PASS {name} ({n} steps)', flush=True)
        return 0
    except BaseException as e:
        with open(f'{OUT}/failed.{name}', 'w') as f:
            f.write(traceback.format_exc())
        print(f'FAIL {name}: {type(e).__name__} {e}', flush=True)
        return 1


def work():
    pids = []
    for name in WORKERS:
        pid = os.fork()
        if pid == 0:
            os._exit(run(name))
        pids.append(pid)
    while not all(os.path.exists(f'{OUT}/acks.{n}') for n in WORKERS):
        if any(os.path.exists(f'{OUT}/failed.{n}') for n in WORKERS):
            break
        time.sleep(0.1)
    open(f'{OUT}/busy', 'w').close()
    return 1 if sum(os.waitpid(p, 0)[1] != 0 for p in pids) else 0


def read(name):
    with open(f'{WORK}/{name}', 'rb') as f:
        return f.read()


def check(final):
    facts = {}  # the last record of each name counts
    for worker in WORKERS:
        with open(f'{OUT}/acks.{worker}') as f:
            for line in f.read().split('\n'):
                # The last line may be half-written out of the guest.
                try:
                    kind, name, n = json.loads(line)
                except ValueError:
                    continue
                facts[name] = kind, n
    bad, blocks, named = [], 0, 0
    amid = set()  # names that the worker may be changing as its next step
    if not final:
        last = [n for n in facts if n[0] in 'nr' and facts[n][0] == 'is'][-6:]
        amid = set(last)
    for name, (kind, n) in facts.items():
        try:
            if kind in ('blocks', 'whole'):
                size = BLOCK * 16 if kind == 'whole' else BLOCK
                data = read(name)
                lost = [i for i in range(n) if data[i * size:(i + 1) * size] != pattern(name, i, size)]
                blocks += n
                if lost:
                    bad.append(f'{name}: {len(lost)} of {n} acknowledged blocks lost, first {lost[0]}')
            elif kind == 'over':
                data = read(name)
                generation = int.from_bytes(data[:8], 'big')
                blocks += 1
                if generation < n or data[8:] != pattern('over', generation, BLOCK - 8):
                    bad.append(f'{name}: generation {generation}, {n} was acknowledged')
            elif kind == 'is':
                named += 1
                if name in amid and not os.path.exists(f'{WORK}/{name}'):
                    continue  # renamed or removed, but that was not acknowledged yet
                if read(name) != pattern(name.lstrip('r'), 0, n):
                    bad.append(f'{name}: has other bytes')
            elif kind in ('mode', 'attrs'):
                named += 1
                got = os.stat(f'{WORK}/{name}').st_mode & 0o7777
                if got != n:
                    bad.append(f'{name}: mode {got:o}, {n:o} was acknowledged')
                if kind == 'attrs' and os.getxattr(f'{WORK}/{name}', 'user.number') != name[1:].encode():
                    bad.append(f'{name}: has another extended attribute')
            elif kind == 'dir':
                named += 1
                if not os.path.isdir(f'{WORK}/{name}'):
                    bad.append(f'{name}: is no directory')
            elif kind == 'link':
                named += 1
                if os.readlink(f'{WORK}/{name}') != n:
                    bad.append(f'{name}: leads elsewhere')
            elif kind == 'gone':
                named += 1
                if os.path.lexists(f'{WORK}/{name}'):
                    bad.append(f'{name}: is there still')
        except OSError as e:
            bad.append(f'{name}: {e}')
    for b in bad:
        print(b)
    said = f'{blocks} acknowledged blocks and {named} names'
    print(f'{len(bad)} of {said} wrong, e.g. {bad[0]}' if bad else f'{said} are there')
    return 1 if bad else 0


sys.exit(work() if ACTION == 'work' else check(ACTION == 'final'))
