-- 0002_mail.sql - play by mail: tokens in reply addresses, the letters that came, moves held for a
-- grace, notes, and where reading of rented mailboxes stands.
--
-- How to read it: see 0001_init.sql.  A letter is a row of inbox before its acceptance is said to
-- anybody; what it effects is written in the transaction that settles the row, so it takes effect
-- once.  Tokens are kept as SHA-256 hashes, and a recipient's address without its token.

-- ------------------------------------------------------------------------------------- people

-- How long a move of his by mail is held so that he can take it back; 0: not at all; NULL: as long
-- as the installation says (mail_in.hold_time).
ALTER TABLE users ADD COLUMN hold_ms INTEGER CHECK (hold_ms >= 0);

-- What stands in the reply address of a letter and says what an answer to it is about.
CREATE TABLE turn_tokens (
    id         INTEGER PRIMARY KEY,            -- internal
    token_hash BLOB NOT NULL UNIQUE CHECK (length(token_hash) = 32), -- SHA-256 of the token
    purpose    TEXT NOT NULL                   -- what an answer may do with it
               CHECK (purpose IN ('turn', 'draw', 'placing', 'invitation', 'info', 'receipt',
                                  'confirm', 'account')),
    user_id    INTEGER NOT NULL REFERENCES users (id), -- to whom it was sent
    game_id    INTEGER REFERENCES games (id),  -- about which game; NULL: about none
    seat       INTEGER CHECK (seat BETWEEN 0 AND 3), -- as the holder of which seat; NULL: of none
    state_no   INTEGER NOT NULL DEFAULT 0,     -- the game's state that he was shown
    inbox_id   INTEGER REFERENCES inbox (id) ON DELETE SET NULL, -- confirm: the letter that waits for his word; else NULL
    created_at INTEGER NOT NULL,               -- when made
    expires_at INTEGER NOT NULL,               -- good before this
    used_at    INTEGER,                        -- when an answer first did something by it; NULL: not yet
    revoked_at INTEGER                         -- when it was taken back; NULL: not
) STRICT;
CREATE INDEX turn_tokens_user ON turn_tokens (user_id) WHERE revoked_at IS NULL;
CREATE INDEX turn_tokens_expiry ON turn_tokens (expires_at);
CREATE INDEX turn_tokens_inbox ON turn_tokens (inbox_id) WHERE inbox_id IS NOT NULL;

-- Addresses of people without an account who want no more invitations.
CREATE TABLE address_blocks (
    address_hash BLOB PRIMARY KEY CHECK (length(address_hash) = 6), -- keyed hash of the address, as links to say so hold it
    created_at   INTEGER NOT NULL              -- when he said so
) STRICT, WITHOUT ROWID;

-- Classes of letters that mail servers refuse by policy (5.7.x) and that wait, all that there are.
CREATE TABLE policy_holds (
    class    TEXT NOT NULL,                    -- of notices; see outbox
    domain   TEXT NOT NULL,                    -- of the recipients, in lower case; '': the class as a whole
    until_at INTEGER NOT NULL,                 -- until when; then one letter tries
    held_ms  INTEGER NOT NULL CHECK (held_ms > 0), -- for how long it was made; the next one is twice as long
    PRIMARY KEY (class, domain)
) STRICT, WITHOUT ROWID;

-- Invitations by mail of the last day, each for itself, whatever became of it or its game: an address
-- without an account is written to a few times a day.
CREATE TABLE invited_addresses (
    id          INTEGER PRIMARY KEY,           -- internal
    address_key TEXT NOT NULL,                 -- where to, lower-cased
    invited_by  INTEGER NOT NULL REFERENCES users (id), -- who invited
    created_at  INTEGER NOT NULL               -- when; removed a day later
) STRICT;
CREATE INDEX invited_addresses_of ON invited_addresses (address_key, created_at);
CREATE INDEX invited_addresses_age ON invited_addresses (created_at);

-- No statement went by these.
DROP INDEX users_any_address;
DROP INDEX games_joinable;

-- ----------------------------------------------------------------------------------- the inbox

