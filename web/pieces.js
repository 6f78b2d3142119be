/* pieces.js - the men, drawn by hand on 100 x 100; own work, MIT. */

export const SHAPE = {
    P: ['M50 20a14 14 0 0 1 9 24c8 5 13 14 14 26H27c1-12 6-21 14-26a14 14 0 0 1 9-24z',
        'M24 73h52v10H24z'],
    R: ['M27 18h11v8h7v-8h10v8h7v-8h11v19l-7 7v22l6 6H28l6-6V44l-7-7z', 'M23 73h54v10H23z'],
    N: ['M33 71c0-14 15-19 15-32-6 3-11 3-15 8l-9-6c3-13 11-24 24-28l2-8 9 8c17 6 21 26 19 58z',
        'M24 73h54v10H24z'],
    B: ['M50 10a6 6 0 0 1 4 10c10 8 17 17 17 28 0 8-4 14-9 18l4 5H34l4-5c-5-4-9-10-9-18 0-11 7-20 17-28a6 6 0 0 1 4-10z',
        'M24 73h52v10H24z'],
    Q: ['M20 30l13 16 5-26 12 23 12-23 5 26 13-16-9 41H29z', 'M25 73h50v10H25z'],
    K: ['M46 8h8v8h8v8h-8v9c13-8 27 0 26 14-1 9-7 17-12 24H32c-5-7-11-15-12-24-1-14 13-22 26-14v-9h-8v-8h8z',
        'M26 73h48v10H26z'],
};

/* Lines drawn over the shape. */
export const DETAIL = {
    B: 'M50 32v18M42 40h16',
    R: 'M35 44h30',
    N: 'M44 27l4 3',
    Q: 'M30 64h40',
    K: 'M50 34v34',
};

/* What tells the armies apart without colour: a mark in the corner, one shape a seat; the same shapes
 * as in the server's pictures. */
export const MARK = {
    south: 'M84 88m-9 0a9 9 0 1 0 18 0a9 9 0 1 0-18 0z',
    west: 'M84.500 78l10.500 19h-21z',
    north: 'M76 80h17v17H76z',
    east: 'M84.500 77l10 10.500-10 10.500-10-10.500z',
};

/* Colours that stay apart for colour-blind eyes (after Okabe and Ito); ink is the outline. */
export const ARMY = {
    white: { fill: '#fbfbf3', ink: '#303030' },
    black: { fill: '#2b2b2b', ink: '#f2f2f2' },
    red: { fill: '#d55e00', ink: '#3a1a00' },
    yellow: { fill: '#f0e442', ink: '#4a4400' },
    blue: { fill: '#0072b2', ink: '#eaf6ff' },
    green: { fill: '#009e73', ink: '#002d20' },
};
