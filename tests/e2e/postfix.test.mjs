/*
 * The first round of a game with Postfix's own smtp-sink as the mail server: what leaves us is what
 * a real MTA takes, byte for byte, and every letter goes to one recipient.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, readdirSync, rmSync, watch } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { simpleParser } from 'mailparser';
import { startClub } from './lib/daemon.mjs';
import { playAll, startGame } from './lib/play.mjs';
import { freePort } from './lib/ports.mjs';
import { greeting } from './lib/postfix.mjs';

const SINK = process.env.SMTP_SINK ?? '/usr/sbin/smtp-sink';

test('a round of letters through smtp-sink', async (t) => {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-sink-'));
    chmodSync(folder, 0o777);
    const port = await freePort();
    const asUser = process.getuid() === 0 ? ['-u', 'nobody'] : [];
    const sink = spawn(SINK, [...asUser, '-d', join(folder, 'letter.'), `127.0.0.1:${port}`, '64'], { stdio: 'ignore' });
    t.after(() => { sink.kill(); rmSync(folder, { recursive: true, force: true }); });
    await greeting(port); /* the sink has no other way to say that it is up */
    const club = await startClub({ smtpPort: port });
    t.after(() => club.end());
    const players = [];
    for (const handle of ['anna', 'boris', 'clara', 'dmitri']) players.push(await club.player(handle));

    /* The letters in the folder, each once it is whole: smtp-sink writes them down piece by piece. */
    const letters = async () => {
        const all = [];
        for (const name of readdirSync(folder)) {
            const text = readFileSync(join(folder, name), 'latin1');
            for (const part of text.split(/^X-Client-Addr: /m).slice(1)) {
                const rcpt = [...part.matchAll(/^X-Rcpt-Args: <([^>]*)>/gm)].map((m) => m[1]);
                const mail = await simpleParser(Buffer.from(`X-Client-Addr: ${part}`, 'latin1'));
                const [, boundary] = /^Content-Type: multipart\/\w+;\s+boundary="([^"]+)"/m.exec(part) ?? [];
                all.push({ rcpt, mail, whole: boundary !== undefined && part.includes(`\n--${boundary}--`) });
            }
        }
        return all.filter((letter) => letter.whole);
    };
    const until = (pleases) => new Promise((resolve, reject) => {
        const look = async () => {
            const found = (await letters()).find(pleases);
            if (found) {
                watcher.close();
                resolve(found);
            }
        };
        const watcher = watch(folder, () => { look().catch(reject); });
        look().catch(reject);
    });

    const game = await startGame(players, { variant: 'verney' });
    const isTurnOf = (handle) => (letter) => letter.rcpt[0] === `${handle}@example.net` && /your move/i.test(letter.mail.from?.text ?? '');
    const first = await until(isTurnOf('anna'));
    assert.equal(first.rcpt.length, 1);
    assert.match(first.mail.text, /Deadline:/);
    const moves = ['e2e3', 'b5c5', 'e13e12', 'm5l5'];
    for (const [i, next] of ['boris', 'clara', 'dmitri'].entries()) {
        await playAll(players, game, [moves[i]]);
        const letter = await until(isTurnOf(next));
        assert.deepEqual(letter.rcpt, [`${next}@example.net`]);
        assert.equal(letter.mail.attachments[0].contentType, 'image/png');
    }
    const ids = (await letters()).map((letter) => letter.mail.messageId);
    assert.equal(new Set(ids).size, ids.length);
});
