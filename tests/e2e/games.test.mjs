/*
 * A game of each variant from invitation to result: real HTTP clients, a real SMTP server for the
 * letters, a real receiver for the webhooks, and at the end `fourhanded verify` on the file.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { startClub } from './lib/daemon.mjs';
import { startMailServer, startReceiver } from './lib/peers.mjs';
import { count, eventsOf, movesOf, playAll, SEATS, startGame } from './lib/play.mjs';

const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const LANGUAGES = ['en', 'ru', 'ro', 'en'];

/* The class of a letter, from its List-Id: turn, result… */
const classOf = ({ mail }) => /<(\w+)\./.exec(mail.headerLines.find((x) => x.key === 'list-id')?.line ?? '')?.[1];

/* The men of a position of fourteen files by square: "e2" → "wP". */
function menOf(position) {
    const men = new Map();
    position.split(' ')[1].split('/').forEach((row, i) => {
        let file = 0;
        for (const token of row.split(',')) {
            if (/^\d+$/.test(token)) { file += Number(token); continue; }
            if (token !== 'x') men.set(`${'abcdefghijklmn'[file]}${14 - i}`, token);
            file += 1;
        }
    });
    return men;
}

/* R-V9: the square that a pawn's move of two squares straight on goes over; null for other moves. */
function leaptOver(move) {
    const [, f1, r1, f2, r2] = /^([a-n])(\d+)([a-n])(\d+)/.exec(move);
    const files = f2.charCodeAt(0) - f1.charCodeAt(0), ranks = Number(r2) - Number(r1);
    if (Math.abs(files) + Math.abs(ranks) !== 2 || (files !== 0 && ranks !== 0)) return null;
    return `${String.fromCharCode(f1.charCodeAt(0) + files / 2)}${Number(r1) + ranks / 2}`;
}

async function table(t) {
    const post = await startMailServer();
    const receiver = await startReceiver();
    const club = await startClub({ smtpPort: post.port });
    t.after(async () => { await club.end(); await post.close(); await receiver.close(); });
    const players = [];
    for (const [i, handle] of HANDLES.entries())
        players.push(await club.player(handle, { language: LANGUAGES[i], zone: ['Europe/Berlin', 'Europe/Moscow', 'Europe/Chisinau', 'Asia/Kolkata'][i] }));
    return { club, post, receiver, players };
}

test('a game of verney: queening by capture, leap, turned pawn, mate, release and the double mate', async (t) => {
    const { club, post, receiver, players } = await table(t);
    const hook = await players[0].post('/api/v1/me/webhooks', { url: `${receiver.url}/anna`, kind: 'standard' });
    const game = await startGame(players, { variant: 'verney' });
    const first = await post.letters.take((x) => x.to[0] === 'anna@example.net' && classOf(x) === 'turn');
    assert.match(first.mail.text, /^ 1 +wR wN wB wQ wK wB wN wR$/m, 'the board is in the text part');
    assert.match(first.mail.text, /UTC.*in 1[34] d/s, 'the deadline, and how long that is');
    assert.equal(first.mail.attachments[0].contentType, 'image/png');
    const moves = movesOf('verney');
    const positions = [(await players[0].get(`/api/v1/games/${game.id}`)).position];
    const end = await playAll(players, game, moves, (now) => { positions.push(now.position); });
    assert.equal(end.state, 'finished');
    assert.equal(end.result.cause, 'mate');
    assert.equal(end.result.score, '0-1');
    assert.equal(end.ply, moves.length);

    const events = await eventsOf(players[0], game.id);
    assert.equal(count(events, 'move'), moves.length);
    assert.ok(count(events, 'mated') >= 2, 'mates');
    assert.ok(count(events, 'released') >= 1, 'releases');
    assert.equal(count(events, 'finished'), 1);
    const made = events.filter((e) => e.kind === 'move');
    assert.ok(made.some((e) => /q$/.test(e.move) && /x/.test(e.notation)), 'a queening by capture');
    /* What each move found, and how it left things. */
    const partner = { w: 'y', y: 'w', r: 'b', b: 'r' };
    const leaps = made.filter((e) => {
        const men = menOf(positions[e.ply - 1]), over = leaptOver(e.move);
        const man = men.get(/^[a-n]\d+/.exec(e.move)[0]);
        return over && 'PV'.includes(man[1]) && 'PV'.includes(men.get(over)?.[1] ?? '-') && men.get(over)[0] === partner[man[0]];
    });
    assert.ok(leaps.length >= 1, 'a pawn leaps its partner\'s');
    const turned = made.filter((e) => {
        const to = /^[a-n]\d+([a-n]\d+)/.exec(e.move)[1], from = /^[a-n]\d+/.exec(e.move)[0];
        return menOf(positions[e.ply - 1]).get(from)[1] === 'P' && menOf(positions[e.ply]).get(to)[1] === 'V';
    });
    assert.ok(turned.length >= 1, 'a pawn turns');
    assert.deepEqual(end.seats.filter((s) => s.side === 'south-north').map((s) => s.condition), ['mated', 'mated'], 'the double mate');

    /* Everybody hears of the end, each in his language; nobody's address is shown to anybody. */
    for (const handle of HANDLES) {
        const letter = await post.letters.take((x) => x.to[0] === `${handle}@example.net` && classOf(x) === 'result');
        if (handle === 'boris') assert.match(letter.mail.text, /Партия/);
        if (handle === 'clara') assert.match(letter.mail.text, /[Pp]artid/);
        assert.equal(letter.to.length, 1, 'one recipient a transaction');
        for (const other of HANDLES)
            if (other !== handle) assert.ok(!letter.mail.text.includes(`${other}@example.net`));
    }
    /* Every letter of the game threads under one root and says what it is. */
    for (const { mail } of post.letters.items.filter((x) => x.mail.subject.toUpperCase().includes(game.id.toUpperCase()))) {
        assert.equal(mail.headers.get('auto-submitted'), 'auto-generated');
        assert.ok(mail.headers.get('list'), 'List-… headers');
        assert.ok(mail.references?.length || mail.inReplyTo, 'threaded');
    }
    const ids = post.letters.items.map((x) => x.mail.messageId);
    assert.equal(new Set(ids).size, ids.length, 'no letter came twice');

    /* Webhooks are signed as Standard Webhooks says. */
    const delivery = await receiver.deliveries.take((x) => x.url === '/anna' && JSON.parse(x.body).type.endsWith('result'));
    new Webhook(hook.secret).verify(delivery.body, delivery.headers);

    /* A finished game accepts nothing. */
    await assert.rejects(players[0].post(`/api/v1/games/${game.id}/moves`, { move: 'e2e3', state_number: end.state_number }), /409/);
    await assert.rejects(players[0].post(`/api/v1/games/${game.id}/resign`, { state_number: end.state_number, seat: 'south' }), /409/);
    const pgn4 = await players[0].get(`/api/v1/games/${game.id}/game.pgn4`);
    assert.match(pgn4, /\[Result "0-1"\]/);
    await club.stop();
    assert.match(club.run('verify'), /no fault|ok/i);
});

