// What is refused, and how it is told: every wrong field by a JSON Pointer, in the reader's language.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Spec } from './spec.mjs';
import { startServer } from './server.mjs';

const spec = new Spec();
let server, anna, boris, clara, dan, nobody;

before(async () => {
  server = await startServer();
  [anna, boris, clara, dan] = server.users.map((u) => new Client(spec, server.url, u.token));
  nobody = new Client(spec, server.url, null);
});

after(async () => {
  assert.equal(await server.stop(), 0);
});

const ok = (answer, status = 200) => {
  assert.equal(answer.status, status, answer.text);
  return answer;
};
const wrong = (answer, status, pointers) => {
  assert.equal(answer.status, status, answer.text);
  assert.deepEqual(answer.json.errors?.map((e) => e.pointer), pointers, answer.text);
  for (const error of answer.json.errors) assert.ok(error.detail.length > 5, answer.text);
  return answer;
};
const patch = (body) => anna.send('PATCH', '/api/v1/me', { body });
const token = async (...scopes) => {
  const made = ok(await anna.post('/api/v1/me/tokens', { name: scopes.join(' '), scopes }), 201).json;
  return new Client(spec, server.url, made.token);
};

async function newGame(seats, more = {}) {
  const { id } = ok(await anna.post('/api/v1/games', { variant: 'verney', seats, ...more }), 201).json;
  for (const player of [boris, clara, dan])
    if ((await player.get(`/api/v1/games/${id}`)).json.you?.invited.length)
      ok(await player.post(`/api/v1/games/${id}/accept`));
  return (await anna.get(`/api/v1/games/${id}`)).json;
}
const four = { south: { me: true }, west: { handle: 'boris' }, north: { handle: 'clara' }, east: { handle: 'dan' } };
const two = { south: { me: true }, west: { handle: 'boris' }, north: { me: true }, east: { handle: 'boris' } };

test('a profile tells all its wrong fields at once', async () => {
  wrong(await patch({ name: 'a\tb' }), 400, ['/name']);
  wrong(await patch({ language: 'de' }), 400, ['/language']);
  wrong(await patch({ time_zone: '+03:00' }), 400, ['/time_zone']);
  wrong(await patch({ time_zone: 'Nowhere/X', language: 'qq', name: '' }), 400, ['/name', '/time_zone', '/language']);
  const all = wrong(await nobody.post('/api/v1/auth/register',
    { handle: 'Zoë', address: 'a@b', language: 'xx', time_zone: 'X', name: ' x' }),
  400, ['/handle', '/name', '/time_zone', '/language', '/address']);
  assert.equal(new Set(all.json.errors.map((e) => e.detail)).size, 5);
});

test('what is judged deeper names its field too', async () => {
  wrong(await anna.post('/api/v1/me/address', { address: 'a@b' }), 400, ['/address']);
  wrong(await anna.post('/api/v1/me/tokens', { name: 'a\u200bb', scopes: ['read'], expires_at: '2001-01-01T00:00:00Z' }),
    400, ['/name', '/expires_at']);
  wrong(await anna.send('PUT', '/api/v1/me/password', { body: { password: 'password' } }), 400, ['/password']);
  const game = await newGame(two);
  const act = { state_number: game.state_number };
  const path = `/api/v1/games/${game.id}`;
  wrong(await anna.post(`${path}/resign`, act), 400, ['/seat']);
  wrong(await anna.post(`${path}/resign`, { ...act, seat: 'west' }), 403, ['/seat']);
  wrong(await anna.post(`${path}/pause`, { until: '2001-01-01T00:00:00Z' }), 400, ['/until']);
  wrong(await anna.post(`${path}/pause`, { note: 'x'.repeat(501) }), 400, ['/note']);
  wrong(await anna.post(`${path}/notes`, { text: 'ü'.repeat(1500) }), 400, ['/text']);
  wrong(await anna.post('/api/v1/me/webhooks', { url: 'https://127.0.0.1/' }), 422, ['/url']);
  wrong(await nobody.get('/api/v1/games?after=nonsense'), 400, ['after']);
  // RFC 6901: a slash and a tilde in a name are escaped.
  wrong(await patch({ 'a/b~c': 1, name: 'Anna' }), 400, ['/a~1b~0c']);
  wrong(await anna.send('PATCH', '/api/v1/me/notices', { body: { mail: { 'x/y': true } } }), 400, ['/mail/x~1y']);
  wrong(await patch({ ['ж'.repeat(100)]: 1 }), 400, ['/']);
  // A refusal that is about no field has no list.
  assert.equal((await boris.post(`${path}/moves`, { move: 'b5c5', ...act })).json.errors, undefined);
});

