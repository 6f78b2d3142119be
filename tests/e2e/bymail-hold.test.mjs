/*
 * The time in which a move sent by mail can be taken back, bounces and the rented mailbox, against
 * the real program with clocks that stand until they are moved.
 *
 * M7 receipt and undo, T4 the letter's arrival decides, T17 a turn that could not be told, N9 and
 * P24/P25 bounces as a real Postfix writes them.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DAY, HOUR, MINUTE } from './lib/daemon.mjs';
import { classOf, reply, startMailServer } from './lib/peers.mjs';
import { startClub } from './lib/daemon.mjs';
import { eventsOf, playAll, SEATS } from './lib/play.mjs';
import { DOMAIN, lmtpConnect, mailIn, startPrograms } from './lib/bymail.mjs';
import { isPossible, startPostfix } from './lib/postfix.mjs';
import { startDovecot } from './lib/dovecot.mjs';
import { BEGIN, HANDLES } from './lib/table.mjs';

const isAnswer = (letter) => letter.mail.headers.get('auto-submitted') === 'auto-replied';
const isTurn = (letter) => classOf(letter) === 'turn';
const address = (handle) => `${handle}@example.net`;

async function table(t, { hold = '10m', mail = {}, conf = '', smtpPort = null, isLmtp = true } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-hold-'));
    const lmtp = join(folder, 'lmtp.sock');
    const post = await startMailServer(mail);
    const club = await startClub({ smtpPort: smtpPort ?? post.port, at: BEGIN, conf: mailIn({ lmtp: isLmtp ? lmtp : '', hold, more: conf }) });
    const programs = startPrograms();
    t.after(async () => {
        self.link?.close();
        await club.end();
        await post.close();
        await programs.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle));
    const olga = await club.player('olga');
    const self = {
        club, post, programs, players, olga, folder,
        link: isLmtp ? await lmtpConnect(lmtp) : null,
        async game(days = 7) {
            const seats = Object.fromEntries(SEATS.map((seat, i) => [seat, { handle: HANDLES[i] }]));
            let game = await olga.post('/api/v1/games', { variant: 'verney', seats, time: { mode: 'per-move', per_move_ms: days * DAY } });
            for (const player of players) game = await player.post(`/api/v1/games/${game.id}/accept`, {});
            await club.settle();
            return game;
        },
        look: (id, who = olga) => who.get(`/api/v1/games/${id}`),
        letters: (handle, pleases = () => true) => post.letters.items.filter((x) => x.to[0] === address(handle) && pleases(x)),
        last: (handle, pleases = () => true) => self.letters(handle, pleases).at(-1),
        /* kill -9, and up again. */
        async crash() {
            self.link.close();
            await club.kill();
            await club.start();
            self.link = await lmtpConnect(lmtp);
        },
        /* An answer reaches us by LMTP and is worked off; what was written back. */
        async say(handle, letter, text, style = 'gmail') {
            const before = self.letters(handle, isAnswer).length;
            const made = await programs.answer({ style, letter: letter.raw, from: address(handle), text });
            const said = await self.link.send(made);
            assert.equal(said.code, 250, said.text);
            await club.settle();
            const answers = self.letters(handle, isAnswer);
            assert.equal(answers.length, before + 1, 'one answer');
            return answers.at(-1);
        },
    };
    return self;
}

