"""The row of a build from the server's counters, beside the client's own counts.

kernel-row.py NAME FOLDER [MEASURED...]: FOLDER has NAME.before and NAME.after (the
server's metrics), NAME.ops (mountstats, "OPERATION COUNT" lines) and NAME.seconds, as
build-job leaves them. Prints TABLE lines and PASS or FAIL agree; exits 1 where the two
do not agree. MEASURED (with build): "Getattr=6395" and so on, figures to be compared
with the server's (printed as a ratio, not judged).
"""

import re
import sys

# What the client's procedures are, by the main operation of their compounds. All others
# are the operation of the same name.
MAP = {
    'OPEN': 'Open', 'OPEN_NOATTR': 'Open',  # by name or by handle; create or not is the server's to tell
    'FSINFO': 'Getattr', 'PATHCONF': 'Getattr', 'STATFS': 'Getattr', 'SERVER_CAPS': 'Getattr',
    'LOOKUP_ROOT': 'Getattr', 'GETACL': 'Getattr', 'GET_LEASE_TIME': 'Getattr',
    'SYMLINK': 'Create',
    'SETACL': 'Setattr',
    'FS_LOCATIONS': 'Lookup', 'FSID_PRESENT': 'Getattr',
    'ZERO_RANGE': 'Deallocate',  # and ALLOCATE; the first one counts
}
# A call of its own, without a compound; the server's counter is of compounds.
NO_COMPOUND = {'NULL'}
COLUMNS = ['Getattr', 'Lookup', 'Access', 'Open/nocreate', 'Open/create']


def plain(name):
    """READ_PLUS, ReadPlus and Read_plus are the same."""
    return re.sub(r'[^a-z0-9/]', '', name.lower())


def metrics(path):
    """nfs_rpcs_total by its label `main`, over all minor versions and statuses."""
    counts = {}
    with open(path) as f:
        for line in f:
            m = re.match(r'nfs_rpcs_total\{(.*)\}\s+([0-9.eE+]+)\s*$', line)
            if m:
                main = re.search(r'main="([^"]*)"', m[1])
                if not main:
                    sys.exit(f'{path}: nfs_rpcs_total without the label main: {line}')
                counts[main[1]] = counts.get(main[1], 0) + int(float(m[2]))
    return counts


name, folder = sys.argv[1:3]
before, after = (metrics(f'{folder}/{name}.{x}') for x in ('before', 'after'))
if not after:
    sys.exit(f'{folder}/{name}.after: no nfs_rpcs_total in the metrics')
server = {k: n - before.get(k, 0) for k, n in after.items() if n != before.get(k, 0)}
client, raw = {}, {}
with open(f'{folder}/{name}.ops') as f:
    for line in f:
        op, n = line.split()
        raw[op] = int(n)
        if op not in NO_COMPOUND:
            main = MAP.get(op, op)
            client[plain(main)] = client.get(plain(main), 0) + int(n)
with open(f'{folder}/{name}.seconds') as f:
    seconds = float(f.read())

wide = [max(len(c), 7) for c in COLUMNS]


def row(label, cells, total, elapsed='', other=None):
    other = total - sum(cells) if other is None else other
    cells = ' | '.join(f'{c:>{w}}' for c, w in zip(cells, wide))
    print(f'TABLE | {label:<12} | {elapsed:>7} | {cells} | {other:>7} | {total:>7} |')


row(name, COLUMNS, 'total', 'Elapsed', 'other')
row('server', [server.get(c, 0) for c in COLUMNS], sum(server.values()), f'{seconds:.1f}')
total = sum(client.values())
opens = raw.get('OPEN_NOATTR', 0), raw.get('OPEN', 0)  # by handle, by name
known = [client.get('getattr', 0), client.get('lookup', 0), client.get('access', 0), *opens]
row('client', known, total, f'{seconds:.1f}')
print('(the client tells opens by handle from opens by name, where the server tells nocreate from create)')

other = {k: n for k, n in server.items() if k not in COLUMNS}
print('OTHER ' + ', '.join(f'{k} {n}' for k, n in sorted(other.items(), key=lambda x: -x[1])))
for figure in sys.argv[3:]:
    column, _, want = figure.partition('=')
    have = sum(server.values()) if column == 'total' else server.get(column, 0)
    print(f'SCALE {column}: {have} of {want} ({have / int(want):.3f})')

sums = {}
for k, n in server.items():
    key = 'open' if k.startswith('Open/') else plain(k)
    sums[key] = sums.get(key, 0) + n
differ = [f'{k}: server {sums.get(k, 0)}, client {client.get(k, 0)}'
          for k in sorted(sums.keys() | client.keys()) if sums.get(k, 0) != client.get(k, 0)]
if differ:
    print(f'FAIL {name} agree: ' + '; '.join(differ))
    sys.exit(1)
print(f'PASS {name} agree ({len(sums)} operations, {total} calls)')