test('every route tells all its wrong parameters at once', async () => {
  const game = await newGame(four);
  const hook = ok(await anna.post('/api/v1/me/webhooks', { url: 'https://hooks.example.org/x' }), 201).json;
  const put = { game: game.id, webhook: hook.id, handle: 'anna', language: 'en', code: 'bad_field' };
  // What its schema cannot tell: texts that are wrong, and one that is right.
  const own = { after: 'nonsense', from: 'z99', move: 'x'.repeat(17), player: 'anna' };
  let n = 0;
  for (const { method, template, operation, parameters } of spec.operations) {
    const asked = parameters.filter((p) => p.in === 'query');
    if (method !== 'GET' || !asked.length) continue;
    const path = template.replace(/\{(\w+)\}/g, (whole, name) => put[name]);
    const query = [['colour', 'red'], ...asked.map((p) => [p.name, own[p.name] ?? 'wrong'])];
    const answer = await anna.get(`${path}?${new URLSearchParams(query)}`);
    assert.equal(answer.status, 400, `${operation.operationId}: ${answer.text}`);
    assert.deepEqual(answer.json.errors.map((e) => e.pointer).sort(), query.map(([name]) => name).filter((name) => name !== 'player').sort(), answer.text);
    n += 1;
  }
  assert.ok(n >= 10, String(n));
  // Twice, unknown and out of range; an id in the path and the query; an id and the body; two ids.
  wrong(await nobody.get('/api/v1/games?limit=5&limit=6&limit=0&x=1&limit=5'), 400, ['limit', 'limit', 'x', 'limit']);
  wrong(await nobody.get('/api/v1/games?over=maybe&turn=you&state=on&open=yes'), 400, ['state', 'turn', 'open', 'over', 'over']);
  wrong(await anna.get('/api/v1/me/webhooks/x/deliveries?limit=0&after=0'), 400, ['limit', 'after', 'webhook']);
  wrong(await anna.send('PATCH', '/api/v1/me/webhooks/x', { body: { state: 'maybe' } }), 400, ['/state', 'webhook']);
  wrong(await anna.post('/api/v1/me/webhooks/0/deliveries/x/redeliver'), 400, ['delivery', 'webhook']);
  // Nothing is no parameter; a name that is empty is.
  ok(await nobody.get('/api/v1/games?&limit=5&&state=open&'));
  wrong(await nobody.get('/api/v1/games?=5&limit=0'), 400, ['', 'limit']);
  // Only then is it asked who `me` is, and whether there is such a thing.
  wrong(await nobody.get('/api/v1/games?turn=me&limit=x'), 400, ['limit']);
  wrong(await nobody.get('/api/v1/games/00000000/board.png?width=1&seat=up&ply=-1'), 400, ['seat', 'width', 'ply']);
});

test('a reserve that cannot stand so names the squares', async () => {
  const game = await newGame(four, { variant: 'fortress', reserve: 'chosen' });
  const path = `/api/v1/games/${game.id}/placement`;
  wrong(await anna.post(path, { rook: 'z1', bishop: 'p4', knight: 'q9' }), 400, ['/rook', '/knight']);
  const own = await newGame(two, { variant: 'fortress', reserve: 'chosen' });
  wrong(await anna.post(`/api/v1/games/${own.id}/placement`, { rook: 'p4', bishop: 'n3', knight: 'o1' }), 400, ['/seat']);
  wrong(await anna.post(path, { rook: 'a1', bishop: 'p4', knight: 'n3' }), 422, ['/rook']);
  wrong(await anna.post(path, { rook: 'p4', bishop: 'n3', knight: 'p4' }), 422, ['/rook', '/knight']);
});

