// Event streams: nothing is missed, nothing comes twice, also over a restart.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Spec } from './spec.mjs';
import { startServer } from './server.mjs';

const spec = new Spec();
const isEvent = spec.validator({ $ref: '#/components/schemas/Event' });
let server, anna, boris, clara, dan, players;

before(async () => {
  server = await startServer();
  [anna, boris, clara, dan] = server.users.map((u) => new Client(spec, server.url, u.token));
  players = [anna, boris, clara, dan];
});
after(async () => assert.equal(await server.stop(), 0));

// Records of a stream, one by one; a heartbeat is {beat: true}.
class Stream {
  constructor(client, path, { accept = 'text/event-stream', headers = {} } = {}) {
    this.abort = new AbortController();
    this.sse = accept === 'text/event-stream';
    this.opened = fetch(client.url + path, {
      headers: { accept, authorization: `Bearer ${client.token}`, ...headers }, signal: this.abort.signal,
    });
    this.records = this.read();
  }

  async* read() {
    const response = await this.opened;
    assert.equal(response.status, 200);
    assert.equal(response.headers.get('cache-control'), 'no-store');
    assert.equal(response.headers.get('x-accel-buffering'), 'no');
    let text = '';
    for await (const bytes of response.body) {
      text += Buffer.from(bytes).toString('utf8');
      const border = this.sse ? '\n\n' : '\n';
      for (let at; (at = text.indexOf(border)) >= 0;) {
        const record = text.slice(0, at);
        text = text.slice(at + border.length);
        if (!this.sse) {
          yield record ? JSON.parse(record) : { beat: true };
          continue;
        }
        if (record === ':') yield { beat: true };
        const fields = Object.fromEntries(record.split('\n').map((l) => [l.slice(0, l.indexOf(':')), l.slice(l.indexOf(':') + 2)]));
        if (fields.data) yield { ...JSON.parse(fields.data), sseId: Number(fields.id), sseName: fields.event };
      }
    }
  }

  async next() {
    const { value, done } = await this.records.next();
    assert.ok(!done, 'the stream has ended');
    return value;
  }

  async nextEvent() {
    for (;;) {
      const record = await this.next();
      if (!record.beat) return record;
    }
  }

  async close() {
    this.abort.abort();
    await this.records.return?.().catch(() => {});
  }
}

async function newGame() {
  const game = (await anna.post('/api/v1/games', {
    variant: 'verney',
    seats: { south: { me: true }, west: { handle: 'boris' }, north: { handle: 'clara' }, east: { handle: 'dan' } },
  })).json;
  for (const player of [boris, clara]) await player.post(`/api/v1/games/${game.id}/accept`);
  return (await dan.post(`/api/v1/games/${game.id}/accept`)).json;
}

async function moveOnce(id) {
  const game = (await anna.get(`/api/v1/games/${id}`)).json;
  const legal = (await anna.get(`/api/v1/games/${id}/legal`)).json;
  const player = players[['south', 'west', 'north', 'east'].indexOf(game.turn.seat)];
  return (await player.post(`/api/v1/games/${id}/moves`, { move: legal.moves[0], state_number: game.state_number })).json;
}

test('a game\'s stream begins with its first event and goes on as things happen', async () => {
  const game = await newGame();
  const stream = new Stream(boris, `/api/v1/games/${game.id}/events`);
  for (let seq = 1; seq <= game.event_seq; seq++) {
    const event = await stream.nextEvent();
    assert.deepEqual([event.seq, event.sseId, event.sseName], [seq, seq, undefined]);
    const { sseId, sseName, ...plain } = event;
    assert.ok(isEvent(plain), JSON.stringify(isEvent.errors));
  }
  const moved = await moveOnce(game.id);
  const event = await stream.nextEvent();
  assert.deepEqual([event.kind, event.move, event.seq], ['move', moved.move.move, moved.move.state_number]);
  await stream.close();
});

