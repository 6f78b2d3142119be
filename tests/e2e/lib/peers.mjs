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

/* refuse(address, n): null, or an Error with responseCode, for the nth letter to that address. */
export async function startMailServer({ refuse = () => null } = {}) {
    const letters = new Arrivals();
    const seen = new Map();
    const server = new SMTPServer({
        authOptional: true, disabledCommands: ['STARTTLS', 'AUTH'], logger: false,
        onRcptTo({ address }, session, done) {
            const n = (seen.get(address) ?? 0) + 1;
            seen.set(address, n);
            done(refuse(address, n));
        },
        onData(stream, session, done) {
            simpleParser(stream).then((mail) => {
                letters.add({ to: session.envelope.rcptTo.map((x) => x.address), from: session.envelope.mailFrom?.address ?? '', mail });
                done();
            }, done);
        },
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    return { port: server.server.address().port, letters, close: () => new Promise((resolve) => { server.close(resolve); }) };
}

/* answer(n): the status for the nth request (1…), 204 by default. */
export async function startReceiver({ answer = () => 204 } = {}) {
    const deliveries = new Arrivals();
    let n = 0;
    const server = createServer((request, response) => {
        const chunks = [];
        request.on('data', (chunk) => chunks.push(chunk));
        request.on('end', () => {
            n += 1;
            const status = answer(n);
            response.writeHead(status).end();
            deliveries.add({ url: request.url, headers: request.headers, body: Buffer.concat(chunks).toString('utf8'), status });
        });
    });
    await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
    const { port } = server.address();
    return { url: `http://127.0.0.1:${port}`, port, deliveries,
        close: () => new Promise((resolve) => { server.closeAllConnections(); server.close(resolve); }) };
}