test('a body that is no JSON is told in the reader\'s language', async () => {
  const ask = async (raw, language) => {
    const answer = await anna.send('PATCH', '/api/v1/me',
      { raw, headers: { 'content-type': 'application/json', 'accept-language': language } });
    assert.equal(answer.json.code, 'bad_json', answer.text);
    assert.equal(answer.headers.get('content-language'), language);
    return answer.json.detail;
  };
  const faults = {
    '{': 'line 1, column 1: the text ends too early',
    '{}\n}': 'line 2, column 1: there is more after the end',
    '{"name": x}': 'line 1, column 10: this is not how JSON is written',
    '{"name":"a","name":"b"}': 'line 1, column 18: a field is there twice',
    '{"mail_hold_ms":99999999999999999999}': 'line 1, column 36: the number is too large',
    '{"name":"\\u0000"}': 'line 1, column 16: a text holds a NUL',
  };
  for (const [raw, told] of Object.entries(faults)) {
    assert.equal(await ask(raw, 'en'), told);
    for (const language of ['ru', 'ro'])
      assert.doesNotMatch(await ask(raw, language), /line|column|expected|invalid|token|near/, raw);
  }
  assert.equal(await ask('{', 'ru'), 'строка 1, знак 1: текст обрывается');
  assert.match(await ask(Buffer.from('{"name":"\xff"}', 'latin1'), 'en'), /: this is not UTF-8$/);
  assert.match(await ask('{"name":'.repeat(5000), 'en'), /: this is nested too deep$/);
});

test('what anybody may read is readable with any valid token, and no more', async () => {
  const open = await newGame(four), secret = await newGame(four, { visibility: 'players' });
  for (const scope of ['play', 'manage']) {
    const lame = await token(scope);
    for (const part of ['', '/moves', '/board.txt', '/position', '/legal', '/game.txt'])
      ok(await lame.get(`/api/v1/games/${open.id}${part}`));
    assert.equal((await lame.get(`/api/v1/games/${open.id}`)).json.you, null);
    ok(await lame.get('/api/v1/users/boris'));
    assert.ok(ok(await lame.get('/api/v1/games?limit=100')).json.items.every((g) => g.visibility === 'public'));
    for (const path of [`/api/v1/games/${secret.id}`, '/api/v1/games/00000000', '/api/v1/games?player=me', '/api/v1/me'])
      assert.equal((await lame.get(path)).json.code, 'scope_needed', path);
  }
  const reader = await token('read');
  ok(await reader.get(`/api/v1/games/${secret.id}`));
  assert.equal((await reader.post(`/api/v1/games/${secret.id}/decline`)).json.code, 'scope_needed');
  assert.equal((await nobody.get(`/api/v1/games/${secret.id}`)).status, 404);
});

test('parameters are refused where they would be passed over', async () => {
  const game = await newGame(four);
  const legal = `/api/v1/games/${game.id}/legal`;
  wrong(await anna.get('/api/v1/games?over=true'), 400, ['over']);
  ok(await anna.get('/api/v1/games?over=true&player=boris'));
  assert.equal(ok(await anna.get(`${legal}?move=${'x'.repeat(16)}`)).json.asked.legal, false);
  wrong(await anna.get(`${legal}?move=${'x'.repeat(17)}`), 400, ['move']);
  wrong(await anna.get(`${legal}?move=`), 400, ['move']);
  assert.equal((await anna.get(`${legal}?move=${encodeURIComponent('ж'.repeat(16))}`)).status, 200);
  wrong(await anna.get(`${legal}?from=`), 400, ['from']);
  wrong(await anna.send('DELETE', '/api/v1/me/tokens/abc'), 400, ['token']);
  wrong(await anna.send('DELETE', '/api/v1/me/sessions/0'), 400, ['session']);
  wrong(await anna.get('/api/v1/me/webhooks/1x/deliveries'), 400, ['webhook']);
  wrong(await anna.send('DELETE', `/api/v1/games/${game.id}/invitations/up`), 400, ['seat']);
  assert.equal((await anna.send('DELETE', '/api/v1/me/tokens/99999')).status, 404);
});

