/*
 * bench/http/run.mjs - the daemon over HTTP beside a bare server and another game server.
 *
 *     run [--seconds 2] [--rounds 3] [--many 1000000] [--dir /tmp] [--keep] [--only read,move,many]
 *
 *   ours    the release build of fourhanded, 1 000 running games, four pool threads
 *   bare    bare.c: libmicrohttpd alone with as many threads, a constant body as long as our answer
 *   peer    boardgame.io on its FlatFile storage; boardgame.cjs
 *
 * Ours and the peer play one line, a whole game of verney; their games begin each at one of BASES
 * points of it, evenly spread, so that what is moved in and read is as long as games are.
 *
 * All get their load from the same program (load.c), in rounds one after another; while one is
 * measured the others are stopped (SIGSTOP), so that nobody pays for another's work.  Figures are
 * medians of the rounds.  Exit status: 2 when a ratio is below its bar, 1 when something failed.
 * Whatever ends a run, its servers and its folder go with it (setpriv sees to it if it is killed).
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { loadavg, cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';

const exec = promisify(execFile);

const HERE = import.meta.dirname;
const ROOT = join(HERE, '../../..');
const { BUILD } = process.env;
const PROGRAM = join(BUILD, 'fourhanded');
const TOOL = (name) => join(BUILD, 'tests/bench/http', name);
const LINE = join(ROOT, 'tests/e2e/games/verney.txt');
const THREADS = 4, CLIENTS = 64, GAMES = 1000, RUNNING_OF_MANY = 10000, BASES = 16;
const SEATS = ['south', 'west', 'north', 'east'], HANDLES = ['anna', 'boris', 'clara', 'dmitri'];

const options = { seconds: 2, rounds: 3, many: 1000000, dir: tmpdir(), keep: false, only: 'read,move,many' };
for (let args = process.argv.slice(2); args.length;) {
    const name = args.shift().replace(/^--/, '');
    if (!(name in options)) throw new Error(`no such option: --${name}`);
    options[name] = typeof options[name] === 'boolean' ? true : typeof options[name] === 'number' ? Number(args.shift()) : args.shift();
}
const wants = (part) => options.only.split(',').includes(part);

const folder = mkdtempSync(join(options.dir, 'fourhanded-bench-'));
const running = new Set();
const median = (values) => values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
const quote = (text) => JSON.stringify(text);

/* ---------------------------------------------------------------- servers */

