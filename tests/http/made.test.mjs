// What a game is made with is what everybody reads of it, and what is left out is as the API tells.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { Client, Spec } from './spec.mjs';
import { startServer } from './server.mjs';

const spec = new Spec();
let server, anna, boris, olga, nobody;

before(async () => {
  server = await startServer();
  [anna, boris, , , olga] = server.users.map((u) => new Client(spec, server.url, u.token));
  nobody = new Client(spec, server.url, null);
});
after(async () => assert.equal(await server.stop(), 0));

const DAY = 86_400_000;
const open = { south: { me: true }, west: { open: true }, north: { open: true }, east: { open: true } };
// T6: all that stops a game's clocks.
const STOPS = ['pause', 'outage', 'delivery'];
const asked = ['variant', 'house_rules', 'reserve', 'rated', 'visibility', 'table_talk', 'time'];
const about = (game) => Object.fromEntries(asked.map((key) => [key, game[key]]));

async function made(body) {
  const answer = await anna.post('/api/v1/games', { seats: open, ...body });
  assert.equal(answer.status, 201, answer.text);
  return answer.json;
}

test('a game is read as it was made', async () => {
  const wishes = [
    { variant: 'verney', house_rules: { inert: 'capturable', queens: 'left', promotion: 'any' }, rated: true, table_talk: true, days: 3 },
    { variant: 'fortress', reserve: 'chosen', visibility: 'players', days: 14 },
    { variant: 'fortress', reserve: 'random', rated: true, days: 1 },
    { variant: 'teams', table_talk: true, visibility: 'players', days: 30 },
  ];
  for (const { days, ...wish } of wishes) {
    const time = { mode: 'per-move', per_move_ms: days * DAY };
    const game = await made({ ...wish, time });
    const wanted = {
      variant: wish.variant,
      house_rules: wish.house_rules ?? game.house_rules,
      reserve: wish.reserve ?? null,
      rated: wish.rated ?? false,
      visibility: wish.visibility ?? 'public',
      table_talk: wish.table_talk ?? false,
      time: { ...time, grace_ms: DAY / 2, stopped_by: STOPS },
    };
    for (const reader of wish.visibility === 'players' ? [anna, olga] : [anna, boris, nobody]) {
      assert.deepEqual(about((await reader.get(`/api/v1/games/${game.id}`)).json), wanted);
      const listed = (await reader.get('/api/v1/games?player=anna&limit=100')).json.items.find((g) => g.id === game.id);
      assert.deepEqual(about(listed), wanted);
    }
    for (const stranger of wish.visibility === 'players' ? [boris, nobody] : [])
      assert.equal((await stranger.get(`/api/v1/games/${game.id}`)).status, 404);
  }
});

test('what is not said is a fortnight a move, unrated, public and silent', async () => {
  const game = await made({ variant: 'verney' });
  assert.deepEqual(about(game), {
    variant: 'verney', house_rules: { inert: 'safe', queens: 'light', promotion: 'queen' }, reserve: null, rated: false,
    visibility: 'public', table_talk: false, time: { mode: 'per-move', per_move_ms: 14 * DAY, grace_ms: DAY / 2, stopped_by: STOPS },
  });
});

test('one player sits in two allied seats, and never in enemy ones', async () => {
  const two = await made({ variant: 'teams', seats: { south: { me: true }, north: { me: true }, west: { open: true }, east: { open: true } } });
  assert.deepEqual(two.you.seats, ['south', 'north']);
  const both = (await boris.post(`/api/v1/games/${two.id}/join`, { seats: ['west', 'east'] })).json;
  assert.equal(both.state, 'running');
  assert.deepEqual(both.seats.map((s) => s.player.handle), ['anna', 'boris', 'anna', 'boris']);
  const enemies = await anna.post('/api/v1/games', { variant: 'teams', seats: { ...open, west: { me: true } } });
  assert.deepEqual([enemies.status, enemies.json.code], [409, 'already_seated']);
  const other = await made({ variant: 'teams' });
  assert.equal((await anna.post(`/api/v1/games/${other.id}/join`, { seats: ['east'] })).json.code, 'already_seated');
});
