/*
 * config/quickstart as a newcomer runs it: it comes back with the club open, shows what there is, does
 * nothing twice, and ends what it began.  The program is the one under test; the release build of a
 * fresh clone is the same script without --program.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { simpleParser } from 'mailparser';
import { Client, PROGRAM } from './lib/daemon.mjs';
import { freePort } from './lib/ports.mjs';

const ROOT = join(import.meta.dirname, '../..');
const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];

test('quickstart makes a club, starts it, shows it, and stops it', async (t) => {
    const folder = join(mkdtempSync(join(tmpdir(), 'fourhanded-quick-')), 'club');
    const port = await freePort();
    const quickstart = (...args) => spawnSync(join(ROOT, 'config/quickstart'),
        ['--folder', folder, '--program', resolve(PROGRAM), ...args], { encoding: 'utf8', cwd: tmpdir() });
    t.after(() => { quickstart('--stop'); rmSync(join(folder, '..'), { recursive: true, force: true }); });

    assert.match(quickstart('--port', '0').stderr, /--port wants a number from 1 to 65535/);
    assert.equal(existsSync(folder), false);
    const first = quickstart('--port', String(port));
    assert.equal(first.status, 0, first.stderr);
    assert.ok(first.stdout.includes(`Sample club:  http://localhost:${port}/`));
    /* By number: of two addresses fetch() gives the first a quarter of a second, which a busy machine may take. */
    const url = `http://127.0.0.1:${port}`;
    assert.equal((await fetch(`${url}/readyz`)).status, 200, 'it has come back and the daemon serves');
    assert.equal(statSync(join(folder, 'logins.txt')).mode & 0o77, 0, 'the log-ins are their owner\'s');

    /* Four log-ins that work: the passwords that are shown, and the tokens that are kept. */
    const club = { url };
    const tokens = new Map(readFileSync(join(folder, 'logins.txt'), 'utf8').trim().split('\n').map((line) => line.split(' ')).map(([who, , token]) => [who, token]));
    assert.deepEqual([...tokens.keys()], HANDLES);
    for (const handle of HANDLES) {
        const [, password] = new RegExp(`^  ${handle} +(\\S+)$`, 'm').exec(first.stdout);
        await new Client(club, null, null).post('/api/v1/auth/password', { login: handle, password });
        const me = await new Client(club, handle, tokens.get(handle)).get('/api/v1/me');
        assert.deepEqual([me.handle, me.scopes], [handle, ['read', 'play', 'manage']]);
        assert.equal(me.operator, handle === 'anna');
    }

    /* A game of each variant, running, with a move made. */
    const shown = [...first.stdout.matchAll(/^  (\w+) +http:\S+\/games\/(\w+)$/mg)].map(([, variant, id]) => [variant, id]);
    assert.deepEqual(shown.map(([variant]) => variant), ['verney', 'fortress', 'teams']);
    for (const [variant, id] of shown) {
        const game = await new Client(club, null, null).get(`/api/v1/games/${id}`);
        assert.deepEqual([game.variant, game.state, game.ply, game.turn.player.handle], [variant, 'running', 1, 'boris']);
    }

    /* Again: all as it is, nothing made twice. */
    const again = quickstart();
    assert.equal(again.status, 0, again.stderr);
    assert.equal(again.stdout, first.stdout);
    const { items } = await new Client(club, null, null).get('/api/v1/games?limit=100');
    assert.equal(items.length, 3);

    /* docs/first-round.sh needs no more than this club. */
    const round = spawnSync(join(ROOT, 'docs/first-round.sh'), [url, join(folder, 'logins.txt')], { encoding: 'utf8' });
    assert.equal(round.status, 0, round.stderr);
    assert.match(round.stdout, /anna: e3\n {2}boris: c5\n {2}clara: e12\n {2}dmitri: l5\n/);

    /* Letters are files, each of them a letter; and the answer that is proposed can be given. */
    assert.equal(spawnSync(PROGRAM, ['settle', '-c', join(folder, 'fourhanded.conf')]).status, 0);
    const stopped = quickstart('--stop');
    assert.deepEqual([stopped.status, stopped.stdout], [0, 'stopped\n']);
    await assert.rejects(fetch(`${url}/healthz`), 'nobody serves any more');
    assert.equal(quickstart('--stop').stdout, 'not running\n');
    const letters = await Promise.all(readdirSync(join(folder, 'mail')).map((name) => simpleParser(readFileSync(join(folder, 'mail', name)))));
    const told = new Set(letters.map((mail) => mail.to.value[0].address));
    for (const handle of HANDLES) assert.ok(told.has(`${handle}@localhost`), `${handle} has letters`);
    const proposed = first.stdout.slice(first.stdout.indexOf('  letter='));
    const answer = spawnSync('bash', ['-euo', 'pipefail', '-c', proposed], { encoding: 'utf8', cwd: ROOT });
    assert.equal(answer.status, 0, answer.stderr);
    assert.match(answer.stdout, /boris/);
    assert.match(answer.stdout, /status/);
    /* It is his newest letter that is answered, not the last by name. */
    const [, newest] = round.stdout.match(/\/games\/(\w{8})/);
    assert.match(answer.stdout, new RegExp(`game ${newest}`));
});

test('quickstart prepares without starting', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-quick-'));
    t.after(() => rmSync(folder, { recursive: true, force: true }));
    const made = spawnSync(join(ROOT, 'config/quickstart'),
        ['--folder', folder, '--program', resolve(PROGRAM), '--port', String(await freePort()), '--no-start'], { encoding: 'utf8' });
    assert.equal(made.status, 0, made.stderr);
    assert.match(made.stdout, /^Sample club prepared in /);
    for (const handle of HANDLES) assert.match(made.stdout, new RegExp(`^  ${handle} +\\S+$`, 'm'));
    assert.equal(existsSync(join(folder, 'fourhanded.pid')), false);
    assert.equal(spawnSync(join(ROOT, 'config/quickstart'), ['--sotp'], { encoding: 'utf8' }).status, 1);
});
