/*
 * Whole games by mail alone.  The players have a mail program and nothing else: they make the game,
 * accept, move, offer and resign by answering letters.  A real Postfix stands between them and the
 * daemon, both ways: by LMTP in, by SMTP out.  Each player's answers are quoted as another program
 * quotes; swaks and Python's smtplib hand them in.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startClub } from './lib/daemon.mjs';
import { classOf, startMailServer } from './lib/peers.mjs';
import { count, eventsOf, movesOf, SEATS } from './lib/play.mjs';
import { DOMAIN, mailIn, startPrograms, swaks } from './lib/bymail.mjs';
import { isPossible, startPostfix } from './lib/postfix.mjs';

const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const LANGUAGES = ['en', 'ru', 'ro', 'en'];
const STYLES = ['gmail', 'outlook', 'apple', 'thunderbird', 'mutt', 'k9', 'outlook-html'];

export const addressOf = (handle) => `${handle}@example.net`;
const isAnswer = (letter) => letter.mail.headers.get('auto-submitted') === 'auto-replied';
const isTurn = (letter) => classOf(letter) === 'turn';

/* A club by mail: daemon, Postfix, the players' mailboxes. */
async function mailClub(t) {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-lmtp-'));
    chmodSync(folder, 0o755);
    const post = await startMailServer();
    const postfix = await startPostfix({ lmtpPath: join(folder, 'lmtp.sock'), sinkPort: post.port, domain: DOMAIN });
    const club = await startClub({ smtpPort: postfix.port, conf: mailIn({ lmtp: join(folder, 'lmtp.sock') }) });
    chmodSync(join(folder, 'lmtp.sock'), 0o666); /* a group in common would do it elsewhere */
    const programs = startPrograms();
    t.after(async () => {
        await club.end();
        await postfix.close();
        await post.close();
        await programs.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const readers = [];
    for (const [i, handle] of HANDLES.entries()) readers.push(await club.player(handle, { language: LANGUAGES[i] }));
    const seen = new Set();
    return {
        club, post, postfix, programs, readers,
        /* The next letter to somebody that pleases and was not taken before. */
        async next(handle, pleases) {
            const letter = await post.letters.take((x) => !seen.has(x) && x.to[0] === addressOf(handle) && pleases(x));
            seen.add(letter);
            return letter;
        },
        /* Python's smtplib hands it in, or swaks. */
        async answer(letter, handle, text, { style = 'gmail', by = null } = {}) {
            const made = await programs.answer({ style, letter: letter.raw, from: addressOf(handle), text, port: by ? 0 : postfix.port });
            by?.({ port: postfix.port, ...made });
            return made;
        },
    };
}

/* From a letter without a token to a game that runs; returns its id. */
async function gameByMail(table, order) {
    const first = await table.programs.answer({ style: 'plain', letter: Buffer.from(
        `From: Club <play@${DOMAIN}>\r\nReply-To: play@${DOMAIN}\r\nSubject: hello\r\nMessage-ID: <0@example.org>\r\n\r\nx\r\n`), from: addressOf('anna'), text: 'help' });
    swaks({ port: table.postfix.port, ...first });
    const help = await table.next('anna', isAnswer);
    assert.match(help.mail.replyTo.text, /play\+[a-z2-7]{26}@/, 'the answer can be answered');
    await table.answer(help, 'anna', order, { by: swaks });
    const receipt = await table.next('anna', isAnswer);
    assert.match(receipt.mail.text, /Success/);
    for (const [i, handle] of HANDLES.slice(1).entries()) {
        const invitation = await table.next(handle, (x) => classOf(x) === 'invitation');
        await table.answer(invitation, handle, 'accept', { style: STYLES[i + 1] });
        assert.match((await table.next(handle, isAnswer)).mail.text, /Success/);
    }
    const { items } = await table.readers[0].get('/api/v1/games?player=anna&state=running');
    return items[0].id;
}

const SEATING = 'seat south me\nseat west boris\nseat north clara\nseat east dmitri';

async function playByMail(table, id, moves) {
    for (const [i, move] of moves.entries()) {
        const now = await table.readers[0].get(`/api/v1/games/${id}`);
        assert.equal(now.state, 'running', `before move ${i + 1}`);
        const handle = HANDLES[SEATS.indexOf(now.turn.seat)];
        const letter = await table.next(handle, (x) => isTurn(x) && x.mail.messageId.startsWith(`<${id}.`));
        /* Score sheets' notation, coordinates with a dash and plain ones take turns. */
        const written = [move, `${/^([a-z]\d+)/.exec(move)[1]}-${move.slice(/^([a-z]\d+)/.exec(move)[1].length)}`][i % 2];
        await table.answer(letter, handle, written, { style: STYLES[i % STYLES.length], by: i < 4 ? swaks : null });
        const receipt = await table.next(handle, isAnswer);
        assert.match(receipt.mail.text, /Success/, `move ${i + 1} ${written} of ${handle} by ${STYLES[i % STYLES.length]}:\n${receipt.mail.text}`);
    }
    return table.readers[0].get(`/api/v1/games/${id}`);
}

const skip = isPossible() ? false : 'Postfix is started by root';

test('a game of verney by mail alone, to the double mate', { skip }, async (t) => {
    const table = await mailClub(t);
    const id = await gameByMail(table, `create verney\n${SEATING}`);
    const moves = movesOf('verney');
    const end = await playByMail(table, id, moves);
    assert.equal(end.state, 'finished');
    assert.equal(end.result.score, '0-1');
    assert.equal(end.ply, moves.length);
    const events = await eventsOf(table.readers[0], id);
    assert.equal(count(events, 'move'), moves.length);
    for (const handle of HANDLES) await table.next(handle, (x) => classOf(x) === 'result');
    /* Nobody's address and nobody's token in anybody else's letter. */
    for (const letter of table.post.letters.items)
        for (const other of HANDLES)
            if (letter.to[0] !== addressOf(other)) assert.ok(!letter.raw.includes(addressOf(other)), `${other}'s address in a letter to ${letter.to[0]}`);
    await table.club.stop();
    assert.match(table.club.run('verify'), /^OK/);
});

test('a game with fortresses by mail alone: each places his reserve, a wall refuses, the end', { skip }, async (t) => {
    const table = await mailClub(t);
    const id = await gameByMail(table, `create fortress reserve=usual\n${SEATING}`);
    const letter = await table.next('anna', isTurn);
    /* A refusal changes nothing, and the same letter can be answered again. */
    await table.answer(letter, 'anna', 'n3m5', { style: 'mutt' });
    const refused = await table.next('anna', isAnswer);
    assert.match(refused.mail.text, /InvalidMove/);
    assert.match(refused.mail.text, /wall/);
    assert.equal((await table.readers[0].get(`/api/v1/games/${id}`)).ply, 0);
    const [first, ...moves] = movesOf('fortress');
    await table.answer(letter, 'anna', first, { style: 'k9' });
    assert.match((await table.next('anna', isAnswer)).mail.text, /Success/);
    const end = await playByMail(table, id, moves);
    assert.equal(end.state, 'finished');
    await table.club.stop();
    assert.match(table.club.run('verify'), /^OK/);
});

test('a chosen reserve is placed by mail, hidden until all have placed', { skip }, async (t) => {
    const table = await mailClub(t);
    const first = await table.programs.answer({ style: 'plain', letter: Buffer.from(
        `From: Club <play@${DOMAIN}>\r\nSubject: hello\r\nMessage-ID: <0@example.org>\r\n\r\nx\r\n`), from: addressOf('anna'), text: 'help' });
    swaks({ port: table.postfix.port, ...first });
    await table.answer(await table.next('anna', isAnswer), 'anna', `create fortress reserve=chosen\n${SEATING}`);
    assert.match((await table.next('anna', isAnswer)).mail.text, /Success/);
    for (const handle of HANDLES.slice(1)) {
        await table.answer(await table.next(handle, (x) => classOf(x) === 'invitation'), handle, 'accept');
        await table.next(handle, isAnswer);
    }
    const places = { anna: 'place R p4 N n3 B o1', boris: 'place r p4 n b2 b c3', clara: 'place b1 r2 n3', dmitri: 'place' };
    await table.answer(await table.next('anna', (x) => classOf(x) === 'placing'), 'anna', places.anna);
    assert.match((await table.next('anna', isAnswer)).mail.text, /Success/);
    const { items } = await table.readers[0].get('/api/v1/games?player=anna&state=placing');
    const game = await table.readers[1].get(`/api/v1/games/${items[0].id}`);
    assert.ok(!JSON.stringify(game).includes('p4'), 'boris sees nothing of it');
    /* One that cannot stand so is refused with the reason, and changes nothing. */
    await table.answer(await table.next('boris', (x) => classOf(x) === 'placing'), 'boris', places.boris, { style: 'outlook' });
    assert.match((await table.next('boris', isAnswer)).mail.text, /InvalidMove/);
});

test('a team game by mail: a draw offered and declined, then a resignation', { skip }, async (t) => {
    const table = await mailClub(t);
    const id = await gameByMail(table, `create teams days=3\n${SEATING}`);
    await playByMail(table, id, ['k2k4', 'b4d4', 'd13d11']);
    const letter = await table.next('dmitri', isTurn);
    await table.answer(letter, 'dmitri', 'm11-k11\ndraw', { style: 'apple' });
    assert.match((await table.next('dmitri', isAnswer)).mail.text, /Success/);
    const offer = await table.next('clara', (x) => classOf(x) === 'draw');
    await table.answer(offer, 'clara', 'decline', { style: 'mutt' });
    assert.match((await table.next('clara', isAnswer)).mail.text, /Success/);
    const turn = await table.next('anna', isTurn);
    await table.answer(turn, 'anna', 'resign', { style: 'thunderbird' });
    const asked = await table.next('anna', isAnswer);
    assert.match(asked.mail.text, /write confirm on the first line/);
    await table.answer(asked, 'anna', 'confirm', { style: 'thunderbird' });
    assert.match((await table.next('anna', isAnswer)).mail.text, /Success/);
    const end = await table.readers[1].get(`/api/v1/games/${id}`);
    assert.equal(end.state, 'finished');
    assert.equal(end.result.score, '0-1');
});

test('an address that letters come in by is nobody\'s own', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-lmtp-'));
    const club = await startClub({ conf: mailIn({ lmtp: join(folder, 'lmtp.sock') }) });
    t.after(async () => {
        await club.end();
        rmSync(folder, { recursive: true, force: true });
    });
    const { token } = await club.player('anna');
    const ask = async (address) => {
        const answer = await fetch(`${club.url}/api/v1/me/address`, {
            method: 'POST', body: JSON.stringify({ address }),
            headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        });
        return { status: answer.status, body: await answer.json() };
    };
    for (const address of [`play@${DOMAIN}`, `PLAY@${DOMAIN.toUpperCase()}`, `play+abcdefghijklmnopqrstuvwxyz@${DOMAIN}`]) {
        const { status, body } = await ask(address);
        assert.equal(status, 400, address);
        assert.deepEqual(body.errors, [{ pointer: '/address', detail: 'this is an address of the server\'s own' }]);
    }
    assert.equal((await ask(`players@${DOMAIN}`)).status, 202);
});
