/*
 * Deadlines of a slow game, to the millisecond, through the doors that people use: the API, letters,
 * the command line.  The daemon's clocks stand at an instant and are moved by the test.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { DAY, HOUR, MINUTE, untilEvent } from './lib/daemon.mjs';
import { classOf, startReceiver } from './lib/peers.mjs';
import { count, startGame } from './lib/play.mjs';
import { HANDLES, refusedWith, table, verified } from './lib/table.mjs';

const iso = (ms) => new Date(ms).toISOString();

test('T1: a game is not touched before its own deadline, and stays listed when it is over', async (t) => {
    const b = await table(t);
    const game = await b.game(7);
    await b.club.advance('6d 23h');
    let now = await b.look(game);
    assert.equal(now.state, 'running');
    assert.equal(now.seats[0].condition, 'live');
    await b.club.advanceTo(game.turn.grace_until);
    assert.equal((await b.look(game)).seats[0].condition, 'live', 'the last instant of the grace is his');
    const letters = b.post.letters.items.length;
    await b.club.advance(1);
    now = await b.look(game);
    assert.equal(now.state, 'running', 'the game goes on');
    assert.equal(now.seats[0].condition, 'absent');
    assert.equal(now.seats[0].left, 'forfeited');
    assert.equal(now.turn.seat, 'west');
    assert.equal(now.turn.deadline, iso(b.club.at + 7 * DAY), 'West has a whole turn');
    assert.deepEqual(b.to('leaving', game, letters), ['anna', 'clara', 'dmitri', 'olga']);
    assert.deepEqual(b.to('turn', game, letters), ['boris'], 'who is on turn is told both in one letter');
    const told = b.post.letters.items.slice(letters).find((x) => x.to[0].startsWith('boris'));
    assert.match(told.mail.text, /time|forfeit/i);
    /* North does not move either: one side is gone, and the other has won. */
    await b.move(game, 'b7c7');
    await b.club.settle();
    const before = b.post.letters.items.length;
    now = await b.look(game);
    await b.club.advanceTo(now.turn.grace_until);
    await b.club.advance(1);
    now = await b.look(game);
    assert.equal(now.state, 'finished');
    assert.equal(now.result.score, '0-1');
    assert.equal(now.result.cause, 'leaving');
    assert.deepEqual(b.to('result', game, before), [...HANDLES, 'olga']);
    const over = await b.players[0].get('/api/v1/games?state=finished&player=anna');
    assert.deepEqual(over.items.map((x) => x.id), [game.id]);
    const mine = await b.players[0].get('/api/v1/games?turn=me');
    assert.deepEqual(mine.items, []);
    await verified(b.club);
});

test('T2: the flag falls by itself, with nobody looking', async (t) => {
    const b = await table(t);
    const game = await b.game(1);
    await b.club.advanceTo(game.turn.deadline);
    await b.club.creep(12 * HOUR + 1); /* no command waits for what is due: the daemon finds it */
    const fallen = await untilEvent(b.players[2], `/api/v1/games/${game.id}/events`, (e) => e.kind === 'forfeited');
    assert.equal(fallen.seat, 'south');
    assert.equal(fallen.at, iso(b.club.at));
    for (const handle of HANDLES)
        await b.post.letters.take((x) => x.to[0] === `${handle}@example.net` && ['leaving', 'turn'].includes(classOf(x))
            && Number(x.mail.messageId.split('.')[1]) >= fallen.seq);
});

