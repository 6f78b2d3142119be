/*
 * e2e/lib/daemon.mjs - the real program on a port of its own, in a folder of its own.
 *
 *   const club = await startClub({ mail: 'smtp', smtpPort, clock: true });
 *   const anna = await club.player('anna');           account with a token
 *   await anna.post('/api/v1/games', {...})           JSON in and out, throws Refused
 *   await club.stop(); await club.kill(); await club.start();
 *   startClub({ rate: 12, http: 'trusted_proxies = […];' })   more of the section http
 *   startClub({ smtp: 'host = "localhost"; tls = "starttls";', webhooks: '…' })   of mail, webhooks
 *   startClub({ at: '2027-01-04T08:00:00Z' })         its clocks stand there until advanced
 *   await club.settle(); await club.advance('3d');    all that is due is done, also after the jump
 *   club.sql('SELECT …')                              rows of the file
 *   await club.logged(/mail_refused/)                 its log, once it says so
 *
 * Nothing sleeps: start() waits for the daemon's own "ready" line, until() for an event.
 * FOURHANDED names the program (default: the build that ctest runs in).
 */
import { execFile, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, mkdirSync, rmSync, writeFileSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect } from 'node:net';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { Spec } from '../../http/spec.mjs';

const execFileLater = promisify(execFile);
const spec = new Spec(); /* every answer to a Client is held against web/openapi.yaml */

export const PROGRAM = process.env.FOURHANDED ?? 'build-asan/fourhanded-test';

export class Refused extends Error {
    constructor(status, body, headers) {
        super(`${status} ${body?.code ?? ''} ${body?.detail ?? ''}`);
        this.status = status;
        this.body = body;
        this.headers = headers;
    }
}

/* One who speaks to the API with a bearer token (or none). */
export class Client {
    constructor(club, handle, token) {
        this.club = club;
        this.handle = handle;
        this.token = token;
    }

    async request(method, path, body, headers = {}) {
        /* A connection of its own: one that is kept may have been shut by a clock that was moved. */
        const init = { method, headers: { Connection: 'close', ...headers } };
        if (this.token) init.headers.Authorization = `Bearer ${this.token}`;
        if (body !== undefined) {
            init.headers['Content-Type'] ??= 'application/json';
            init.body = typeof body === 'string' ? body : JSON.stringify(body);
        }
        const response = await fetch(this.club.url + path, init);
        const type = response.headers.get('content-type') ?? '';
        const text = await response.text();
        if (!type.includes('image/png')) spec.check(method, path, response, text);
        const data = response.status === 204 || response.status === 304 ? null
            : type.includes('json') && !type.includes('ndjson') ? JSON.parse(text) : text;
        if (response.status >= 400) throw new Refused(response.status, data, response.headers);
        return { status: response.status, headers: response.headers, data };
    }

    async get(path, headers) { return (await this.request('GET', path, undefined, headers)).data; }
    async post(path, body, headers) { return (await this.request('POST', path, body, headers)).data; }
    async patch(path, body) { return (await this.request('PATCH', path, body)).data; }
    async del(path) { return (await this.request('DELETE', path)).data; }
}

class Club {
    constructor(options) {
        this.options = options;
        this.folder = mkdtempSync(join(tmpdir(), 'fourhanded-'));
        mkdirSync(join(this.folder, 'mail'));
        this.config = join(this.folder, 'fourhanded.conf');
        this.log = '';
        this.onLog = () => {};
        this.clock_ms = 0; /* how far its clocks are ahead of the machine's, while they run */
        this.at = options.at ? Date.parse(options.at) : null; /* when its clocks stand: where */
        writeFileSync(this.config, this.configText());
    }

    configText() {
        const { smtpPort, conf = '' } = this.options;
        const quote = (text) => JSON.stringify(text);
        return [
            `public_url = "http://127.0.0.1:0";`,
            `database = ${quote(join(this.folder, 'club.db'))};`,
            `control_socket = ${quote(join(this.folder, 'control.sock'))};`,
            `web_directory = ${quote(join(import.meta.dirname ?? '.', '../../../web'))};`,
            `registration = "open";`,
            `http: { listen = "127.0.0.1:0"; metrics_listen = "127.0.0.1:0"; rate_requests = ${this.options.rate ?? 1000000}; rate_logins = 1000000; ${this.options.http ?? ''} };`,
            smtpPort ? `mail: { transport = "smtp"; port = ${smtpPort}; ${this.options.smtp ?? 'host = "127.0.0.1"; tls = "none";'} from_address = "club@example.org"; };`
                : `mail: { transport = "directory"; directory = ${quote(join(this.folder, 'mail'))}; from_address = "club@example.org"; };`,
            `webhooks: { allow = [ "127.0.0.0/8" ]; ${this.options.webhooks ?? ''} };`,
            conf, ''].join('\n');
    }

