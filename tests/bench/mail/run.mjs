/*
 * bench/mail/run.mjs - letters in and out, beside Postfix's smtp-sink and smtp-source.
 *
 *     run [--letters 10000] [--rounds 3] [--sessions 20] [--dir /tmp] [--only in,out,hostile]
 *
 *   in     smtp-source hands the same letters over by LMTP to the daemon, which answers when they
 *          are durable and reads them meanwhile, and to smtp-sink, which throws them away
 *   out    the daemon's courier sends letters that are composed already to smtp-sink; smtp-source
 *          sends as many of the same length to the same sink, a connection a letter (as it does by
 *          itself) and keeping its connections (-d).  Once with a turn's letter as it is, picture
 *          and all, once ("plain") with 4 KiB
 *
 *   hostile  what letters of 1 MiB made to cost as much as they can do cost (hostile.c)
 *
 * In rounds one after another, nothing else running meanwhile; figures are medians of the rounds.
 * Composing is measured by itself (compose.c).  Exit status: 2 when a ratio is below its bar (in
 * 0.3, out 0.5) or a hostile letter takes more than 50 ms or 32 MiB, 1 when something failed.
 */
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { cpus, loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const { BUILD } = process.env;
const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(BUILD, 'fourhanded'), TOOL = (name) => join(BUILD, 'tests/bench/mail', name);
const SOURCE = process.env.SMTP_SOURCE ?? '/usr/sbin/smtp-source', SINK = process.env.SMTP_SINK ?? '/usr/sbin/smtp-sink';
const BAR = { in: 0.3, out: 0.5 }, LENGTH_IN = 2048, PLAIN = 4096, COMPOSED = 100;

const options = { letters: 10000, rounds: 3, sessions: 20, dir: tmpdir(), only: 'in,out,hostile' };
for (let args = process.argv.slice(2); args.length;) {
    const name = args.shift().replace(/^--/, '');
    if (!(name in options)) throw new Error(`no such option: --${name}`);
    options[name] = typeof options[name] === 'number' ? Number(args.shift()) : args.shift();
}

const folder = mkdtempSync(join(options.dir, 'fourhanded-bench-'));
chmodSync(folder, 0o777); /* smtp-sink becomes nobody and makes its socket there */
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const rate = (ms) => options.letters / ms * 1000;
const exited = (child) => new Promise((resolve, reject) => {
    child.on('exit', (code, signal) => (code === 0 || signal ? resolve(performance.now()) : reject(new Error(`${child.spawnfile}: ${code}`))));
});
const freePort = () => new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
        const { port } = server.address();
        server.close(() => resolve(port));
    });
});

/* Resolves when something greets at the address: smtp-sink has no other way to say that it is up. */
function greeting(at) {
    return new Promise((resolve) => {
        const attempt = () => {
            const socket = connect(at);
            socket.once('data', () => { socket.end('QUIT\r\n'); resolve(); });
            socket.once('error', () => setTimeout(attempt, 10));
        };
        attempt();
    });
}

async function startSink(where, at, more) {
    const asUser = process.getuid() === 0 ? ['-u', 'nobody'] : [];
    const child = spawn(SINK, [...asUser, ...more, where, '256'], { stdio: ['ignore', 'ignore', 'inherit'] });
    const ended = exited(child);
    await greeting(at);
    return { child, ended, stop: async () => { child.kill(); await ended; } };
}

async function startDaemon(name, mail) {
    const conf = join(folder, `${name}.conf`);
    writeFileSync(conf, `public_url = "http://127.0.0.1:0";
database = "${folder}/${name}.db";
control_socket = "${folder}/${name}.control";
web_directory = "${ROOT}/web";
log_level = "warning";
http: { listen = "127.0.0.1:0"; metrics_listen = "127.0.0.1:0"; };
${mail}
`);
    const from = performance.now();
    const child = spawn(PROGRAM, ['serve', '-c', conf], { stdio: ['ignore', 'pipe', 'inherit'] });
    const ended = exited(child);
    const ready = await new Promise((resolve, reject) => {
        createInterface({ input: child.stdout }).on('line', resolve);
        ended.then(() => reject(new Error('the daemon ended at its start')), reject);
    });
    const metrics = / metrics (\S+)/.exec(ready)[1];
    return {
        from,
        /* When every letter has been sent and marked so, to 50 ms: to ask more often costs a twentieth. */
        async allSent() {
            for (;;) {
                const text = await (await fetch(`${metrics}/metrics`)).text();
                if (Number(/channel="mail",result="sent"\} (\d+)/.exec(text)[1]) >= options.letters) return performance.now();
                await new Promise((resolve) => { setTimeout(resolve, 50); });
            }
        },
        stop: async () => { child.kill('SIGTERM'); await ended; },
    };
}

