// config/Caddyfile and config/nginx.conf as they are handed out, in front of the real daemon: only
// names, ports, certificates and folders are put in.  Pages, the API and streams come through, and
// the daemon knows its clients by their own addresses.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import https from 'node:https';
import net from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startClub } from '../e2e/lib/daemon.mjs';
import { freePort } from '../e2e/lib/ports.mjs';

const RATE = 30; // requests a minute and address
const samples = join(import.meta.dirname, '../../config');
const folder = mkdtempSync(join(tmpdir(), 'fh-proxies-'));
let club, anna, game;

// Until it accepts connections, or has ended.
async function listening(child, port) {
  let log = '';
  child.stderr.on('data', (text) => { log += text; });
  const ended = new Promise((_, reject) => { child.on('exit', (code) => reject(new Error(`ended with ${code}: ${log}`))); });
  ended.catch(() => {});
  for (;;) {
    const connected = await Promise.race([ended, new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1', () => { socket.destroy(); resolve(true); });
      socket.on('error', () => resolve(false));
    })]);
    if (connected) return;
    await new Promise((resolve) => { setImmediate(resolve); });
  }
}

// A request from any address of the loopback net; the answer without its body, whose end `text` is.
function ask(proxy, path, { from = '127.0.0.1', method = 'GET', headers = {}, body, token } = {}) {
  return new Promise((resolve, reject) => {
    const request = (proxy.plain ? http : https).request({
      host: '127.0.0.1', port: proxy.port, servername: 'localhost', path, method, localAddress: from, agent: false,
      rejectUnauthorized: false,
      headers: { host: 'localhost', ...(token && { authorization: `Bearer ${token}` }), ...(body && { 'content-type': 'application/json' }), ...headers },
    }, (response) => {
      response.setEncoding('utf8');
      let all = '';
      const text = new Promise((done) => {
        response.on('data', (part) => { all += part; });
        response.on('close', () => done(all));
      });
      resolve({ status: response.statusCode, headers: response.headers, response, text, request });
    });
    request.on('error', reject);
    request.end(body && (typeof body === 'string' ? body : JSON.stringify(body)));
  });
}

const proxies = [];