    run(args, input = '') {
        return execFileSync(PROGRAM, [...args.split(' '), '-c', this.config].filter(Boolean),
            { input, encoding: 'utf8', stdio: ['pipe', 'pipe', 'pipe'] });
    }

    /* The same without standing still meanwhile: for what makes the daemon speak to our servers. */
    async command(...words) {
        return (await execFileLater(PROGRAM, [...words, '-c', this.config], { encoding: 'utf8' })).stdout.trim();
    }

    /* A verb by control.sock (daemon/main/control.h), without the time that a process takes to start. */
    control(verb, values = {}) {
        const words = [verb, ...Object.entries(values).flat()];
        const database = join(this.folder, 'club.db');
        const { dev, ino } = statSync(database);
        const bytes = Buffer.from([`database=${database}\n${dev}:${ino}`, ...words].map((word) => `${word}\0`).join(''));
        const size = Buffer.alloc(4);
        size.writeUInt32BE(bytes.length);
        return new Promise((resolve, reject) => {
            const chunks = [];
            const socket = connect(join(this.folder, 'control.sock'), () => socket.write(Buffer.concat([size, bytes])));
            socket.on('data', (chunk) => chunks.push(chunk));
            socket.on('error', reject);
            socket.on('end', () => {
                const answer = Buffer.concat(chunks);
                const text = answer.subarray(5).toString('utf8').replace(/\0$/, '').trim();
                if (answer.length < 5 || answer[4] !== 0) reject(new Error(`${verb}: ${text || 'no answer'}`));
                else resolve(text);
            });
        });
    }

    /* Timers that are due have run, letters and webhooks that are due have been sent. */
    async settle() { return Date.parse(await this.control('settle')); }

    /* Its clocks are that much later ("6d 23h", or milliseconds), as if it had been up all the time. */
    async advance(length) {
        const text = typeof length === 'number' ? `${length}ms` : length;
        await this.control('settle'); /* what is under way would lose its lease */
        const now = Date.parse(await this.control('clock-advance', { length: text }));
        this.clock_ms += lengthOf(text);
        if (this.at !== null) this.at = now;
        return now;
    }

    /* The same without anything done for it before this returns: what comes next may be first. */
    async creep(length) {
        await this.control('clock-creep', { length: typeof length === 'number' ? `${length}ms` : length });
        const ms = typeof length === 'number' ? length : lengthOf(length);
        this.clock_ms += ms;
        if (this.at !== null) this.at += ms;
    }

    /* To that instant, where its clocks stand: an ISO text, or milliseconds since 1970. */
    async advanceTo(instant) {
        const ms = (typeof instant === 'number' ? instant : Date.parse(instant)) - this.at;
        return ms === 0 ? this.settle() : this.advance(ms);
    }

    /* Its wall clock alone is set; a length that begins with - sets it back. */
    async setWall(length) {
        const back = length.startsWith('-');
        const now = Date.parse(await this.control(back ? 'clock-back' : 'clock-ahead', { length: back ? length.slice(1) : length }));
        if (this.at !== null) this.at = now;
        return now;
    }

    /* Rows as objects.  Not while a daemon runs on a disk that loses what is not synced. */
    sql(query) {
        const text = execFileSync('sqlite3', ['-readonly', '-json', '-cmd', '.timeout 60000', join(this.folder, 'club.db'), query],
            { encoding: 'utf8', maxBuffer: 1 << 28 });
        return text.trim() ? JSON.parse(text) : [];
    }

    /* What the daemon wrote before it answered may be read after the answer. */
    logged(words) {
        return Promise.race([
            new Promise((resolve) => {
                this.onLog = () => { if (words.test(this.log)) resolve(this.log); };
                this.onLog();
            }),
            this.exited.then(() => { throw new Error(`the daemon ended and never said ${words}`); }),
        ]);
    }

