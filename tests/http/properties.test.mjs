// Properties of the API, drawn from its description: whatever is sent to any operation, the answer is
// one that the description names, no fault of the server, and nothing is taken that the request's
// own schema forbids.
//
// They are held against the room's own server and, with FOURHANDED, against the whole program.
// FH_RUNS says how many requests each property draws (400), FH_SEED repeats a run.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import fc from 'fast-check';
import { Client, Spec } from './spec.mjs';
import { startDaemon, startServer } from './server.mjs';

const runs = Number(process.env.FH_RUNS ?? 400);
const settings = { numRuns: runs, seed: process.env.FH_SEED ? Number(process.env.FH_SEED) : 20261129, endOnFailure: true };
const spec = new Spec();
let server, clients, games;

before(async () => {
  server = await (process.env.FOURHANDED ? startDaemon() : startServer());
  clients = [null, 'fh_aaaaaaaaaaaaaaaaaaaaaaaaaa', ...server.users.map((u) => u.token)]
    .map((token) => new Client(spec, server.url, token));
  const [anna, boris] = clients.slice(2);
  games = [];
  for (const variant of ['verney', 'fortress', 'teams']) {
    const game = (await anna.post('/api/v1/games', {
      variant, seats: { south: { me: true }, north: { me: true }, west: { handle: 'boris' }, east: { handle: 'boris' } },
    })).json;
    await boris.post(`/api/v1/games/${game.id}/accept`);
    games.push(game.id);
  }
  games.push((await anna.post('/api/v1/games', {
    variant: 'fortress', reserve: 'chosen', seats: { south: { me: true }, north: { me: true }, west: { handle: 'boris' }, east: { open: true } },
  })).json.id);
  await anna.post('/api/v1/me/webhooks', { url: server.hook });
});

after(async () => {
  const metrics = await (await fetch(server.metrics)).text();
  assert.equal(await server.stop(), 0);
  assert.match(metrics, /^fourhanded_http_undeclared_total 0$/m);
});

// ------------------------------------------------------------------ values from schemas

const word = fc.string({ maxLength: 12, unit: 'grapheme' });
const anything = fc.jsonValue({ maxDepth: 2 });

function fromSchema(schema, depth = 0) {
  schema = spec.resolve(schema) ?? {};
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((s) => fromSchema(s, depth)));
  const type = Array.isArray(schema.type) ? schema.type[0] : schema.type;
  switch (type) {
    case 'boolean': return fc.boolean();
    case 'integer': return fc.integer({ min: schema.minimum ?? 0, max: Math.min(schema.maximum ?? 1e9, 2 ** 31 - 1) });
    case 'null': return fc.constant(null);
    case 'array': return fc.array(fromSchema(schema.items ?? {}, depth + 1), { minLength: schema.minItems ?? 0, maxLength: Math.min(schema.maxItems ?? 3, 4) });
    case 'string':
      if (schema.format === 'date-time') {
        return fc.date({ min: new Date(0), max: new Date('2100-01-01'), noInvalidDate: true }).map((d) => d.toISOString());
      }
      if (schema.pattern) return fc.stringMatching(new RegExp(schema.pattern));
      return fc.oneof(
        fc.constantFrom('anna', 'boris', 'e2e3', 'e2e4', 'Nf3', 'en', 'UTC', 'x@example.org', server.hook),
        fc.string({ minLength: schema.minLength ?? 0, maxLength: Math.min(schema.maxLength ?? 24, 40), unit: 'grapheme' }),
      );
    case 'object': {
      const properties = Object.entries(schema.properties ?? {});
      if (properties.length === 0) {
        const extra = typeof schema.additionalProperties === 'object' ? fromSchema(schema.additionalProperties, depth + 1) : anything;
        const names = schema.propertyNames ? fromSchema(schema.propertyNames) : fc.constantFrom('queens', 'inert', 'promotion', 'x');
        return fc.dictionary(names, extra, { maxKeys: 3 });
      }
      return fc.record(Object.fromEntries(properties.map(([k, v]) => [k, fromSchema(v, depth + 1)])), { requiredKeys: schema.required ?? [] });
    }
    default: return anything;
  }
}

