-- 0003_outbox_event.sql - letters are found by the event that caused them.
--
-- The index by game and player had each new letter at another place, so a move wrote a page for it
-- alone; events are numbered as they come, so those of all games stand together at its end.

DROP INDEX outbox_game_user;
-- Was the letter of this turn handed over (T17)?  Which letter told him of it?
CREATE INDEX outbox_event ON outbox (event_id) WHERE event_id IS NOT NULL;