test('T4: in time until the deadline, late until the end of the grace, then lost', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    let now = await b.look(game);
    await b.club.advanceTo(Date.parse(now.turn.deadline) - 1000);
    let made = await b.move(game, 'e2e3');
    assert.equal(made.move.late, false);
    assert.equal(made.move.at, iso(b.club.at));
    now = await b.look(game);
    await b.club.advanceTo(now.turn.deadline);
    made = await b.move(game, 'b7c7');
    assert.equal(made.move.late, false, 'the deadline itself is in time');
    now = await b.look(game);
    await b.club.advanceTo(Date.parse(now.turn.deadline) + 1);
    made = await b.move(game, 'g13g12');
    assert.equal(made.move.late, true);
    now = await b.look(game);
    await b.club.advanceTo(now.turn.grace_until);
    made = await b.move(game, 'm10l10');
    assert.equal(made.move.late, true, 'the end of the grace itself is late and taken');
    assert.equal(made.move.spent_ms, 3 * DAY + 12 * HOUR);
    const late = (await b.events(game)).filter((e) => e.kind === 'late');
    assert.deepEqual(late.map((e) => [e.seat, e.amount_ms]), [['north', 1], ['east', 12 * HOUR]]);
    /* One second after the grace, before anybody has looked at the flag. */
    now = await b.look(game);
    await b.club.advanceTo(now.turn.deadline);
    await b.club.creep(12 * HOUR + 1000);
    await assert.rejects(b.players[0].post(`/api/v1/games/${game.id}/moves`, { move: 'd2d3', state_number: now.state_number }),
        refusedWith(409, 'lost_on_time', 'state_mismatch'));
    await b.club.settle();
    const after = await b.look(game);
    assert.equal(after.ply, now.ply, 'nothing was stored');
    assert.equal(after.seats[0].left, 'forfeited');
    assert.equal(after.turn.seat, 'west');
    await assert.rejects(b.players[0].post(`/api/v1/games/${game.id}/moves`, { move: 'd2d3', state_number: after.state_number }),
        refusedWith(409, 'not_your_turn', 'seat_out'));
    await verified(b.club);
});

test('warnings come at half time, 48 h and 12 h before, once each, over restarts; the organiser hears too', async (t) => {
    const b = await table(t);
    const game = await b.game(7);
    const end = Date.parse(game.turn.deadline);
    const warned = () => b.to('warning', game);
    await b.club.advanceTo(end - 3.5 * DAY - 1);
    assert.deepEqual(warned(), []);
    await b.club.advance(1);
    assert.deepEqual(warned(), ['anna']);
    await b.club.kill();
    await b.club.start();
    await b.club.settle();
    assert.deepEqual(warned(), ['anna'], 'a restart repeats nothing');
    await b.club.advanceTo(end - 2 * DAY - 1);
    assert.deepEqual(warned(), ['anna']);
    await b.club.advance(1);
    assert.deepEqual(warned(), ['anna', 'anna']);
    assert.match(b.post.letters.items.at(-1).mail.text, /You have 2 d left for your move as White/);
    /* A day before the end of the grace, which is 12 h before the deadline: to both. */
    await b.club.advanceTo(end - 12 * HOUR - 1);
    assert.deepEqual(warned(), ['anna', 'anna']);
    await b.club.advance(1);
    assert.deepEqual(warned(), ['anna', 'anna', 'anna', 'olga']);
    const organiser = b.post.letters.items.find((x) => x.to[0].startsWith('olga') && classOf(x) === 'warning');
    assert.match(organiser.mail.text, /White \(anna\) has not moved; in 1 d the seat is lost/);
    await b.club.stop();
    await b.club.start();
    await b.club.advanceTo(end);
    await b.club.advanceTo(end + 12 * HOUR);
    assert.equal(warned().length, 4, 'no other');
    const notes = (await b.events(game)).filter((e) => e.kind === 'warning').map((e) => e.note);
    assert.deepEqual(notes.sort(), ['12h', '48h', 'half', 'organiser']);
    /* The next one's clock warns the next one alone. */
    await b.move(game, 'e2e3');
    await b.club.advance(3.5 * DAY);
    assert.deepEqual(warned(), ['anna', 'anna', 'anna', 'boris', 'olga']);
    await b.move(game, 'b7c7');
    await b.club.advance(3 * DAY);
    assert.deepEqual(warned(), ['anna', 'anna', 'anna', 'boris', 'olga'], 'Boris has moved');
    await verified(b.club);
});

