/*
 * e2e/lib/crash.mjs - a busy club whose daemon is killed again and again.
 *
 * Four players move in several games at once, others of them offer draws and resign meanwhile; the
 * mail server and the webhooks' receiver stay alive. The daemon is killed (-9) at instants that a
 * seed chooses, most of them in the middle of something: after so many steps of any dialogue and
 * then some milliseconds, now and then while it starts. In the end all that was promised must be
 * there: see look().
 */
import assert from 'node:assert/strict';
import { setTimeout as moment } from 'node:timers/promises';
import { Refused, startClub } from './daemon.mjs';
import { startMailServer, startReceiver } from './peers.mjs';
import { eventsOf, SEATS } from './play.mjs';

const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const TRIES = 200; /* of one request while the daemon is up; more means that it is broken */

/* mulberry32: below(n) gives 0 … n-1. */
export function randomOf(seed) {
    let state = seed >>> 0;
    return (n) => {
        state = (state + 0x6d2b79f5) >>> 0;
        let x = state;
        x = Math.imul(x ^ (x >>> 15), x | 1);
        x ^= x + Math.imul(x ^ (x >>> 7), x | 61);
        return ((x ^ (x >>> 14)) >>> 0) % n;
    };
}

class Busy {
    constructor(below) {
        this.below = below;
        this.left = Infinity;  /* steps until the next kill */
        this.strike = () => {};
        this.isOver = false;
        this.serial = 0;
        this.epoch = 0;
        this.games = new Map(); /* id → seats' players */
        this.acked = [];        /* acts that were answered with success */
        this.unsure = [];       /* acts that were not answered, and not asked for again */
        this.replayed = 0;      /* answers to a request that a kill had cut off before */
        this.opened();
    }

    step() {
        this.left -= 1;
        if (this.left === 0) this.strike();
    }

    closed() { this.gate = new Promise((resolve) => { this.openGate = resolve; }); this.epoch += 1; }

    opened() { this.openGate?.(); this.openGate = null; this.gate = Promise.resolve(); }

    /* The next instant to strike: resolves there. */
    fate() {
        return new Promise((resolve) => {
            this.left = 1 + this.below(this.below(4) ? 40 : 200);
            this.strike = () => {
                const ms = this.below(3) ? this.below(8) : 0;
                if (ms) moment(ms).then(resolve); else setImmediate(resolve);
            };
        });
    }

    /* Ask until there is an answer; null when given up after a kill (`mayGiveUp`). */
    async ask(player, method, path, body, { mayGiveUp = false } = {}) {
        const headers = method === 'POST' ? { 'Idempotency-Key': `key-${++this.serial}` } : {};
        let wasCut = false;
        for (let n = 0, at = this.epoch; n < TRIES; n++) {
            await this.gate;
            if (at !== this.epoch) { n = 0; at = this.epoch; }
            try {
                this.step();
                const { data } = await player.request(method, path, body, headers);
                this.step();
                this.replayed += wasCut && method === 'POST';
                return data;
            } catch (error) {
                if (error instanceof Refused && error.status !== 503) {
                    this.step();
                    throw error;
                }
                if (!(error instanceof Refused)) {
                    wasCut = true;
                    if (mayGiveUp && this.below(6) === 0) return null;
                }
            }
        }
        throw new Error(`no answer to ${method} ${path}`);
    }

    /* One game after the other at one table, until it is over. */
    async table(players) {
        while (!this.isOver) {
            /* Sometimes one player holds two allied seats. */
            const order = SEATS.map((_, i) => players[(i + this.below(2) * 2) % 4]);
            const seats = Object.fromEntries(SEATS.map((seat, i) => [seat, i === 0 ? { me: true } : { handle: order[i].handle }]));
            let game = await this.ask(order[0], 'POST', '/api/v1/games', { variant: this.below(2) ? 'teams' : 'verney', seats });
            this.games.set(game.id, order);
            for (const player of new Set(order.filter((x) => x !== order[0]))) game = await this.ask(player, 'POST', `/api/v1/games/${game.id}/accept`, {});
            assert.equal(game.state, 'running');
            await this.play(game.id, order);
        }
    }

