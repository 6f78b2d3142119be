/*
 * The samples of config/mail, each tried with the program it is for: what stands there, but for
 * paths and ports, takes a letter from a real mail server into the daemon.
 *
 * OpenSMTPD cannot be installed beside Postfix: tests/run has tests/support/opensmtpd unpack it, and
 * SMTPD names its binary.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PROGRAM, startClub } from './lib/daemon.mjs';
import { freePort } from './lib/ports.mjs';
import { greeting, isPossible, startPostfix } from './lib/postfix.mjs';
import { startDovecot } from './lib/dovecot.mjs';

const ROOT = join(import.meta.dirname, '../..');
const DOMAIN = 'games.example.org';
const TOKEN = 'abcdefghijklmnopqrstuvwxyz';
const skip = isPossible() ? false : 'Postfix is started by root';
const SMTPD = process.env.SMTPD ?? '/usr/sbin/smtpd';
const sample = (name) => readFileSync(join(ROOT, 'config/mail', name), 'utf8');

/* One letter by SMTP; the code that the recipient got. */
function send(port, from, to) {
    return new Promise((resolve, reject) => {
        const socket = createConnection(port, '127.0.0.1');
        const steps = ['EHLO x', `MAIL FROM:<${from}>`, `RCPT TO:<${to}>`, 'DATA',
            `From: anna@example.net\r\nTo: ${to}\r\nMessage-ID: <${Math.random()}@x>\r\n\r\nhelp\r\n.`, 'QUIT'];
        let rest = '', step = 0;
        socket.on('error', reject);
        socket.on('data', (data) => {
            rest += data.toString('latin1');
            for (let at; (at = rest.indexOf('\r\n')) >= 0; rest = rest.slice(at + 2)) {
                if (rest[3] === '-') continue;
                const code = Number(rest.slice(0, 3));
                if (step === 3 && code >= 400) { socket.end(); resolve(code); return; }
                if (step === 6) { socket.end(); resolve(250); return; }
                socket.write(`${steps[step++]}\r\n`, 'latin1');
            }
        });
    });
}

const mailIn = (more) => `mail_in: { address = "play@${DOMAIN}"; bounce_address = "bounce@${DOMAIN}"; unsubscribe_address = "unsubscribe@${DOMAIN}"; ${more} };`;

/* The letters in the club's inbox, once there are n of them: the daemon's own list. */
async function inbox(club, n) {
    for (;;) {
        const rows = club.sql('SELECT way, sender, recipient FROM inbox ORDER BY id');
        if (rows.length >= n) return rows;
        await new Promise((resolve) => { setImmediate(resolve); });
    }
}

async function deliverThrough(t, { conf, club, main, master = '' }) {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-samples-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o755);
    const table = join(folder, 'recipients');
    writeFileSync(table, sample('postfix-recipients'));
    if (!club) {
        club = await startClub({ conf });
        t.after(() => club.end());
    }
    const postfix = await startPostfix({ lmtpPath: '/nowhere', sinkPort: 9, domain: DOMAIN,
        main: main().replaceAll('/etc/postfix/fourhanded-recipients', table), master });
    t.after(() => postfix.close());
    postfix.check();
    assert.equal(await send(postfix.port, 'anna@example.net', `play+${TOKEN.toUpperCase()}@${DOMAIN}`), 250);
    assert.equal(await send(postfix.port, '', `bounce+abc.defghij234@${DOMAIN}`), 250);
    assert.equal(await send(postfix.port, 'anna@example.net', `play@${DOMAIN}`), 250);
    assert.ok(await send(postfix.port, 'anna@example.net', `nobody@${DOMAIN}`) >= 500);
    assert.ok(await send(postfix.port, 'anna@example.net', `play+${'x'.repeat(99)}@${DOMAIN}`) >= 500);
    return inbox(club, 3);
}

test('postfix-main.cf and postfix-recipients hand letters over by LMTP', { skip }, async (t) => {
    const port = await freePort();
    const rows = await deliverThrough(t, {
        conf: mailIn(`lmtp_listen = "127.0.0.1:${port}";`),
        main: () => sample('postfix-main.cf').replace('127.0.0.1]:2424', `127.0.0.1]:${port}`) });
    assert.deepEqual([...new Set(rows.map((row) => row.way))], ['lmtp']);
    assert.deepEqual(rows.map((row) => row.sender).toSorted(), ['', 'anna@example.net', 'anna@example.net']);
});

