/*
 * Two at once: exactly one wins, the other is told so and nothing of his is stored.  And what a
 * client may hold on to over a restart: its Idempotency-Key, its place in a stream.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { HOUR, Refused } from './lib/daemon.mjs';
import { count, SEATS } from './lib/play.mjs';
import { refusedWith, table, verified } from './lib/table.mjs';

const OPENING = ['e2e3', 'b7c7', 'g13g12', 'm10l10', 'd2d3', 'a6g12', 'h14b8', 'm11l11'];

/* All at once; the answers, and the refusals, which must be refusals. */
async function race(requests) {
    const ends = await Promise.allSettled(requests.map((start) => start()));
    for (const end of ends) if (end.status === 'rejected' && !(end.reason instanceof Refused)) throw end.reason;
    return { won: ends.filter((x) => x.status === 'fulfilled').map((x) => x.value), lost: ends.filter((x) => x.status === 'rejected').map((x) => x.reason) };
}

test('a hundred movers, one move', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const path = `/api/v1/games/${game.id}`;
    const legal = (await b.players[0].get(`${path}/legal`)).moves;
    const { won, lost } = await race(Array.from({ length: 100 }, (_, i) => () =>
        b.players[0].post(`${path}/moves`, { move: legal[i % legal.length], state_number: game.state_number })));
    assert.equal(won.length, 1);
    assert.equal(lost.length, 99);
    for (const error of lost) {
        refusedWith(409, 'state_mismatch')(error);
        assert.equal(error.body.game.state_number, won[0].game.state_number, 'the state as it is now');
    }
    const events = await b.events(game);
    assert.equal(count(events, 'move'), 1);
    assert.equal(events.find((e) => e.kind === 'move').move, won[0].move.move);
    assert.equal((await b.look(game)).ply, 1);
    await b.club.settle();
    assert.equal(b.to('turn', game).filter((x) => x === 'boris').length, 1);
    await verified(b.club);
});

test('a move and a resignation of the same state: one of them happens', async (t) => {
    const b = await table(t);
    let resigned = 0;
    for (let n = 0; n < 8; n++) {
        const game = await b.game(3);
        const path = `/api/v1/games/${game.id}`;
        const two = [
            () => b.players[0].post(`${path}/moves`, { move: 'e2e3', state_number: game.state_number }),
            () => b.players[n % 4].post(`${path}/resign`, { state_number: game.state_number, seat: SEATS[n % 4] }),
        ];
        const { won, lost } = await race(n % 2 ? two : two.reverse());
        assert.equal(won.length, 1);
        refusedWith(409, 'state_mismatch', 'not_your_turn', 'seat_out')(lost[0]);
        const events = await b.events(game);
        assert.equal(count(events, 'move') + count(events, 'resigned'), 1);
        resigned += count(events, 'resigned');
        /* The other may say it again, of the new state. */
        const now = await b.look(game);
        assert.equal(now.state, 'running');
        if (count(events, 'resigned') === 0) await b.players[n % 4].post(`${path}/resign`, { state_number: now.state_number, seat: SEATS[n % 4] });
    }
    t.diagnostic(`${resigned} of 8 times the resignation came first`);
    await verified(b.club);
});

test('a move in the last grace and the flag: one of them happens', async (t) => {
    const b = await table(t);
    let moved = 0;
    for (let n = 0; n < 10; n++) {
        const game = await b.game(3);
        await b.club.advanceTo(game.turn.deadline);
        await b.club.creep(12 * HOUR);
        /* The move has the last millisecond; the clock goes on while it is under way. */
        const late = async () => {
            if (n % 2) await b.olga.get('/healthz'); /* the move has this much of a start */
            return b.club.control('clock-advance', { length: '1ms' });
        };
        const { won, lost } = await race([
            () => b.players[0].post(`/api/v1/games/${game.id}/moves`, { move: 'e2e3', state_number: game.state_number }),
            late,
        ]);
        b.club.at += 1;
        assert.equal(won.length + lost.length, 2);
        for (const error of lost) refusedWith(409, 'lost_on_time', 'state_mismatch')(error);
        const events = await b.events(game);
        assert.equal(count(events, 'move') + count(events, 'forfeited'), 1);
        assert.equal(count(events, 'move'), 1 - lost.length, 'what was answered is what happened');
        assert.equal(count(events, 'late'), count(events, 'move'));
        moved += count(events, 'move');
        await b.club.command('game', 'abort', game.id);
    }
    t.diagnostic(`${moved} of 10 times the move came first`);
    await verified(b.club);
});