// Mostly right bodies, often spoilt in one place, sometimes something else altogether.
function bodies(schema) {
  const good = fromSchema(schema);
  const spoilt = fc.tuple(good, fc.string({ minLength: 1, maxLength: 8 }), anything, fc.boolean()).map(([body, key, value, replace]) => {
    if (!body || typeof body !== 'object' || Array.isArray(body)) return value;
    const keys = Object.keys(body);
    return { ...body, [replace && keys.length ? keys[key.length % keys.length] : key]: value };
  });
  return fc.oneof({ weight: 5, arbitrary: good }, { weight: 3, arbitrary: spoilt }, { weight: 1, arbitrary: anything });
}

function parameter(p) {
  const wild = fc.oneof(word.filter((w) => w && w !== '.' && w !== '..'), fc.constantFrom('0', '-1', '9223372036854775808', 'nothing', '1'));
  if (p.name === 'game') return fc.oneof({ weight: 6, arbitrary: fc.nat({ max: 3 }).map((i) => games[i]) }, { weight: 1, arbitrary: wild });
  if (p.name === 'handle') return fc.oneof(fc.constantFrom('anna', 'BORIS', 'olga'), wild);
  if (p.name === 'code') return fc.oneof(fc.constantFrom('busy', 'illegal_move'), wild);
  return fc.oneof({ weight: 3, arbitrary: fromSchema(p.schema) }, { weight: 1, arbitrary: wild });
}

// Whoever logs out or drops his tokens would stop the show.
const skipped = new Set(['revokeToken', 'endSession', 'endOtherSessions', 'logout']);

function requests() {
  const each = spec.operations.filter((o) => !skipped.has(o.id)).map((operation) => {
    const path = operation.parameters.filter((p) => p.in === 'path');
    const query = operation.parameters.filter((p) => p.in === 'query');
    const schema = spec.requestSchema(operation);
    return fc.record({
      operation: fc.constant(operation),
      path: fc.tuple(...path.map(parameter)),
      query: fc.tuple(...query.map((p) => fc.option(parameter(p), { freq: 2, nil: undefined }))),
      body: schema ? bodies(schema) : fc.constant(undefined),
      who: fc.nat({ max: 6 }),
      key: fc.option(fc.constantFrom('a', 'b', 'c'), { freq: 4, nil: undefined }),
    });
  });
  return fc.oneof(...each);
}

function targetOf({ operation, path, query }) {
  let i = 0;
  let target = operation.template.replace(/\{[^}]+\}/g, () => encodeURIComponent(String(path[i++])));
  const names = operation.parameters.filter((p) => p.in === 'query').map((p) => p.name);
  const search = new URLSearchParams();
  query.forEach((value, k) => value !== undefined && search.set(names[k], String(value)));
  if (operation.id.endsWith('Events')) search.set('follow', 'false');
  if ([...search].length) target += `?${search}`;
  return target;
}

async function ask(request) {
  const { operation, body, who, key } = request;
  const target = targetOf(request);
  const headers = key ? { 'idempotency-key': key } : {};
  try {
    const answer = await clients[who].send(operation.method, target, { body, headers });
    // Nobody's address is shown to anybody but himself (U4); the description has examples.
    if (operation.id === 'getOpenapi') return answer;
    for (const [i, user] of server.users.entries())
      if (i + 2 !== who) assert.doesNotMatch(answer.text, new RegExp(`${user.handle}@example`, 'i'), `${operation.id} as ${who}`);
    return answer;
  } catch (error) {
    // A path that is not this operation's any more (a slash in a parameter) has no description.
    if (/no such operation is described/.test(error.message)) return null;
    throw error;
  }
}

test('whatever is asked, the answer is a described one and no fault of the server', async () => {
  await fc.assert(fc.asyncProperty(requests(), async (request) => {
    const answer = await ask(request);
    if (answer) assert.ok(answer.status < 500, `${answer.status} ${answer.text}`);
  }), { ...settings, numRuns: runs * 4 });
});

