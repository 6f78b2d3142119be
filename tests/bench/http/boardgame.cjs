/*
 * bench/http/boardgame.cjs - boardgame.io with a game of like size, on its FlatFile storage.
 *
 *     node boardgame.cjs DIR PLAN GAMES IDS…
 *
 * PLAN is what run.mjs has noted while our server played the line that both sides play:
 *   {start: [196 cells: null or seat and man, "0K"], plies: [{seat, from, to, man, conditions}],
 *    bases: [plies…]}
 * For each of bases a match is made and played so far, through boardgame.io's own master; they are
 * copied, files and all, till there are GAMES for each IDS, under ids that are written there.  So
 * states and logs are as long as those of games that are on at any point of the line.
 *
 * A move is checked as far as this: the man is the mover's, goes as his kind goes, over nobody, to
 * no partner's cell, and leaves the own king in no line, leap or step of a live enemy's man (pawns
 * aside).  Whose turn it is and who is mated is taken from the plan, and no mate is looked for.  Undo
 * is off.  Matches are without credentials, so none are checked.  Prints "ready
 * http://127.0.0.1:PORT" and ends with its standard input.
 */
const { createHash } = require('node:crypto');
const { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { join } = require('node:path');

const [dir, planFile, games, ...idFiles] = process.argv.slice(2);
const need = createRequire(join(__dirname, '../peers/package.json'));
const { Server, FlatFile, Origins } = need('boardgame.io/server');
const { Master } = need('boardgame.io/master');
const { INVALID_MOVE } = need('boardgame.io/core');

const plan = JSON.parse(readFileSync(planFile, 'utf8'));
const SIDE = 14, CORNER = 3;
const LINES = [[1, 0], [-1, 0], [0, 1], [0, -1]], SLANTS = [[1, 1], [1, -1], [-1, 1], [-1, -1]];
const LEAPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]];

const isOut = (x) => x < CORNER || x >= SIDE - CORNER;
const onBoard = (x, y) => x >= 0 && x < SIDE && y >= 0 && y < SIDE && !(isOut(x) && isOut(y));
const isEnemy = (man, seat) => ((man.charCodeAt(0) - 48) ^ seat) & 1;

/* Nothing stands between. */
function isOpen(cells, x, y, dx, dy, steps) {
    for (let i = 1; i < steps; i++) {
        if (!onBoard(x + i * dx, y + i * dy) || cells[(y + i * dy) * SIDE + x + i * dx]) return false;
    }
    return true;
}

function goes(cells, kind, from, to) {
    const x = from % SIDE, y = (from - x) / SIDE, tx = to % SIDE, ty = (to - tx) / SIDE;
    const ax = Math.abs(tx - x), ay = Math.abs(ty - y), steps = Math.max(ax, ay);
    if (steps === 0 || !onBoard(tx, ty)) return false;
    switch (kind) {
    case 'N': return ax * ay === 2;
    case 'K': return steps === 1;
    case 'P': return cells[to] ? ax * ay === 1 : steps === 1 ? ax !== ay : steps === 2 && ax !== ay; /* verney's leap */
    case 'R': if (ax && ay) return false; break;
    case 'B': if (ax !== ay) return false; break;
    default: if (ax && ay && ax !== ay) return false;
    }
    return isOpen(cells, x, y, Math.sign(tx - x), Math.sign(ty - y), steps);
}

function isAttacked(cells, at, seat, conditions) {
    const x = at % SIDE, y = (at - x) / SIDE;
    const isBy = (man, kinds) => man && isEnemy(man, seat) && kinds.includes(man[1]) && conditions[man[0]] === 'a';
    for (const [dirs, kinds] of [[LINES, 'RQ'], [SLANTS, 'BQ']])
        for (const [dx, dy] of dirs)
            for (let i = 1; onBoard(x + i * dx, y + i * dy); i++) {
                const man = cells[(y + i * dy) * SIDE + x + i * dx];
                if (isBy(man, i === 1 ? `${kinds}K` : kinds)) return true;
                if (man) break;
            }
    return LEAPS.some(([dx, dy]) => onBoard(x + dx, y + dy) && isBy(cells[(y + dy) * SIDE + x + dx], 'N'));
}