/* smtp-source's letters to where; milliseconds. */
function source(where, length, more) {
    const from = performance.now();
    execFileSync(SOURCE, ['-s', String(options.sessions), '-m', String(options.letters), '-l', String(length), '-f', 'a@example.net',
        ...more, where], { stdio: ['ignore', 'ignore', 'inherit'] });
    return performance.now() - from;
}

const ratios = {};

async function lettersIn() {
    const ours = join(folder, 'lmtp.sock'), theirs = join(folder, 'sink.sock');
    const words = ['-L', '-t', `play+${'abcdefghijklmnopqrstuvwxyz'}@example.org`];
    const daemon = await startDaemon('in', `mail: { directory = "${folder}/mail"; };
mail_in: { address = "play@example.org"; lmtp_listen = "unix:${ours}"; connections = 100; };`);
    const sink = await startSink(`unix:${theirs}`, { path: theirs }, ['-L']);
    const times = { ours: [], theirs: [] };
    for (let i = 0; i < options.rounds; i++) {
        times.theirs.push(source(`unix:${theirs}`, LENGTH_IN, words));
        times.ours.push(source(`unix:${ours}`, LENGTH_IN, words));
    }
    await sink.stop();
    await daemon.stop();
    const us = rate(median(times.ours)), peer = rate(median(times.theirs));
    ratios.in = us / peer;
    console.log(`in    ours ${us.toFixed(0)}/s, smtp-sink ${peer.toFixed(0)}/s, ratio ${ratios.in.toFixed(2)} (bar ${BAR.in}); ${LENGTH_IN} bytes, ${options.sessions} sessions`);
}

/* A letter of so many bytes and nothing in it. */
function plainLetter(path, size) {
    const head = 'From: club@example.org\r\nTo: player@example.net\r\nSubject: x\r\nMessage-ID: <x@example.org>\r\n\r\n';
    const line = `${'x'.repeat(70)}\r\n`;
    writeFileSync(path, head + line.repeat(Math.ceil((size - head.length) / line.length)));
}

async function lettersOut(what, letter) {
    const { size } = statSync(letter);
    const port = await freePort();
    const times = { ours: [], theirs: [], kept: [] };
    for (let i = 0; i < options.rounds; i++) {
        const again = async (list, more) => {
            const sink = await startSink(`127.0.0.1:${port}`, { port, host: '127.0.0.1' }, []);
            list.push(source(`127.0.0.1:${port}`, size, ['-t', 'player@example.net', ...more]));
            await sink.stop();
        };
        await again(times.theirs, []);
        await again(times.kept, ['-d']);
        const database = `${what}${i}`;
        execFileSync(TOOL('bench_letters'), [join(folder, `${database}.db`), String(options.letters), letter], { stdio: 'inherit' });
        const sink = await startSink(`127.0.0.1:${port}`, { port, host: '127.0.0.1' }, []);
        const daemon = await startDaemon(database, `mail: { transport = "smtp"; tls = "none"; host = "127.0.0.1"; port = ${port}; from_address = "club@example.org"; };`);
        times.ours.push(await daemon.allSent() - daemon.from);
        await daemon.stop();
        await sink.stop();
    }
    const us = rate(median(times.ours)), peer = rate(median(times.theirs)), kept = rate(median(times.kept));
    ratios[what] = us / peer;
    console.log(`${what.padEnd(5)} ours ${us.toFixed(0)}/s, smtp-source ${peer.toFixed(0)}/s, ratio ${ratios[what].toFixed(2)} (bar ${BAR.out}); ` +
        `smtp-source -d ${kept.toFixed(0)}/s, ratio ${(us / kept).toFixed(2)}; ${size} bytes`);
}

async function allOut() {
    const letter = join(folder, 'letter'), plain = join(folder, 'plain');
    const [, perSecond] = execFileSync(TOOL('bench_compose'), [String(COMPOSED), letter], { encoding: 'utf8' }).trim().split(' ');
    plainLetter(plain, PLAIN);
    await lettersOut('out', letter);
    await lettersOut('plain', plain);
    console.log(`composing a turn's letter: ${perSecond}/s on one thread`);
}

/* Whether one is above its bars. */
function hostile() {
    const { status, error } = spawnSync(TOOL('bench_hostile'), [], { stdio: 'inherit' });
    if (error || (status !== 0 && status !== 2)) throw error ?? new Error(`bench_hostile: ${status}`);
    return status === 2;
}

let isAbove = false;
try {
    console.log(`${cpus().length} processors (${cpus()[0].model.trim()}), load ${loadavg()[0].toFixed(1)}, ${options.letters} letters, median of ${options.rounds}`);
    if (options.only.split(',').includes('in')) await lettersIn();
    if (options.only.split(',').includes('out')) await allOut();
    if (options.only.split(',').includes('hostile')) isAbove = hostile();
} finally {
    rmSync(folder, { recursive: true, force: true });
}
process.exitCode = isAbove || Object.entries(ratios).some(([name, value]) => value < (BAR[name] ?? BAR.out)) ? 2 : 0;
