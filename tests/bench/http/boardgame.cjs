/*
 * bench/http/boardgame.cjs - boardgame.io with a game of like size, on its FlatFile storage.
 *
 *     node boardgame.cjs DIR
 *
 * Four players, a board of 160 cells with 64 men on it as its state, one move a turn; a move is
 * checked no further than that a man of one's own goes to a cell without one.  Prints "ready
 * http://127.0.0.1:PORT" and ends with its standard input.  Matches are without credentials, so
 * none are checked.
 */
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [dir] = process.argv.slice(2);
const need = createRequire(join(__dirname, '../peers/package.json'));
const { Server, FlatFile, Origins } = need('boardgame.io/server');
const { INVALID_MOVE } = need('boardgame.io/core');

const CELLS = 160;
const MEN = ['R', 'N', 'B', 'Q', 'K', 'B', 'N', 'R', 'P', 'P', 'P', 'P', 'P', 'P', 'P', 'P'];

const game = {
    name: 'four',
    minPlayers: 4,
    maxPlayers: 4,
    setup: () => {
        const cells = Array(CELLS).fill(null);
        for (let seat = 0; seat < 4; seat++) MEN.forEach((man, i) => { cells[seat * 40 + i] = `${seat}${man}`; });
        return { cells, inert: [false, false, false, false], last: null };
    },
    turn: { minMoves: 1, maxMoves: 1 },
    moves: {
        play: ({ G, playerID }, from, to) => {
            if (G.cells[from]?.[0] !== playerID || G.cells[to]?.[0] === playerID) return INVALID_MOVE;
            G.cells[to] = G.cells[from];
            G.cells[from] = null;
            G.last = [from, to];
            return undefined;
        },
    },
};

async function main() {
    const server = Server({ games: [game], db: new FlatFile({ dir }), origins: [Origins.LOCALHOST] });
    const { appServer } = await server.run({ port: 0, callback: () => {} });
    console.log(`ready http://127.0.0.1:${appServer.address().port}`);
    process.stdin.resume().on('end', () => process.exit(0));
}

main();