test('three draws accepted at once end the game once', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const path = `/api/v1/games/${game.id}`;
    await b.players[0].post(`${path}/draw/offer`, { state_number: game.state_number, seat: 'south' });
    const now = await b.look(game);
    const { won, lost } = await race([1, 2, 3].flatMap((i) => [0, 1].map(() => () =>
        b.players[i].post(`${path}/draw/accept`, { state_number: now.state_number, seat: SEATS[i] }))));
    assert.equal(won.length, 3, 'each seat once');
    for (const error of lost) assert.equal(error.status, 409);
    const events = await b.events(game);
    assert.equal(count(events, 'finished'), 1);
    assert.equal((await b.look(game)).result.score, '1/2-1/2');
    await b.club.settle();
    assert.deepEqual(b.to('result', game), ['anna', 'boris', 'clara', 'dmitri', 'olga']);
    await verified(b.club);
});

test('an Idempotency-Key gives the same answer after a restart, for a day', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const path = `/api/v1/games/${game.id}/moves`;
    const body = { move: 'e2e3', state_number: game.state_number };
    const key = { 'Idempotency-Key': 'my-first-move' };
    const first = await b.players[0].request('POST', path, body, key);
    assert.equal(first.status, 201);
    for (const how of ['stop', 'kill']) {
        await b.club[how]();
        await b.club.start();
        const again = await b.players[0].request('POST', path, body, key);
        assert.equal(again.status, 201);
        assert.deepEqual(again.data, first.data, `the same answer after a ${how}`);
    }
    await assert.rejects(b.players[0].post(path, { ...body, move: 'd2d3' }, key), refusedWith(422, 'idempotency_key_reused'));
    /* Somebody else's key of that name is another key. */
    const now = await b.look(game);
    const other = await b.players[1].request('POST', path, { move: 'b7c7', state_number: now.state_number }, key);
    assert.equal(other.data.move.move, 'b7c7');
    /* Many at once with one key: one move, one answer. */
    const state_number = other.data.game.state_number;
    const { won, lost } = await race(Array.from({ length: 20 }, () => () => b.players[2].post(path, { move: 'g13g12', state_number }, { 'Idempotency-Key': 'again-and-again' })));
    assert.ok(won.length >= 1);
    for (const answer of won) assert.deepEqual(answer, won[0]);
    for (const error of lost) assert.equal(error.status, 409);
    assert.equal(count(await b.events(game), 'move'), 3);
    await b.club.advance('23h');
    assert.deepEqual((await b.players[0].request('POST', path, body, key)).data, first.data, 'almost a day later');
    await verified(b.club);
});

/* Reads a stream until `enough`; the records, with the id of each.  onOpen(): the daemon has it. */
async function follow(client, path, type, headers, enough, onOpen = () => {}) {
    const stop = new AbortController();
    const records = [];
    const response = await fetch(client.club.url + path, { signal: stop.signal, headers: { Authorization: `Bearer ${client.token}`, Accept: type, ...headers } });
    assert.equal(response.status, 200);
    onOpen();
    const isSse = type === 'text/event-stream';
    let text = '';
    const take = (block) => {
        if (isSse) {
            const fields = Object.fromEntries(block.split('\n').filter((x) => x && !x.startsWith(':')).map((x) => [x.slice(0, x.indexOf(':')), x.slice(x.indexOf(':') + 1).trim()]));
            if (fields.data && fields.event !== 'ready') records.push({ id: Number(fields.id), ...JSON.parse(fields.data) });
        } else if (block.trim()) {
            const record = JSON.parse(block);
            if (record.kind !== 'ready') records.push(record);
        }
    };
    const between = isSse ? '\n\n' : '\n';
    try {
        for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
            text += chunk;
            for (let at; (at = text.indexOf(between)) >= 0; text = text.slice(at + between.length)) take(text.slice(0, at));
            if (enough(records)) break;
        }
    } catch (error) {
        if (!enough.mayBreak) throw error; /* the daemon was killed */
    } finally {
        stop.abort();
    }
    return records;
}

