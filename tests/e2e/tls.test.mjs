/*
 * Letters by encrypted SMTP with a password, and webhooks by https, each against a server with a
 * certificate of an authority of its own: it works with the right ones, and nothing of a letter or
 * a password leaves with wrong ones; the letter waits.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SMTPServer } from 'smtp-server';
import { startClub } from './lib/daemon.mjs';

/* Two authorities, and certificates of the first for this machine and for another name. */
const folder = mkdtempSync(join(tmpdir(), 'fourhanded-tls-'));
test.after(() => rmSync(folder, { recursive: true, force: true }));
const at = (name) => join(folder, name);
const openssl = (...words) => execFileSync('openssl', words, { stdio: ['ignore', 'ignore', 'pipe'] });

function authority(name) {
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '3000',
        '-subj', `/CN=${name}`, '-keyout', at(`${name}.key`), '-out', at(`${name}.pem`));
}

function certificate(host, by) {
    writeFileSync(at(`${host}.ext`), `subjectAltName=DNS:${host}\nextendedKeyUsage=serverAuth\n`);
    openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes',
        '-subj', `/CN=${host}`, '-keyout', at(`${host}.key`), '-out', at(`${host}.csr`));
    openssl('x509', '-req', '-in', at(`${host}.csr`), '-CA', at(`${by}.pem`), '-CAkey', at(`${by}.key`), '-CAcreateserial',
        '-days', '3000', '-extfile', at(`${host}.ext`), '-out', at(`${host}.pem`));
}

authority('ours');
authority('foreign');
certificate('localhost', 'ours');
certificate('other.example', 'ours');
const pair = (host) => ({ key: readFileSync(at(`${host}.key`)), cert: readFileSync(at(`${host}.pem`)) });

/* A mail server that wants a password; it keeps what it was told, and over what. */
async function mailServer(t, { host = 'localhost', secure = false, method = 'PLAIN', offers = true } = {}) {
    const heard = { letters: [], logins: [], commands: 0 };
    const server = new SMTPServer({
        ...pair(host), secure, authMethods: [method], disabledCommands: offers ? [] : ['STARTTLS'], logger: false,
        disableReverseLookup: true, allowInsecureAuth: true,
        closeTimeout: 1, /* the daemon keeps its connection; it ends after this server */
        onAuth(auth, session, done) {
            heard.logins.push({ method: auth.method, user: auth.username, password: auth.password, secure: session.secure });
            const isRight = auth.username === 'club' && auth.password === 'a good one';
            done(isRight ? null : Object.assign(new Error('5.7.8 no'), { responseCode: 535 }), isRight ? { user: 'club' } : undefined);
        },
        onMailFrom(address, session, done) { heard.commands += 1; done(); },
        onData(stream, session, done) {
            const chunks = [];
            stream.on('data', (chunk) => chunks.push(chunk));
            stream.on('end', () => {
                heard.letters.push({ to: session.envelope.rcptTo[0].address, secure: session.secure, text: Buffer.concat(chunks).toString() });
                done();
            });
        },
    });
    server.on('error', () => { /* a client that does not like our certificate */ });
    await new Promise((resolve) => { server.listen(0, 'localhost', resolve); });
    t.after(() => new Promise((resolve) => { server.close(resolve); }));
    return { port: server.server.address().port, heard };
}

const invitation = { variant: 'verney', seats: { south: { me: true }, west: { handle: 'boris' }, north: { open: true }, east: { open: true } } };

/* A club that sends there; a letter waits when this returns, or has been sent. */
async function letterBy(t, post, { tls = 'starttls', ca = 'ours', password = 'a good one' } = {}) {
    writeFileSync(at('password'), `${password}\n`, { mode: 0o600 });
    const club = await startClub({ smtpPort: post.port, at: '2027-01-04T08:00:00Z',
        smtp: `host = "localhost"; tls = "${tls}"; ca_file = ${JSON.stringify(at(`${ca}.pem`))}; user = "club"; password = ${JSON.stringify(`@file:${at('password')}`)};` });
    t.after(() => club.end());
    const anna = await club.player('anna');
    await club.player('boris');
    await anna.post('/api/v1/games', invitation);
    await club.settle();
    const [row] = club.sql("SELECT state, attempts, last_text FROM outbox WHERE class = 'invitation'");
    return { club, row };
}

