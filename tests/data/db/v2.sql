-- Rows of a version 2 file: those of version 1, and one in every table that is new.
INSERT INTO users (id, handle, handle_key, display_name, zone, language, address, address_key,
                   verified_at, created_at, updated_at)
VALUES (1, 'Anna', 'anna', 'Anna', 'Europe/Chisinau', 'ro', 'anna@example.org', 'anna@example.org',
        5, 5, 5),
       (2, 'boris', 'boris', 'Boris', 'UTC', 'ru', NULL, NULL, NULL, 6, 7),
       (3, 'clara', 'clara', 'Clara', 'UTC', 'en', NULL, NULL, NULL, 6, 7),
       (4, 'david', 'david', 'David', 'UTC', 'en', NULL, NULL, NULL, 6, 7);
INSERT INTO prefs (user_id, class, channel, is_on, via, updated_at)
VALUES (1, 'turn', 'mail', 0, 'unsubscribe', 9), (1, 'test', 'webhook', 1, 'settings', 10);
INSERT INTO games (id, public_id, variant, rules, reserve, is_rated, visibility, table_talk, clock,
                   per_move_ms, grace_ms, placing_ms, organiser_id, state, open_seats, last_seq,
                   last_event_id, state_no, created_at, updated_at, expires_at)
VALUES (1, '7k2mq0xd', 'verney', 'verney', 'none', 1, 'public', 0, 'per_move', 86400000, 3600000, 0,
        1, 'open', 4, 2, 2, 0, 10, 20, 100);
UPDATE game_tally SET n = 1 WHERE state = 'open';
INSERT INTO seats (game_id, seat, state)
VALUES (1, 0, 'open'), (1, 1, 'open'), (1, 2, 'open'), (1, 3, 'open');
INSERT INTO members (user_id, game_id, is_organiser) VALUES (1, 1, 1);
INSERT INTO game_events (id, game_id, seq, kind, seat, user_id, ply, state_no, note, at)
VALUES (1, 1, 1, 'created', NULL, 1, 0, 0, '', 10),
       (2, 1, 2, 'warning', 3, NULL, 0, 0, 'half – на половину', 20);
INSERT INTO outages (id, from_at, to_at, credited_ms, games, is_done, recorded_at)
VALUES (1, 11, 15, 4, 1, 1, 15);
INSERT INTO clock_facts (id, game_id, seat, ply, kind, amount_ms, from_at, to_at, user_id, outage_id,
                         seq, at)
VALUES (1, 1, 2, 0, 'outage', 4, 11, 15, NULL, 1, 1, 15),
       (2, 1, NULL, 0, 'pause', 2, 12, 14, 1, NULL, 2, 16),
       (3, 1, 0, 0, 'credit', -7, NULL, NULL, 1, NULL, 2, 17);
INSERT INTO timers (id, kind, game_id, seat, state_no, detail, due_at)
VALUES (1, 'open_game', 1, NULL, 0, 0, 100), (7, 'housekeeping', NULL, NULL, 0, 3, 50);
INSERT INTO webhooks (id, user_id, url, kind, secret, created_at, updated_at)
VALUES (1, 1, 'https://example.org/hook', 'standard', x'000102030405060708090a0b0c0d0e0f1011121314151617',
        8, 8);
INSERT INTO outbox (id, dedupe_key, class, channel, template, user_id, game_id, seat, event_id, seq,
                    state, due_at, expires_at, created_at, settled_at, webhook_id, leased_until,
                    attempts)
VALUES (1, '000000000002:turn:7k2mq0xd:2:1:mail', 'turn', 'mail', 'turn', 1, 1, 3, 2, 2, 'sent', 20, 99, 20, 21,
        NULL, NULL, 1),
       (2, 'test:1', 'test', 'webhook', 'ping', 1, NULL, NULL, NULL, 0, 'leased', 20, 99, 20, NULL,
        1, 60, 1);
INSERT INTO outbox_bytes (outbox_id, bytes) VALUES (2, x'7b7d');
UPDATE webhooks SET busy_outbox_id = 2 WHERE id = 1;
INSERT INTO outbox_attempts (id, outbox_id, attempt, at, took_ms, outcome, code, text)
VALUES (1, 1, 1, 21, 3, 'sent', 250, 'ok');
INSERT INTO heartbeat (id, at, started_at) VALUES (1, 30, 5);
INSERT INTO audit (id, at, user_id, role, act, game_id, note) VALUES (1, 16, 1, 'organiser',
        'game_pause', 1, '');
INSERT INTO inbox (id, received_at, way, token_hash, recipient, sender, message_id, fingerprint, size,
                   state, attempts, verdict, user_id, game_id, answer_id, claimed_at, settled_at)
VALUES (1, 22, 'lmtp', zeroblob(32), 'play+…@example.org', 'anna@example.org', 'a@example.org',
        zeroblob(32), 6, 'held', 1, 'held', 1, 1, NULL, 23, 24);
INSERT INTO inbox_raw (inbox_id, raw) VALUES (1, x'0d0a65326534');
INSERT INTO turn_tokens (id, token_hash, purpose, user_id, game_id, seat, state_no, inbox_id, created_at,
                         expires_at)
VALUES (1, zeroblob(32), 'confirm', 1, 1, 3, 2, 1, 20, 99);
INSERT INTO held_moves (game_id, seat, kind, user_id, state_no, move, with_draw, inbox_id, received_at,
                        release_at, created_at)
VALUES (1, 3, 'resign', 1, 2, '', 0, 1, 22, 25, 22);
INSERT INTO notes (id, game_id, user_id, ply, state_no, text, at) VALUES (1, 1, 1, 0, 2, 'ладья', 24);
INSERT INTO imap_boxes (name, uidvalidity, last_uid, updated_at)
VALUES ('club@example.org/INBOX', 7, 9, 24);
INSERT INTO invited_addresses (id, address_key, invited_by, created_at)
VALUES (1, 'emil@example.org', 1, 20);
INSERT INTO policy_holds (class, domain, until_at, held_ms) VALUES ('turn', 'example.org', 40, 10);
INSERT INTO address_blocks (address_hash, created_at) VALUES (x'010203040506', 20);