test('whole numbers are what JSON Schema calls so', async () => {
  const game = await newGame(four);
  const send = (number, move = 'e2e3') => anna.send('POST', `/api/v1/games/${game.id}/moves`,
    { raw: `{"move":"${move}","state_number":${number}}`, headers: { 'content-type': 'application/json' } });
  wrong(await send(`${game.state_number}.5`), 400, ['/state_number']);
  wrong(await send('1e300'), 400, ['/state_number']);
  wrong(await send(`"${game.state_number}"`), 400, ['/state_number']);
  ok(await send(`${game.state_number}.0`), 201);
  const make = (ms) => anna.send('POST', '/api/v1/games', {
    raw: `{"variant":"teams","seats":{"south":{"me":true},"west":{"open":true},"north":{"open":true},"east":{"open":true}},"time":{"mode":"per-move","per_move_ms":${ms}}}`,
    headers: { 'content-type': 'application/json' },
  });
  assert.equal(wrong(await make('3600000.5'), 400, ['/time/per_move_ms']).json.errors[0].detail, 'must be a whole number');
  assert.equal(ok(await make('7.2e6'), 201).json.time.per_move_ms, 7200000);
  assert.match(wrong(await make('3599999'), 400, ['/time/per_move_ms']).json.detail, /must be from 3600000/);
});

test('a house rule is told apart from its value and from the reserve', async () => {
  const told = async (variant, house_rules) => wrong(await anna.post('/api/v1/games', { variant, house_rules, seats: four }),
    400, [`/house_rules/${Object.keys(house_rules)[0]}`]).json.errors[0].detail;
  assert.equal(await told('verney', { inert: 1 }), 'must be a text');
  assert.match(await told('verney', { inert: 'maybe' }), /has no such value/);
  assert.match(await told('verney', { colour: 1 }), /no such house rule/);
  assert.match(await told('fortress', { reserve: 'chosen' }), /a field of its own beside `house_rules`/);
});

test('who has a seat already is told of, whoever asks', async () => {
  const answer = await anna.post('/api/v1/games', {
    variant: 'verney', seats: { south: { me: true }, west: { handle: 'boris' }, north: { handle: 'boris' }, east: { open: true } },
  });
  assert.equal(answer.status, 409, answer.text);
  assert.equal(answer.json.title, 'This player has a seat already');
  assert.match(answer.json.detail, /^boris has the seat West/);
});

test('the server\'s own address is nobody\'s', async () => {
  wrong(await anna.post('/api/v1/me/address', { address: 'play@club.example' }), 400, ['/address']);
  wrong(await nobody.post('/api/v1/auth/register', { handle: 'fritz', address: 'play@club.example' }), 400, ['/address']);
  wrong(await anna.post('/api/v1/games', { variant: 'teams', seats: { ...four, east: { address: 'play@club.example' } } }),
    400, ['/seats/east']);
});

test('programs of other sites may read what is refused', async () => {
  const origin = { origin: 'https://elsewhere.example' };
  const options = await fetch(`${server.url}/api/v1/nope`, { method: 'OPTIONS', headers: origin });
  for (const answer of [options, await fetch(`${server.url}/api/v1/nope`, { headers: origin }),
    await fetch(`${server.url}/api/v1/me`, { method: 'PUT', headers: origin }),
    await fetch(`${server.url}/api/v1/games`, { headers: origin })])
    assert.equal(answer.headers.get('access-control-allow-origin'), '*', `${answer.url} ${answer.status}`);
  const page = await fetch(`${server.url}/nope`, { headers: origin });
  assert.equal(page.headers.get('access-control-allow-origin'), null);
});