/* Starts a server that tells "ready URL"; resolves with how long that took. */
async function start(name, program, args) {
    const from = performance.now();
    const child = spawn('setpriv', ['--pdeathsig', 'KILL', program, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const server = { name, child, is_stopped: false };
    server.exited = new Promise((resolve) => { child.on('exit', resolve); });
    const url = await new Promise((resolve, reject) => {
        createInterface({ input: child.stdout }).on('line', (line) => {
            const m = /^ready (http:\S+)/.exec(line);
            if (m) resolve(m[1]);
        });
        server.exited.then((code) => reject(new Error(`${name} ended at its start: ${code}`)));
    });
    server.start_ms = performance.now() - from;
    server.url = url;
    server.port = new URL(url).port;
    running.add(server);
    return server;
}

async function stop(server) {
    running.delete(server);
    server.child.kill('SIGCONT');
    if (server.name === 'ours') server.child.kill('SIGTERM');
    else server.child.stdin.end();
    await server.exited;
}

/* Only these run now. */
function only(...servers) {
    for (const s of running) s.child.kill(servers.includes(s) ? 'SIGCONT' : 'SIGSTOP');
}

async function load(server, mode, clients, ids, more = []) {
    only(server);
    const { stdout } = await exec(TOOL('bench_load'), [mode, '--port', server.port, '--clients', String(clients),
        '--seconds', String(options.seconds), '--ids', ids, '--seed', String(Math.floor(Math.random() * 1e9)), ...more]);
    const seen = JSON.parse(stdout);
    if (seen.errors) throw new Error(`${server.name} ${mode}: ${seen.errors} answers of ${seen.requests} were not as expected`);
    return seen;
}

/* ---------------------------------------------------------------- ours */

const readLine = () => readFileSync(LINE, 'utf8').split('\n').filter((row) => !row.startsWith('#')).join(' ').split(/\s+/).filter(Boolean);

/* Fourteen by fourteen cells with "0K" for South's king, of the API's position. */
function cellsOf(position) {
    const cells = Array(14 * 14).fill(null);
    position.split(' ')[1].split('/').forEach((row, i) => {
        let at = (13 - i) * 14;
        for (const token of row.split(',')) {
            if (/^\d+$/.test(token)) at += Number(token) - 1;
            else if (token !== 'x') cells[at] = 'wryb'.indexOf(token[0]) + token[1];
            at++;
        }
    });
    return cells;
}

/* What boardgame.cjs must know of the line: {seat, from, to, man, conditions} of a move. */
function plyOf(seat, move, after) {
    const m = /^([a-n])(\d+)([a-n])(\d+)([qrbn]?)$/.exec(move);
    const cell = (file, rank) => (Number(rank) - 1) * 14 + file.charCodeAt(0) - 97;
    return { seat, from: cell(m[1], m[2]), to: cell(m[3], m[4]), man: m[5].toUpperCase() || undefined, conditions: after.position.split(' ')[3] };
}

/* A club of four with games at BASES points of the line, made through the doors that anybody has. */
async function makeClub() {
    const club = { config: join(folder, 'club.conf'), db: join(folder, 'club.db'), tokens: [] };
    mkdirSync(join(folder, 'mail'));
    writeFileSync(club.config, configOf('club.db'));
    const run = (...args) => execFileSync(PROGRAM, [...args, '-c', club.config], { encoding: 'utf8' }).trim();
    for (const handle of HANDLES) {
        run('user', 'add', handle, `${handle}@example.net`, '--verified');
        club.tokens.push(run('user', 'token', handle, '--scopes', 'read,play,manage', '--name', 'bench'));
    }
    const server = await startOurs(club.config);
    const call = async (player, method, path, body) => {
        const answer = await fetch(server.url + path, { method, body: JSON.stringify(body),
            headers: { Authorization: `Bearer ${club.tokens[player]}`, 'Content-Type': 'application/json' } });
        if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
        return answer.json();
    };
    const seats = Object.fromEntries(SEATS.map((seat, i) => [seat, i ? { handle: HANDLES[i] } : { me: true }]));
    const line = readLine();
    const bases = Array.from({ length: BASES }, (_, i) => Math.floor(i * line.length / BASES));
    club.plan = { plies: [], bases };
    for (const plies of [line.length, ...bases]) { /* the first one to its end, for the plan */
        const { id } = await call(0, 'POST', '/api/v1/games', { variant: 'verney', seats });
        let game;
        for (let i = 1; i < 4; i++) game = await call(i, 'POST', `/api/v1/games/${id}/accept`, {});
        club.plan.start = cellsOf(game.position);
        for (const move of line.slice(0, plies)) {
            const seat = SEATS.indexOf(game.turn.seat);
            const next = (await call(seat, 'POST', `/api/v1/games/${id}/moves`, { move, state_number: game.state_number })).game;
            if (plies === line.length) club.plan.plies.push(plyOf(seat, move, next));
            game = next;
        }
    }
    await stop(server);
    club.peer_plan = join(folder, 'peer.json');
    club.peer_line = join(folder, 'peer.line');
    writeFileSync(club.peer_plan, JSON.stringify(club.plan));
    writeFileSync(club.peer_line, club.plan.plies.map((p) => [p.seat, p.from, p.to, ...p.man ? [p.man] : []].join(':')).join(' ') + '\n');
    return club;
}

/* The limits on how often one may ask are as high as they go; all else is as usual. */
function configOf(db) {
    return [
        'public_url = "http://127.0.0.1:0";',
        `database = ${quote(join(folder, db))};`,
        `control_socket = ${quote(join(folder, `${db}.sock`))};`,
        `web_directory = ${quote(join(ROOT, 'web'))};`,
        'log_level = "warning";',
        `http: { listen = "127.0.0.1:0"; threads = ${THREADS}; rate_requests = 1000000; };`,
        `mail: { transport = "directory"; directory = ${quote(join(folder, 'mail'))}; };`, ''].join('\n');
}

const startOurs = (config) => start('ours', PROGRAM, ['serve', '-c', config]);

/* A club like it with so many games. */
async function seed(club, name, games, running_games) {
    const db = join(folder, `${name}.db`), config = join(folder, `${name}.conf`), ids = join(folder, `${name}.ids`);
    const from = performance.now();
    execFileSync('cp', [club.db, db]);
    await exec(TOOL('bench_seed'), [db, String(games), String(running_games), ids]);
    execFileSync('sync', ['-f', db]); /* or the first commits wait for all this to be written */
    writeFileSync(config, configOf(`${name}.db`));
    /* A thousand of the running ones, evenly spread over the file. */
    const all = readFileSync(ids, 'utf8').split('\n').filter(Boolean);
    const step = Math.max(1, Math.floor(all.length / GAMES));
    writeFileSync(ids, all.filter((_, i) => i % step === 0).slice(0, GAMES).join('\n') + '\n');
    return { db, config, ids, all: `${ids}.all`, seconds: (performance.now() - from) / 1000, bytes: statSync(db).size };
}

/* What it holds, and held at most since forgetMemory(): a start makes one password hash, which
 * takes what a login takes. */
const forgetMemory = (server) => writeFileSync(`/proc/${server.child.pid}/clear_refs`, '5');

function memoryOf(server) {
    const status = readFileSync(`/proc/${server.child.pid}/status`, 'utf8');
    const of = (key) => Number(new RegExp(`^${key}:\\s+(\\d+)`, 'm').exec(status)[1]) / 1024;
    return { now: of('VmRSS'), most: of('VmHWM') };
}

/* ---------------------------------------------------------------- the tables */

let is_below = false;

function verdict(ratio, bar, is_most = false) {
    const is_good = is_most ? ratio <= bar : ratio >= bar;
    if (!is_good) is_below = true;
    return `${ratio.toFixed(2)} (bar ${is_most ? '≤' : '≥'} ${bar}${is_good ? '' : ': MISSED'})`;
}

const rates = {};
/* Several measurements by turns, so that all see the same weather. */
async function measure(list) {
    const seen = list.map(() => []);
    for (let round = 0; round < options.rounds; round++)
        for (const [i, [, ...args]] of list.entries()) seen[i].push(await load(...args));
    list.forEach(([name], i) => {
        const rate = median(seen[i].map((s) => s.rate)), us = median(seen[i].map((s) => s.median_us));
        const p99 = median(seen[i].map((s) => s.p99_us));
        rates[name] = { rate, us };
        console.log(`  ${name.padEnd(44)} ${rate.toFixed(0).padStart(7)}/s   median ${us.toFixed(0).padStart(6)} µs   p99 ${p99.toFixed(0).padStart(7)} µs   ${seen[i][0].bytes} bytes`);
    });
}

const ratio = (a, b) => rates[a].rate / rates[b].rate;

async function main() {
    const weather = () => `load ${loadavg()[0].toFixed(1)} on ${cpus().length} × ${cpus()[0].model}`;
    console.log(`bench/http: ${weather()}, ${options.rounds} rounds of ${options.seconds} s, files in ${options.dir}`);
    const club = await makeClub();
    const small = await seed(club, 'small', GAMES, GAMES);
    let ours = await startOurs(small.config);
    forgetMemory(ours);
    const tokens = ['--tokens', club.tokens.join(',')];
    if (options.keep) writeFileSync(join(folder, 'tokens'), club.tokens.join(','));

    if (wants('read') || wants('move')) {
        const size = Math.round((await load(ours, 'read', 1, small.ids)).bytes);
        const bare = await start('bare', TOOL('bench_bare'), [String(THREADS), String(size)]);
        const matches = join(folder, 'peer.ids'), others = join(folder, 'peer1.ids');
        const peer = await start('peer', process.execPath, [join(HERE, 'boardgame.cjs'), join(folder, 'peer'), club.peer_plan, String(GAMES), matches, others]);
        if (wants('read')) {
            console.log(`reading a game, ${CLIENTS} clients, one of ${GAMES} at random:`);
            await measure([['bare', bare, 'read', CLIENTS, small.ids],
                ['ours', ours, 'read', CLIENTS, small.ids],
                ['ours, with a token', ours, 'read', CLIENTS, small.ids, tokens],
                ['bare, with a token', bare, 'read', CLIENTS, small.ids, tokens],
                ['peer', peer, 'ws-read', CLIENTS, matches]]);
            console.log(`  ours to bare ${verdict(ratio('ours', 'bare'), 0.6)}; with a token ${ratio('ours, with a token', 'bare, with a token').toFixed(2)}`);
            console.log(`  ours to peer ${verdict(ratio('ours', 'peer'), 10)}; with a token ${ratio('ours, with a token', 'peer').toFixed(1)}`);
        }
        if (wants('move')) {
            console.log(`moving, letters on; ours is answered after the commit's fsync, the peer answers before it writes and never syncs:`);
            const line = [...tokens, '--line', LINE], peer_line = ['--line', club.peer_line];
            await measure([['peer, 1 client', peer, 'ws-move', 1, others, peer_line],
                ['ours, 1 client', ours, 'move', 1, small.ids, line],
                [`peer, ${CLIENTS} clients`, peer, 'ws-move', CLIENTS, matches, peer_line],
                [`ours, ${CLIENTS} clients`, ours, 'move', CLIENTS, small.ids, line]]);
            console.log(`  ours to peer, 1 client ${verdict(ratio('ours, 1 client', 'peer, 1 client'), 10)}`);
            console.log(`  ours to peer, ${CLIENTS} clients ${verdict(ratio(`ours, ${CLIENTS} clients`, `peer, ${CLIENTS} clients`), 10)}`);
        }
        only(bare, peer);
        await Promise.all([stop(bare), stop(peer)]);
        only(ours);
        const m = memoryOf(ours);
        console.log(`  memory of ours: ${m.now.toFixed(1)} MiB resident, ${m.most.toFixed(1)} at most`);
    }
    if (wants('many')) {
        only(ours);
        await stop(ours);
        const fresh = await seed(club, 'fresh', GAMES, GAMES);
        const many = await seed(club, 'many', options.many, Math.min(RUNNING_OF_MANY, options.many));
        console.log(`${options.many} stored games (${(many.bytes / 2 ** 30).toFixed(2)} GiB, ${Math.min(RUNNING_OF_MANY, options.many)} of them running; written in ${many.seconds.toFixed(0)} s) beside ${GAMES}; ${weather()}:`);
        ours = await startOurs(fresh.config);
        const big = await startOurs(many.config);
        const idle = memoryOf(big);
        forgetMemory(big);
        const line = [...tokens, '--line', LINE];
        await measure([[`read, ${GAMES} stored`, ours, 'read', 1, fresh.ids, tokens],
            [`read, ${options.many} stored`, big, 'read', 1, many.ids, tokens],
            [`read, any of ${options.many}`, big, 'read', 1, many.all, tokens]]);
        await measure([[`move, ${GAMES} stored`, ours, 'move', 1, fresh.ids, line],
            [`move, ${options.many} stored`, big, 'move', 1, many.ids, line]]);
        only(big);
        const m = memoryOf(big);
        const of = (what) => rates[`${what}, ${options.many} stored`].us / rates[`${what}, ${GAMES} stored`].us;
        console.log(`  median read ${verdict(of('read'), 1.3, true)}; median move ${verdict(of('move'), 1.3, true)}`);
        console.log(`  start ${verdict(big.start_ms / 1000, 2, true)} s (${GAMES} games: ${(ours.start_ms / 1000).toFixed(2)} s)`);
        console.log(`  memory ${verdict(m.most, 96, true)} MiB at most, ${m.now.toFixed(1)} now, ${idle.now.toFixed(1)} before the load`);
        only(ours, big);
        await stop(big);
    }
    await stop(ours);
    console.log(`done; ${weather()}`);
}

function cleanUp() {
    for (const s of running) s.child.kill('SIGKILL'); /* stopped ones too */
    if (!options.keep) rmSync(folder, { recursive: true, force: true });
    else console.log(folder);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => {
        cleanUp();
        process.exit(1);
    });
}

try {
    await main();
    if (is_below) process.exitCode = 2;
} finally {
    cleanUp();
}