for (const [tls, secure, method] of [['starttls', false, 'PLAIN'], ['starttls', false, 'LOGIN'], ['implicit', true, 'PLAIN'], ['implicit', true, 'LOGIN']]) {
    test(`N11: a letter by ${tls}, logged in by ${method}`, async (t) => {
        const post = await mailServer(t, { secure, method });
        const { row } = await letterBy(t, post, { tls });
        assert.equal(row.state, 'sent', row.last_text);
        assert.equal(row.attempts, 1);
        assert.equal(post.heard.letters.length, 1);
        assert.equal(post.heard.letters[0].to, 'boris@example.net');
        assert.equal(post.heard.letters[0].secure, true);
        assert.deepEqual(post.heard.logins, [{ method, user: 'club', password: 'a good one', secure: true }]);
    });
}

/* N10: it waits, and neither letter nor password has left. */
function assertWaits(row, post) {
    assert.equal(row.state, 'queued');
    assert.equal(row.attempts, 1);
    assert.equal(post.heard.letters.length, 0);
    assert.equal(post.heard.commands, 0);
}

for (const tls of ['starttls', 'implicit']) {
    test(`a certificate of an authority that is not ours is refused (${tls})`, async (t) => {
        const post = await mailServer(t, { secure: tls === 'implicit' });
        const { row } = await letterBy(t, post, { tls, ca: 'foreign' });
        assertWaits(row, post);
        assert.deepEqual(post.heard.logins, []);
        assert.match(row.last_text, /certificate|verif/i);
    });

    test(`a certificate for another name is refused (${tls})`, async (t) => {
        const post = await mailServer(t, { host: 'other.example', secure: tls === 'implicit' });
        const { row } = await letterBy(t, post, { tls });
        assertWaits(row, post);
        assert.deepEqual(post.heard.logins, []);
        assert.match(row.last_text, /name|certificate/i);
    });
}

test('a server that offers no STARTTLS gets neither letter nor password', async (t) => {
    const post = await mailServer(t, { offers: false });
    const { row } = await letterBy(t, post);
    assertWaits(row, post);
    assert.deepEqual(post.heard.logins, []);
});

test('a wrong password is for later, is no fault of the address, and the operator sees it', async (t) => {
    const post = await mailServer(t);
    const { club, row } = await letterBy(t, post, { password: 'a wrong one' });
    assertWaits(row, post);
    assert.ok(post.heard.logins.length > 0);
    await club.logged(/mail_refused_by_policy/);
    assert.deepEqual(club.sql("SELECT count(*) AS n FROM users WHERE address_state <> 'ok'"), [{ n: 0 }]);
    const figures = await (await fetch(`${club.metrics}/metrics`)).text();
    assert.match(figures, /^fourhanded_mail_policy_total [1-9]/m);
    await club.stop();
    assert.ok(!club.log.includes('a wrong one'));
});

/* ---------------------------------------------------------------- webhooks */

async function httpsReceiver(t, host) {
    const heard = [];
    const server = createServer(pair(host), (request, response) => {
        const chunks = [];
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => { heard.push(JSON.parse(Buffer.concat(chunks))); response.writeHead(204).end(); });
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    t.after(() => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }));
    return { url: `https://127.0.0.1:${server.address().port}/hook`, heard };
}

/* An endpoint of an address has a certificate of that address. */
writeFileSync(at('127.0.0.1.ext'), 'subjectAltName=IP:127.0.0.1\nextendedKeyUsage=serverAuth\n');
openssl('req', '-new', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=hook',
    '-keyout', at('127.0.0.1.key'), '-out', at('127.0.0.1.csr'));
openssl('x509', '-req', '-in', at('127.0.0.1.csr'), '-CA', at('ours.pem'), '-CAkey', at('ours.key'), '-CAcreateserial',
    '-days', '3000', '-extfile', at('127.0.0.1.ext'), '-out', at('127.0.0.1.pem'));

for (const [ca, host, state] of [['ours', '127.0.0.1', 'sent'], ['foreign', '127.0.0.1', 'queued'], ['ours', 'localhost', 'queued']]) {
    test(`an https webhook with a certificate for ${host} and the authority ${ca} is ${state}`, async (t) => {
        const receiver = await httpsReceiver(t, host);
        const club = await startClub({ at: '2027-01-04T08:00:00Z', webhooks: `ca_file = ${JSON.stringify(at(`${ca}.pem`))};` });
        t.after(() => club.end());
        const anna = await club.player('anna');
        const boris = await club.player('boris');
        await boris.post('/api/v1/me/webhooks', { url: receiver.url, kind: 'standard' });
        await anna.post('/api/v1/games', invitation);
        await club.settle();
        assert.deepEqual(club.sql("SELECT state FROM outbox WHERE channel = 'webhook'"), [{ state }]);
        assert.deepEqual(receiver.heard.map((x) => x.type), state === 'sent' ? ['game.invitation'] : []);
    });
}
