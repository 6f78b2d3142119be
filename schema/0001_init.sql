-- 0001_init.sql - the first shape of the file: people, games, what happened in them, and what the
-- world has still to be told.
--
-- How to read it.  Instants are INTEGER milliseconds UTC since 1970 and end in _at; lengths end in
-- _ms.  Flags are 0 or 1.  Every enumeration is a CHECK over lower-case words which daemon/store's
-- C enums repeat (tests/store compares the two).  Seats are 0 South, 1 West, 2 North, 3 East, in
-- turn order; team 0 is seats 0 and 2, team 1 seats 1 and 3.  Secrets are kept as SHA-256 hashes,
-- but for those that must be read again to be used (keys.value, webhooks.secret, outbox.bytes
-- until sent).
--
-- Later work adds files after this one and never edits it.  What it will want is prepared so:
--   banked clocks, leave, pauses    clock_facts takes more kinds, games more columns
--   takebacks                       moves.taken_back_at; the unique index looks at the others only
--   takeback, extension, abort vote votes.kind has them
--   substitutes, regents            seat_holders keeps who held a seat from when to when
--   mail in                         tables of their own (turn tokens, inbox) beside outbox
--   clubs, ladders, events          tables of their own that name games and users
-- A CHECK can only grow by rebuilding its table, which the migration runner is made for (it turns
-- foreign keys off around each file and checks them before committing).
--
-- Users, games and events are never deleted, so a foreign key gets an index only where something
-- looks rows up by it.  The types and queries keep to what PostgreSQL takes too; STRICT and
-- WITHOUT ROWID are SQLite's own.

-- Named random keys of this installation (unsubscribe links, cursors, …), made on first need.
CREATE TABLE keys (
    name       TEXT PRIMARY KEY,               -- what the key is for, e.g. 'unsubscribe'
    value      BLOB NOT NULL,                  -- the key itself, 16 to 64 bytes
    created_at INTEGER NOT NULL,               -- when it was made
    CHECK (length(value) BETWEEN 16 AND 64)
) STRICT, WITHOUT ROWID;

-- ------------------------------------------------------------------------------------- people

-- An account.  It is never deleted, only disabled: games name it.
CREATE TABLE users (
    id              INTEGER PRIMARY KEY,       -- internal; outside, users go by handle
    handle          TEXT NOT NULL,             -- as its owner writes it
    handle_key      TEXT NOT NULL UNIQUE,      -- case-folded: what makes handles equal
    display_name    TEXT NOT NULL,             -- shown to people; may repeat
    zone            TEXT NOT NULL,             -- IANA time zone, e.g. 'Europe/Chisinau'
    language        TEXT NOT NULL,             -- BCP 47 tag of the texts he gets, e.g. 'ru'
    is_operator     INTEGER NOT NULL DEFAULT 0 CHECK (is_operator IN (0, 1)), -- may run the server
    password_hash   TEXT,                      -- argon2id string of libsodium; NULL: link only
    address         TEXT,                      -- where mail goes; NULL: none (bots made by hand)
    address_key     TEXT,                      -- lower-cased: what makes addresses equal
    verified_at     INTEGER,                   -- when he proved the address is his; NULL: not yet
    address_state   TEXT NOT NULL DEFAULT 'ok' -- whether mail still reaches it
                    CHECK (address_state IN ('ok', 'suspended')),
    bounces         INTEGER NOT NULL DEFAULT 0,-- failures that count since the last success
    bounced_at      INTEGER,                   -- when the last of them was
    bounce_text     TEXT,                      -- what the receiving server said then
    created_at      INTEGER NOT NULL,          -- when the account was made
    updated_at      INTEGER NOT NULL,          -- when anything a client may see last changed
    disabled_at     INTEGER,                   -- when it was shut; NULL: open
    CHECK (length(handle) BETWEEN 1 AND 32),
    CHECK ((address IS NULL) = (address_key IS NULL))
) STRICT;
-- One account an address, once it is proved.
CREATE UNIQUE INDEX users_address ON users (address_key) WHERE verified_at IS NOT NULL;
CREATE INDEX users_any_address ON users (address_key) WHERE address_key IS NOT NULL;

-- An invitation to register, where registration is by invitation.
CREATE TABLE invites (
    id         INTEGER PRIMARY KEY,            -- internal
    token_hash BLOB NOT NULL UNIQUE,           -- SHA-256 of the invitation's secret
    created_by INTEGER NOT NULL REFERENCES users (id), -- who invites
    address    TEXT,                           -- only for this address; NULL: for whoever has it
    note       TEXT NOT NULL DEFAULT '',       -- the inviter's own reminder
    created_at INTEGER NOT NULL,               -- when made
    expires_at INTEGER NOT NULL,               -- good before this
    used_by    INTEGER REFERENCES users (id),  -- the account it became; NULL: unused
    used_at    INTEGER,                        -- when
    revoked_at INTEGER                         -- when it was taken back; NULL: not
) STRICT;
CREATE INDEX invites_creator ON invites (created_by, id);

