/*
 * Letters and webhooks of the real program: each once, in time, again when the other side is in
 * trouble, and not when nobody wants them.  Retries are reached by moving the daemon's clocks.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { Webhook } from 'standardwebhooks';
import { DAY, HOUR, MINUTE } from './lib/daemon.mjs';
import { classOf, reply, startReceiver } from './lib/peers.mjs';
import { Spec } from '../http/spec.mjs';
import { HANDLES, refusedWith, table, verified } from './lib/table.mjs';

const OPENING = ['e2e3', 'b7c7', 'g13g12', 'm10l10', 'd2d3', 'a6g12', 'h14b8', 'm11l11'];

async function receiver(t, answer) {
    const there = await startReceiver({ answer });
    t.after(() => there.close());
    return there;
}

/* standardwebhooks looks at the machine's clock for what is too old. */
function verify(t, b, secret, delivery) {
    const now = t.mock.method(Date, 'now', () => b.club.at);
    try {
        return new Webhook(secret).verify(delivery.body, delivery.headers);
    } finally {
        now.mock.restore();
    }
}

/* The row of the outbox about which this is; due_at tells when it is tried next. */
const row = (b, where) => b.club.sql(`SELECT id, state, due_at, attempts, last_code, last_text, message_id FROM outbox WHERE ${where} ORDER BY id DESC LIMIT 1`)[0];

/* Both ends of what the jitter may be, and what comes. */
const JITTERS = [['shortest', 0.8, 0.8], ['longest', 1.2, 1.2], ['', 0.8, 1.2]];

/* Tries again exactly when it is due, as often as the table has lengths; each within a fifth. */
async function follows(b, where, tries, table_ms, least = 0.8, most = 1.2) {
    for (const [i, expected] of table_ms.entries()) {
        const before = tries();
        const { due_at, state } = row(b, where);
        assert.equal(state, 'queued');
        const gap = due_at - b.club.at;
        assert.ok(gap >= least * expected && gap <= most * expected, `try ${i + 2} comes after ${gap} ms, of ${expected}`);
        await b.club.advanceTo(due_at - 1);
        assert.equal(tries(), before, 'not a millisecond before');
        await b.club.advance(1);
        assert.equal(tries(), before + 1);
    }
}

test('N1: each turn causes one letter to its mover, stream or no stream', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const stop = new AbortController();
    await fetch(`${b.club.url}/api/v1/games/${game.id}/events`, { signal: stop.signal,
        headers: { Authorization: `Bearer ${b.players[1].token}`, Accept: 'text/event-stream' } });
    for (const [i, move] of OPENING.entries()) {
        const from = b.post.letters.items.length;
        await b.move(game, move);
        await b.players[(i + 1) % 4].get('/api/v1/games?turn=me');
        await b.club.settle();
        assert.deepEqual(b.to('turn', game, from), [HANDLES[(i + 1) % 4]]);
        assert.equal(b.post.letters.items.length, from + 1, 'and nobody else gets any');
    }
    stop.abort();
    const ids = b.post.letters.items.map((x) => x.mail.messageId);
    assert.equal(new Set(ids).size, ids.length);
    /* N22: what has happened since his own last move, all of it. */
    const last = b.letters('turn', game).at(-1).mail.text;
    const since = /Since your last move:\r?\n\r?\n((?: {2}.*\r?\n)+)/.exec(last)[1];
    assert.deepEqual([...since.matchAll(/^ {2}(\w+): .*\((\w+)\)/mg)].map(([, colour, move]) => `${colour} ${move}`),
        ['Red a6g12', 'Yellow h14b8', 'Black m11l11']);
    await verified(b.club);
});

test('a letter that could not go out is not sent any more once the turn has passed on', async (t) => {
    let isDown = false;
    const b = await table(t, { mail: { refuse: () => (isDown ? reply(451, '4.3.0 try later') : null) } });
    const game = await b.game(3);
    isDown = true;
    await b.move(game, 'e2e3');
    await b.club.settle();
    assert.equal(row(b, "class = 'turn'").last_code, 451);
    await b.move(game, 'b7c7');
    isDown = false;
    const from = b.post.letters.items.length;
    await b.club.advance('2m');
    assert.deepEqual(b.to('turn', game, from), ['clara']);
    await b.club.advance('1d');
    assert.equal(b.letters('turn', game).filter((x) => x.to[0].startsWith('boris')).length, 0);
    assert.deepEqual(b.club.sql("SELECT state, count(*) AS n FROM outbox WHERE class = 'turn' GROUP BY state ORDER BY state"),
        [{ state: 'sent', n: 2 }, { state: 'superseded', n: 1 }]);
});

