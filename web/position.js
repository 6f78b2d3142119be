/* position.js - reads the one-line position of the API (docs/formats.md); knows no rules. */

export const SEATS = ['south', 'west', 'north', 'east'];

export const squareName = (file, rank) => String.fromCharCode(97 + file) + (rank + 1);
export const squareOf = (name) => ({ file: name.charCodeAt(0) - 97, rank: Number(name.slice(1)) - 1 });

/* "e2e4", "k13l14q" → {from, to, promotion}. */
export function readMove(text) {
    const m = /^([a-p]\d{1,2})([a-p]\d{1,2})([qrbn]?)$/.exec(text ?? '');
    return m && { from: m[1], to: m[2], promotion: m[3] };
}

/* {men: Map square → {seat, letter, kind}, turn, conditions} of a position text. */
export function readPosition(text, info) {
    const [, board, turn, conditions] = text.split(' ');
    const seatOf = Object.fromEntries(info.seats.map((x) => [x.letter, x.seat]));
    const men = new Map();
    board.split('/').forEach((row, index) => {
        let file = 0;
        const rank = info.ranks - 1 - index;
        for (const token of row.split(',')) {
            if (token === 'x') file += 1;
            else if (/^\d+$/.test(token)) file += Number(token);
            else {
                men.set(squareName(file, rank), { letter: token[0], kind: token[1], seat: seatOf[token[0]] });
                file += 1;
            }
        }
    });
    return { men, turn: seatOf[turn], conditions };
}

/* Is the army of a seat inert: mated or absent? */
export const isInert = (position, seat) => 'mx'.includes(position.conditions[SEATS.indexOf(seat)]);