test('a body that its schema forbids changes nothing', async () => {
  const withBody = spec.operations.filter((o) => spec.requestSchema(o) && !skipped.has(o.id));
  const drawn = fc.oneof(...withBody.map((operation) => fc.record({
    operation: fc.constant(operation),
    path: fc.tuple(...operation.parameters.filter((p) => p.in === 'path').map(parameter)),
    query: fc.constant([]),
    body: bodies(spec.requestSchema(operation)),
    who: fc.integer({ min: 2, max: 6 }),
    key: fc.constant(undefined),
  })));
  await fc.assert(fc.asyncProperty(drawn, async (request) => {
    const validate = spec.validator(spec.requestSchema(request.operation), false);
    if (validate(request.body)) return;
    const answer = await ask(request);
    if (!answer) return;
    assert.ok(answer.status >= 400, `${request.operation.id} took ${JSON.stringify(request.body)}: ${JSON.stringify(validate.errors)}`);
  }), settings);
});

test('the same key and request give the same answer, whatever it was', async () => {
  const acts = spec.operations.filter((o) => o.parameters.some((p) => p.name === 'Idempotency-Key'));
  let n = 0;
  const drawn = fc.oneof(...acts.map((operation) => fc.record({
    operation: fc.constant(operation),
    path: fc.tuple(...operation.parameters.filter((p) => p.in === 'path').map(parameter)),
    query: fc.constant([]),
    body: spec.requestSchema(operation) ? fromSchema(spec.requestSchema(operation)) : fc.constant(undefined),
    who: fc.integer({ min: 2, max: 6 }),
  })));
  await fc.assert(fc.asyncProperty(drawn, async (request) => {
    const keyed = { ...request, key: `once-${n++}` };
    const first = await ask(keyed);
    if (!first) return;
    const second = await ask(keyed);
    assert.deepEqual([second.status, second.text], [first.status, first.text]);
  }), settings);
});

test('an unchanged thing answers 304 to its own ETag', async () => {
  await server.settle(); // what is still on its way to webhooks changes them
  const reads = spec.operations.filter((o) => o.method === 'GET');
  const tagged = new Set();
  const drawn = fc.oneof(...reads.map((operation) => fc.record({
    operation: fc.constant(operation),
    path: fc.tuple(...operation.parameters.filter((p) => p.in === 'path').map(parameter)),
    query: fc.tuple(...operation.parameters.filter((p) => p.in === 'query').map((p) => fc.option(parameter(p), { freq: 2, nil: undefined }))),
    who: fc.integer({ min: 0, max: 6 }),
  })));
  await fc.assert(fc.asyncProperty(drawn, async (request) => {
    const answer = await ask(request);
    if (!answer || answer.status !== 200) return;
    // Whatever has an ETag answers 304 to it, and the description says so; nothing else does.
    assert.equal(answer.headers.has('etag'), '304' in request.operation.operation.responses, request.operation.id);
    if (!answer.headers.has('etag')) return;
    tagged.add(request.operation.id);
    const again = await clients[request.who].send('GET', targetOf(request), { headers: { 'if-none-match': answer.headers.get('etag') } });
    // The time of its last use is part of a token or session.
    if (!/tokens|sessions/.test(request.operation.template)) assert.equal(again.status, 304);
    const head = await clients[request.who].send('HEAD', targetOf(request));
    assert.equal(head.status, 200);
    assert.equal(head.text, '');
  }), settings);
  for (const id of ['getGame', 'listGames', 'getGameEvents', 'getEvents']) assert.ok(tagged.has(id), id);
});

test('the tests have met every operation', () => {
  const met = new Set([...spec.seen].map((s) => s.split(' ')[0]));
  const missed = spec.operations.map((o) => o.id).filter((id) => !met.has(id) && !skipped.has(id));
  assert.deepEqual(missed, []);
});