for (const [jitter, least, most] of JITTERS) test(`N10: a passing refusal is tried again for more than two days, with the same bytes and id${jitter && ` (${jitter} waits)`}`, async (t) => {
    let isFull = true;
    const b = await table(t, { jitter, mail: { judge: (x) => (isFull && x.to[0].startsWith('boris') && classOf(x) === 'turn' ? reply(452, '4.2.2 the mailbox is full') : null) } });
    const game = await b.game(30);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const tries = () => b.post.refused.items.length + b.to('turn', game).filter((x) => x === 'boris').length;
    assert.equal(tries(), 1);
    const where = "class = 'turn' AND user_id = (SELECT id FROM users WHERE handle = 'boris')";
    await follows(b, where, tries, [MINUTE, 5 * MINUTE, 15 * MINUTE, HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR], least, most);
    await b.club.kill(); /* N7, N8: what was tried is known after a restart */
    await b.club.start();
    await b.club.settle();
    assert.equal(tries(), 8);
    isFull = false;
    await follows(b, where, tries, [24 * HOUR], least, most);
    const [letter] = b.letters('turn', game).filter((x) => x.to[0].startsWith('boris'));
    for (const refused of b.post.refused.items) {
        assert.equal(refused.mail.messageId, letter.mail.messageId);
        assert.ok(refused.raw.equals(letter.raw), 'the same bytes');
    }
    assert.equal(row(b, where).state, 'sent');
    await b.club.advance('3d');
    assert.equal(tries(), 9);
});

test('a refusal that never ends is given up after three days, with a try in the last hour', async (t) => {
    let tries = 0;
    const b = await table(t, { mail: { refuse: (address) => {
        if (!address.startsWith('boris')) return null;
        tries += 1;
        return reply(421, '4.7.0 not now');
    } } });
    const game = await b.game(30);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const where = "class = 'turn' AND user_id = (SELECT id FROM users WHERE handle = 'boris')";
    const begin = b.club.at;
    while (row(b, where).state === 'queued') await b.club.advanceTo(Math.max(row(b, where).due_at, b.club.at + 1));
    const end = row(b, where);
    assert.ok(['expired', 'failed'].includes(end.state), end.state);
    /* Wherever the jitter puts the table's steps, the last try is in the last hour. */
    const length = b.club.at - begin;
    assert.ok(length >= 3 * DAY - HOUR && length < 3 * DAY, `given up after ${length / HOUR} h`);
    assert.ok(tries >= 9, `${tries} tries`);
    const me = await b.players[1].get('/api/v1/me');
    assert.equal(me.address_state, 'ok', 'a passing refusal is not held against the address');
});

test('5xx that blames the address is final, and shown to its owner', async (t) => {
    let tries = 0;
    const b = await table(t, { mail: { refuse: (address) => {
        if (!address.startsWith('boris')) return null;
        tries += 1;
        return reply(550, '5.1.1 no such mailbox');
    } } });
    let game = await b.invite(3);
    await b.club.settle();
    assert.equal(tries, 1, 'the invitation');
    game = await b.begin(game);
    const me = await b.players[1].get('/api/v1/me');
    assert.equal(me.address_state, 'suspended');
    await b.move(game, 'e2e3');
    await b.club.advance('2h');
    assert.equal(tries, 1, 'no more letters');
    assert.equal(row(b, "class = 'invitation' AND state = 'failed'").last_code, 550);
    assert.deepEqual(b.to('turn', game), ['anna'], 'the others get theirs');
});