-- A wish to register, until its mailed link is followed.  Only then is there an account, so that
-- nobody reserves handles or addresses that are not his.
CREATE TABLE registrations (
    id           INTEGER PRIMARY KEY,          -- internal
    token_hash   BLOB NOT NULL UNIQUE,         -- SHA-256 of the link's secret
    handle       TEXT NOT NULL,                -- the account wished for; see users
    handle_key   TEXT NOT NULL,                -- …
    display_name TEXT NOT NULL,                -- …
    zone         TEXT NOT NULL,                -- …
    language     TEXT NOT NULL,                -- …
    address      TEXT NOT NULL,                -- where the link went
    address_key  TEXT NOT NULL,                -- …
    invite_id    INTEGER REFERENCES invites (id), -- the invitation used; NULL: none was needed
    created_at   INTEGER NOT NULL,             -- when asked for
    expires_at   INTEGER NOT NULL,             -- the link works before this
    used_at      INTEGER                       -- when the account was made; NULL: not yet
) STRICT;
CREATE INDEX registrations_address ON registrations (address_key, created_at);
CREATE INDEX registrations_age ON registrations (created_at);
CREATE INDEX registrations_expiry ON registrations (expires_at);

-- A mailed link that logs in once.
CREATE TABLE login_links (
    id            INTEGER PRIMARY KEY,         -- internal
    token_hash    BLOB NOT NULL UNIQUE,        -- SHA-256 of the link's secret
    user_id       INTEGER NOT NULL REFERENCES users (id), -- whom it logs in
    prelogin_hash BLOB,                        -- SHA-256 of the asking browser's cookie, if it had one
    created_at    INTEGER NOT NULL,            -- when asked for
    expires_at    INTEGER NOT NULL,            -- good before this
    used_at       INTEGER                      -- when it logged in; NULL: not yet
) STRICT;
CREATE INDEX login_links_user ON login_links (user_id, created_at);
CREATE INDEX login_links_expiry ON login_links (expires_at);

-- A change of mail address, until both the old and the new one have agreed.
CREATE TABLE address_changes (
    id               INTEGER PRIMARY KEY,      -- internal
    user_id          INTEGER NOT NULL REFERENCES users (id), -- whose
    address          TEXT NOT NULL,            -- the new one
    address_key      TEXT NOT NULL,            -- lower-cased
    old_token_hash   BLOB UNIQUE,              -- SHA-256 of the link sent to the old one; NULL: there is none
    new_token_hash   BLOB NOT NULL UNIQUE,     -- SHA-256 of the link sent to the new one
    old_confirmed_at INTEGER,                  -- when the old one agreed; NULL: not yet
    new_confirmed_at INTEGER,                  -- when the new one agreed; NULL: not yet
    state            TEXT NOT NULL             -- what became of it
                     CHECK (state IN ('pending', 'done', 'cancelled')),
    created_at       INTEGER NOT NULL,         -- when asked for
    expires_at       INTEGER NOT NULL          -- good before this
) STRICT;
CREATE UNIQUE INDEX address_changes_pending ON address_changes (user_id) WHERE state = 'pending';
CREATE INDEX address_changes_user ON address_changes (user_id, created_at);
CREATE INDEX address_changes_expiry ON address_changes (expires_at);

-- A browser that is logged in.
CREATE TABLE sessions (
    id           INTEGER PRIMARY KEY,          -- shown in the list, to revoke by
    token_hash   BLOB NOT NULL UNIQUE,         -- SHA-256 of the cookie's secret
    user_id      INTEGER NOT NULL REFERENCES users (id), -- who
    method       TEXT NOT NULL CHECK (method IN ('link', 'password', 'registration')), -- how he logged in
    agent        TEXT NOT NULL DEFAULT '',     -- the browser's name for itself, cut
    created_at   INTEGER NOT NULL,             -- when logged in
    last_used_at INTEGER NOT NULL,             -- to within some minutes
    expires_at   INTEGER NOT NULL,             -- good before this
    revoked_at   INTEGER                       -- when logged out; NULL: still in
) STRICT;
CREATE INDEX sessions_user ON sessions (user_id, id);
CREATE INDEX sessions_expiry ON sessions (expires_at);