test('a problem names the path that was asked for, but no secret', async () => {
  const ask = async (path, init) => (await fetch(server.url + path, init)).json();
  assert.equal((await ask('/api/v1/nope?x=1')).instance, '/api/v1/nope');
  assert.equal((await ask('/nope')).instance, '/nope');
  const bad = await ask('/api/v1/games?move=%ff');
  assert.deepEqual([bad.code, bad.instance], ['bad_request', '/api/v1/games']);
  assert.equal((await ask('/api/v1/games/%00')).instance, '/api/v1/games/%00');
  const large = await ask('/api/v1/games', { method: 'POST', body: 'x'.repeat(70000) });
  assert.deepEqual([large.code, large.instance], ['too_large', '/api/v1/games']);
  for (const path of ['/login/%ff', '/u/%00', '/confirm/aaaaaaaaaaaaaaaaaaaaaaaaaa/more']) {
    const answer = await fetch(server.url + path, { headers: { accept: 'application/json' } });
    assert.doesNotMatch(await answer.text(), /instance/, path);
  }
});

test('the language is what Accept-Language weighs most, in problems, pages and files', async () => {
  const game = await newGame(four);
  const said = async (path, language) =>
    (await fetch(server.url + path, { headers: { 'accept-language': language } })).headers.get('content-language');
  for (const path of ['/api/v1/nope', '/login/aaaaaaaaaaaaaaaaaaaaaaaaaa', `/api/v1/games/${game.id}/board.txt`,
    `/api/v1/games/${game.id}/board.svg`, `/api/v1/games/${game.id}/game.txt`]) {
    assert.equal(await said(path, 'ru;q=0'), 'en', path);
    assert.equal(await said(path, 'en;q=0.1, ro;q=0.2'), 'ro', path);
    assert.equal(await said(path, 'ru;q=abc'), 'en', path);
  }
});

test('notes are lines that say something', async () => {
  const game = await newGame(four);
  const path = `/api/v1/games/${game.id}`;
  wrong(await anna.post(`${path}/notes`, { text: '  ' }), 400, ['/text']);
  wrong(await anna.post(`${path}/notes`, { text: 'a\u0007b' }), 400, ['/text']);
  assert.equal(ok(await anna.post(`${path}/notes`, { text: 'a\nb' }), 201).json.text, 'a\nb');
  wrong(await anna.post(`${path}/pause`, { note: 'a\nb' }), 400, ['/note']);
  ok(await anna.post(`${path}/pause`, { note: '  ' }));
  const events = (await anna.get(`${path}/events`, { headers: { accept: 'application/json' } })).json.items;
  assert.equal(events.find((e) => e.kind === 'paused').note, null);
});

test('an access token goes with the webhooks that send one', async () => {
  const make = (kind) => anna.post('/api/v1/me/webhooks', { url: 'https://hooks.example.org/topic', kind, auth: 'secret' });
  for (const kind of ['slack', 'discord', 'standard', undefined])
    wrong(await make(kind), 400, ['/auth']);
  const hook = ok(await make('ntfy'), 201).json;
  const change = (body) => anna.send('PATCH', `/api/v1/me/webhooks/${hook.id}`, { body });
  assert.equal(ok(await change({ auth: 'other' })).json.has_auth, true);
  wrong(await change({ kind: 'slack', auth: 'other' }), 400, ['/auth']);
  assert.equal(ok(await change({ kind: 'slack' })).json.has_auth, false);
  wrong(await change({ auth: 'other' }), 400, ['/auth']);
  ok(await change({ auth: '' }));
});

test('taking one\'s own offer of a draw back is no refusal', async () => {
  const game = await newGame(four);
  const path = `/api/v1/games/${game.id}`;
  const act = { state_number: game.state_number };
  ok(await anna.post(`${path}/draw/offer`, act));
  ok(await boris.post(`${path}/draw/accept`, act));
  assert.equal(ok(await anna.post(`${path}/draw/decline`, { ...act, seat: 'south' })).json.draw_offer, null);
  const events = (await anna.get(`${path}/events`, { headers: { accept: 'application/json' } })).json.items
    .filter((e) => e.kind.startsWith('draw_')).map((e) => [e.kind, e.seat, e.by]);
  assert.deepEqual(events, [['draw_offered', 'south', 'anna'], ['draw_accepted', 'west', 'boris'], ['draw_lapsed', 'south', 'anna']]);
});