test('a move by mail is withheld at every door until its time is over, and can be taken back until then', async (t) => {
    const at = await table(t);
    const { id } = await at.game();
    const before = await at.look(id);
    const events = (await eventsOf(at.olga, id)).length;
    const turn = at.last('anna', isTurn);
    const receipt = await at.say('anna', turn, 'e2-e3');
    assert.match(receipt.mail.text, /Success/);
    assert.match(receipt.mail.text, /undo/i);
    const isUnseen = async () => {
        for (const who of [at.olga, at.players[1], at.players[0], at.club.nobody()]) {
            const game = await at.look(id, who);
            assert.equal(game.ply, 0);
            assert.equal(game.state_number, before.state_number);
            assert.equal(game.turn.seat, 'south');
        }
        assert.equal((await eventsOf(at.olga, id)).length, events);
        assert.ok(!(await at.olga.get(`/api/v1/games/${id}/game.pgn4`)).includes('e2-e3'));
        assert.equal(at.letters('boris', isTurn).length, 0);
    };
    await isUnseen();
    await at.club.advance(10 * MINUTE - 1);
    await isUnseen();
    assert.match((await at.say('anna', receipt, 'undo', 'outlook')).mail.text, /Success/);
    await at.club.advance('1h');
    await isUnseen();

    /* Another one, and undo with the next in one letter. */
    const second = await at.say('anna', turn, 'd2-d3');
    assert.match((await at.say('anna', second, 'undo\ne2-e3')).mail.text, /Success/);
    const shown = await at.club.advance(10 * MINUTE);
    const after = await at.look(id);
    assert.equal(after.ply, 1);
    assert.equal(after.turn.seat, 'west');
    const event = (await eventsOf(at.olga, id)).find((x) => x.kind === 'move');
    assert.equal(event.move, 'e2e3');
    /* The next clock starts when the move is shown. */
    assert.equal(Date.parse(event.at), shown);
    assert.equal(Date.parse(after.turn.deadline), shown + 7 * DAY);
    assert.equal(at.letters('boris', isTurn).length, 1);
    const late = await at.say('anna', second, 'undo');
    assert.doesNotMatch(late.mail.text, /Success/);
    assert.equal((await at.look(id)).ply, 1);
    await at.club.stop();
    assert.match(at.club.run('verify'), /^OK/);
});

/* He is asked whether he means it, and does (M8). */
async function resign(at, handle, letter) {
    const asked = await at.say(handle, letter, 'resign');
    assert.match(asked.mail.text, /nothing of it\s+was done yet:\s+resign\s+If you mean it, write confirm/);
    return at.say(handle, asked, 'confirm', 'mutt');
}

test('M8: a resignation by mail can be taken back as long as a move, and has one effect after a crash', async (t) => {
    const at = await table(t);
    const { id } = await at.game();
    const before = await at.look(id);
    const events = (await eventsOf(at.olga, id)).length;
    const receipt = await resign(at, 'anna', at.last('anna', isTurn));
    assert.match(receipt.mail.text, /Success: your resignation \(White\)/);
    const isUnseen = async () => {
        for (const who of [at.olga, at.players[1], at.players[0], at.club.nobody()]) {
            const game = await at.look(id, who);
            assert.equal(game.state_number, before.state_number);
            assert.equal(game.turn.seat, 'south');
            assert.ok(!JSON.stringify(game).includes('resign'));
        }
        assert.equal((await eventsOf(at.olga, id)).length, events);
        assert.equal(at.letters('boris', isTurn).length, 0);
    };
    await isUnseen();
    await at.club.advance(10 * MINUTE - 1);
    await isUnseen();
    assert.match((await at.say('anna', receipt, 'undo', 'outlook')).mail.text, /Success: your resignation \(White\) is taken back/);
    await at.club.advance('1h');
    await isUnseen();

    /* Off the turn, and the others play on. */
    const turn = at.last('anna', isTurn);
    const clara = at.last('clara');
    assert.match((await resign(at, 'clara', clara)).mail.text, /Success: your resignation/);
    await at.players[0].post(`/api/v1/games/${id}/moves`, { move: 'e2-e3', state_number: before.state_number });
    assert.equal((await at.look(id)).seats[2].condition, 'live');
    await at.crash();
    const done = await at.club.advance(10 * MINUTE);
    await at.crash();
    await at.club.settle();
    const resigned = (await eventsOf(at.olga, id)).filter((x) => x.kind === 'resigned');
    assert.equal(resigned.length, 1);
    assert.equal(resigned[0].seat, 'north');
    assert.ok(Date.parse(resigned[0].at) <= done);
    assert.doesNotMatch((await at.say('clara', at.last('clara', isAnswer), 'undo')).mail.text, /Success/);
    assert.doesNotMatch((await at.say('anna', turn, 'undo')).mail.text, /Success/);
    await at.club.stop();
    assert.match(at.club.run('verify'), /^OK/);
});