test('N13: who fetches all links of a letter changes nothing; one click of the right kind does', async (t) => {
    const b = await table(t);
    const game = await b.game(3);
    const [letter] = b.letters('turn', game);
    const link = /<(http:[^>]+)>/.exec(letter.mail.headerLines.find((x) => x.key === 'list-unsubscribe').line)[1];
    assert.match(letter.mail.headerLines.find((x) => x.key === 'list-unsubscribe-post').line, /: List-Unsubscribe=One-Click$/);
    const before = { notices: await b.players[0].get('/api/v1/me/notices'), game: await b.look(game), events: await b.events(game) };
    const links = new Set([link, ...letter.mail.text.match(/http:\/\/\S+/g), ...[...letter.mail.html.matchAll(/href="([^"]+)"/g)].map((x) => x[1])]);
    assert.ok(links.size >= 3);
    for (const url of links)
        for (const method of ['GET', 'HEAD']) {
            const answer = await fetch(url, { method, redirect: 'follow' });
            await answer.arrayBuffer();
            assert.ok(answer.status < 500, `${method} ${url}: ${answer.status}`);
        }
    /* A scanner that posts, but not the words. */
    const post = (url, body, type = 'application/x-www-form-urlencoded') => fetch(url, { method: 'POST', body, headers: { 'Content-Type': type } });
    assert.equal((await post(link, '')).status, 400);
    assert.equal((await post(link, 'List-Unsubscribe=Yes')).status, 400);
    assert.equal((await post(link, '{}', 'application/json')).status, 415);
    assert.equal((await post(link.replace(/.$/, (x) => (x === 'a' ? 'b' : 'a')), 'List-Unsubscribe=One-Click')).status, 410);
    assert.deepEqual({ notices: await b.players[0].get('/api/v1/me/notices'), game: await b.look(game), events: await b.events(game) }, before);
    /* RFC 8058: no cookie, no question. */
    assert.equal((await post(link, 'List-Unsubscribe=One-Click')).status, 200);
    const after = await b.players[0].get('/api/v1/me/notices');
    assert.deepEqual(after, { ...before.notices, mail: { ...before.notices.mail, turn: false } });
    const from = b.post.letters.items.length;
    for (const move of OPENING.slice(0, 4)) await b.move(game, move);
    await b.club.settle();
    assert.ok(!b.to('turn', game, from).includes('anna'));
    assert.ok(!b.letters('turn', game).slice(1).some((x) => x.to[0].startsWith('anna')));
    /* N14: the warnings go on. */
    await b.club.advance('2d 12h');
    assert.ok(b.to('warning', game, from).includes('anna'));
    /* and it can be switched on again */
    await b.players[0].patch('/api/v1/me/notices', { mail: { turn: true } });
    for (const move of OPENING.slice(4)) await b.move(game, move);
    await b.club.settle();
    assert.ok(b.to('turn', game, from).includes('anna'));
});

test('N19, N20: an endpoint of two players gets an event once; letters off leaves webhooks on', async (t) => {
    const b = await table(t);
    const there = await receiver(t);
    const hooks = [];
    for (const i of [0, 1]) hooks.push(await b.players[i].post('/api/v1/me/webhooks', { url: `${there.url}/club`, kind: 'standard' }));
    await b.players[0].patch('/api/v1/me/notices', { mail: { turn: false, start: false, result: false } });
    const game = await b.game(3);
    for (const move of OPENING.slice(0, 4)) {
        await b.move(game, move);
        await b.club.settle();
    }
    await b.club.command('game', 'adjudicate', game.id, 'team0');
    await b.club.settle();
    const bodies = there.deliveries.items.map((x) => JSON.parse(x.body));
    /* A5: as web/openapi.yaml describes them. */
    const described = new Spec().validator({ $ref: '#/components/schemas/WebhookNotice' });
    for (const body of bodies) assert.ok(described(body), JSON.stringify([described.errors, body]));
    const seen = bodies.map((x) => `${x.data.class} ${x.data.event.seq}`);
    assert.equal(new Set(seen).size, seen.length, `each once: ${seen}`);
    const result = there.deliveries.items.find((x) => JSON.parse(x.body).type === 'game.result');
    assert.ok(result);
    const owner = JSON.parse(result.body).data.user;
    const said = verify(t, b, hooks[HANDLES.indexOf(owner)].secret, result);
    assert.equal(said.data.game.id, game.id);
    assert.equal(said.data.game.state, 'finished');
    for (const player of [0, 1]) assert.ok(bodies.some((x) => x.data.class === 'turn' && x.data.user === HANDLES[player]), `${HANDLES[player]}'s turns too`);
    assert.deepEqual(b.to('result', game), ['boris', 'clara', 'dmitri', 'olga']);
    assert.ok(!b.to('turn', game).includes('anna'));
});

for (const [jitter, least, most] of JITTERS) test(`a webhook that answers 500 is tried again with the same id and body, told of, and at last switched off${jitter && ` (${jitter} waits)`}`, async (t) => {
    const b = await table(t, { jitter });
    let status = 500;
    const there = await receiver(t, () => status);
    const hook = await b.players[1].post('/api/v1/me/webhooks', { url: there.url, kind: 'standard', classes: ['turn', 'result'] });
    const game = await b.game(30);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const tries = () => there.deliveries.items.length;
    assert.equal(tries(), 1);
    await follows(b, "channel = 'webhook'", tries, [5000, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR], least, most);
    assert.equal(row(b, "channel = 'webhook'").state, 'failed');
    const [first, ...others] = there.deliveries.items;
    for (const x of others) {
        assert.equal(x.headers['webhook-id'], first.headers['webhook-id']);
        assert.equal(x.body, first.body);
        assert.notEqual(x.headers['webhook-timestamp'], first.headers['webhook-timestamp'], 'signed anew');
    }
    verify(t, b, hook.secret, there.deliveries.items.at(-1));
    const told = () => b.post.letters.items.filter((x) => classOf(x) === 'webhook_disabled').map((x) => x.to[0]);
    assert.deepEqual(told(), ['boris@example.net'], 'its owner hears of it');
    assert.equal((await b.players[1].get(`/api/v1/me/webhooks/${hook.id}`)).state, 'on');
    const deliveries = (await b.players[1].get(`/api/v1/me/webhooks/${hook.id}/deliveries`)).items;
    assert.equal(deliveries[0].state, 'failed');
    assert.equal(deliveries[0].attempts.length, 10);
    assert.ok(deliveries[0].attempts.every((x) => x.http_status === 500));
    /* Five days of nothing but failures. */
    await b.club.advanceTo(Date.parse((await b.players[1].get(`/api/v1/me/webhooks/${hook.id}`)).failing_since) + 5 * DAY);
    for (const move of ['b7c7', 'g13g12', 'm10l10', 'd2d3']) await b.move(game, move);
    await b.club.settle();
    const now = await b.players[1].get(`/api/v1/me/webhooks/${hook.id}`);
    assert.equal(now.state, 'disabled');
    assert.equal(now.disabled_cause, 'failing');
    assert.deepEqual(told(), ['boris@example.net', 'boris@example.net']);
    const before = tries();
    for (const move of OPENING.slice(5, 8)) await b.move(game, move);
    await b.club.advance('1h');
    assert.equal(tries(), before, 'nothing is sent to it any more');
    /* Its owner mends it and switches it on. */
    status = 204;
    await b.players[1].patch(`/api/v1/me/webhooks/${hook.id}`, { state: 'on' });
    await b.players[1].post(`/api/v1/me/webhooks/${hook.id}/ping`);
    await b.club.settle();
    assert.equal(JSON.parse(there.deliveries.items.at(-1).body).type, 'webhook.test');
    assert.equal((await b.players[1].get(`/api/v1/me/webhooks/${hook.id}`)).failing_since, null);
    await verified(b.club);
});

test('410 switches a webhook off at once, and Retry-After is honoured', async (t) => {
    const b = await table(t);
    const said = { '/gone': 410, '/busy': { status: 503, headers: { 'Retry-After': '7200' } } };
    const there = await receiver(t, (n, { url }) => said[url]);
    const gone = await b.players[1].post('/api/v1/me/webhooks', { url: `${there.url}/gone`, kind: 'standard', classes: ['turn'] });
    const busy = await b.players[1].post('/api/v1/me/webhooks', { url: `${there.url}/busy`, kind: 'standard', classes: ['turn'] });
    const game = await b.game(3);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const now = await b.players[1].get(`/api/v1/me/webhooks/${gone.id}`);
    assert.equal(now.state, 'disabled');
    assert.equal(now.disabled_cause, 'gone');
    const letter = b.post.letters.items.find((x) => classOf(x) === 'webhook_disabled');
    assert.equal(letter.to[0], 'boris@example.net');
    assert.ok(!letter.raw.toString().includes('/gone'), 'its path may be a secret');
    await assert.rejects(b.players[1].post(`/api/v1/me/webhooks/${gone.id}/ping`), refusedWith(409, 'webhook_off'));
    await b.club.advance('1h 59m');
    assert.equal(there.deliveries.items.filter((x) => x.url === '/busy').length, 1);
    said['/busy'] = 204;
    await b.club.advance('1m');
    const both = there.deliveries.items.filter((x) => x.url === '/busy');
    assert.equal(both.length, 2);
    assert.equal(both[0].headers['webhook-id'], both[1].headers['webhook-id']);
    assert.equal((await b.players[1].get(`/api/v1/me/webhooks/${busy.id}`)).state, 'on');
});

test('Slack, Discord, ntfy and Matrix get the bodies they take', async (t) => {
    const b = await table(t);
    const there = await receiver(t);
    const make = (kind, more = {}) => b.players[1].post('/api/v1/me/webhooks', { url: `${there.url}/${kind}`, kind, classes: ['turn'], ...more });
    await make('slack');
    await make('discord');
    await make('ntfy', { auth: 'tk_secret' });
    await make('matrix', { auth: 'mx_secret' });
    const game = await b.game(3);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const got = Object.fromEntries(there.deliveries.items.map((x) => [x.url, { ...x, json: JSON.parse(x.body) }]));
    const page = `${b.club.url}/games/${game.id}`;
    const tells = (text) => {
        assert.ok(text.includes(game.id), text);
        assert.match(text, /e3/, text);
    };
    const slack = got['/slack'];
    tells(slack.json.text);
    assert.ok(slack.json.text.includes(`<${page}>`));
    assert.equal(slack.json.blocks[0].text.type, 'mrkdwn');
    assert.equal(slack.headers['webhook-signature'], undefined);
    const discord = got['/discord'].json;
    tells(discord.content);
    assert.deepEqual(discord.allowed_mentions, { parse: [] }, 'nobody is pinged by a name');
    assert.equal(discord.embeds[0].url, page);
    const ntfy = got['/'];
    assert.ok(ntfy, 'JSON goes to the root of ntfy');
    assert.equal(ntfy.json.topic, 'ntfy');
    tells(ntfy.json.message);
    assert.equal(ntfy.json.click, page);
    assert.equal(ntfy.headers.authorization, 'Bearer tk_secret');
    const matrix = got['/matrix'];
    tells(matrix.json.text);
    assert.ok(matrix.json.html.includes(`href="${page}"`));
    assert.equal(matrix.headers.authorization, 'Bearer mx_secret');
    for (const x of there.deliveries.items) assert.equal(x.headers['content-type'], 'application/json');
});

test('a new secret signs beside the old one for a day; pings and redeliveries are signed too', async (t) => {
    const b = await table(t);
    const there = await receiver(t);
    const owner = b.players[1];
    const hook = await owner.post('/api/v1/me/webhooks', { url: there.url, kind: 'standard', classes: ['turn'] });
    const path = `/api/v1/me/webhooks/${hook.id}`;
    const ping = async () => {
        await owner.post(`${path}/ping`);
        await b.club.settle();
        return there.deliveries.items.at(-1);
    };
    const signed = (secret, delivery) => {
        try { return Boolean(verify(t, b, secret, delivery)); } catch { return false; }
    };
    let last = await ping();
    assert.equal(JSON.parse(last.body).type, 'webhook.test');
    assert.ok(signed(hook.secret, last));
    const { secret } = await owner.post(`${path}/rotate`);
    assert.notEqual(secret, hook.secret);
    last = await ping();
    assert.equal(last.headers['webhook-signature'].split(' ').length, 2);
    assert.ok(signed(hook.secret, last) && signed(secret, last));
    await b.club.advance(DAY - 1);
    last = await ping();
    assert.ok(signed(hook.secret, last) && signed(secret, last));
    await b.club.advance(1);
    last = await ping();
    assert.ok(!signed(hook.secret, last) && signed(secret, last));
    /* Once more, what was sent before. */
    const game = await b.game(3);
    await b.move(game, 'e2e3');
    await b.club.settle();
    const sent = there.deliveries.items.at(-1);
    assert.equal(JSON.parse(sent.body).type, 'game.turn');
    const [delivery] = (await owner.get(`${path}/deliveries`)).items;
    assert.equal(delivery.webhook_id, sent.headers['webhook-id']);
    assert.equal(delivery.state, 'sent');
    await b.club.advance('1h');
    await owner.post(`${path}/deliveries/${delivery.id}/redeliver`);
    await b.club.settle();
    const again = there.deliveries.items.at(-1);
    assert.notEqual(again, sent);
    assert.equal(again.headers['webhook-id'], sent.headers['webhook-id']);
    assert.equal(again.body, sent.body);
    assert.ok(signed(secret, again));
    await assert.rejects(b.players[0].post(`${path}/deliveries/${delivery.id}/redeliver`), (error) => error.status === 404);
    /* A signature is over every byte. */
    assert.ok(!signed(secret, { ...again, body: again.body.replace('turn', 'tum') }));
});