test('a silent stream shows signs of life in both forms', async () => {
  const game = await newGame();
  for (const accept of ['text/event-stream', 'application/x-ndjson']) {
    const stream = new Stream(anna, `/api/v1/games/${game.id}/events?since=${game.event_seq}`, { accept });
    assert.deepEqual(await stream.next(), { beat: true });
    assert.deepEqual(await stream.next(), { beat: true });
    await stream.close();
  }
});

test('streams resume by since or Last-Event-ID, which wins', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}/events`;
  const one = new Stream(clara, `${path}?since=2`, { accept: 'application/x-ndjson' });
  assert.equal((await one.nextEvent()).seq, 3);
  await one.close();
  const two = new Stream(clara, `${path}?since=2`, { headers: { 'last-event-id': '4' } });
  assert.equal((await two.nextEvent()).seq, 5);
  await two.close();
});

test('a stream that does not follow ends by itself, and pages hold the same', async () => {
  const game = await newGame();
  const path = `/api/v1/games/${game.id}/events`;
  const answer = await dan.get(`${path}?follow=false`, { headers: { accept: 'application/x-ndjson' } });
  const lines = answer.text.trim().split('\n').map((l) => JSON.parse(l));
  const pages = [];
  for (let since = 0; ;) {
    const page = (await dan.get(`${path}?since=${since}&limit=3`)).json;
    if (page.items.length === 0) break;
    pages.push(...page.items);
    since = page.next;
  }
  assert.deepEqual(lines, pages);
  assert.deepEqual(pages.map((e) => e.seq), pages.map((_, i) => i + 1));
});

test('an account\'s stream carries all its games, and says where it begins', async () => {
  const stream = new Stream(dan, '/api/v1/events');
  const ready = await stream.next();
  assert.deepEqual([ready.kind, ready.sseName, ready.id], ['ready', 'ready', ready.sseId]);
  const [one, two] = [await newGame(), await newGame()];
  await moveOnce(two.id);
  await moveOnce(one.id);
  const seen = [];
  while (seen.filter((e) => e.kind === 'move').length < 2) seen.push(await stream.nextEvent());
  assert.deepEqual(seen.filter((e) => e.kind === 'move').map((e) => e.game), [two.id, one.id]);
  const ids = seen.map((e) => e.id);
  assert.deepEqual(ids, [...new Set(ids)].sort((a, b) => a - b));
  // The page from the same place holds the same.
  const page = (await dan.get(`/api/v1/events?since=${ready.id}`)).json.items;
  assert.deepEqual(page.slice(0, seen.length).map((e) => e.id), ids);
  await stream.close();
  // A stranger's stream hears nothing of it.
  const stranger = new Client(spec, server.url, server.users[4].token);
  assert.equal((await stranger.get(`/api/v1/events?since=${ready.id}`)).json.items.length, 0);
});

test('a stream ends with the token that opened it, and tells nothing more', async () => {
  const made = (await boris.post('/api/v1/me/tokens', { name: 'stream', scopes: ['read'] })).json;
  const game = await newGame();
  const caller = { url: boris.url, token: made.token };
  const streams = [
    new Stream(caller, `/api/v1/games/${game.id}/events?since=${game.event_seq}`, { accept: 'application/x-ndjson' }),
    new Stream(caller, '/api/v1/events', { accept: 'application/x-ndjson' }),
  ];
  assert.deepEqual(await streams[0].next(), { beat: true });
  assert.equal((await streams[1].next()).kind, 'ready');
  assert.equal((await boris.send('DELETE', `/api/v1/me/tokens/${made.id}`)).status, 204);
  await moveOnce(game.id);
  for (const stream of streams)
    for await (const record of stream.records) assert.ok(record.beat, JSON.stringify(record));
});

test('over a restart no event is missed and none comes twice', async () => {
  const game = await newGame();
  const seen = [];
  let stream = new Stream(anna, `/api/v1/games/${game.id}/events`);
  while (seen.length < game.event_seq) seen.push(await stream.nextEvent());
  await moveOnce(game.id);
  seen.push(await stream.nextEvent());
  await server.restart();
  // The old connection ends; an EventSource would come back with the last id.
  await assert.rejects(async () => { for (;;) seen.push(await stream.nextEvent()); });
  for (const player of players) player.url = server.url;
  await moveOnce(game.id);
  stream = new Stream(anna, `/api/v1/games/${game.id}/events`, { headers: { 'last-event-id': String(seen.at(-1).seq) } });
  const last = (await anna.get(`/api/v1/games/${game.id}`)).json.event_seq;
  while (seen.at(-1).seq < last) seen.push(await stream.nextEvent());
  assert.deepEqual(seen.map((e) => e.seq), seen.map((_, i) => i + 1));
  await stream.close();
});

test('there are no more streams of an account than the service document says', async () => {
  const limit = (await anna.get('/api/v1')).json.limits.streams;
  const open = [];
  for (let i = 0; i < limit; i++) {
    const stream = new Stream(boris, '/api/v1/events');
    assert.equal((await stream.next()).kind, 'ready');
    open.push(stream);
  }
  const refused = await boris.get('/api/v1/events', { headers: { accept: 'text/event-stream' } });
  assert.equal(refused.status, 429);
  assert.equal(refused.json.code, 'rate_limited');
  for (const stream of open) await stream.close();
  // Once the server has noticed, at the next heartbeat, there is room again.
  for (;;) {
    const stream = new Stream(boris, '/api/v1/events');
    const { status } = await stream.opened;
    if (status === 200) {
      await stream.close();
      break;
    }
    assert.equal(status, 429);
  }
});

test('who may not see a game any more does not follow it any more', async () => {
  const { id } = (await anna.post('/api/v1/games', { variant: 'verney', visibility: 'players',
    seats: { south: { me: true }, west: { handle: 'boris' }, north: { open: true }, east: { address: 'clara@example.org' } } })).json;
  const path = `/api/v1/games/${id}`;
  const streams = [anna, boris, clara].map((player) => new Stream(player, `${path}/events`));
  for (const stream of streams) assert.equal((await stream.nextEvent()).kind, 'created');
  const toTheEnd = async (stream) => {
    const kinds = [];
    try { for (;;) kinds.push((await stream.nextEvent()).kind); } catch { return kinds; }
  };
  const ended = [toTheEnd(streams[1]), toTheEnd(streams[2])];
  assert.equal((await boris.post(`${path}/accept`, {})).status, 200);
  assert.equal((await boris.post(`${path}/leave`)).status, 200);
  assert.equal((await anna.send('DELETE', `${path}/invitations/east`)).status, 200);
  const [seenByBoris, seenByClara] = await Promise.all(ended);
  assert.ok(!seenByBoris.includes('invite_withdrawn'), seenByBoris.join());
  assert.ok(!seenByClara.includes('invite_withdrawn'), seenByClara.join());
  for (;;) if ((await streams[0].nextEvent()).kind === 'invite_withdrawn') break; // it is hers
  await streams[0].close();
});

test('of many who race for one state exactly one is taken', async () => {
  for (let round = 0; round < 5; round++) {
    const game = await newGame();
    const path = `/api/v1/games/${game.id}`;
    const body = { state_number: game.state_number };
    const answers = await Promise.all([
      ...['d2d3', 'e2e3', 'f2f3', 'g2g3', 'h2h3', 'i2i3'].map((move) => anna.post(`${path}/moves`, { ...body, move })),
      anna.post(`${path}/resign`, body), boris.post(`${path}/resign`, body),
    ]);
    assert.deepEqual(answers.map((a) => a.status).filter((s) => s < 300).length, 1);
    for (const answer of answers) if (answer.status >= 300) assert.equal(answer.json.code, 'state_mismatch');
  }
});