    async play(id, order) {
        const path = `/api/v1/games/${id}`;
        while (!this.isOver) {
            const legal = await this.ask(order[0], 'GET', `${path}/legal`).catch((error) => {
                if (error instanceof Refused && error.body?.code === 'game_not_running') return null;
                throw error;
            });
            if (!legal) return; /* somebody has resigned, or a draw was agreed */
            const move = legal.moves[this.below(legal.moves.length)];
            const mover = order[SEATS.indexOf(legal.seat)];
            const act = { id, kind: 'move', seat: legal.seat, move, ply: legal.ply + 1 };
            try {
                const made = await this.ask(mover, 'POST', `${path}/moves`, { move, state_number: legal.state_number }, { mayGiveUp: true });
                if (made) {
                    assert.equal(made.move.ply, act.ply);
                    assert.equal(made.move.move, move);
                    this.acked.push({ ...act, state_number: made.move.state_number });
                    if (made.game.state !== 'running') return;
                } else {
                    this.unsure.push(act);
                }
            } catch (error) {
                /* A resignation came between, or the end; anything else is wrong. */
                if (!(error instanceof Refused) || error.status !== 409) throw error;
                if (error.body.code === 'game_not_running') return;
                assert.equal(error.body.code, 'state_mismatch');
            }
        }
    }

    /* Draw offers, answers and now and then a resignation, beside the moves. */
    async disturb() {
        const acts = [['draw/offer', 'draw_offered'], ['draw/offer', 'draw_offered'], ['draw/decline', 'draw_declined'], ['draw/accept', 'draw_accepted'], ['resign', 'resigned']];
        while (!this.isOver) {
            const ids = [...this.games.keys()].slice(-8);
            if (!ids.length) {
                await new Promise(setImmediate);
                continue;
            }
            const id = ids[this.below(ids.length)];
            const seat = this.below(4);
            const player = this.games.get(id)[seat];
            const [path, kind] = acts[this.below(6) ? this.below(4) : 4];
            const game = await this.ask(player, 'GET', `/api/v1/games/${id}`);
            if (game.state !== 'running') continue;
            const act = { id, kind, seat: SEATS[seat] };
            try {
                const done = await this.ask(player, 'POST', `/api/v1/games/${id}/${path}`, { state_number: game.state_number, seat: SEATS[seat] }, { mayGiveUp: true });
                (done ? this.acked : this.unsure).push(act);
            } catch (error) {
                if (!(error instanceof Refused) || ![409, 422].includes(error.status)) throw error;
            }
        }
    }
}

/* Declining one's own offer takes it back: it has lapsed by him. */
const kindOf = (event) => (event.kind === 'draw_lapsed' && event.by ? 'draw_declined' : event.kind);

/* The moves and other acts that the file holds are those that were answered, each once, and maybe
 * some that nobody waited for. */
async function lookAtActs(busy, player) {
    const all = new Map();
    for (const id of busy.games.keys()) {
        const events = await eventsOf(player, id);
        all.set(id, events);
        const moves = events.filter((e) => e.kind === 'move');
        moves.forEach((e, i) => assert.equal(e.ply, i + 1, `${id}: plies follow one another`));
        for (const kind of ['move', 'resigned', 'draw_offered', 'draw_declined', 'draw_accepted']) {
            /* Whoever holds two seats answers for both in one act. */
            if (['draw_declined', 'draw_accepted'].includes(kind) && new Set(busy.games.get(id)).size < 4) continue;
            const key = (x) => `${x.seat} ${kind === 'move' ? `${x.ply} ${x.move}` : ''}`;
            const there = new Map();
            for (const e of events.filter((x) => kindOf(x) === kind)) there.set(key(e), (there.get(key(e)) ?? 0) + 1);
            const sure = new Map();
            for (const a of busy.acked.filter((x) => x.id === id && x.kind === kind)) sure.set(key(a), (sure.get(key(a)) ?? 0) + 1);
            const maybe = new Map(sure);
            for (const a of busy.unsure.filter((x) => x.id === id && x.kind === kind)) maybe.set(key(a), (maybe.get(key(a)) ?? 0) + 1);
            for (const [k, n] of sure) assert.ok((there.get(k) ?? 0) >= n, `${id}: ${kind} ${k} was acknowledged ${n} times and is there ${there.get(k) ?? 0} times`);
            for (const [k, n] of there) assert.ok(n <= (maybe.get(k) ?? 0), `${id}: ${kind} ${k} is there ${n} times, asked for ${maybe.get(k) ?? 0} times`);
        }
        for (const a of busy.acked.filter((x) => x.id === id && x.kind === 'move'))
            assert.equal(moves[a.ply - 1].state_number, a.state_number, `${id}: the answer to ply ${a.ply} told the truth`);
    }
    return all;
}

