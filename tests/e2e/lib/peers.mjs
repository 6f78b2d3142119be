/*
 * e2e/lib/peers.mjs - those that the daemon talks to: a mail server and a webhook's receiver.
 *
 * Both keep what came in and let a test wait for it; refusals can be scripted.
 */
import { createServer } from 'node:http';
import { SMTPServer } from 'smtp-server';
import { simpleParser } from 'mailparser';

/* A list one can wait on: take(pleases) gives the first item that pleases, now or later. */
class Arrivals {
    constructor() { this.items = []; this.waiting = []; }

    add(item) {
        this.items.push(item);
        this.waiting = this.waiting.filter(({ pleases, resolve }) => {
            if (!pleases(item)) return true;
            resolve(item);
            return false;
        });
    }

    take(pleases) {
        const here = this.items.find(pleases);
        if (here) return Promise.resolve(here);
        return new Promise((resolve) => { this.waiting.push({ pleases, resolve }); });
    }
}

/*
 * refuse(address, n): null, or an Error with responseCode, for the nth letter to that address;
 * judge(letter): the same when it has been read (then it is in `refused`, not in `letters`).
 * onStep(): something has happened in a dialogue (for tests that want to interrupt it there).
 */
export async function startMailServer({ refuse = () => null, judge = () => null, onStep = () => {} } = {}) {
    const letters = new Arrivals(), refused = new Arrivals();
    const seen = new Map();
    const server = new SMTPServer({
        authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false, disableReverseLookup: true,
        onRcptTo({ address }, session, done) {
            const n = (seen.get(address) ?? 0) + 1;
            seen.set(address, n);
            onStep();
            done(refuse(address, n));
        },
        onData(stream, session, done) {
            const chunks = [];
            stream.on('data', (chunk) => chunks.push(chunk));
            stream.on('end', () => {
                const raw = Buffer.concat(chunks);
                simpleParser(raw).then((mail) => {
                    const letter = { to: session.envelope.rcptTo.map((x) => x.address), from: session.envelope.mailFrom?.address ?? '', mail, raw };
                    const verdict = judge(letter);
                    (verdict ? refused : letters).add(letter);
                    onStep();
                    done(verdict);
                    onStep();
                }, done);
            });
        },
    });
    server.on('error', () => { /* a client that was killed in the middle */ });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return { port: server.server.address().port, letters, refused, close: () => new Promise((resolve) => { server.close(resolve); }) };
}

/* What a mail server says: an Error for refuse() and judge(). */
export const reply = (responseCode, text) => Object.assign(new Error(text), { responseCode });

/* The class of a letter, from its List-Id: turn, result… */
export const classOf = ({ mail }) => /<([\w-]+)\./.exec(mail.headerLines.find((x) => x.key === 'list-id')?.line ?? '')?.[1].replaceAll('-', '_');

/*
 * answer(n, request): the status for the nth request (1…), 204 by default; or { status, headers }.
 * onStep(): as above.
 */
export async function startReceiver({ answer = () => 204, onStep = () => {} } = {}) {
    const deliveries = new Arrivals();
    let n = 0;
    const server = createServer((request, response) => {
        const chunks = [];
        onStep();
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => {
            n += 1;
            const body = Buffer.concat(chunks).toString('utf8');
            const said = answer(n, { url: request.url, headers: request.headers, body });
            const { status, headers = {} } = typeof said === 'number' ? { status: said } : said;
            deliveries.add({ url: request.url, headers: request.headers, body, status });
            onStep();
            response.writeHead(status, headers).end(onStep);
        });
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const { port } = server.address();
    return { url: `http://127.0.0.1:${port}`, port, deliveries,
        close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}