test('T3: letter, webhook, API, events and file name the same instant', async (t) => {
    const b = await table(t);
    const receiver = await startReceiver();
    t.after(() => receiver.close());
    await b.players[3].post('/api/v1/me/webhooks', { url: receiver.url, kind: 'standard', classes: ['turn'] });
    const game = await b.game(5);
    const id = game.id;
    for (const move of ['e2e3', 'b7c7', 'g13g12']) await b.move(game, move);
    await b.club.settle();
    const deadline = '2027-01-09T08:00:00.000Z';
    const now = await b.look(game, b.players[3]);
    assert.equal(now.turn.seat, 'east');
    assert.equal(now.turn.deadline, deadline);
    assert.equal(now.turn.grace_until, '2027-01-09T20:00:00.000Z');
    assert.equal(now.turn.explanation.reduce((sum, x) => sum + x.amount_ms, Date.parse(now.turn.explanation[0].at)), Date.parse(deadline));
    const listed = (await b.players[3].get('/api/v1/games?turn=me')).items.find((x) => x.id === id);
    assert.equal(listed.turn.deadline, deadline);
    const events = await b.events(game);
    assert.equal(events.findLast((e) => e.kind === 'turn').deadline, deadline);
    const hook = JSON.parse((await receiver.deliveries.take((x) => x.body.includes(id))).body);
    assert.equal(hook.data.game.deadline_at, deadline);
    const letter = b.post.letters.items.find((x) => x.to[0] === 'dmitri@example.net' && classOf(x) === 'turn');
    assert.match(letter.mail.text, /Deadline: Sat 9 January 2027, 13:30 IST \(Asia\/Kolkata\),\s+that is Sat 9 January 2027, 08:00 UTC, in 5 d\./);
    assert.match(letter.mail.html, /08:00 UTC/);
    await b.club.stop();
    const [row] = b.club.sql(`SELECT deadline_at FROM games WHERE public_id = '${id}'`);
    assert.equal(row.deadline_at, Date.parse(deadline));
    assert.match(b.club.run(`game show ${id}`), /2027-01-09T08:00/);
});

test('T16: killed for 26 hours across three deadlines: nobody is flagged, all get the same, once', async (t) => {
    const b = await table(t);
    const games = [];
    for (let i = 0; i < 3; i++) {
        games.push(await b.game(1));
        await b.club.advance('2h');
    }
    await b.club.advanceTo(Date.parse(games[0].turn.deadline) + 8 * HOUR); /* all in their grace */
    const before = await Promise.all(games.map((game) => b.look(game)));
    for (const game of before) assert.ok(Date.parse(game.turn.deadline) < b.club.at);
    await b.club.kill();
    b.club.at += 26 * HOUR;
    await b.club.start();
    await b.club.settle();
    const check = async () => {
        for (const [i, game] of games.entries()) {
            const now = await b.look(game);
            assert.deepEqual(now.seats.map((s) => s.condition), ['live', 'live', 'live', 'live']);
            assert.equal(Date.parse(now.turn.deadline) - Date.parse(before[i].turn.deadline), 26 * HOUR);
            assert.equal(now.turn.explanation.at(-1).kind, 'outage');
            const credits = (await b.events(game)).filter((e) => e.kind === 'outage_credited');
            assert.deepEqual(credits.map((e) => [e.seat, e.amount_ms, e.deadline]), [['south', 26 * HOUR, now.turn.deadline]]);
            assert.deepEqual(b.to('organiser', game), [...HANDLES, 'olga'], 'all hear of it, once');
        }
        assert.deepEqual(b.club.sql('SELECT credited_ms, games, is_done FROM outages'), [{ credited_ms: 26 * HOUR, games: 3, is_done: 1 }]);
    };
    await check();
    assert.match(b.post.letters.items.findLast((x) => classOf(x) === 'organiser').mail.text, /away; time was added for the present turn:\s1\sd\s2\sh\./);
    /* Killed once more, back at once: nothing is credited twice. */
    await b.club.kill();
    await b.club.start();
    await b.club.settle();
    await check();
    /* The next letter of the game mentions it, and the clock runs to its end as it should. */
    const letters = b.post.letters.items.length;
    await b.move(games[0], 'e2e3');
    await b.club.advance('3h');
    assert.equal((await b.look(games[1])).seats[0].condition, 'live');
    await b.club.advanceTo((await b.look(games[1])).turn.grace_until);
    await b.club.advance(1);
    assert.equal((await b.look(games[1])).seats[0].left, 'forfeited');
    assert.deepEqual(b.to('turn', games[0], letters), ['boris']);
    await verified(b.club);
});