test('M8: who moves on the page instead is told by letter what is not held any more', async (t) => {
    const at = await table(t);
    const words = (letter) => letter.mail.text.replaceAll(/\s+/g, ' ');
    const rows = [
        ['resign', 'e2-e3', /^Your resignation, which came by mail and was still held back, is taken back: you have made a move by another way, and play on\./],
        ['d2-d3', 'e2-e3', /^Your move d2d3, which came by mail and was still held back, is taken back: you have made another move by another way\./],
        ['e2-e3', 'e2-e3', null], /* that is the one he made */
    ];
    for (const [said, move, told] of rows) {
        const { id } = await at.game();
        const { state_number } = await at.look(id);
        if (said === 'resign') await resign(at, 'anna', at.last('anna', isTurn));
        else await at.say('anna', at.last('anna', isTurn), said);
        const before = at.letters('anna').length;
        await at.players[0].post(`/api/v1/games/${id}/moves`, { move, state_number });
        await at.club.settle();
        const letters = at.letters('anna').slice(before);
        assert.equal(letters.length, told ? 1 : 0, said);
        if (told) assert.match(words(letters[0]), told);
        await at.club.advance('1h');
        assert.equal((await at.look(id)).ply, 1);
        assert.equal((await eventsOf(at.olga, id)).filter((x) => x.kind === 'resigned').length, 0);
    }
});

test('an open game is found, joined, left and filled by mail alone', async (t) => {
    const at = await table(t);
    const { id } = await at.olga.post('/api/v1/games', { variant: 'teams', seats: Object.fromEntries(SEATS.map((seat) => [seat, { open: true }])) });
    const seated = async () => (await at.look(id)).seats.map((seat) => seat.player?.handle ?? null);
    const write = async (handle, text, to = `play@${DOMAIN}`) => {
        const before = at.letters(handle, isAnswer).length;
        await at.link.send({ from: address(handle), to, raw: Buffer.from(`From: ${address(handle)}\r\nTo: ${to}\r\nSubject: open\r\nMessage-ID: <${handle}.${before}.${text.length}@example.net>\r\n\r\n${text}\r\n`) });
        await at.club.settle();
        return at.letters(handle, isAnswer).at(-1);
    };
    /* An account letter, then the list, then the seat: each as the answer to the one before. */
    const open = await write('anna', 'hello');
    const list = await at.say('anna', open, 'games');
    assert.match(list.mail.text, new RegExp(`Free seats: South, West, North, East. \`join ${id}\` takes one`));
    const joined = await at.say('anna', list, `join ${id} south`, 'outlook');
    assert.match(joined.mail.text, /Success: you take the seat South/);
    assert.deepEqual(await seated(), ['anna', null, null, null]);
    assert.match((await at.say('anna', joined, 'leave', 'mutt')).mail.text, /Success/);
    assert.deepEqual(await seated(), [null, null, null, null]);
    for (const handle of HANDLES) {
        const answer = await at.say(handle, await write(handle, 'hello again'), `join ${id}`);
        assert.match(answer.mail.text, /Success: you take the seat/);
    }
    assert.deepEqual(await seated(), HANDLES);
    const game = await at.look(id);
    assert.equal(game.state, 'running');
    /* The game goes on by mail. */
    const turn = at.last('anna', (letter) => ['turn', 'start'].includes(classOf(letter)));
    assert.match((await at.say('anna', turn, 'e2-e4')).mail.text, /Success/);
    assert.match((await at.say('boris', at.last('boris', isAnswer), 'leave')).mail.text, /GameStarted/);
    const looked = await at.say('boris', await write('boris', 'and again'), `status ${id}\nboard`);
    assert.match(looked.mail.text, /It is move 1 of the game/);
    assert.doesNotMatch(looked.mail.text, /e2e4/);
});

