"""The guest's part of `restart`: workers that keep a mount busy while its server is
killed and started again, and a later look at what they left.

restart.py work|verify WORK OUT: WORK is a folder on the mount, OUT the job's result
folder. Each worker steps until OUT/stop is there, and after every step writes the
number of its steps to OUT/progress.NAME. An exception goes to OUT/failed.NAME. What
must be there in the end is kept in /tmp/NAME.left.
"""

import errno
import fcntl
import hashlib
import json
import os
import random
import struct
import sys
import time
import traceback

WORK, OUT = sys.argv[2:4]
BLOCK = 4096


def pattern(seed, size):
    return random.Random(seed).randbytes(size)


def sha(data):
    return hashlib.sha256(data).hexdigest()


def read_file(name):
    """The server's answer, as far as a client can be asked for it: without cached pages."""
    fd = os.open(name, os.O_RDONLY)
    try:
        os.posix_fadvise(fd, 0, 0, os.POSIX_FADV_DONTNEED)
        parts = []
        while part := os.read(fd, 1 << 20):
            parts.append(part)
        return b''.join(parts)
    finally:
        os.close(fd)


def write_file(name, data, flags=os.O_EXCL):
    fd = os.open(name, os.O_WRONLY | os.O_CREAT | flags, 0o644)
    os.write(fd, data)
    os.fsync(fd)
    os.close(fd)


repeated = 0


def once(call, wrong, happened):
    """call(), for operations that a client must send again, not knowing whether the
    server had done them before it was killed: replies are remembered per session, and
    sessions end with the server. Then the second answer (errno `wrong`: the name is
    gone, or is there already) is right, if what was asked has `happened`, and if the
    call did wait for a server. Everything else is an error."""
    global repeated
    start = time.monotonic()
    try:
        call()
    except OSError as e:
        if e.errno != wrong or time.monotonic() - start < 0.2 or not happened():
            raise
        repeated += 1


def absent(name):
    try:
        os.lstat(name)
    except FileNotFoundError:
        return True
    return False


class Churn:
    """Creates, writes, renames, removes; keeps what must be there."""

    def __init__(self):
        self.left, self.i = {}, 0
        os.mkdir('new')

    def step(self):
        self.i += 1
        i, size = self.i, self.i * 7919 % 40000
        data = pattern(i, size)
        write_file(f'new/{i}', data)
        final = f'file-{i}'
        if i % 5 == 0:
            folder = f'dir-{i}'
            once(lambda: os.mkdir(folder), errno.EEXIST, lambda: os.path.isdir(folder))
            final = f'{folder}/file'
        once(lambda: os.rename(f'new/{i}', final), errno.ENOENT,
             lambda: absent(f'new/{i}') and os.path.getsize(final) == size)
        self.left[final] = sha(data)
        if i % 3 == 0:
            old = random.choice([n for n in self.left if '/' not in n])
            once(lambda: os.unlink(old), errno.ENOENT, lambda: absent(old))
            del self.left[old]
        name = random.choice(list(self.left))
        got = sha(read_file(name))
        assert got == self.left[name], f'{name} has other bytes'

    @staticmethod
    def verify(left):
        for name, want in left.items():
            assert sha(read_file(name)) == want, f'{name} has other bytes'
        there = {n for n in os.listdir('.') if n.startswith('file-')}
        assert there == {n for n in left if '/' not in n}, 'names differ'
        assert not os.listdir('new'), 'unfinished names'


class Writer:
    """One file, open all the time; every block is fsynced, then counts as there."""

    def __init__(self):
        self.fd = os.open('blocks', os.O_RDWR | os.O_CREAT, 0o644)
        self.left = 0

    def step(self):
        i = self.left
        os.pwrite(self.fd, pattern(i, BLOCK), i * BLOCK)
        os.fsync(self.fd)
        self.left = i + 1
        j = random.randrange(self.left)
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.pread(self.fd, BLOCK, j * BLOCK) == pattern(j, BLOCK), f'block {j}'
        time.sleep(0.002)

    def end(self):
        os.close(self.fd)

    @staticmethod
    def verify(left):
        data = read_file('blocks')
        assert len(data) == left * BLOCK, f'{len(data)} bytes, {left} blocks were synced'
        for i in range(left):
            assert data[i * BLOCK:(i + 1) * BLOCK] == pattern(i, BLOCK), f'block {i}'