-- Letters accepted.  States:
--   received -> claimed -> done | held | quarantined       claimed -> received when the process died
--   held     -> done                                       by its owner's word (P18)
CREATE TABLE inbox (
    id          INTEGER PRIMARY KEY,           -- internal; also the order in which they are read
    received_at INTEGER NOT NULL,              -- when accepted: deadlines go by it
    way         TEXT NOT NULL                  -- by which door it came
                CHECK (way IN ('lmtp', 'command', 'maildir', 'imap')),
    token_hash  BLOB CHECK (length(token_hash) = 32), -- SHA-256 of the recipient's token; NULL: it had none
    recipient   TEXT NOT NULL,                 -- whom it was for, the token replaced by '…'
    sender      TEXT NOT NULL,                 -- of the envelope; '' for the null sender
    message_id  TEXT NOT NULL DEFAULT '',      -- of the letter, without < >; '' for none
    fingerprint BLOB NOT NULL UNIQUE           -- SHA-256 over recipient and letter: the same again is no new one
                CHECK (length(fingerprint) = 32),
    size        INTEGER NOT NULL CHECK (size >= 0), -- bytes of the letter
    state       TEXT NOT NULL                  -- see above
                CHECK (state IN ('received', 'claimed', 'held', 'done', 'quarantined')),
    attempts    INTEGER NOT NULL DEFAULT 0 CHECK (attempts >= 0), -- times it was claimed
    repeats     INTEGER NOT NULL DEFAULT 0 CHECK (repeats >= 0), -- times the same came again
    verdict     TEXT NOT NULL DEFAULT 'none'   -- what was made of it
                CHECK (verdict IN ('none', 'acted', 'answered', 'refused', 'held', 'duplicate',
                                   'automatic', 'loop', 'bounce', 'unsubscribed', 'stranger',
                                   'silent', 'unreadable', 'quarantined')),
    reason      TEXT NOT NULL DEFAULT '',      -- a reason's slug, or words for the operator
    user_id     INTEGER REFERENCES users (id), -- whose letter it proved to be; NULL: nobody's
    game_id     INTEGER REFERENCES games (id), -- what it was about; NULL: no game
    answer_id   INTEGER,                       -- outbox.id of the answer, which may be purged by now; NULL: none
    claimed_at  INTEGER,                       -- when last claimed; NULL: not yet
    settled_at  INTEGER,                       -- when it got its verdict; NULL: it waits
    is_kept     INTEGER NOT NULL DEFAULT 1 CHECK (is_kept IN (0, 1)), -- its bytes stand in inbox_raw; 0: erased
    CHECK ((state IN ('received', 'claimed')) = (settled_at IS NULL)),
    CHECK ((state IN ('received', 'claimed')) = (verdict = 'none'))
) STRICT;
CREATE INDEX inbox_received ON inbox (id) WHERE state = 'received';
CREATE INDEX inbox_waiting ON inbox (received_at) WHERE settled_at IS NULL;
CREATE INDEX inbox_user ON inbox (user_id, settled_at) WHERE user_id IS NOT NULL;
CREATE INDEX inbox_quarantined ON inbox (id) WHERE state = 'quarantined';
CREATE INDEX inbox_kept ON inbox (is_kept, settled_at) WHERE is_kept = 1;
CREATE INDEX inbox_settled ON inbox (settled_at) WHERE settled_at IS NOT NULL;
CREATE INDEX inbox_nobodys ON inbox (settled_at) WHERE user_id IS NULL AND state = 'done';

-- Letters as they came.  Apart from the rest, since whatever changes a row writes it anew as a whole.
CREATE TABLE inbox_raw (
    inbox_id INTEGER PRIMARY KEY REFERENCES inbox (id) ON DELETE CASCADE, -- of which letter
    raw      BLOB NOT NULL                     -- its bytes
) STRICT;

-- Where reading of a rented mailbox stands.
CREATE TABLE imap_boxes (
    name        TEXT PRIMARY KEY,              -- 'user@host/mailbox'
    uidvalidity INTEGER NOT NULL CHECK (uidvalidity >= 0), -- its UIDVALIDITY; another one: read from the start
    last_uid    INTEGER NOT NULL CHECK (last_uid >= 0), -- the highest UID that is in the inbox
    updated_at  INTEGER NOT NULL               -- when that was noted
) STRICT, WITHOUT ROWID;

-- -------------------------------------------------------------------------------------- games