test('T4: a letter that came before the end of the grace is in time, held or not', async (t) => {
    const at = await table(t, { hold: '1h' });
    const { id } = await at.game(1);
    const turn = at.last('anna', isTurn);
    await at.club.advance(DAY + 12 * HOUR - 1);
    const receipt = await at.say('anna', turn, 'e2-e3');
    assert.match(receipt.mail.text, /Success/);
    await at.club.advance(HOUR);
    const game = await at.look(id);
    assert.equal(game.ply, 1, 'played, not forfeited');
    assert.ok((await eventsOf(at.olga, id)).some((x) => x.kind === 'late'));
    assert.ok(!(await eventsOf(at.olga, id)).some((x) => x.kind === 'forfeited'));
});

test('a resignation of another drops the held move, and the mover hears of it', async (t) => {
    const at = await table(t);
    const { id } = await at.game();
    await at.say('anna', at.last('anna', isTurn), 'e2-e3');
    const now = await at.look(id);
    await at.players[2].post(`/api/v1/games/${id}/resign`, { state_number: now.state_number, seat: 'north' });
    await at.club.advance('20m');
    const game = await at.look(id);
    assert.equal(game.ply, 0);
    assert.equal(game.turn.seat, 'south');
    assert.ok(at.letters('anna', isTurn).length >= 2, 'a new letter for the changed board');
    /* The old letter's address is stale now, the new one's is not. */
    const stale = await at.say('anna', at.letters('anna', isTurn)[0], 'e2-e3');
    assert.match(stale.mail.text, /InvalidMoveNumber/);
    assert.match((await at.say('anna', at.last('anna', isTurn), 'e2-e3')).mail.text, /Success/);
});

test('T17: a turn that could not be told starts its clock when the letter was handed over, 48 hours at most', async (t) => {
    let isDown = false;
    const at = await table(t, { mail: { refuse: (to) => (isDown && to === 'anna@example.net' ? reply(451, '4.3.2 try later') : null) } });
    isDown = true;
    const first = await at.game(2);
    const began = Date.parse((await at.look(first.id)).turn.since ?? BEGIN);
    await at.club.advance(30 * HOUR);
    isDown = false;
    const told = await at.club.advance(24 * HOUR);
    const turn = await at.look(first.id);
    const deadline = Date.parse(turn.turn.deadline);
    assert.ok(deadline > began + 2 * DAY + 29 * HOUR, 'the wait was given back');
    assert.ok(deadline <= began + 4 * DAY, 'but no more than 48 hours');
    assert.ok(told < deadline);
    /* Never handed over: the cap holds, then the seat is forfeited as any other. */
    isDown = true;
    const second = await at.game(1);
    const start = Date.parse((await at.look(second.id)).turn.since ?? new Date(told).toISOString());
    await at.club.advance(2 * DAY + DAY + 12 * HOUR - MINUTE);
    assert.equal((await at.look(second.id)).turn.seat, 'south', `from ${new Date(start).toISOString()}`);
    await at.club.advance(2 * MINUTE);
    assert.notEqual((await at.look(second.id)).turn.seat, 'south');
});

