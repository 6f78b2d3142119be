/*
 * Killed (-9) between the acceptance of a letter and its effect, a hundred times: exactly one
 * effect for each letter that was accepted, whatever the mail server sends again.
 *
 * The mail server here is an LMTP client that does what an MTA does: a letter that was not
 * answered with 250 is sent again after the daemon is back – also when its 250 was lost on the way.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as moment } from 'node:timers/promises';
import { startClub } from './lib/daemon.mjs';
import { classOf, startMailServer } from './lib/peers.mjs';
import { count, eventsOf, SEATS, startGame } from './lib/play.mjs';
import { lmtpConnect, mailIn, startPrograms } from './lib/bymail.mjs';
import { randomOf } from './lib/crash.mjs';

const HITS = 3; /* of one letter at most */
const KILLS = Number(process.env.FH_CRASHES ?? 100);
const HANDLES = ['anna', 'boris', 'clara', 'dmitri'];
const STYLES = ['gmail', 'outlook', 'apple', 'thunderbird', 'mutt', 'k9', 'outlook-html'];
const isAnswer = (letter) => letter.mail.headers.get('auto-submitted') === 'auto-replied';
const isTurn = (letter) => classOf(letter) === 'turn';

test(`killed ${KILLS} times between a letter's acceptance and its effect`, async (t) => {
    const below = randomOf(20270104);
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-kills-'));
    const lmtp = join(folder, 'lmtp.sock');
    const post = await startMailServer();
    const club = await startClub({ smtpPort: post.port, conf: mailIn({ lmtp, hold: '0s' }) });
    const programs = startPrograms();
    t.after(async () => {
        await club.end();
        await post.close();
        await programs.close();
        rmSync(folder, { recursive: true, force: true });
    });
    const players = [];
    for (const handle of HANDLES) players.push(await club.player(handle));
    let game = await startGame(players, { variant: 'verney' });
    const id = game.id;
    const used = new Set();
    let letters = 0, notes = 0, again = 0, kills = 0, lost = 0;
    while (kills < KILLS) {
        game = await players[0].get(`/api/v1/games/${id}`);
        const legal = await players[0].get(`/api/v1/games/${id}/legal`);
        const handle = HANDLES[SEATS.indexOf(game.turn.seat)];
        const turn = await post.letters.take((x) => !used.has(x.mail.messageId) && x.to[0] === `${handle}@example.net` && isTurn(x));
        used.add(turn.mail.messageId);
        const isNoted = STYLES[letters % STYLES.length] !== 'mutt'; /* below the quotes stands one command */
        const made = await programs.answer({ style: STYLES[letters % STYLES.length], letter: turn.raw, from: `${handle}@example.net`,
            text: legal.moves[below(legal.moves.length)] + (isNoted ? `\nnote ${letters}` : '') });
        letters += 1;
        notes += isNoted;
        let isDone = false;
        for (let tries = 0; !isDone; tries++) {
            /* One that was begun five times without an end is put aside (P39), as it must be. */
            const isHit = tries < HITS;
            const link = await lmtpConnect(lmtp);
            /* Killed while the letter is on its way, when it is accepted, or a little later. */
            const when = below(3);
            let strike = null;
            const kill = async () => {
                if (!isHit) return;
                await club.kill();
                kills += 1;
            };
            try {
                const answer = await link.send({ ...made, onData: () => { if (when === 0) strike = moment(below(4)).then(kill); } });
                assert.equal(answer.code, 250, answer.text);
                isDone = below(10) !== 0; /* now and then the 250 is lost on its way back */
                lost += !isDone;
                if (when === 1) strike = kill();
                if (when === 2) strike = moment(below(12)).then(kill);
            } catch {
                again += 1; /* it has gone before it could answer */
            }
            link.close();
            if (!strike) strike = kill();
            await strike;
            if (isHit) await club.start();
        }
        /* The effect comes without anybody asking for it. */
        await post.letters.take((x) => x.to[0] === `${handle}@example.net` && isAnswer(x) && x.mail.inReplyTo === `<${made.id}>`);
    }
    await club.settle();
    t.diagnostic(`${letters} letters, ${kills} kills, ${again} sent again unanswered, ${lost} with a lost 250`);
    const events = await eventsOf(players[0], id);
    assert.equal(count(events, 'move'), letters, 'one move a letter');
    assert.equal(club.sql('SELECT count(*) AS n FROM notes')[0].n, notes, 'one note a letter');
    assert.equal(club.sql("SELECT count(*) AS n FROM inbox WHERE state NOT IN ('done')")[0].n, 0);
    /* Answers that came twice are the same letter. */
    const byId = new Map();
    for (const letter of post.letters.items) {
        const known = byId.get(letter.mail.messageId);
        if (known) assert.ok(known.raw.equals(letter.raw), `${letter.mail.messageId} came twice and differs`);
        byId.set(letter.mail.messageId, letter);
    }
    await club.stop();
    assert.match(club.run('verify'), /^OK/);
});