-- A program's key to the API.
CREATE TABLE api_tokens (
    id           INTEGER PRIMARY KEY,          -- shown in the list, to revoke by
    token_hash   BLOB NOT NULL UNIQUE,         -- SHA-256 of the token
    user_id      INTEGER NOT NULL REFERENCES users (id), -- for whom it acts
    name         TEXT NOT NULL,                -- its owner's word for it
    scopes       INTEGER NOT NULL CHECK (scopes BETWEEN 1 AND 7), -- 1 read + 2 play + 4 manage
    created_at   INTEGER NOT NULL,             -- when made
    last_used_at INTEGER,                      -- to within some minutes; NULL: never
    expires_at   INTEGER,                      -- good before this; NULL: for ever
    revoked_at   INTEGER                       -- when revoked; NULL: good
) STRICT;
CREATE INDEX api_tokens_user ON api_tokens (user_id, id);

-- Which notices a user wants by which channel.  No row means the class's default.
CREATE TABLE prefs (
    user_id    INTEGER NOT NULL REFERENCES users (id), -- whose
    class      TEXT NOT NULL                   -- of notices; see outbox
               CHECK (class IN ('login', 'security', 'invitation', 'placing', 'start', 'turn',
                                'warning', 'draw', 'leaving', 'mate', 'result', 'organiser',
                                'webhook_disabled', 'test')),
    channel    TEXT NOT NULL CHECK (channel IN ('mail', 'webhook')), -- the way they go
    is_on      INTEGER NOT NULL CHECK (is_on IN (0, 1)), -- wanted or not
    via        TEXT NOT NULL CHECK (via IN ('settings', 'unsubscribe')), -- where he said so
    updated_at INTEGER NOT NULL,               -- when he said so
    PRIMARY KEY (user_id, class, channel)
) STRICT, WITHOUT ROWID;

-- -------------------------------------------------------------------------------------- games

-- A game.  States: open -> placing -> running -> finished, or -> aborted from the first three;
-- placing only where each places his reserve himself.
CREATE TABLE games (
    id             INTEGER PRIMARY KEY,        -- internal
    public_id      TEXT NOT NULL UNIQUE,       -- eight characters, random: the game's name outside
    variant        TEXT NOT NULL CHECK (variant IN ('verney', 'fortress', 'teams')), -- which game
    rules          TEXT NOT NULL,              -- variant with all its house rules, as rules/ writes it
    reserve        TEXT NOT NULL               -- how the fortress reserve is placed; none elsewhere
                   CHECK (reserve IN ('none', 'random', 'chosen', 'usual')),
    is_rated       INTEGER NOT NULL CHECK (is_rated IN (0, 1)), -- counts for ratings
    visibility     TEXT NOT NULL CHECK (visibility IN ('public', 'players')), -- who may look on
    table_talk     INTEGER NOT NULL CHECK (table_talk IN (0, 1)), -- may its players talk
    clock          TEXT NOT NULL CHECK (clock IN ('per_move', 'bank')), -- kind of time control
    per_move_ms    INTEGER NOT NULL CHECK (per_move_ms >= 0), -- per_move: time for each turn
    grace_ms       INTEGER NOT NULL CHECK (grace_ms >= 0), -- after the deadline, before the forfeit
    placing_ms     INTEGER NOT NULL CHECK (placing_ms >= 0), -- time to place the reserve
    organiser_id   INTEGER NOT NULL REFERENCES users (id), -- who created it
    state          TEXT NOT NULL               -- see above
                   CHECK (state IN ('open', 'placing', 'running', 'finished', 'aborted')),
    open_seats     INTEGER NOT NULL CHECK (open_seats BETWEEN 0 AND 4), -- seats anyone may take now
    paused_at      INTEGER,                    -- since when its clocks stand; NULL: they run
    result         TEXT NOT NULL DEFAULT 'none'-- who won; none while it goes on and when aborted
                   CHECK (result IN ('none', 'team0', 'team1', 'draw')),
    cause          TEXT NOT NULL DEFAULT 'none'-- why it ended
                   CHECK (cause IN ('none', 'mate', 'leaving', 'stalemate', 'threefold', 'fivefold',
                                    'fifty_rounds', 'seventy_five_rounds', 'agreement',
                                    'adjudication', 'organiser', 'operator', 'expired')),
    start_position TEXT NOT NULL DEFAULT '',   -- one line of R-T1 that it began from; '' before the start
    position       TEXT NOT NULL DEFAULT '',   -- the same now
    compact        BLOB NOT NULL DEFAULT x'',  -- the same as bytes, where the rules offer such a form
    position_hash  INTEGER NOT NULL DEFAULT 0, -- the hash of R-C7, its 64 bits read as signed
    ply            INTEGER NOT NULL DEFAULT 0 CHECK (ply >= 0), -- moves made
    turn_seat      INTEGER CHECK (turn_seat BETWEEN 0 AND 3), -- whose turn; NULL: nobody's
    turn_user_id   INTEGER REFERENCES users (id), -- who holds that seat; NULL: nobody
    conditions     TEXT NOT NULL DEFAULT 'aaaa', -- the four letters of R-T1
    state_no       INTEGER NOT NULL DEFAULT 0, -- seq of the last event that changed men, conditions or turn
    last_seq       INTEGER NOT NULL DEFAULT 0, -- seq of the last event
    last_event_id  INTEGER NOT NULL DEFAULT 0, -- id of the last event
    turn_at        INTEGER,                    -- when this turn (or placing) began; NULL: none is on
    deadline_at    INTEGER,                    -- when it should be over; NULL: none, or paused
    explanation    TEXT NOT NULL DEFAULT '',   -- the sum behind the deadline, as clock/ writes it
    chain          BLOB NOT NULL DEFAULT x'',  -- hash chain up to the last move; empty before it
    expires_at     INTEGER,                    -- open: it is aborted if not full by then
    created_at     INTEGER NOT NULL,           -- when created
    started_at     INTEGER,                    -- when the first turn began; NULL: not yet
    moved_at       INTEGER,                    -- when the last move was made; NULL: none yet
    ended_at       INTEGER,                    -- when finished or aborted; NULL: not yet
    updated_at     INTEGER NOT NULL,           -- when anything a client may see last changed
    CHECK ((state IN ('finished', 'aborted')) = (ended_at IS NOT NULL)),
    CHECK (state = 'finished' OR result = 'none'),
    CHECK (state <> 'finished' OR result <> 'none'),
    CHECK (state = 'running' OR turn_seat IS NULL),
    CHECK (state <> 'running' OR turn_seat IS NOT NULL)
) STRICT;
CREATE INDEX games_state ON games (state, id);
CREATE INDEX games_variant_state ON games (variant, state, id);
CREATE INDEX games_variant ON games (variant, id);
CREATE INDEX games_joinable ON games (id) WHERE state = 'open' AND open_seats > 0;
CREATE INDEX games_turn ON games (turn_user_id, deadline_at, id) WHERE turn_user_id IS NOT NULL;
CREATE INDEX games_organiser ON games (organiser_id, id);