test('P24, P25, N9: what a real Postfix says about an address', { skip: isPossible() ? false : 'Postfix is started by root' }, async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-bounce-'));
    chmodSync(folder, 0o755);
    let isGone = false;
    const world = await startMailServer({ refuse: (to) => (isGone && to === 'anna@example.net' ? reply(550, '5.1.1 no such mailbox') : null) });
    const lmtp = join(folder, 'lmtp.sock');
    const postfix = await startPostfix({ lmtpPath: lmtp, sinkPort: world.port, domain: DOMAIN });
    const club = await startClub({ smtpPort: postfix.port, conf: mailIn({ lmtp }) });
    chmodSync(lmtp, 0o666);
    t.after(async () => {
        await club.end();
        await postfix.close();
        await world.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle));
    const olga = await club.player('olga');
    const seats = Object.fromEntries(SEATS.map((seat, i) => [seat, { handle: HANDLES[i] }]));
    let game = await olga.post('/api/v1/games', { variant: 'verney', seats });
    const toAnna = (pleases) => world.letters.take((x) => x.to[0] === address('anna') && pleases(x));
    await toAnna((x) => classOf(x) === 'invitation');
    for (const player of players) game = await player.post(`/api/v1/games/${game.id}/accept`, {});
    const first = await toAnna(isTurn);
    /* The game runs, and nothing is on its way to her: the next letter alone comes back. */
    isGone = true;
    await playAll(players, game, ['e2e3', 'b5c5', 'e13e12', 'm5l5']);
    /* The organiser hears of it without the address; the players do not. */
    const told = await world.letters.take((x) => x.to[0] === address('olga') && classOf(x) === 'organiser');
    assert.ok(!told.raw.includes('anna@example.net'));
    assert.equal((await players[0].get('/api/v1/me')).address_state, 'suspended');
    assert.ok(!world.letters.items.some((x) => x.to[0] === address('boris') && classOf(x) === 'organiser'));
    /* A letter from there shows that it lives. */
    isGone = false;
    const link = await lmtpConnect(lmtp);
    t.after(() => link.close());
    const said = await link.send({ from: address('anna'), to: `play@${DOMAIN}`, raw: Buffer.from('From: anna@example.net\r\nTo: play@club.example.org\r\nSubject: I am here\r\nMessage-ID: <back@example.net>\r\n\r\nhelp\r\n') });
    assert.equal(said.code, 250, said.text);
    await toAnna((x) => isTurn(x) && x !== first);
    assert.equal((await players[0].get('/api/v1/me')).address_state, 'ok');
});

test('a club that rents a mailbox: answers are fetched by IMAP over TLS, as they come', { skip: isPossible() ? false : 'Dovecot is started by root' }, async (t) => {
    const box = await startDovecot();
    t.after(() => box.close());
    const secret = join(box.folder, 'secret');
    const { writeFileSync } = await import('node:fs');
    writeFileSync(secret, `${box.password}\n`, { mode: 0o600 });
    const at = await table(t, { hold: '0s', isLmtp: false,
        conf: `imap_host = "localhost"; imap_port = ${box.tlsPort}; imap_ca_file = "${box.caFile}"; imap_user = "${box.user}"; imap_password = "@file:${secret}";` });
    const { id } = await at.game();
    for (const [i, [handle, move, style]] of [['anna', 'e2-e3', 'gmail'], ['boris', 'b5-c5', 'apple'], ['clara', 'e13-e12', 'outlook']].entries()) {
        const letter = at.last(handle, isTurn);
        const made = await at.programs.answer({ style, letter: letter.raw, from: address(handle), text: move });
        box.deliver(Buffer.concat([Buffer.from(`Return-Path: <${address(handle)}>\r\nDelivered-To: ${made.to}\r\n`), made.raw]));
        const receipt = await at.post.letters.take((x) => x.to[0] === address(handle) && isAnswer(x));
        assert.match(receipt.mail.text, /Success/);
        await at.club.settle();
        assert.equal((await at.look(id)).ply, i + 1);
    }
    /* A daemon that was away meanwhile fetches what lies there, once. */
    await at.club.stop();
    const letter = at.last('dmitri', isTurn);
    const made = await at.programs.answer({ style: 'mutt', letter: letter.raw, from: address('dmitri'), text: 'm5-l5' });
    box.deliver(Buffer.concat([Buffer.from(`Delivered-To: ${made.to}\r\n`), made.raw]));
    await at.club.start();
    await at.post.letters.take((x) => x.to[0] === address('dmitri') && isAnswer(x));
    await at.club.settle();
    assert.equal((await at.look(id)).ply, 4);
    assert.equal(at.letters('dmitri', isAnswer).length, 1);
});