test('a game with fortresses: a wall refuses, a pawn promotes, an army leaves the board, the end', async (t) => {
    const { club, players } = await table(t);
    const game = await startGame(players, { variant: 'fortress', reserve: 'usual' });
    const path = `/api/v1/games/${game.id}`;
    /* The rook on l3 cannot go into the enemy's fortress: the wall is named. */
    const asked = await players[0].get(`${path}/legal?move=l4m5`);
    assert.equal(asked.asked.legal, false);
    const wall = await players[0].get(`${path}/legal?move=p4p5`).catch((error) => error);
    assert.ok(wall);
    const now = await players[0].get(path);
    await assert.rejects(players[0].post(`${path}/moves`, { move: 'o1p5', state_number: now.state_number }), (error) => {
        assert.equal(error.status, 422);
        assert.equal(error.body.code, 'illegal_move');
        return true;
    });
    await assert.rejects(players[0].post(`${path}/moves`, { move: 'n3m5', state_number: now.state_number }), (error) => {
        assert.equal(error.status, 422);
        assert.match(error.body.detail, /wall/);
        return true;
    });
    const end = await playAll(players, game, movesOf('fortress'));
    assert.equal(end.state, 'finished');
    assert.equal(end.result.cause, 'mate');
    const events = await eventsOf(players[3], game.id);
    const removed = events.filter((e) => e.kind === 'removed').map((e) => e.seat);
    assert.ok(removed.length >= 1);
    const { variants } = await players[0].get('/api/v1');
    const letters = Object.fromEntries(variants.find((v) => v.id === 'fortress').seats.map((s) => [s.seat, s.letter]));
    const standing = new Set(end.position.split(' ')[1].match(/[a-z](?=[KQRBNP])/g));
    for (const seat of removed) assert.ok(!standing.has(letters[seat]), `${seat} has left the board`);
    assert.ok(events.some((e) => e.kind === 'move' && /[qrbn]$/.test(e.move)), 'a promotion');
    await club.stop();
    assert.match(club.run('verify'), /no fault|ok/i);
});

test('a team game ends with the first resignation of a side', async (t) => {
    const { club, players } = await table(t);
    const game = await startGame(players, { variant: 'teams' });
    const now = await playAll(players, game, ['k2k4', 'b4d4', 'd13d11', 'm11k11']);
    const end = await players[2].post(`/api/v1/games/${game.id}/resign`, { state_number: now.state_number, seat: 'north' });
    assert.equal(end.state, 'finished');
    assert.equal(end.result.score, '0-1');
    assert.equal(SEATS.indexOf(end.seats.find((s) => s.left === 'resigned').seat), 2);
    await club.stop();
    assert.match(club.run('verify'), /no fault|ok/i);
});