/* Letters and deliveries by what repeats must share; a repeat has the same bytes. */
function byId(items, idOf, bytesOf) {
    const groups = new Map();
    for (const item of items) {
        const id = idOf(item);
        const group = groups.get(id);
        if (!group) {
            groups.set(id, { first: item, n: 1 });
            continue;
        }
        assert.deepEqual(bytesOf(item), bytesOf(group.first), `${id}: a repeat has the same bytes`);
        group.n += 1;
    }
    return groups;
}

/* At least one letter to who must hear of it, whatever was killed between. */
function lookAtLetters(busy, events, letters) {
    const heard = new Set([...letters.keys()].map((id) => {
        const [, game, seq] = /^<(\w+)\.(\d+)\.\d+@example\.org>$/.exec(id);
        return `${game} ${seq} ${letters.get(id).first.to[0]}`;
    }));
    const address = (id, seat) => `${busy.games.get(id)[SEATS.indexOf(seat)].handle}@example.net`;
    const count = { turns: 0, results: 0, leavings: 0 };
    for (const [id, list] of events) {
        const end = list.find((e) => e.kind === 'finished');
        if (end) {
            for (const seat of SEATS) assert.ok(heard.has(`${id} ${end.seq} ${address(id, seat)}`), `${id}: ${seat} heard of the result`);
            count.results += 1;
        } else {
            const turn = list.findLast((e) => e.kind === 'turn');
            if (turn) {
                /* A change within the turn makes a new letter of it. */
                const told = list.filter((e) => e.seq === turn.seq || (e.seq > turn.seq && e.kind === 'resigned'));
                assert.ok(told.some((e) => heard.has(`${id} ${e.seq} ${address(id, turn.seat)}`)), `${id}: ${turn.seat} heard that it is his turn`);
                count.turns += 1;
            }
        }
        /* A letter tells all that one command did; its number is that of the weightiest event.  Until its
         * reader's next move any later one tells it too.  Who leaves himself is told no more. */
        const tells = (together, e, seat) => {
            const until = list.find((y) => y.seq > e.seq && y.kind === 'move' && address(id, y.seat) === address(id, seat))?.seq ?? Infinity;
            return together.some((x) => heard.has(`${id} ${x.seq} ${address(id, seat)}`))
                || list.some((x) => x.seq > e.seq && x.seq < until && heard.has(`${id} ${x.seq} ${address(id, seat)}`));
        };
        const left = (e, seat) => list.some((y) => y.seq > e.seq && y.kind === 'resigned' && address(id, y.seat) === address(id, seat));
        for (const e of list.filter((x) => x.kind === 'resigned')) {
            const together = list.filter((x) => x.seq >= e.seq && x.at === e.at);
            for (const seat of SEATS.filter((s) => address(id, s) !== address(id, e.seat)))
                assert.ok(tells(together, e, seat) || left(e, seat), `${id}: ${seat} heard of ${e.seat}'s resignation`);
            count.leavings += 1;
        }
    }
    return count;
}

