/*
 * The daemon is killed at random instants under load; nothing that was accepted may be lost, and
 * nobody may miss what he should have been told.
 *
 * FH_CRASHES: how many kills (default 200).  FH_SEED: repeats a run's choices.
 */
import test from 'node:test';
import { crash } from './lib/crash.mjs';

const kills = Number(process.env.FH_CRASHES ?? 200);
const seed = Number(process.env.FH_SEED ?? 20261129);

test('whatever instant the daemon is killed at, accepted moves and notices survive', async (t) => {
    await crash(t, { seed, kills });
});