test('postfix-transport does so for some names of a domain that has others', { skip }, async (t) => {
    const port = await freePort(), folder = mkdtempSync(join(tmpdir(), 'fourhanded-transport-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    chmodSync(folder, 0o755);
    writeFileSync(join(folder, 'transport'), sample('postfix-transport').replace('127.0.0.1]:2424', `127.0.0.1]:${port}`));
    const rows = await deliverThrough(t, {
        conf: mailIn(`lmtp_listen = "127.0.0.1:${port}";`),
        main: () => `virtual_transport = error:no way\ntransport_maps = regexp:${join(folder, 'transport')}\n` });
    assert.equal(rows.length, 3);
});

test('postfix-master.cf hands letters to fourhanded receive', { skip }, async (t) => {
    /* pipe(8) runs nothing as root and control.sock hears the daemon's own user, so both are nobody. */
    const program = PROGRAM.startsWith('/') ? PROGRAM : join(process.cwd(), PROGRAM);
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-pipe-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const uid = Number(execFileSync('id', ['-u', 'nobody'], { encoding: 'utf8' })), gid = Number(execFileSync('id', ['-g', 'nobody'], { encoding: 'utf8' }));
    const conf = join(folder, 'fourhanded.conf');
    writeFileSync(conf, `public_url = "http://127.0.0.1:0";\ndatabase = "club.db";\ncontrol_socket = "control.sock";\nweb_directory = "${ROOT}/web";
http: { listen = "127.0.0.1:0"; };\nmail: { directory = "mail"; };\n${mailIn('')}\n`);
    const script = join(folder, 'receive');
    writeFileSync(script, `#!/bin/sh\nexec ${program} receive -c ${conf} "$@"\n`, { mode: 0o755 });
    chownSync(folder, uid, gid);
    chmodSync(folder, 0o755);
    const daemon = spawn(program, ['serve', '-c', conf], { uid, gid, stdio: ['ignore', 'pipe', 'ignore'] });
    const ended = new Promise((resolve) => { daemon.on('exit', resolve); });
    t.after(async () => { daemon.kill('SIGTERM'); await ended; });
    await new Promise((resolve, reject) => { daemon.stdout.once('data', resolve); ended.then(reject); });
    const rows = await deliverThrough(t, {
        club: { sql: (query) => JSON.parse(execFileSync('sqlite3', ['-readonly', '-json', join(folder, 'club.db'), query], { encoding: 'utf8' }) || '[]') },
        main: () => sample('postfix-main.cf').replace('lmtp:inet:[127.0.0.1]:2424', 'fourhanded:') + 'fourhanded_destination_recipient_limit = 1\n',
        master: sample('postfix-master.cf').replace('user=fourhanded', 'user=nobody').replace('/usr/bin/fourhanded receive', script) });
    assert.deepEqual([...new Set(rows.map((row) => row.way))], ['command']);
    assert.deepEqual(rows.map((row) => row.sender).toSorted(), ['', 'anna@example.net', 'anna@example.net']);
});

const hasSmtpd = !spawnSync(SMTPD, ['-h']).error;
const hasMounts = isPossible() && spawnSync('unshare', ['-m', 'mount', '--make-rprivate', '/']).status === 0;

test('smtpd.conf is read by OpenSMTPD', { skip: hasSmtpd ? false : 'OpenSMTPD is not here; SMTPD names it' }, () => {
    const said = spawnSync(SMTPD, ['-n', '-f', join(ROOT, 'config/mail/smtpd.conf')], { encoding: 'utf8' });
    assert.equal(said.status, 0, said.stderr);
    assert.match(said.stderr, /configuration OK/);
});

test('smtpd.conf hands letters over by LMTP', { skip: hasSmtpd && hasMounts ? false : 'OpenSMTPD is not here, or mounts are not to be had' }, async (t) => {
    const port = await freePort(), lmtp = await freePort(), folder = mkdtempSync(join(tmpdir(), 'fourhanded-smtpd-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const conf = join(folder, 'conf'), scratch = join(folder, 'scratch');
    mkdirSync(scratch);
    writeFileSync(conf, sample('smtpd.conf').replace('listen on localhost', `listen on 127.0.0.1 port ${port}`).replaceAll('127.0.0.1:2424', `127.0.0.1:${lmtp}`));
    const club = await startClub({ conf: mailIn(`lmtp_listen = "127.0.0.1:${lmtp}";`) });
    t.after(() => club.end());
    const child = spawn('unshare', ['-m', join(ROOT, 'tests/e2e/lib/opensmtpd'), SMTPD, conf, scratch], { stdio: 'ignore' });
    const ended = new Promise((resolve) => { child.on('exit', resolve); });
    t.after(async () => { child.kill('SIGTERM'); await ended; });
    await Promise.race([greeting(port), ended.then((code) => { throw new Error(`smtpd ended: ${code}`); })]);
    assert.equal(await send(port, 'anna@example.net', `play+${TOKEN.toUpperCase()}@${DOMAIN}`), 250);
    assert.equal(await send(port, '', `bounce+abc.defghij234@${DOMAIN}`), 250);
    const rows = await inbox(club, 2);
    assert.deepEqual(rows.map((row) => row.sender).toSorted(), ['', 'anna@example.net']);
    assert.deepEqual([...new Set(rows.map((row) => row.way))], ['lmtp']);
});

test('hosted.conf fetches letters by IMAP', { skip }, async (t) => {
    const box = await startDovecot({ user: 'play@example.org' });
    t.after(() => box.close());
    const secret = join(box.folder, 'secret');
    writeFileSync(secret, `${box.password}\n`, { mode: 0o600 });
    const group = /^mail_in: \{[^]*?^\};/m.exec(sample('hosted.conf'))[0]
        .replace('imap.example.org', 'localhost').replace('993', String(box.tlsPort))
        .replace('/etc/fourhanded/imap_password', secret).replace('imap_keep', `imap_ca_file = "${box.caFile}";\n    imap_keep`);
    box.deliver(Buffer.from(`Delivered-To: play@example.org\r\nTo: play+${TOKEN}@example.org\r\nFrom: anna@example.net\r\nMessage-ID: <1@x>\r\n\r\nhelp\r\n`));
    const club = await startClub({ conf: group });
    t.after(() => club.end());
    const rows = await inbox(club, 1);
    assert.equal(rows[0].way, 'imap');
    assert.match(rows[0].recipient, /^play\+…@example\.org$/);
    /* The whole sample is well-formed, but for its secrets. */
    const conf = join(box.folder, 'whole.conf');
    writeFileSync(conf, `public_url = "http://127.0.0.1:0";\ndatabase = "${box.folder}/x.db";\nweb_directory = "${ROOT}/web";\n` +
        sample('hosted.conf').replaceAll(/@file:[^"]*/g, `@file:${secret}`));
    assert.equal(execFileSync(PROGRAM, ['check-config', '-c', conf], { encoding: 'utf8' }), 'OK\n');
});