/* Each row of the outbox is settled; what is marked sent came in; what came in has a row. */
function lookAtOutbox(club, letters, deliveries) {
    const rows = club.sql('SELECT id, class, channel, template, state, attempts, message_id, dedupe_key, last_text FROM outbox');
    const known = new Map(rows.map((row) => [row.message_id, row]));
    for (const row of rows) {
        assert.ok(['sent', 'superseded'].includes(row.state), `${row.dedupe_key} is ${row.state}: ${row.last_text}`);
        if (row.state !== 'sent') continue;
        const came = row.channel === 'mail' ? letters.get(`<${row.message_id}>`) : deliveries.get(row.message_id);
        assert.ok(came, `${row.dedupe_key} is marked sent and never came`);
        assert.ok(came.n <= row.attempts, `${row.dedupe_key} came ${came.n} times in ${row.attempts} attempts`);
    }
    for (const id of letters.keys()) assert.ok(known.has(id.slice(1, -1)), `${id} came and is in no row`);
    for (const id of deliveries.keys()) assert.ok(known.has(id), `${id} came and is in no row`);
    return rows.length;
}

export async function crash(t, { seed, kills, tables = 5, env = {} }) {
    const below = randomOf(seed);
    const busy = new Busy(below);
    const onStep = () => busy.step();
    const post = await startMailServer({ onStep });
    const receiver = await startReceiver({ onStep });
    const club = await startClub({ smtpPort: post.port, env, conf: 'limits: { games = 100000; };' });
    let killing = null;
    t.after(async () => {
        busy.isOver = true;
        busy.strike();
        await killing?.catch(() => {});
        await club.end();
        await post.close();
        await receiver.close();
    });
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle));
    for (const i of [0, 1])
        await players[i].post('/api/v1/me/webhooks', { url: `${receiver.url}/${HANDLES[i]}`, kind: 'standard' });

    const work = Promise.all([
        ...Array.from({ length: tables }, () => busy.table(players)),
        busy.disturb(), busy.disturb(),
    ]);
    work.catch(() => { busy.isOver = true; });
    killing = (async () => {
        for (let k = 0; k < kills && !busy.isOver; k++) {
            await busy.fate();
            if (busy.isOver) return;
            busy.closed();
            const end = await club.kill();
            assert.equal(end.signal, 'SIGKILL', `the daemon had ended by itself: ${JSON.stringify(end)}\n${club.log.slice(-2000)}`);
            while (below(8) === 0) { /* and once more while it starts */
                const starting = club.start().catch(() => {});
                await Promise.race([starting, moment(below(60))]);
                await club.kill();
                await starting;
            }
            await club.start();
            busy.opened();
        }
    })();
    await Promise.race([killing, work]);
    busy.isOver = true;
    await work;
    await killing;

    await club.settle();
    const events = await lookAtActs(busy, players[0]);
    await club.stop();
    const letters = byId(post.letters.items, (x) => x.mail.messageId, (x) => x.raw);
    const deliveries = byId(receiver.deliveries.items, (x) => x.headers['webhook-id'], (x) => x.body);
    const heard = lookAtLetters(busy, events, letters);
    const rows = lookAtOutbox(club, letters, deliveries);
    assert.match(club.run('verify'), /^OK/);

    /* It was worth the while. */
    const moves = busy.acked.filter((x) => x.kind === 'move').length;
    assert.ok(moves >= kills / 2, `${moves} moves were made`);
    assert.ok(busy.replayed > 0, 'a request was cut off and answered later');
    const twice = (groups) => [...groups.values()].filter((x) => x.n > 1).length;
    t.diagnostic(`seed ${seed}: ${kills} kills, ${events.size} games, ${moves} moves acknowledged, ${busy.replayed} answered after a kill, `
        + `${busy.unsure.length} given up; ${rows} notices, ${letters.size} letters (${twice(letters)} twice), ${deliveries.size} deliveries (${twice(deliveries)} twice), `
        + `${heard.turns} turns, ${heard.results} results, ${heard.leavings} resignations told`);
}