for (const type of ['text/event-stream', 'application/x-ndjson']) {
    test(`A1: a stream (${type}) is taken up again over restarts without a gap or a double`, async (t) => {
        const b = await table(t);
        const game = await b.game(3);
        const path = `/api/v1/games/${game.id}/events`;
        const seen = [];
        const broken = (records) => records.length < 0;
        broken.mayBreak = true;
        /* Each life of the daemon: follow from the last seen one, two moves, the end. */
        for (let life = 0; life < 4; life++) {
            const last = seen.at(-1)?.seq ?? 0;
            let reading;
            const opened = new Promise((onOpen) => {
                reading = type === 'text/event-stream'
                    ? follow(b.players[1], path, type, last ? { 'Last-Event-ID': String(last) } : {}, broken, onOpen)
                    : follow(b.players[1], `${path}?since=${last}`, type, {}, broken, onOpen);
            });
            await Promise.race([opened, reading]); /* a daemon that is killed before cuts no stream off */
            await b.move(game, OPENING[2 * life]);
            await b.move(game, OPENING[2 * life + 1]);
            await b.club[life % 2 ? 'stop' : 'kill']();
            seen.push(...await reading);
            await b.club.start();
        }
        /* What the last ends have cut off comes after them. */
        const all = await b.events(game);
        const rest = (seen.at(-1)?.seq ?? 0) < all.length
            ? await follow(b.players[1], `${path}?since=${seen.at(-1)?.seq ?? 0}`, type, {}, (records) => records.at(-1)?.seq === all.length) : [];
        seen.push(...rest);
        assert.deepEqual(seen.map((x) => x.seq), all.map((x) => x.seq));
        assert.deepEqual(seen.map((x) => x.kind), all.map((x) => x.kind));

        /* The account's stream: numbered over all games, in order, none twice. */
        const other = await b.game(3);
        const since = (await b.players[1].get('/api/v1/events?since=0&limit=1000', { Accept: 'application/json' })).items;
        const mine = await follow(b.players[1], '/api/v1/events?since=0', type, {}, (records) => records.length >= since.length);
        assert.deepEqual(mine.map((x) => `${x.game} ${x.seq}`), since.map((x) => `${x.game} ${x.seq}`));
        const wanted = new Set([game.id, other.id]);
        assert.deepEqual(new Set(mine.map((x) => x.game)), wanted);
        for (let i = 1; i < since.length; i++) assert.ok(since[i].id > since[i - 1].id);
        await verified(b.club);
    });
}

test('several streams of one account all see everything', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const path = `/api/v1/games/${game.id}/events`;
    const isEnough = (records) => records.filter((x) => x.kind === 'move').length === 4;
    const streams = ['text/event-stream', 'application/x-ndjson', 'text/event-stream'].map((type) => follow(b.players[3], path, type, {}, isEnough));
    for (const move of OPENING.slice(0, 4)) await b.move(game, move);
    const [first, ...others] = await Promise.all(streams);
    const upToTheMove = (records) => records.slice(0, records.findLastIndex((x) => x.kind === 'move') + 1).map((x) => x.seq);
    assert.deepEqual(upToTheMove(first), Array.from({ length: upToTheMove(first).length }, (_, i) => i + 1));
    for (const records of others) assert.deepEqual(upToTheMove(records), upToTheMove(first));
});