-- A move or a resignation by mail that nobody sees yet: who sent it may take it back until it takes
-- effect.  A timer of kind 'held' and of the same seat belongs to each.
CREATE TABLE held_moves (
    game_id     INTEGER NOT NULL REFERENCES games (id), -- in which game
    seat        INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- of which army
    kind        TEXT NOT NULL CHECK (kind IN ('move', 'resign')), -- what it is
    user_id     INTEGER NOT NULL REFERENCES users (id), -- who moves, or resigns
    state_no    INTEGER NOT NULL,              -- the game's state that it answers; move: any other drops it
    move        TEXT NOT NULL,                 -- coordinates; resign: ''
    with_draw   INTEGER NOT NULL CHECK (with_draw IN (0, 1)), -- a draw is offered with it
    inbox_id    INTEGER REFERENCES inbox (id) ON DELETE SET NULL, -- the letter it stood in; NULL: purged
    received_at INTEGER NOT NULL,              -- when that was accepted: the deadline goes by it
    release_at  INTEGER NOT NULL,              -- when it takes effect
    created_at  INTEGER NOT NULL,              -- when it was held
    PRIMARY KEY (game_id, seat),
    CHECK ((kind = 'move') = (move <> ''))
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX held_moves_one ON held_moves (game_id) WHERE kind = 'move'; -- one turn at a time
CREATE INDEX held_moves_user ON held_moves (user_id);
CREATE INDEX held_moves_inbox ON held_moves (inbox_id) WHERE inbox_id IS NOT NULL;

-- A player's notes on a game, for himself alone.
CREATE TABLE notes (
    id       INTEGER PRIMARY KEY,              -- internal; also the order
    game_id  INTEGER NOT NULL REFERENCES games (id), -- on which game
    user_id  INTEGER NOT NULL REFERENCES users (id), -- whose; nobody else sees it
    ply      INTEGER NOT NULL CHECK (ply >= 0), -- moves made by then
    state_no INTEGER NOT NULL,                 -- the game's state then
    text     TEXT NOT NULL CHECK (length(CAST(text AS BLOB)) BETWEEN 1 AND 2000), -- what he wrote
    at       INTEGER NOT NULL                  -- when
) STRICT;
CREATE INDEX notes_game ON notes (game_id, user_id, id);

-- ---------------------------------------------------------------------------------- grown lists

-- A CHECK grows by rebuilding its table: a new one, the rows, the old one's name, its indexes.
-- Foreign keys are off meanwhile (the runner checks them afterwards), so that dropping the old one
-- touches nothing that refers to it.
-- What a move inserts into has its words parted by OR: for IN with more than two SQLite fills a table
-- of them at every row, which costs several times what the row does.

-- class: + 'answer', what a letter of one's own is answered with.
CREATE TABLE new_prefs (
    user_id    INTEGER NOT NULL REFERENCES users (id), -- whose
    class      TEXT NOT NULL                   -- of notices; see outbox
               CHECK (class IN ('login', 'security', 'invitation', 'placing', 'start', 'turn',
                                'warning', 'draw', 'leaving', 'mate', 'result', 'organiser',
                                'webhook_disabled', 'test', 'answer')),
    channel    TEXT NOT NULL CHECK (channel IN ('mail', 'webhook')), -- the way they go
    is_on      INTEGER NOT NULL CHECK (is_on IN (0, 1)), -- wanted or not
    via        TEXT NOT NULL CHECK (via IN ('settings', 'unsubscribe')), -- where he said so
    updated_at INTEGER NOT NULL,               -- when he said so
    PRIMARY KEY (user_id, class, channel)
) STRICT, WITHOUT ROWID;
INSERT INTO new_prefs (
    user_id, class, channel, is_on, via, updated_at)
SELECT
    user_id, class, channel, is_on, via, updated_at
FROM prefs;
DROP TABLE prefs;
ALTER TABLE new_prefs RENAME TO prefs;

-- kind: + 'delivery_credited', time given back because mail was under way.
CREATE TABLE new_game_events (
    id            INTEGER PRIMARY KEY,         -- growing over all games: the order of an account's stream
    game_id       INTEGER NOT NULL REFERENCES games (id), -- in which game
    seq           INTEGER NOT NULL CHECK (seq >= 1), -- 1, 2, 3… within the game
    kind          TEXT NOT NULL                -- what happened
                  CHECK (kind = 'created' OR kind = 'invited' OR kind = 'seat_taken' OR
                         kind = 'seat_left' OR kind = 'declined' OR kind = 'invite_expired' OR
                         kind = 'invite_withdrawn' OR kind = 'placing' OR kind = 'placed' OR
                         kind = 'started' OR kind = 'move' OR kind = 'mated' OR kind = 'released' OR
                         kind = 'removed' OR kind = 'passed' OR kind = 'resigned' OR
                         kind = 'forfeited' OR kind = 'turn' OR kind = 'draw_offered' OR
                         kind = 'draw_accepted' OR kind = 'draw_declined' OR kind = 'draw_lapsed' OR
                         kind = 'draw_claimed' OR kind = 'finished' OR kind = 'aborted' OR
                         kind = 'paused' OR kind = 'resumed' OR kind = 'credited' OR
                         kind = 'outage_credited' OR kind = 'adjudicated' OR kind = 'late' OR
                         kind = 'warning' OR kind = 'delivery_credited'),
    seat          INTEGER CHECK (seat BETWEEN 0 AND 3), -- whom it befell; NULL: no seat in particular
    user_id       INTEGER REFERENCES users (id), -- who did it; NULL: the server
    ply           INTEGER NOT NULL,            -- moves made by then
    state_no      INTEGER NOT NULL,            -- the game's state number after it
    move          TEXT NOT NULL DEFAULT '',    -- move: coordinates
    san           TEXT NOT NULL DEFAULT '',    -- move: as score sheets write it
    result        TEXT NOT NULL DEFAULT 'none' -- finished, adjudicated: as games.result
                  CHECK (result = 'none' OR result = 'team0' OR result = 'team1' OR
                         result = 'draw'),
    cause         TEXT NOT NULL DEFAULT 'none' -- finished, aborted: as games.cause
                  CHECK (cause = 'none' OR cause = 'mate' OR cause = 'leaving' OR
                         cause = 'stalemate' OR cause = 'threefold' OR cause = 'fivefold' OR
                         cause = 'fifty_rounds' OR cause = 'seventy_five_rounds' OR
                         cause = 'agreement' OR cause = 'adjudication' OR cause = 'organiser' OR
                         cause = 'operator' OR cause = 'expired'),
    amount_ms     INTEGER NOT NULL DEFAULT 0,  -- …credited: how much; late: by how much; warning: time left
    deadline_at   INTEGER,                     -- turn, …credited, warning: the deadline that holds now
    position_hash INTEGER NOT NULL DEFAULT 0,  -- R-C7, as things stand after it
    note          TEXT NOT NULL DEFAULT '',    -- organiser's or operator's words; kind's own particulars
    at            INTEGER NOT NULL,            -- when
    UNIQUE (game_id, seq)
) STRICT;
INSERT INTO new_game_events (
    id, game_id, seq, kind, seat, user_id, ply, state_no, move, san, result, cause, amount_ms,
    deadline_at, position_hash, note, at)
SELECT
    id, game_id, seq, kind, seat, user_id, ply, state_no, move, san, result, cause, amount_ms,
    deadline_at, position_hash, note, at
FROM game_events;
DROP TABLE game_events;
ALTER TABLE new_game_events RENAME TO game_events;
-- No index by (game_id, id) any more: within a game ids grow as seqs do.

-- kind: + 'delivery', the turn's letter was not handed over until then; + 'held', a move by mail was
-- held and then dropped.
CREATE TABLE new_clock_facts (
    id        INTEGER PRIMARY KEY,             -- internal; also the order
    game_id   INTEGER NOT NULL REFERENCES games (id), -- in which game
    seat      INTEGER CHECK (seat BETWEEN 0 AND 3), -- whose clock; NULL: whichever ran
    ply       INTEGER NOT NULL,                -- moves made then: which turn it belongs to
    kind      TEXT NOT NULL                    -- what it is
              CHECK (kind IN ('credit', 'outage', 'pause', 'delivery', 'held')),
    amount_ms INTEGER NOT NULL,                -- added to the deadline
    from_at   INTEGER,                         -- all but credit: from when; NULL: no span
    to_at     INTEGER,                         -- … to when
    user_id   INTEGER REFERENCES users (id),   -- who gave it; NULL: the server
    outage_id INTEGER REFERENCES outages (id), -- outage: which
    seq       INTEGER NOT NULL,                -- of the event that tells of it
    at        INTEGER NOT NULL                 -- when recorded
) STRICT;
INSERT INTO new_clock_facts (
    id, game_id, seat, ply, kind, amount_ms, from_at, to_at, user_id, outage_id, seq, at)
SELECT
    id, game_id, seat, ply, kind, amount_ms, from_at, to_at, user_id, outage_id, seq, at
FROM clock_facts;
DROP TABLE clock_facts;
ALTER TABLE new_clock_facts RENAME TO clock_facts;
CREATE INDEX clock_facts_game ON clock_facts (game_id, id);
CREATE UNIQUE INDEX clock_facts_outage ON clock_facts (outage_id, game_id) WHERE outage_id IS NOT NULL;

-- kind: + 'held', a held move is to be played, or a held resignation to take effect.
CREATE TABLE new_timers (
    id       INTEGER PRIMARY KEY,              -- internal
    kind     TEXT NOT NULL                     -- what
             CHECK (kind IN ('deadline', 'warning', 'organiser', 'placing', 'invitation', 'open_game',
                             'housekeeping', 'held')),
    game_id  INTEGER REFERENCES games (id),    -- of which game; NULL: of none
    seat     INTEGER CHECK (seat BETWEEN 0 AND 3), -- of which seat; NULL: of none
    state_no INTEGER NOT NULL DEFAULT 0,       -- the game's state it was set for
    detail   INTEGER NOT NULL DEFAULT 0,       -- the setter's own, e.g. which warning
    due_at   INTEGER NOT NULL                  -- when
) STRICT;
INSERT INTO new_timers (
    id, kind, game_id, seat, state_no, detail, due_at)
SELECT
    id, kind, game_id, seat, state_no, detail, due_at
FROM timers;
DROP TABLE timers;
ALTER TABLE new_timers RENAME TO timers;
CREATE INDEX timers_due ON timers (due_at, id);
CREATE INDEX timers_game ON timers (game_id, kind, seat);
CREATE UNIQUE INDEX timers_one ON timers (kind) WHERE game_id IS NULL;

-- class: + 'answer', as in prefs.
CREATE TABLE new_outbox (
    id           INTEGER PRIMARY KEY,          -- its Message-ID and webhook-id are made of this
    dedupe_key   TEXT NOT NULL UNIQUE,         -- what must not be said twice, e.g. '000000000517:turn:7k2m4xqz:41:2:mail'
    class        TEXT NOT NULL                 -- of notices, to be switched off by; see prefs
                 CHECK (class = 'login' OR class = 'security' OR class = 'invitation' OR
                        class = 'placing' OR class = 'start' OR class = 'turn' OR
                        class = 'warning' OR class = 'draw' OR class = 'leaving' OR
                        class = 'mate' OR class = 'result' OR class = 'organiser' OR
                        class = 'webhook_disabled' OR class = 'test' OR class = 'answer'),
    channel      TEXT NOT NULL CHECK (channel IN ('mail', 'webhook')), -- the way it goes
    template     TEXT NOT NULL,                -- which text of the class, a word of notify's
    user_id      INTEGER REFERENCES users (id),-- to whom; NULL: to the address alone
    address      TEXT,                         -- mail to exactly here; NULL: where the user's mail goes then
    webhook_id   INTEGER REFERENCES webhooks (id), -- webhook: to which
    game_id      INTEGER REFERENCES games (id),-- about which game; NULL: none
    seat         INTEGER CHECK (seat BETWEEN 0 AND 3), -- to the holder of which seat; NULL: of none
    event_id     INTEGER REFERENCES game_events (id), -- which event caused it; NULL: none
    seq          INTEGER NOT NULL DEFAULT 0,   -- that event's number in its game
    state_no     INTEGER NOT NULL DEFAULT 0,   -- the game's state it speaks of
    params       TEXT NOT NULL DEFAULT '{}',   -- what else the text needs, as JSON
    state        TEXT NOT NULL                 -- see above
                 CHECK (state = 'queued' OR state = 'leased' OR state = 'sent' OR
                        state = 'failed' OR state = 'superseded' OR state = 'expired'),
    due_at       INTEGER NOT NULL,             -- not to be sent before this
    expires_at   INTEGER NOT NULL,             -- of no use from then on
    leased_until INTEGER,                      -- whoever leased it has it until then; NULL: nobody
    attempts     INTEGER NOT NULL DEFAULT 0,   -- leases given that led to sending
    content_type TEXT NOT NULL DEFAULT '',     -- webhook: of the bytes
    envelope_from TEXT NOT NULL DEFAULT '',    -- mail: MAIL FROM
    envelope_to  TEXT NOT NULL DEFAULT '',     -- mail: RCPT TO
    message_id   TEXT NOT NULL DEFAULT '',     -- Message-ID or webhook-id
    has_token    INTEGER NOT NULL DEFAULT 0 CHECK (has_token IN (0, 1)), -- bytes hold a raw secret
    last_code    INTEGER NOT NULL DEFAULT 0,   -- SMTP or HTTP code of the last attempt; 0: no answer
    last_text    TEXT NOT NULL DEFAULT '',     -- what the other side, or the transport, said
    created_at   INTEGER NOT NULL,             -- when the intent arose
    settled_at   INTEGER,                      -- when sent, failed, superseded or expired; NULL: still to do
    bounced_at   INTEGER,                      -- when a report that counted said that it reached nobody; NULL: none
    CHECK ((state = 'leased') = (leased_until IS NOT NULL)),
    CHECK ((state IN ('queued', 'leased')) = (settled_at IS NULL)),
    CHECK ((channel = 'webhook') = (webhook_id IS NOT NULL))
) STRICT;
INSERT INTO new_outbox (
    id, dedupe_key, class, channel, template, user_id, address, webhook_id, game_id, seat,
    event_id, seq, state_no, params, state, due_at, expires_at, leased_until, attempts,
    content_type, envelope_from, envelope_to, message_id, has_token, last_code, last_text,
    created_at, settled_at)
SELECT
    id, dedupe_key, class, channel, template, user_id, address, webhook_id, game_id, seat,
    event_id, seq, state_no, params, state, due_at, expires_at, leased_until, attempts,
    content_type, envelope_from, envelope_to, message_id, has_token, last_code, last_text,
    created_at, settled_at
FROM outbox;
-- Exactly what is sent; no row: not composed, or erased.  Apart from the rest, since whatever changes
-- a row writes it anew as a whole, and a letter with its picture is a hundred times as long.
CREATE TABLE outbox_bytes (
    outbox_id INTEGER PRIMARY KEY REFERENCES outbox (id) ON DELETE CASCADE, -- of which intent
    bytes     BLOB NOT NULL                    -- the letter, or a webhook's body
) STRICT;
INSERT INTO outbox_bytes (outbox_id, bytes) SELECT id, bytes FROM outbox WHERE bytes IS NOT NULL;
DROP TABLE outbox;
ALTER TABLE new_outbox RENAME TO outbox;
CREATE INDEX outbox_mail_due ON outbox (due_at, id) WHERE state = 'queued' AND channel = 'mail';
CREATE INDEX outbox_webhook_due ON outbox (webhook_id, due_at, id)
    WHERE state = 'queued' AND channel = 'webhook';
CREATE INDEX outbox_leased ON outbox (leased_until) WHERE state = 'leased';
CREATE INDEX outbox_webhook ON outbox (webhook_id, id) WHERE webhook_id IS NOT NULL;
-- Asked at every move; a letter that goes at once is in neither.
CREATE INDEX outbox_late ON outbox (game_id, class, due_at)
    WHERE state = 'queued' AND due_at > created_at;
CREATE INDEX outbox_warnings ON outbox (game_id) WHERE class = 'warning' AND settled_at IS NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;

-- Was the letter of this turn handed over (T17)?  Which letter told him of it?
CREATE INDEX outbox_game_user ON outbox (game_id, user_id, state_no) WHERE game_id IS NOT NULL;
-- Whoever has written waits for the answer: those go first.
CREATE INDEX outbox_answer_due ON outbox (due_at, id) WHERE state = 'queued' AND class = 'answer';