before(async () => {
  execFileSync('openssl', ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2', '-subj', '/CN=localhost',
    '-addext', 'subjectAltName=DNS:localhost', '-keyout', join(folder, 'key.pem'), '-out', join(folder, 'cert.pem')], { stdio: 'ignore' });
  // Its clocks stand, so that however long it takes no request comes back into a rate.
  club = await startClub({ at: '2027-01-04T08:00:00Z', rate: RATE, http: 'trusted_proxies = [ "127.0.0.1" ];' });
  anna = await club.player('anna');
  const boris = await club.player('boris');
  game = (await anna.post('/api/v1/games', { variant: 'verney', seats: { south: { me: true }, north: { me: true }, west: { handle: 'boris' }, east: { handle: 'boris' } } })).id;
  await boris.post(`/api/v1/games/${game}/accept`, {});
  const upstream = new URL(club.url).host;

  const caddy = { name: 'Caddy', port: await freePort() };
  const site = readFileSync(join(samples, 'Caddyfile'), 'utf8');
  for (const piece of ['\nchess.example.org {', '127.0.0.1:8484']) assert.ok(site.includes(piece), piece);
  writeFileSync(join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${site
    .replace('\nchess.example.org {', `\nhttps://localhost:${caddy.port} {\n\ttls ${join(folder, 'cert.pem')} ${join(folder, 'key.pem')}`)
    .replace('127.0.0.1:8484', upstream)}`);
  caddy.child = spawn('caddy', ['run', '--config', join(folder, 'Caddyfile'), '--adapter', 'caddyfile'],
    { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder } });
  await listening(caddy.child, caddy.port);
  proxies.push(caddy);

  const nginx = { name: 'nginx', port: await freePort() };
  const plain = await freePort();
  let conf = readFileSync(join(samples, 'nginx.conf'), 'utf8');
  const put = (from, to) => { assert.ok(conf.includes(from), from); conf = conf.replaceAll(from, to); };
  put('listen 80;', `listen 127.0.0.1:${plain};`);
  put('listen [::]:80;', '');
  put('listen 443 ssl http2;', `listen 127.0.0.1:${nginx.port} ssl http2;`);
  put('listen [::]:443 ssl http2;', '');
  put('chess.example.org;', 'localhost;');
  put('/etc/ssl/chess.example.org/fullchain.pem', join(folder, 'cert.pem'));
  put('/etc/ssl/chess.example.org/privkey.pem', join(folder, 'key.pem'));
  put('/var/log/nginx/fourhanded.log', join(folder, 'access.log'));
  put('127.0.0.1:8484', upstream);
  mkdirSync(join(folder, 'temp'));
  const temps = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((t) => `${t}_temp_path ${join(folder, 'temp', t)};`).join('\n');
  writeFileSync(join(folder, 'nginx.conf'), `daemon off;\nworker_processes 1;\npid ${join(folder, 'nginx.pid')};\nerror_log stderr;\nevents {}\nhttp {\n${temps}\n${conf}\n}\n`);
  nginx.child = spawn('nginx', ['-e', 'stderr', '-p', folder, '-c', join(folder, 'nginx.conf')], { stdio: ['ignore', 'ignore', 'pipe'] });
  nginx.plain80 = plain;
  await listening(nginx.child, nginx.port);
  proxies.push(nginx);
});

after(async () => {
  await Promise.all(proxies.map((proxy) => new Promise((resolve) => {
    proxy.child.on('exit', resolve);
    proxy.child.kill(proxy.name === 'Caddy' ? 'SIGKILL' : 'SIGTERM'); // Caddy would wait for its clients
  })));
  await club.end();
  rmSync(folder, { recursive: true, force: true });
});

const each = (name, run) => test(name, async (t) => {
  for (const [i, proxy] of proxies.entries()) await t.test(proxy.name, () => run(proxy, i));
});

each('pages and the API come through, with the headers of both', async (proxy) => {
  const page = await ask(proxy, '/', { from: '127.0.0.9' });
  assert.equal(page.status, 200);
  assert.match(page.headers['content-type'], /^text\/html/);
  assert.match(page.headers['content-security-policy'], /default-src 'none'/);
  assert.equal(page.headers['strict-transport-security'], 'max-age=31536000');
  assert.match(await page.text, /<!doctype html>/i);
  const read = await ask(proxy, `/api/v1/games/${game}`, { token: anna.token });
  assert.equal(read.status, 200);
  assert.equal(JSON.parse(await read.text).id, game);
  const again = await ask(proxy, `/api/v1/games/${game}`, { token: anna.token, headers: { 'if-none-match': read.headers.etag } });
  assert.equal(again.status, 304);
  const refused = await ask(proxy, `/api/v1/games/${game}/moves`, { method: 'POST', token: anna.token, body: { move: 'e2e9', state_number: 0 } });
  assert.equal(refused.headers['content-type'], 'application/problem+json');
  assert.ok([409, 422].includes(refused.status));
  for (const [method, path] of [['PATCH', '/api/v1/me'], ['POST', '/api/v1/games'], ['PUT', '/api/v1/me/password']])
    assert.equal((await ask(proxy, path, { method, token: anna.token, body: { name: 'x'.repeat(200_000) } })).status, 413, method);
});

each('a stream is not held back: an event comes while it is open', async (proxy, i) => {
  const now = await anna.get(`/api/v1/games/${game}`);
  const stream = await ask(proxy, `/api/v1/games/${game}/events?since=${now.event_seq}`, { token: anna.token, headers: { accept: 'text/event-stream' } });
  assert.equal(stream.status, 200);
  assert.match(stream.headers['content-type'], /^text\/event-stream/);
  let seen = '';
  const event = new Promise((resolve, reject) => {
    stream.response.on('data', (part) => { seen += part; if (/^data: .*"(paused|resumed)"/m.test(seen)) resolve(); });
    stream.response.on('close', () => reject(new Error(`the stream ended after: ${seen}`)));
  });
  event.catch(() => {});
  await anna.post(`/api/v1/games/${game}/${i % 2 ? 'resume' : 'pause'}`, {});
  await event;
  stream.request.destroy();
});

each('each client has its own rate, whatever it claims to be', async (proxy, i) => {
  const [one, two] = [`127.0.${i + 1}.2`, `127.0.${i + 1}.3`];
  const status = async (from, headers) => (await ask(proxy, '/api/v1', { from, headers })).status;
  for (let n = 0; n < RATE; n++) assert.equal(await status(one), 200);
  assert.equal(await status(one), 429);
  assert.equal(await status(one, { 'x-forwarded-for': '203.0.113.9' }), 429);
  assert.equal(await status(one, { 'x-forwarded-for': '203.0.113.10, 127.0.0.1' }), 429);
  assert.equal(await status(two), 200);
});

test('nginx sends plain http to https', async () => {
  const nginx = proxies.find((p) => p.name === 'nginx');
  const answer = await ask({ port: nginx.plain80, plain: true }, '/open?a=b');
  assert.equal(answer.status, 301);
  assert.equal(answer.headers.location, 'https://localhost/open?a=b');
});
