/*
 * e2e/lib/bymail.mjs - players with nothing but a mail program, and the ways their letters take.
 *
 *   const programs = startPrograms();             the mail programs of clients.py
 *   const { to, raw } = await programs.answer({ style, letter, from, text, date });
 *   const link = await lmtpConnect(path);         one LMTP connection, as an MTA has it
 *   await link.send({ from, to, raw })            → { code, text } for the one recipient
 *   MAIL_IN(folder)                               the daemon's configuration for it
 */
import { spawn, spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { join } from 'node:path';

export const DOMAIN = 'club.example.org';

/* What a club that plays by mail adds to its configuration. */
export const mailIn = ({ lmtp = '', hold = '0s', more = '' } = {}) => `mail_in: { address = "play@${DOMAIN}"; bounce_address = "bounce@${DOMAIN}";
    ${lmtp ? `lmtp_listen = "unix:${lmtp}";` : ''} hold_time = "${hold}"; answers_an_hour = 1000; ${more} };`;

export function startPrograms() {
    const child = spawn('python3', [join(import.meta.dirname ?? '.', 'clients.py')], { stdio: ['pipe', 'pipe', 'inherit'] });
    const waiting = [];
    const lines = createInterface({ input: child.stdout });
    let serial = 0;
    lines.on('line', (line) => { waiting.shift()(JSON.parse(line)); });
    const ended = new Promise((resolve) => { child.on('exit', resolve); });
    return {
        /* port: Python's smtplib hands it in there, too. */
        async answer({ style, letter, from, text, name = '', date = '2027-01-04T09:30:00Z', id = `${++serial}.${process.pid}@mail.example.net`, port = 0 }) {
            const wish = { style, letter: letter.toString('base64'), from, name, text, date, id, port };
            const made = await Promise.race([
                new Promise((resolve) => { waiting.push(resolve); child.stdin.write(`${JSON.stringify(wish)}\n`); }),
                ended.then((code) => { throw new Error(`clients.py ended: ${code}`); })]);
            return { to: made.to, raw: Buffer.from(made.raw, 'base64'), from, id };
        },
        close() { child.stdin.end(); return ended; },
    };
}

/* By swaks, which speaks to the mail server as a program does; throws what it said when refused. */
export function swaks({ port, from, to, raw }) {
    const done = spawnSync('swaks', ['--server', `127.0.0.1:${port}`, '--from', from, '--to', to, '--data', '-', '--suppress-data'],
        { input: raw, encoding: 'utf8' });
    if (done.status !== 0) throw new Error(`swaks: ${done.status} ${done.stdout}${done.stderr}`);
}

/* One LMTP connection.  Its promises are rejected when the other side goes. */
export async function lmtpConnect(path) {
    const socket = connect(path);
    const waiting = [];
    let gone = null;
    const fail = (error) => {
        gone ??= error;
        for (const { reject } of waiting.splice(0)) reject(gone);
    };
    socket.on('close', () => fail(new Error('the connection has gone')));
    let lines = [];
    const reader = createInterface({ input: socket });
    for (const side of [socket, reader]) side.on('error', fail); /* a reader tells its input's errors again */
    reader.on('line', (line) => {
        lines.push(line.slice(4));
        if (line[3] === '-') return;
        const answer = { code: Number(line.slice(0, 3)), text: lines.join('\n') };
        lines = [];
        waiting.shift()?.resolve(answer);
    });
    const heard = () => new Promise((resolve, reject) => { if (gone) reject(gone); else waiting.push({ resolve, reject }); });
    const say = (line) => {
        const answer = heard();
        if (!gone) socket.write(line);
        return answer;
    };
    const greeting = await heard();
    if (greeting.code !== 220) throw new Error(`LMTP: ${greeting.code} ${greeting.text}`);
    await say('LHLO mail.example.org\r\n');
    return {
        say,
        /* { from, to, raw }: one recipient; onData(): the whole letter is on its way, no answer yet. */
        async send({ from, to, raw, onData = () => {} }) {
            let answer = await say(`MAIL FROM:<${from}>\r\n`);
            if (answer.code !== 250) return answer;
            answer = await say(`RCPT TO:<${to}>\r\n`);
            if (answer.code !== 250) {
                await say('RSET\r\n');
                return answer;
            }
            answer = await say('DATA\r\n');
            if (answer.code !== 354) return answer;
            const stuffed = raw.toString('latin1').replace(/\r?\n/g, '\r\n').replace(/^\./gm, '..');
            const end = say(Buffer.from(`${stuffed.replace(/\r\n$/, '')}\r\n.\r\n`, 'latin1'));
            onData();
            return end;
        },
        close() { socket.end(); socket.destroy(); },
    };
}