class Buffered:
    """Writes much and syncs seldom: what the server had not made stable when it was
    killed, the client must send again (the write verifier tells it)."""

    def __init__(self):
        self.fd = os.open('stream', os.O_RDWR | os.O_CREAT, 0o644)
        self.left = 0

    def step(self):
        for _ in range(8):
            os.write(self.fd, pattern(self.left, BLOCK * 16))
            self.left += 1
        if self.left % 128 == 0:
            os.fsync(self.fd)
        if self.left >= 512:  # 32 MiB, then from the start again with other bytes
            os.fsync(self.fd)
            os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
            self.check(self.fd, 0, self.left)
            os.ftruncate(self.fd, 0)
            os.lseek(self.fd, 0, os.SEEK_SET)
            self.left = 0

    @staticmethod
    def check(fd, start, left):
        size = BLOCK * 16
        for i in range(start, left):
            assert os.pread(fd, size, i * size) == pattern(i, size), f'part {i}'

    def end(self):
        os.fsync(self.fd)
        os.close(self.fd)

    @staticmethod
    def verify(left):
        assert os.path.getsize('stream') == left * BLOCK * 16
        Buffered.check(os.open('stream', os.O_RDONLY), 0, left)


class Unlinked:
    """A file that is open and has no name any more."""

    def __init__(self):
        self.left = None
        self.fd = os.open('gone', os.O_RDWR | os.O_CREAT, 0o600)
        os.pwrite(self.fd, pattern('gone', BLOCK), 0)
        os.fsync(self.fd)
        os.unlink('gone')
        self.n = 1

    def step(self):
        os.pwrite(self.fd, pattern(self.n, BLOCK), self.n * BLOCK)
        os.fsync(self.fd)
        self.n += 1
        assert absent('gone')
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        assert os.pread(self.fd, BLOCK, 0) == pattern('gone', BLOCK), 'first block'
        last = os.pread(self.fd, BLOCK, (self.n - 1) * BLOCK)
        assert last == pattern(self.n - 1, BLOCK), 'last block'
        time.sleep(0.05)

    def end(self):
        os.close(self.fd)

    @staticmethod
    def verify(_left):
        assert not os.listdir('.'), f'left behind: {os.listdir(".")}'


