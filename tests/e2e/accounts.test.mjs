/*
 * What becomes of games when an account is shut, with the daemon running and without.
 */
import test from 'node:test';
import assert from 'node:assert/strict';
import { refusedWith, table, verified } from './lib/table.mjs';

const open = { open: true };

test('A2: open games, seats and invitations go with the account; games that run go on', async (t) => {
    const b = await table(t);
    const [anna, boris, clara, dmitri] = b.players;
    const make = (player, south, west, north, east, more = {}) => player.post('/api/v1/games', { variant: 'verney', seats: { south, west, north, east }, ...more });
    const me = { me: true }, him = { handle: 'dmitri' };

    const running = await b.game(3);
    const own = await make(dmitri, me, { handle: 'boris' }, open, open);
    const unseen = await make(dmitri, open, open, open, open, { visibility: 'players' }); /* he only organises it */
    const joined = await make(anna, me, open, open, open);
    await dmitri.post(`/api/v1/games/${joined.id}/join`, { seats: ['west', 'east'] });
    const invited = await make(b.olga, him, { handle: 'boris' }, him, open);
    const both = await make(clara, me, open, open, him);
    await dmitri.post(`/api/v1/games/${both.id}/join`, { seats: ['west'] });
    await b.club.settle();
    const from = b.post.letters.items.length;

    assert.equal(await b.club.command('user', 'disable', 'dmitri'), 'disabled dmitri');
    await b.club.settle();
    for (const game of [own, unseen]) {
        const [row] = b.club.sql(`SELECT state, cause FROM games WHERE public_id = '${game.id}'`);
        assert.deepEqual(row, { state: 'aborted', cause: 'operator' });
    }
    const status = async (game) => (await b.look(game)).seats.map((s) => s.status);
    assert.deepEqual(await status(joined), ['taken', 'open', 'open', 'open']);
    assert.deepEqual(await status(invited), ['open', 'invited', 'open', 'open']);
    assert.deepEqual(await status(both), ['taken', 'open', 'open', 'open']);
    const listed = (await b.club.nobody().get('/api/v1/games?open=true&limit=100')).items.map((g) => g.id);
    assert.deepEqual(listed.sort(), [joined.id, invited.id, both.id].sort());
    await assert.rejects(boris.post(`/api/v1/games/${own.id}/accept`, {}), refusedWith(409, 'game_not_running'));
    /* Whoever waits for others hears of it. */
    for (const [who, game] of [['anna', joined], ['olga', invited], ['clara', both]]) assert.ok(b.to('invitation', game, from).includes(who), who);

    /* The game that runs: his seat stays his, and his clock runs on. */
    const now = await b.look(running);
    assert.equal(now.state, 'running');
    assert.equal(now.seats[3].player.handle, 'dmitri');
    for (const move of ['e2e3', 'b7c7', 'g13g12']) await b.move(running, move);
    await b.club.advanceTo((await b.look(running)).turn.grace_until);
    await b.club.advance(1);
    assert.equal((await b.look(running)).seats[3].left, 'forfeited');

    /* Twice is a mistake, and changes nothing; opened again, nothing comes back. */
    await assert.rejects(b.club.command('user', 'disable', 'dmitri'));
    await b.club.command('user', 'enable', 'dmitri');
    assert.deepEqual(await status(joined), ['taken', 'open', 'open', 'open']);

    /* Without a daemon the same. */
    await b.club.stop();
    assert.equal(b.club.run('user disable anna').trim(), 'disabled anna');
    assert.equal(b.club.sql(`SELECT state FROM games WHERE public_id = '${joined.id}'`)[0].state, 'aborted');
    await verified(b.club);
});
