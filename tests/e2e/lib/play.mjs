/* e2e/lib/play.mjs - a whole game over HTTP, from the invitations to the result. */
import { readFileSync } from 'node:fs';
import assert from 'node:assert/strict';

export const SEATS = ['south', 'west', 'north', 'east'];

/* The moves of a file of games/: blanks between moves, lines beginning with # are comments. */
export function movesOf(name) {
    return readFileSync(new URL(`../games/${name}.txt`, import.meta.url), 'utf8')
        .split('\n').filter((line) => !line.startsWith('#')).join(' ').split(/\s+/).filter(Boolean);
}

/* The first player creates the game and invites the others by handle; all accept; it starts. */
export async function startGame(players, body) {
    const [creator, ...others] = players;
    const seats = { south: { me: true } };
    others.forEach((player, i) => { seats[SEATS[i + 1]] = { handle: player.handle }; });
    let game = await creator.post('/api/v1/games', { seats, ...body });
    assert.equal(game.state, 'open');
    for (const player of others) game = await player.post(`/api/v1/games/${game.id}/accept`, {});
    return game;
}

/* Plays the moves, each by whose turn it is; returns the game after the last. */
export async function playAll(players, game, moves, onMove = () => {}) {
    const path = `/api/v1/games/${game.id}`;
    let now = await players[0].get(path);
    for (const [i, move] of moves.entries()) {
        assert.equal(now.state, 'running', `before move ${i + 1} ${move}`);
        const mover = players[SEATS.indexOf(now.turn.seat)];
        const made = await mover.post(`${path}/moves`, { move, state_number: now.state_number });
        assert.equal(made.move.move, move);
        now = made.game;
        await onMove(now, made.move, i);
    }
    return now;
}

/* All events of a game, checked to be numbered without a gap. */
export async function eventsOf(client, id) {
    const events = [];
    for (;;) {
        const page = await client.get(`/api/v1/games/${id}/events?since=${events.length}&limit=200`, { Accept: 'application/json' });
        if (!page.items.length) break;
        events.push(...page.items);
    }
    events.forEach((event, i) => assert.equal(event.seq, i + 1));
    return events;
}

export const count = (events, kind) => events.filter((event) => event.kind === kind).length;