const game = {
    name: 'four',
    minPlayers: 4,
    maxPlayers: 4,
    disableUndo: true,
    setup: () => ({ cells: plan.start, conditions: 'aaaa', ply: 0, last: null }),
    turn: {
        minMoves: 1,
        maxMoves: 1,
        order: {
            first: () => plan.plies[0].seat,
            next: ({ G }) => plan.plies[Math.min(G.ply, plan.plies.length - 1)].seat,
        },
    },
    moves: {
        play: ({ G, playerID }, from, to, man) => {
            const seat = Number(playerID), mover = G.cells[from], taken = G.cells[to];
            if (!mover || mover[0] !== playerID || (taken && !isEnemy(taken, seat))) return INVALID_MOVE;
            if (!goes(G.cells, mover[1], from, to)) return INVALID_MOVE;
            G.cells[to] = man ? playerID + man : mover;
            G.cells[from] = null;
            if (isAttacked(G.cells, G.cells.indexOf(`${playerID}K`), seat, G.conditions)) return INVALID_MOVE;
            G.conditions = plan.plies[G.ply].conditions;
            G.ply++;
            G.last = [from, to];
            return undefined;
        },
    },
};

const fileOf = (key) => join(dir, createHash('md5').update(key).digest('hex'));

/* The line's beginning, played by boardgame.io's own master, in memory. */
async function playBase(db, memory, url, plies) {
    const answer = await fetch(`${url}/games/four/create`, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{"numPlayers":4}' });
    const { matchID } = await answer.json();
    const all = { state: true, initialState: true, metadata: true, log: true };
    memory.createMatch(matchID, await db.fetch(matchID, all));
    const master = new Master(game, memory, { send() {}, sendAll() {} });
    for (const { seat, from, to, man } of plan.plies.slice(0, plies)) {
        const { state } = memory.fetch(matchID, all);
        await master.onUpdate({ type: 'MAKE_MOVE', payload: { type: 'play', args: [from, to, man], playerID: String(seat) } }, state._stateID, matchID, String(seat));
    }
    const base = memory.fetch(matchID, all);
    if (base.state.G.ply !== plies) throw new Error(`a match came to ply ${base.state.G.ply}, not ${plies}`);
    return base;
}

/* The files that FlatFile would have written. */
function copy(bases, path, tag) {
    const ids = [];
    for (let n = 0; n < Number(games); n++) {
        const { state, initialState, metadata, log } = bases[n % bases.length];
        const id = `${tag}${n.toString(36).padStart(10, '0')}`;
        const files = { [id]: state, [`${id}:initial`]: initialState, [`${id}:metadata`]: metadata };
        if (log.length) files[`${id}:log`] = log; /* there is none before the first move */
        for (const [key, value] of Object.entries(files)) writeFileSync(fileOf(key), JSON.stringify({ key, value }));
        ids.push(id);
    }
    writeFileSync(path, ids.join('\n') + '\n');
}

async function main() {
    mkdirSync(dir, { recursive: true });
    for (const name of readdirSync(dir)) rmSync(join(dir, name));
    const db = new FlatFile({ dir });
    const server = Server({ games: [game], db, origins: [Origins.LOCALHOST] });
    const { appServer } = await server.run({ port: 0, callback: () => {} });
    const url = `http://127.0.0.1:${appServer.address().port}`;
    const bases = [], memory = Server({ games: [game], origins: [Origins.LOCALHOST] }).db;
    for (const plies of plan.bases) bases.push(await playBase(db, memory, url, plies));
    idFiles.forEach((path, i) => copy(bases, path, 'abcdef'[i]));
    console.log(`ready ${url}`);
    process.stdin.resume().on('end', () => process.exit(0));
}

main();