    async start() {
        const child = spawn(PROGRAM, ['serve', '-c', this.config], { stdio: ['ignore', 'pipe', 'pipe'],
            env: { ...process.env, ...this.options.env, FOURHANDED_TEST_CLOCK: this.at !== null ? new Date(this.at).toISOString() : this.clock_ms ? `${this.clock_ms}ms` : '' } });
        this.child = child;
        child.stderr.setEncoding('utf8').on('data', (text) => { this.log += text; this.onLog(); });
        this.exited = new Promise((resolve) => { child.on('close', (code, signal) => resolve({ code, signal })); }); /* and all that it said is here */
        const lines = createInterface({ input: child.stdout });
        const ready = new Promise((resolve) => {
            lines.on('line', (line) => {
                const m = /^ready (http:\S+)(?: metrics (http:\S+))?/.exec(line);
                if (m) resolve(m);
            });
        });
        const first = await Promise.race([ready, this.exited]);
        if (!Array.isArray(first)) throw new Error(`the daemon ended at its start: ${JSON.stringify(first)}\n${this.log}`);
        [, this.url, this.metrics] = first;
        return this;
    }

    async stop(signal = 'SIGTERM') {
        if (!this.child) return null;
        this.child.kill(signal);
        const end = await this.exited;
        this.child = null;
        const fault = /(?:WARNING: ThreadSanitizer|ERROR: AddressSanitizer|ERROR: LeakSanitizer|runtime error:)[^]*/.exec(this.log);
        if (fault) throw new Error(`the daemon's sanitizer says:\n${fault[0].slice(0, 6000)}`);
        return end;
    }

    async kill() { return this.stop('SIGKILL'); }

    async end() {
        await this.stop();
        if (!process.env.FH_KEEP) rmSync(this.folder, { recursive: true, force: true });
    }

    /* An account with a verified address and a token for everything. */
    async player(handle, { zone = 'UTC', language = 'en', operator = false, scopes = 'read,play,manage', password = null } = {}) {
        this.run(`user add ${handle} ${handle}@example.net --verified --zone ${zone} --language ${language}${operator ? ' --operator' : ''}${password ? ' --password-stdin' : ''}`, password ? `${password}\n` : '');
        const token = this.run(`user token ${handle} --scopes ${scopes} --name test`).trim();
        return new Client(this, handle, token);
    }

    nobody() { return new Client(this, null, null); }

    /* The letters written as files so far (directory transport), oldest first. */
    letters() {
        return execFileSync('find', [join(this.folder, 'mail'), '-name', '*.eml', '-type', 'f', '-printf', '%T@ %p\n'], { encoding: 'utf8' })
            .split('\n').filter(Boolean).sort().map((line) => readFileSync(line.slice(line.indexOf(' ') + 1), 'utf8'));
    }
}

const UNIT_MS = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };
export const MINUTE = UNIT_MS.m, HOUR = UNIT_MS.h, DAY = UNIT_MS.d;

/* "1d 12h" in milliseconds. */
export function lengthOf(text) {
    return text.split(' ').reduce((sum, part) => {
        const [, n, unit] = /^(\d+)(ms|s|m|h|d)$/.exec(part);
        return sum + Number(n) * UNIT_MS[unit];
    }, 0);
}

export async function startClub(options = {}) {
    const club = new Club(options);
    return club.start();
}

/* Wait until an event stream has shown an event that pleases; bounded by the test's own time-out. */
export async function untilEvent(client, path, pleases) {
    const stop = new AbortController();
    const response = await fetch(client.club.url + path, { signal: stop.signal,
        headers: { Accept: 'application/x-ndjson', ...(client.token ? { Authorization: `Bearer ${client.token}` } : {}) } });
    let text = '';
    try {
        for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
            text += chunk;
            let at;
            while ((at = text.indexOf('\n')) >= 0) {
                const line = text.slice(0, at).trim();
                text = text.slice(at + 1);
                if (line && pleases(JSON.parse(line))) return JSON.parse(line);
            }
        }
    } finally {
        stop.abort();
    }
    throw new Error(`the stream ${path} ended`);
}
