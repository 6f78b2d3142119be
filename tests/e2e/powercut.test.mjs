/*
 * The same as crash.test.mjs on a disk that loses, at each kill, all that was not synced: as when
 * the power fails (tests/faults).  FH_CRASHES, FH_SEED: as there.
 */
import test from 'node:test';
import { crash } from './lib/crash.mjs';

const kills = Number(process.env.FH_CRASHES ?? 60);
const seed = Number(process.env.FH_SEED ?? 20261130);

test('whatever instant the power fails at, accepted moves and notices survive', async (t) => {
    await crash(t, { seed, kills, env: { FH_TEST_VFS: 'powercut' } });
});
