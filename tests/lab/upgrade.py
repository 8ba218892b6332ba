"""What a capture of upgrade shows: see there.

usage: upgrade.py alone|beside FILE.pcap PORT
"""
import json
import subprocess
import sys

kind, pcap, port = sys.argv[1:]
writer, reader = '127.0.0.2', '127.0.0.3'
FIELDS = ['frame.number', 'ip.src', 'ip.dst', 'rpc.msgtyp', 'nfs.opcode', 'nfs.cb.operation', 'nfs.status',
          'nfs.open.delegation_type', 'nfs.stateid.seqid', 'nfs.stateid.other']
command = ['tshark', '-r', pcap, '-d', f'tcp.port=={port},rpc', '-o', 'rpc.desegment_rpc_over_tcp:TRUE',
           '-o', 'rpc.defragment_rpc_over_tcp:TRUE', '-o', 'tcp.desegment_tcp_streams:TRUE',
           '-o', 'rpc.find_fragment_start:TRUE', '-Y', 'rpc', '-T', 'fields', '-E', 'separator=|', '-E', 'aggregator=,']
for field in FIELDS:
    command += ['-e', field]
lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
calls = [dict(zip(FIELDS, line.split('|'))) for line in lines]
OPEN = '18'


def has(call, field, value):
    return value in call[field].split(',')


grants = []  # (frame, type, seqids, others) of the writer's OPEN replies with a delegation
for call in calls:
    if call['ip.dst'] == writer and call['rpc.msgtyp'] == '1' and has(call, 'nfs.opcode', OPEN):
        kinds = set(call['nfs.open.delegation_type'].split(',')) & {'1', '2', '4', '5'}
        if kinds:
            grants.append((int(call['frame.number']), kinds.pop(), call['nfs.stateid.seqid'], call['nfs.stateid.other']))
recalls = [call for call in calls if has(call, 'nfs.cb.operation', '4') and call['rpc.msgtyp'] == '0']
for grant in grants:
    print('GRANT', json.dumps(grant))
for call in recalls:
    print('RECALL', call['frame.number'], 'to', call['ip.dst'])

failed = False


def check(what, holds):
    global failed
    print('PASS' if holds else 'FAIL', f'upgrade {kind}: {what}')
    failed |= not holds


NONE = '0' * 24
reads = [g for g in grants if g[1] in '14']
writes = [g for g in grants if g[1] in '25']
names = {other for g in grants for other in g[3].split(',')[1:2]}
check('one read delegation, then one write delegation',
      len(reads) == len(writes) == 1 and reads[0][0] < writes[0][0])
check('one stateid', len(names) == 1 and NONE not in names)
check('with the next seqid', [g[2].split(',')[-1] for g in reads + writes] == ['1', '2'])
if kind == 'alone':
    check('nobody was called back', not recalls)
else:
    check('one recall, to the other reader alone', [call['ip.dst'] for call in recalls] == [reader])
sys.exit(failed)