test('T18: a restart neither resets, stops nor stretches a clock', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    await b.club.advance('1d 5h');
    const before = (await b.look(game)).turn;
    await b.club.stop();
    await b.club.start();
    assert.deepEqual((await b.look(game)).turn, before);
    await b.club.kill();
    b.club.at += 4 * MINUTE; /* no outage yet */
    await b.club.start();
    await b.club.settle();
    assert.deepEqual((await b.look(game)).turn, before);
    assert.equal(count(await b.events(game), 'outage_credited'), 0);
    await b.club.advanceTo(before.grace_until);
    assert.equal((await b.look(game)).seats[0].condition, 'live');
    await b.club.advance(1);
    assert.equal((await b.look(game)).seats[0].condition, 'absent', 'to the millisecond');
});

test('X7: a wall clock that is set ahead or back flags nobody', async (t) => {
    const b = await table(t);
    const game = await b.game(2);
    await b.club.advance('1h');
    const before = (await b.look(game)).turn;
    await b.club.setWall('30d');
    let now = await b.look(game);
    assert.equal(now.seats[0].condition, 'live');
    assert.equal(Date.parse(now.turn.deadline) - Date.parse(before.deadline), 30 * DAY, 'the jump is credited');
    assert.match(b.club.sql('SELECT note FROM outages')[0].note, /set ahead/);
    assert.equal((await b.move(game, 'e2e3')).move.late, false);
    await b.club.setWall('-30d');
    now = await b.look(game);
    assert.deepEqual(now.seats.map((s) => s.condition), ['live', 'live', 'live', 'live']);
    assert.equal(b.club.sql("SELECT detail FROM audit WHERE act = 'clock_set_back'")[0].detail, `amount_ms=${30 * DAY}`);
    assert.equal((await b.move(game, 'b7c7')).move.late, false);
    await b.club.setWall('-1h');
    await b.club.setWall('1h');
    now = await b.look(game);
    assert.deepEqual(now.seats.map((s) => s.condition), ['live', 'live', 'live', 'live']);
    await b.move(game, 'g13g12');
    await verified(b.club);
});