-- How many games there are of each state, so that nobody has to count.
CREATE TABLE game_tally (
    state TEXT PRIMARY KEY                     -- as games.state
          CHECK (state IN ('open', 'placing', 'running', 'finished', 'aborted')),
    n     INTEGER NOT NULL DEFAULT 0 CHECK (n >= 0) -- games in it
) STRICT, WITHOUT ROWID;
INSERT INTO game_tally (state, n)
VALUES ('open', 0), ('placing', 0), ('running', 0), ('finished', 0), ('aborted', 0);

-- The four seats of a game, as they are now.
CREATE TABLE seats (
    game_id    INTEGER NOT NULL REFERENCES games (id), -- which game
    seat       INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- which of the four
    state      TEXT NOT NULL                   -- open: anyone may take it; invited: one may
               CHECK (state IN ('open', 'invited', 'taken', 'vacant')),
    user_id    INTEGER REFERENCES users (id),  -- who holds it; NULL: nobody
    taken_at   INTEGER,                        -- since when
    placement  TEXT NOT NULL DEFAULT '',       -- reserve chosen, e.g. 'p4 n3 o1'; hidden until all have
    placed_at  INTEGER,                        -- when he placed; NULL: not (yet)
    left_how   TEXT CHECK (left_how IN ('resigned', 'forfeited')), -- how the army became absent; NULL: not
    left_at    INTEGER,                        -- when
    late_moves INTEGER NOT NULL DEFAULT 0,     -- moves made in the grace after a deadline
    PRIMARY KEY (game_id, seat),
    CHECK ((state = 'taken') = (user_id IS NOT NULL)),
    CHECK ((left_how IS NULL) = (left_at IS NULL))
) STRICT, WITHOUT ROWID;

-- Who held a seat from when to when; the row without an end is the present holder.
CREATE TABLE seat_holders (
    id         INTEGER PRIMARY KEY,            -- internal
    game_id    INTEGER NOT NULL REFERENCES games (id), -- which game
    seat       INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- which seat
    user_id    INTEGER NOT NULL REFERENCES users (id), -- who
    role       TEXT NOT NULL CHECK (role IN ('player', 'substitute')), -- as what
    since_at   INTEGER NOT NULL,               -- from when
    until_at   INTEGER                         -- to when; NULL: still
) STRICT;
CREATE UNIQUE INDEX seat_holders_now ON seat_holders (game_id, seat) WHERE until_at IS NULL;
CREATE INDEX seat_holders_game ON seat_holders (game_id, seat, since_at);