class Locks:
    """Byte-range locks and a flock, held all the time; others taken and given back."""

    def __init__(self):
        self.left = None
        self.fd = os.open('ranges', os.O_RDWR | os.O_CREAT, 0o644)
        os.write(self.fd, b'x' * 1000)
        os.fsync(self.fd)
        self.flock_fd = os.open('whole', os.O_RDWR | os.O_CREAT, 0o644)
        fcntl.lockf(self.fd, fcntl.LOCK_EX, 100, 0)
        fcntl.lockf(self.fd, fcntl.LOCK_SH, 100, 500)
        fcntl.flock(self.flock_fd, fcntl.LOCK_EX)

    @staticmethod
    def holder(start, length):
        """What kind of lock the server says stands in the way of a write lock."""
        fd = os.open('ranges', os.O_RDWR)
        asked = struct.pack('hhqqi4x', fcntl.F_WRLCK, os.SEEK_SET, start, length, 0)
        got = struct.unpack('hhqqi4x', fcntl.fcntl(fd, fcntl.F_GETLK, asked))[0]
        os.close(fd)
        return got

    def step(self):
        fcntl.lockf(self.fd, fcntl.LOCK_EX, 50, 700)
        os.pwrite(self.fd, b'y' * 50, 700)
        pid = os.fork()  # another lock owner
        if pid == 0:
            try:
                assert self.holder(50, 1) == fcntl.F_WRLCK, 'the write lock is lost'
                assert self.holder(550, 1) == fcntl.F_RDLCK, 'the read lock is lost'
                assert self.holder(200, 100) == fcntl.F_UNLCK, 'a lock that nobody has'
                other = os.open('whole', os.O_RDWR)
                try:
                    fcntl.flock(other, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except BlockingIOError:
                    os._exit(0)
                raise AssertionError('the flock is lost')
            except BaseException:
                report('locks')
                os._exit(1)
        assert os.waitpid(pid, 0)[1] == 0, 'see above'
        fcntl.lockf(self.fd, fcntl.LOCK_UN, 50, 700)
        time.sleep(0.05)

    def end(self):
        fcntl.lockf(self.fd, fcntl.LOCK_UN, 0, 0)
        os.close(self.fd)
        os.close(self.flock_fd)

    @staticmethod
    def verify(_left):
        data = read_file('ranges')
        assert data == b'x' * 700 + b'y' * 50 + b'x' * 250, 'bytes below the locks'
        for name in 'ranges', 'whole':
            fd = os.open(name, os.O_RDWR)
            fcntl.lockf(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(fd)


class Deep:
    """Its working directory is deep in a tree, and all names are relative."""

    def __init__(self):
        self.n, self.left = 0, None
        path = '/'.join(f'level-{i}' for i in range(30))
        os.makedirs(path)
        os.chdir(path)
        self.inode = os.stat('.').st_ino

    def step(self):
        self.n += 1
        assert os.stat('.').st_ino == self.inode, 'the directory became another one'
        assert os.getcwd().endswith('/level-28/level-29'), os.getcwd()
        assert os.listdir('..') == ['level-29']
        write_file(f'here-{self.n}', b'deep')
        assert sorted(os.listdir('.')) == [f'here-{self.n}'], os.listdir('.')
        assert read_file(f'here-{self.n}') == b'deep'
        once(lambda: os.unlink(f'here-{self.n}'), errno.ENOENT, lambda: absent(f'here-{self.n}'))
        assert len(os.listdir('../../..')) == 1
        time.sleep(0.02)

    @staticmethod
    def verify(_left):
        seen = [f for _, _, files in os.walk('.') for f in files]
        assert not seen, f'left behind: {seen}'


class Reader:
    """Reads a file that it keeps open, from the server each time."""

    SIZE = 8 << 20

    def __init__(self):
        self.left = None
        write_file('big', pattern('big', self.SIZE))
        self.data = pattern('big', self.SIZE)
        self.fd = os.open('big', os.O_RDONLY)

    def step(self):
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        for _ in range(8):
            at = random.randrange(self.SIZE - 70000)
            assert os.pread(self.fd, 70000, at) == self.data[at:at + 70000], f'at {at}'
        time.sleep(0.02)

    @staticmethod
    def verify(_left):
        assert sha(read_file('big')) == sha(pattern('big', Reader.SIZE))


class Lister:
    """Lists a directory of many names again and again, in pieces of the client's."""

    COUNT = 1200

    def __init__(self):
        self.n, self.left = 0, None
        self.want = {f'name-{i:05d}-{"x" * (i % 30)}' for i in range(self.COUNT)}
        for name in self.want:
            os.close(os.open(name, os.O_CREAT | os.O_WRONLY, 0o644))

    def step(self):
        self.n += 1
        extra = f'extra-{self.n}'  # a change, so that the client's listing is stale
        os.close(os.open(extra, os.O_CREAT | os.O_WRONLY, 0o644))
        got = []
        with os.scandir('.') as it:
            for i, e in enumerate(it):
                got.append(e.name)
                if i % 300 == 0:
                    time.sleep(0.05)  # longer, so that kills fall into it
        assert len(got) == len(set(got)), 'a name came twice'
        assert set(got) == self.want | {extra}, f'{set(got) ^ self.want} beside {extra}'
        once(lambda: os.unlink(extra), errno.ENOENT, lambda: absent(extra))

    @staticmethod
    def verify(_left):
        assert len(os.listdir('.')) == Lister.COUNT


class Meta:
    """Links, symbolic links, modes, times, sizes, extended attributes."""

    def __init__(self):
        self.n, self.left = 0, None
        write_file('f', b'0123456789')

    def step(self):
        self.n += 1
        n = self.n
        once(lambda: os.link('f', 'hard'), errno.EEXIST,
             lambda: os.stat('hard').st_ino == os.stat('f').st_ino)
        assert os.stat('f').st_nlink == 2
        once(lambda: os.symlink(f'to-{n}', 'soft'), errno.EEXIST, lambda: os.readlink('soft') == f'to-{n}')
        assert os.readlink('soft') == f'to-{n}'
        mode = 0o600 + n % 0o100
        os.chmod('f', mode)
        os.utime('f', (n, n))
        os.setxattr('f', 'user.n', str(n).encode())
        s = os.stat('f')
        assert s.st_mode & 0o7777 == mode and int(s.st_mtime) == n, s
        assert os.getxattr('f', 'user.n') == str(n).encode()
        os.truncate('f', n % 10)
        assert os.path.getsize('f') == n % 10
        for name in 'hard', 'soft':
            once(lambda name=name: os.unlink(name), errno.ENOENT, lambda name=name: absent(name))
        time.sleep(0.02)

    @staticmethod
    def verify(_left):
        assert os.listdir('.') == ['f'] and os.stat('f').st_nlink == 1


WORKERS = {'churn': Churn, 'writer': Writer, 'buffered': Buffered, 'unlinked-open': Unlinked,
           'locks': Locks, 'deep': Deep, 'reader': Reader, 'lister': Lister, 'meta': Meta}
skip = os.environ.get('LAB_SKIP', '').split()
WORKERS = {n: w for n, w in WORKERS.items() if n not in skip}


def report(name):
    with open(f'{OUT}/failed.{name}', 'a') as f:
        f.write(traceback.format_exc())


def run(name):
    """One worker, in a process of its own; returns its exit code."""
    try:
        os.mkdir(f'{WORK}/{name}')
        os.chdir(f'{WORK}/{name}')
        worker, steps, longest = WORKERS[name](), 0, 0
        while not os.path.exists(f'{OUT}/stop'):
            start = time.monotonic()
            worker.step()
            longest = max(longest, time.monotonic() - start)
            steps += 1
            with open(f'{OUT}/progress.{name}', 'w') as f:
                f.write(str(steps))
        if hasattr(worker, 'end'):
            worker.end()
        with open(f'/tmp/{name}.left', 'w') as f:
            json.dump(worker.left, f)
        print(f'PASS {name} ({steps} steps, the longest {longest:.1f} s, {repeated} repeated)', flush=True)
        return 0
    except BaseException as e:
        report(name)
        stale = ' STALE' if isinstance(e, OSError) and e.errno == errno.ESTALE else ''
        print(f'FAIL {name}:{stale} {type(e).__name__} {e}', flush=True)
        return 1


def work():
    pids = {}
    for name in WORKERS:
        pid = os.fork()
        if pid == 0:
            os._exit(run(name))
        pids[pid] = name
    while not all(os.path.exists(f'{OUT}/progress.{n}') for n in WORKERS):
        if any(os.path.exists(f'{OUT}/failed.{n}') for n in WORKERS):
            break
        time.sleep(0.1)
    open(f'{OUT}/busy', 'w').close()
    bad = 0
    while pids:
        pid, status = os.wait()
        bad += status != 0
        del pids[pid]
    return 1 if bad else 0


def verify():
    bad = 0
    for name, worker in WORKERS.items():
        try:
            os.chdir(f'{WORK}/{name}')
            with open(f'/tmp/{name}.left') as f:
                left = json.load(f)
            worker.verify(left)
            print(f'PASS {name} afterwards')
        except Exception as e:
            bad = 1
            print(f'FAIL {name} afterwards: {type(e).__name__} {e}')
    return bad


sys.exit({'work': work, 'verify': verify}[sys.argv[1]]())