/* The organiser's and the operator's powers: by each door the same five. */
for (const door of ['the command line', 'the API']) {
    test(`by ${door}: pause, resume, credit, adjudicate and abort are logged and told to all four`, async (t) => {
        const b = await table(t);
        const api = door === 'the API';
        const act = async (game, verb, note, body = {}, words = []) => {
            const from = b.post.letters.items.length;
            if (api) await b.olga.post(`/api/v1/games/${game.id}/${verb}`, { note, ...body });
            else await b.club.command('game', verb, game.id, ...words, '--note', note);
            await b.club.settle();
            return from;
        };
        const toldAll = (game, cls, from, note) => {
            const told = b.to(cls, game, from);
            assert.deepEqual(told.filter((x) => x !== 'olga'), HANDLES, 'all four, once each');
            if (note)
                for (const x of b.post.letters.items.slice(from)) assert.ok(x.mail.text.includes(note), 'the reason stands in the letter');
        };
        const game = await b.game(3);
        const first = (await b.look(game)).turn;
        await b.club.advance('1d');
        let from = await act(game, 'pause', 'the hall is closed');
        toldAll(game, 'organiser', from, 'the hall is closed');
        let now = await b.look(game);
        assert.equal(now.paused, true);
        assert.equal(now.turn.deadline, null);
        await assert.rejects(b.players[0].post(`/api/v1/games/${game.id}/moves`, { move: 'e2e3', state_number: now.state_number }), refusedWith(409, 'game_paused'));
        await b.club.advance('20d');
        now = await b.look(game);
        assert.equal(now.seats[0].condition, 'live', 'no time passes');
        from = await act(game, 'resume', 'it is open again');
        toldAll(game, 'organiser', from, 'it is open again');
        now = await b.look(game);
        assert.equal(now.paused, false);
        assert.equal(Date.parse(now.turn.deadline), Date.parse(first.deadline) + 20 * DAY);
        await assert.rejects(act(game, 'credit', 'too little', { amount_ms: 59999 }, ['59s 999ms']));
        from = await act(game, 'credit', 'a letter was lost', { amount_ms: 2 * DAY }, ['2d']);
        toldAll(game, 'organiser', from, 'a letter was lost');
        now = await b.look(game);
        assert.equal(Date.parse(now.turn.deadline), Date.parse(first.deadline) + 22 * DAY);
        assert.deepEqual(now.turn.explanation.map((x) => x.kind), ['start', 'budget', 'pause', 'credit']);
        from = await act(game, 'adjudicate', 'both sides ask for it', { result: 'draw' }, ['1/2-1/2']); /* either wording by either door */
        toldAll(game, 'result', from);
        now = await b.look(game);
        assert.equal(now.state, 'finished');
        assert.equal(now.result.cause, 'adjudication');
        assert.equal(now.result.score, '1/2-1/2');
        await assert.rejects(act(game, 'credit', 'too late', { amount_ms: DAY }, ['1d']));
        /* A pause that ends by itself; then the end without a result. */
        const other = await b.game(3);
        const until = iso(b.club.at + 2 * DAY);
        const shown = async () => /^paused .*, until (.*)$/m.exec(await b.club.command('game', 'show', other.id))[1];
        await act(other, 'pause', 'till we know more');
        assert.equal(await shown(), 'resumed');
        await assert.rejects(act(other, 'pause', 'once more'));
        if (api) await b.olga.post(`/api/v1/games/${other.id}/pause`, { until });
        else await b.club.command('game', 'pause', other.id, '--until', until);
        await b.club.settle();
        assert.equal(Date.parse(await shown()), Date.parse(until));
        from = b.post.letters.items.length;
        await b.club.advance(2 * DAY);
        toldAll(other, 'organiser', from);
        assert.equal((await b.look(other)).paused, false);
        from = await act(other, 'abort', 'two players fell ill');
        toldAll(other, 'organiser', from, 'two players fell ill');
        now = await b.look(other);
        assert.equal(now.state, 'aborted');
        assert.equal(now.cause, api ? 'organiser' : 'operator');
        await assert.rejects(b.players[0].post(`/api/v1/games/${other.id}/moves`, { move: 'e2e3', state_number: now.state_number }), refusedWith(409, 'game_not_running'));
        const kinds = (await b.events(game)).map((e) => e.kind);
        for (const kind of ['paused', 'resumed', 'credited', 'adjudicated', 'finished']) assert.ok(kinds.includes(kind), kind);
        const acts = b.club.sql('SELECT act, role, note FROM audit WHERE game_id IS NOT NULL ORDER BY id');
        assert.deepEqual(acts.map((x) => x.act), ['game_pause', 'game_resume', 'game_credit', 'game_adjudicate', 'game_pause', 'game_pause', 'game_abort']);
        for (const x of acts) assert.equal(x.role, api ? 'organiser' : 'administrator');
        assert.equal(acts[0].note, 'the hall is closed');
        await verified(b.club);
    });
}

test('an organiser who plays is one of the four that are told', async (t) => {
    const b = await table(t);
    const game = await startGame(b.players, { variant: 'verney', time: { mode: 'per-move', per_move_ms: 3 * DAY } });
    await b.club.settle();
    const from = b.post.letters.items.length;
    await b.players[0].post(`/api/v1/games/${game.id}/pause`, { note: 'a holiday' });
    await b.club.settle();
    assert.deepEqual(b.to('organiser', game, from), HANDLES);
});