-- Who has to do with a game: lists of one's games and the account's stream of events go by it.
CREATE TABLE members (
    user_id        INTEGER NOT NULL REFERENCES users (id), -- who
    game_id        INTEGER NOT NULL REFERENCES games (id), -- with which game
    is_player      INTEGER NOT NULL DEFAULT 0 CHECK (is_player IN (0, 1)), -- holds a seat
    is_organiser   INTEGER NOT NULL DEFAULT 0 CHECK (is_organiser IN (0, 1)), -- runs it
    is_invited     INTEGER NOT NULL DEFAULT 0 CHECK (is_invited IN (0, 1)), -- may take a seat kept for him
    is_over        INTEGER NOT NULL DEFAULT 0 CHECK (is_over IN (0, 1)), -- the game has ended
    until_event_id INTEGER,                    -- last event he may hear of; NULL: he still belongs to it
    PRIMARY KEY (user_id, game_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX members_list ON members (user_id, is_over, game_id);
CREATE INDEX members_game ON members (game_id);

-- A seat kept for somebody until he answers.  States: pending -> accepted | declined | expired |
-- withdrawn.
CREATE TABLE invitations (
    id          INTEGER PRIMARY KEY,           -- internal
    game_id     INTEGER NOT NULL REFERENCES games (id), -- to which game
    seat        INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- to which seat
    user_id     INTEGER REFERENCES users (id), -- whom; NULL: by mail, not known who it is
    address     TEXT,                          -- by mail: where to; NULL: not, or settled
    address_key TEXT,                          -- lower-cased
    token_hash  BLOB UNIQUE,                   -- by mail: SHA-256 of the link's secret
    invited_by  INTEGER NOT NULL REFERENCES users (id), -- who invites
    state       TEXT NOT NULL                  -- see above
                CHECK (state IN ('pending', 'accepted', 'declined', 'expired', 'withdrawn')),
    created_at  INTEGER NOT NULL,              -- when invited
    expires_at  INTEGER NOT NULL,              -- good before this
    settled_at  INTEGER                        -- when answered, expired or withdrawn; NULL: pending
) STRICT;
CREATE UNIQUE INDEX invitations_seat ON invitations (game_id, seat) WHERE state = 'pending';
CREATE INDEX invitations_game ON invitations (game_id, seat);
CREATE INDEX invitations_user ON invitations (user_id) WHERE state = 'pending';
CREATE INDEX invitations_address ON invitations (address_key) WHERE state = 'pending';

-- Moves made.  Those taken back stay and are marked.
CREATE TABLE moves (
    id            INTEGER PRIMARY KEY,         -- internal
    game_id       INTEGER NOT NULL REFERENCES games (id), -- in which game
    ply           INTEGER NOT NULL CHECK (ply >= 1), -- the how manieth move of the game
    seat          INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- of which army
    user_id       INTEGER NOT NULL REFERENCES users (id), -- who played it
    move          TEXT NOT NULL,               -- coordinates, R-T2: 'k13l14q'
    san           TEXT NOT NULL,               -- as score sheets write it: 'Nf3+'
    seq           INTEGER NOT NULL,            -- of the event that tells of it
    position_hash INTEGER NOT NULL,            -- R-C7, after the move and all it caused
    used_ms       INTEGER NOT NULL CHECK (used_ms >= 0), -- time of his own that it took
    is_late       INTEGER NOT NULL CHECK (is_late IN (0, 1)), -- made in the grace
    chain         BLOB NOT NULL CHECK (length(chain) = 32), -- SHA-256 of the chain before + this move's line
    at            INTEGER NOT NULL,            -- when made
    taken_back_at INTEGER                      -- when taken back; NULL: it stands
) STRICT;
CREATE UNIQUE INDEX moves_ply ON moves (game_id, ply) WHERE taken_back_at IS NULL;

-- Everything that happened, numbered without a gap in each game.  The one source of streams,
-- feeds, webhooks and letters; rows are never changed or removed.
CREATE TABLE game_events (
    id            INTEGER PRIMARY KEY,         -- growing over all games: the order of an account's stream
    game_id       INTEGER NOT NULL REFERENCES games (id), -- in which game
    seq           INTEGER NOT NULL CHECK (seq >= 1), -- 1, 2, 3… within the game
    kind          TEXT NOT NULL                -- what happened
                  CHECK (kind IN ('created', 'invited', 'seat_taken', 'seat_left', 'declined',
                                  'invite_expired', 'invite_withdrawn', 'placing', 'placed', 'started',
                                  'move', 'mated', 'released', 'removed', 'passed', 'resigned',
                                  'forfeited', 'turn', 'draw_offered', 'draw_accepted',
                                  'draw_declined', 'draw_lapsed', 'draw_claimed', 'finished',
                                  'aborted', 'paused', 'resumed', 'credited', 'outage_credited',
                                  'adjudicated', 'late', 'warning')),
    seat          INTEGER CHECK (seat BETWEEN 0 AND 3), -- whom it befell; NULL: no seat in particular
    user_id       INTEGER REFERENCES users (id), -- who did it; NULL: the server
    ply           INTEGER NOT NULL,            -- moves made by then
    state_no      INTEGER NOT NULL,            -- the game's state number after it
    move          TEXT NOT NULL DEFAULT '',    -- move: coordinates
    san           TEXT NOT NULL DEFAULT '',    -- move: as score sheets write it
    result        TEXT NOT NULL DEFAULT 'none' -- finished, adjudicated: as games.result
                  CHECK (result IN ('none', 'team0', 'team1', 'draw')),
    cause         TEXT NOT NULL DEFAULT 'none' -- finished, aborted: as games.cause
                  CHECK (cause IN ('none', 'mate', 'leaving', 'stalemate', 'threefold', 'fivefold',
                                   'fifty_rounds', 'seventy_five_rounds', 'agreement',
                                   'adjudication', 'organiser', 'operator', 'expired')),
    amount_ms     INTEGER NOT NULL DEFAULT 0,  -- credited…: how much; late: by how much; warning: time left
    deadline_at   INTEGER,                     -- turn, credited…, warning: the deadline that holds now
    position_hash INTEGER NOT NULL DEFAULT 0,  -- R-C7, as things stand after it
    note          TEXT NOT NULL DEFAULT '',    -- organiser's or operator's words; kind's own particulars
    at            INTEGER NOT NULL,            -- when
    UNIQUE (game_id, seq)
) STRICT;
CREATE INDEX game_events_game_id ON game_events (game_id, id);

-- A question put to the other seats.  States: open -> accepted | declined | lapsed | withdrawn.
CREATE TABLE votes (
    id         INTEGER PRIMARY KEY,            -- internal
    game_id    INTEGER NOT NULL REFERENCES games (id), -- in which game
    kind       TEXT NOT NULL CHECK (kind IN ('draw', 'takeback', 'extension', 'abort')), -- about what
    seat       INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- who asked
    seq        INTEGER NOT NULL,               -- of the event that tells of it
    state      TEXT NOT NULL                   -- see above
               CHECK (state IN ('open', 'accepted', 'declined', 'lapsed', 'withdrawn')),
    created_at INTEGER NOT NULL,               -- when asked
    settled_at INTEGER                         -- when it stopped being open; NULL: it is
) STRICT;
CREATE UNIQUE INDEX votes_open ON votes (game_id, kind) WHERE state = 'open';
CREATE INDEX votes_game ON votes (game_id, id);

-- The answers to it, one a seat; the asker's own yes is among them.
CREATE TABLE vote_answers (
    vote_id INTEGER NOT NULL REFERENCES votes (id), -- to which question
    seat    INTEGER NOT NULL CHECK (seat BETWEEN 0 AND 3), -- whose answer
    is_yes  INTEGER NOT NULL CHECK (is_yes IN (0, 1)), -- which
    at      INTEGER NOT NULL,                  -- when
    PRIMARY KEY (vote_id, seat)
) STRICT, WITHOUT ROWID;

-- Times the server was away and gave all running clocks that much.
CREATE TABLE outages (
    id          INTEGER PRIMARY KEY,           -- internal
    from_at     INTEGER NOT NULL UNIQUE,       -- last sign of life before
    to_at       INTEGER NOT NULL,              -- first after
    credited_ms INTEGER NOT NULL CHECK (credited_ms > 0), -- what each running clock got
    games       INTEGER NOT NULL DEFAULT 0,    -- how many got it
    is_done     INTEGER NOT NULL DEFAULT 0 CHECK (is_done IN (0, 1)), -- all games have had it
    note        TEXT NOT NULL DEFAULT '',      -- an operator's words
    recorded_at INTEGER NOT NULL,              -- when found
    CHECK (to_at > from_at)
) STRICT;

-- What a deadline is computed from, besides the instant the turn began: in their order.
CREATE TABLE clock_facts (
    id        INTEGER PRIMARY KEY,             -- internal; also the order
    game_id   INTEGER NOT NULL REFERENCES games (id), -- in which game
    seat      INTEGER CHECK (seat BETWEEN 0 AND 3), -- whose clock; NULL: whichever ran
    ply       INTEGER NOT NULL,                -- moves made then: which turn it belongs to
    kind      TEXT NOT NULL CHECK (kind IN ('credit', 'outage', 'pause')), -- what it is
    amount_ms INTEGER NOT NULL,                -- added to the deadline
    from_at   INTEGER,                         -- outage, pause: from when; NULL: no span
    to_at     INTEGER,                         -- … to when
    user_id   INTEGER REFERENCES users (id),   -- who gave it; NULL: the server
    outage_id INTEGER REFERENCES outages (id), -- outage: which
    seq       INTEGER NOT NULL,                -- of the event that tells of it
    at        INTEGER NOT NULL                 -- when recorded
) STRICT;
CREATE INDEX clock_facts_game ON clock_facts (game_id, id);
CREATE UNIQUE INDEX clock_facts_outage ON clock_facts (outage_id, game_id) WHERE outage_id IS NOT NULL;

-- What is to be done at an instant.  A row is taken away when it has been done.
CREATE TABLE timers (
    id       INTEGER PRIMARY KEY,              -- internal
    kind     TEXT NOT NULL                     -- what
             CHECK (kind IN ('deadline', 'warning', 'organiser', 'placing', 'invitation', 'open_game',
                             'housekeeping')),
    game_id  INTEGER REFERENCES games (id),    -- of which game; NULL: of none
    seat     INTEGER CHECK (seat BETWEEN 0 AND 3), -- of which seat; NULL: of none
    state_no INTEGER NOT NULL DEFAULT 0,       -- the game's state it was set for
    detail   INTEGER NOT NULL DEFAULT 0,       -- the setter's own, e.g. which warning
    due_at   INTEGER NOT NULL                  -- when
) STRICT;
CREATE INDEX timers_due ON timers (due_at, id);
CREATE INDEX timers_game ON timers (game_id, kind, seat);
CREATE UNIQUE INDEX timers_one ON timers (kind) WHERE game_id IS NULL;

-- ------------------------------------------------------------------------------- to the world

-- A user's address for webhooks.
CREATE TABLE webhooks (
    id               INTEGER PRIMARY KEY,      -- shown in the list
    user_id          INTEGER NOT NULL REFERENCES users (id), -- whose
    url              TEXT NOT NULL,            -- where to
    kind             TEXT NOT NULL             -- which body it gets
                     CHECK (kind IN ('standard', 'slack', 'discord', 'ntfy', 'matrix')),
    name             TEXT NOT NULL DEFAULT '', -- its owner's word for it
    events           TEXT NOT NULL DEFAULT '', -- event types wanted, parted by blanks; '' for all
    secret           BLOB NOT NULL,            -- key of the signatures, 24 to 64 bytes
    old_secret       BLOB,                     -- the key before, while both sign; NULL: none
    old_secret_until INTEGER,                  -- until when it still signs
    auth             TEXT,                     -- ntfy, matrix: the token the other side wants; NULL: none
    state            TEXT NOT NULL DEFAULT 'on'-- whether anything is sent to it
                     CHECK (state IN ('on', 'off', 'disabled')),
    disabled_at      INTEGER,                  -- when it was disabled by the server; NULL: it is not
    disabled_cause   TEXT NOT NULL DEFAULT '', -- why, a word: 'gone', 'failing', 'blocked'
    failing_since_at INTEGER,                  -- since when nothing has got through; NULL: last did
    failures         INTEGER NOT NULL DEFAULT 0, -- attempts failed since then
    succeeded_at     INTEGER,                  -- when something last got through; NULL: never
    busy_outbox_id   INTEGER,                  -- the intent now being sent to it; NULL: none
    next_due_at      INTEGER,                  -- when the next intent for it is due; NULL: none waits
    created_at       INTEGER NOT NULL,         -- when made
    updated_at       INTEGER NOT NULL,         -- when its owner or the server last changed it
    deleted_at       INTEGER                   -- when its owner removed it; NULL: not
) STRICT;
CREATE INDEX webhooks_user ON webhooks (user_id, id) WHERE deleted_at IS NULL;
CREATE INDEX webhooks_due ON webhooks (next_due_at)
    WHERE next_due_at IS NOT NULL AND busy_outbox_id IS NULL AND state = 'on' AND deleted_at IS NULL;

-- Intents: what is to be said to whom, by which way.  Written in the transaction that causes it.
-- States: queued -> leased -> sent | queued again (retry) | failed | superseded | expired.
CREATE TABLE outbox (
    id           INTEGER PRIMARY KEY,          -- its Message-ID and webhook-id are made of this
    dedupe_key   TEXT NOT NULL UNIQUE,         -- what must not be said twice, e.g. 'turn:7k2m4xqz:41:2:mail'
    class        TEXT NOT NULL                 -- of notices, to be switched off by; see prefs
                 CHECK (class IN ('login', 'security', 'invitation', 'placing', 'start', 'turn',
                                  'warning', 'draw', 'leaving', 'mate', 'result', 'organiser',
                                  'webhook_disabled', 'test')),
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
                 CHECK (state IN ('queued', 'leased', 'sent', 'failed', 'superseded', 'expired')),
    due_at       INTEGER NOT NULL,             -- not to be sent before this
    expires_at   INTEGER NOT NULL,             -- of no use from then on
    leased_until INTEGER,                      -- whoever leased it has it until then; NULL: nobody
    attempts     INTEGER NOT NULL DEFAULT 0,   -- leases given that led to sending
    bytes        BLOB,                         -- exactly what is sent; NULL: not composed, or erased
    content_type TEXT NOT NULL DEFAULT '',     -- webhook: of the bytes
    envelope_from TEXT NOT NULL DEFAULT '',    -- mail: MAIL FROM
    envelope_to  TEXT NOT NULL DEFAULT '',     -- mail: RCPT TO
    message_id   TEXT NOT NULL DEFAULT '',     -- Message-ID or webhook-id
    has_token    INTEGER NOT NULL DEFAULT 0 CHECK (has_token IN (0, 1)), -- bytes hold a raw secret
    last_code    INTEGER NOT NULL DEFAULT 0,   -- SMTP or HTTP code of the last attempt; 0: no answer
    last_text    TEXT NOT NULL DEFAULT '',     -- what the other side, or the transport, said
    created_at   INTEGER NOT NULL,             -- when the intent arose
    settled_at   INTEGER,                      -- when sent, failed, superseded or expired; NULL: still to do
    CHECK ((state = 'leased') = (leased_until IS NOT NULL)),
    CHECK ((state IN ('queued', 'leased')) = (settled_at IS NULL)),
    CHECK ((channel = 'webhook') = (webhook_id IS NOT NULL))
) STRICT;
CREATE INDEX outbox_mail_due ON outbox (due_at, id) WHERE state = 'queued' AND channel = 'mail';
CREATE INDEX outbox_webhook_due ON outbox (webhook_id, due_at, id)
    WHERE state = 'queued' AND channel = 'webhook';
CREATE INDEX outbox_leased ON outbox (leased_until) WHERE state = 'leased';
CREATE INDEX outbox_webhook ON outbox (webhook_id, id) WHERE webhook_id IS NOT NULL;
CREATE INDEX outbox_game_waiting ON outbox (game_id, class) WHERE settled_at IS NULL;
CREATE INDEX outbox_settled ON outbox (settled_at) WHERE settled_at IS NOT NULL;

-- Each try at sending one of them.
CREATE TABLE outbox_attempts (
    id        INTEGER PRIMARY KEY,             -- internal; also the order
    outbox_id INTEGER NOT NULL REFERENCES outbox (id), -- which
    attempt   INTEGER NOT NULL,                -- 1, 2, 3…
    at        INTEGER NOT NULL,                -- when it ended
    took_ms   INTEGER NOT NULL,                -- how long it took
    outcome   TEXT NOT NULL CHECK (outcome IN ('sent', 'retry', 'failed')), -- what came of it
    code      INTEGER NOT NULL,                -- SMTP or HTTP code; 0: there was no answer
    text      TEXT NOT NULL                    -- what the other side, or the transport, said; cut
) STRICT;
CREATE INDEX outbox_attempts_outbox ON outbox_attempts (outbox_id, id);

-- ------------------------------------------------------------------------------- housekeeping

-- Answers given to requests with an Idempotency-Key, to be given again.
CREATE TABLE idempotency (
    user_id      INTEGER NOT NULL REFERENCES users (id), -- whose key
    key          TEXT NOT NULL,                -- as sent
    request_hash BLOB NOT NULL CHECK (length(request_hash) = 32), -- SHA-256 of method, path and body
    status       INTEGER NOT NULL,             -- HTTP status answered
    headers      TEXT NOT NULL DEFAULT '',     -- header lines that belong to the answer
    content_type TEXT NOT NULL,                -- of the body
    body         BLOB NOT NULL,                -- the answer's body
    created_at   INTEGER NOT NULL,             -- when; kept for 24 hours
    PRIMARY KEY (user_id, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX idempotency_age ON idempotency (created_at);

-- One row: the daemon was alive at that instant.
CREATE TABLE heartbeat (
    id         INTEGER PRIMARY KEY CHECK (id = 1), -- always 1
    at         INTEGER NOT NULL,               -- last sign of life
    started_at INTEGER NOT NULL                -- when that run began
) STRICT;

-- What organisers and operators did with their powers.
CREATE TABLE audit (
    id         INTEGER PRIMARY KEY,            -- internal; also the order
    at         INTEGER NOT NULL,               -- when
    user_id    INTEGER REFERENCES users (id),  -- who; NULL: the machine's administrator, by command line
    role       TEXT NOT NULL CHECK (role IN ('organiser', 'operator', 'administrator')), -- by which power
    act        TEXT NOT NULL,                  -- what, a word: 'game_credit', 'user_disable'
    game_id    INTEGER REFERENCES games (id),  -- to which game; NULL: none
    subject_id INTEGER REFERENCES users (id),  -- to which user; NULL: none
    detail     TEXT NOT NULL DEFAULT '',       -- particulars, key=value
    note       TEXT NOT NULL DEFAULT ''        -- his reasons in his words
) STRICT;
CREATE INDEX audit_game ON audit (game_id, id) WHERE game_id IS NOT NULL;
