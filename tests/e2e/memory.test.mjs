/*
 * Memory stays flat under load: after the first round of everything that clients ask for, right and
 * wrong, three more rounds of the same take no more than a bounded rest.  What is resident is read
 * from /proc; AddressSanitizer is told to keep no freed memory.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { startClub } from './lib/daemon.mjs';
import { startGame } from './lib/play.mjs';

const ROUND = 2000, AT_ONCE = 16;
const GROWTH_MAX = 6 << 20; /* 1 KiB for each of the 6 000 requests that are measured */

const resident = (club) => Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${club.child.pid}/status`, 'utf8'))[1]) << 10;

test('memory stays flat under load', async (t) => {
    const club = await startClub({
        env: { ASAN_OPTIONS: `${process.env.ASAN_OPTIONS ?? ''}:quarantine_size_mb=0:thread_local_quarantine_size_kb=0` } });
    t.after(() => club.end());
    const players = [];
    for (const handle of ['anna', 'boris', 'clara', 'dmitri']) players.push(await club.player(handle));
    const ids = [];
    for (const variant of ['verney', 'teams', 'verney', 'teams']) ids.push((await startGame(players, { variant })).id);

    const ask = async (path, { method = 'GET', body, headers = {}, player = null, status } = {}) => {
        const init = { method, body, headers: { ...headers } };
        if (player !== null) init.headers.Authorization = `Bearer ${players[player].token}`;
        const answer = await fetch(club.url + path, init);
        await answer.arrayBuffer();
        assert.ok(status.includes(answer.status), `${method} ${path}: ${answer.status}`);
    };
    const json = { 'Content-Type': 'application/json' };
    /* Until something has come.  Who has gone is noticed at the next heartbeat: then there may be too many. */
    const follow = async (path, player) => {
        const stop = new AbortController();
        const answer = await fetch(club.url + path, { signal: stop.signal,
            headers: { Accept: 'text/event-stream', Authorization: `Bearer ${players[player].token}` } });
        assert.ok([200, 429].includes(answer.status));
        await answer.body.getReader().read();
        stop.abort();
    };
    /* What is asked again and again; n says for whom and for which game. */
    const kinds = [
        (n, game) => ask(game, { player: n % 4, status: [200] }),
        (n, game) => ask(game, { status: [200] }),
        (n, game) => ask(`${game}/moves`, { status: [200] }),
        (n, game) => ask(`${game}/events?since=0&limit=100`, { player: n % 4, status: [200] }),
        (n, game) => ask(`${game}/legal`, { player: n % 4, status: [200] }),
        (n, game) => ask(`${game}/board.svg?seat=west`, { status: [200] }),
        (n, game) => ask(`${game}/board.txt`, { status: [200] }),
        (n, game) => ask(`${game}/board.png?width=240`, { status: [200] }),
        (n, game) => ask(`${game}/game.pgn4`, { status: [200] }),
        (n) => ask('/api/v1/games?player=me&limit=100', { player: n % 4, status: [200] }),
        (n) => ask('/api/v1/me/notices', { player: n % 4, status: [200] }),
        (n) => ask('/', { status: [200], headers: { 'If-None-Match': `"${n}"` } }),
        (n) => ask(`/api/v1/games/${'abcdefgh'.slice(0, 7)}${n % 8}`, { status: [404] }),
        (n, game) => ask(`${game}/moves`, { method: 'POST', player: n % 4, headers: json, body: '{"move":"a1a1","state_number":1}', status: [409] }),
        () => ask('/api/v1/games', { method: 'POST', player: 0, headers: json, body: '{"variant":', status: [400] }),
        () => ask('/api/v1/games', { method: 'POST', player: 0, headers: json, body: `{"variant":"${'x'.repeat(60000)}"}`, status: [400] }),
        () => ask('/api/v1/games', { method: 'POST', player: 0, headers: json, body: 'x'.repeat(100000), status: [413] }),
        (n, game) => ask(`${game}/resign`, { method: 'POST', headers: json, body: '{"state_number":1}', status: [401] }),
        (n, game) => follow(`${game}/events`, n % 4),
        (n) => follow('/api/v1/events', n % 4),
    ];
    const round = async () => {
        let next = 0;
        await Promise.all(Array.from({ length: AT_ONCE }, async () => {
            for (let n = next++; n < ROUND; n = next++) await kinds[n % kinds.length](n, `/api/v1/games/${ids[n % ids.length]}`);
        }));
    };

    await round();
    const before = resident(club);
    for (let i = 0; i < 3; i++) await round();
    const after = resident(club);
    t.diagnostic(`resident: ${before >> 20} MiB after the first ${ROUND} requests, ${after >> 20} MiB after ${4 * ROUND}`);
    assert.ok(after - before < GROWTH_MAX, `${(after - before) >> 10} KiB more`);
});
