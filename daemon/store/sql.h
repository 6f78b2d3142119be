/*
 * store/sql.h - every statement there is.
 *
 * X(NAME, text).  All are prepared when a connection opens: SQL_READS on readers and on the writing
 * connection, SQL_WRITES on the latter only.  Parameters are bound by position.  A test asks
 * SQLite for the plan of each and refuses one that goes through a whole table, unless the
 * statement says so by a scan note.  The dialect is what SQLite 3.40 and PostgreSQL 15 share, but
 * for the placeholders.
 */
#ifndef FH_STORE_SQL_H
#define FH_STORE_SQL_H

#define USER_COLUMNS                                                                               \
    "id, handle, handle_key, display_name, zone, language, is_operator, password_hash,"            \
    " address, address_key, verified_at, address_state, bounces, bounced_at, bounce_text,"         \
    " created_at, updated_at, disabled_at, hold_ms"
#define ADDRESS_CHANGE_COLUMNS                                                                     \
    "id, user_id, address, address_key, old_token_hash IS NOT NULL, old_confirmed_at,"             \
    " new_confirmed_at, state, created_at, expires_at"
#define LOGIN_LINK_COLUMNS                                                                         \
    "id, user_id, prelogin_hash, created_at, expires_at, used_at"
#define REGISTRATION_COLUMNS                                                                       \
    "id, handle, handle_key, display_name, zone, language, address, address_key,"                  \
    " invite_id, created_at, expires_at, used_at"
#define INVITE_COLUMNS                                                                             \
    "id, created_by, address, note, created_at, expires_at, used_by, used_at, revoked_at"
#define SESSION_COLUMNS                                                                            \
    "id, user_id, method, agent, created_at, last_used_at, expires_at, revoked_at"
#define API_TOKEN_COLUMNS                                                                          \
    "id, user_id, name, scopes, created_at, last_used_at, expires_at, revoked_at"
#define GAME_COLUMNS                                                                               \
    "id, public_id, variant, rules, reserve, is_rated, visibility, table_talk, clock,"             \
    " per_move_ms, grace_ms, placing_ms, organiser_id, state, open_seats, paused_at,"              \
    " result, cause, start_position, position, compact, position_hash, ply, turn_seat,"            \
    " turn_user_id, conditions, state_no, last_seq, last_event_id, turn_at, deadline_at,"          \
    " explanation, chain, expires_at, created_at, started_at, moved_at, ended_at,"                 \
    " updated_at"
/* All that games_save() stores but state, result and cause: a statement that names a column writes
 * its indexes afresh and looks at its CHECK, changed or not. */
#define GAME_CHANGES                                                                               \
    "last_seq = ?2, last_event_id = ?3, paused_at = ?4, start_position = ?5, position = ?6,"       \
    " compact = ?7, position_hash = ?8, ply = ?9, turn_seat = ?10, turn_user_id = ?11,"            \
    " conditions = ?12, state_no = ?13, turn_at = ?14, deadline_at = ?15, explanation = ?16,"      \
    " chain = ?17, expires_at = ?18, started_at = ?19, moved_at = ?20, ended_at = ?21,"            \
    " updated_at = ?22, is_rated = ?23"
#define BRIEF_COLUMNS                                                                              \
    "g.id, g.public_id, g.variant, g.rules, g.reserve, g.is_rated, g.visibility,"                  \
    " g.table_talk, g.clock, g.per_move_ms, g.grace_ms, g.organiser_id, o.handle,"                 \
    " o.display_name, g.state, g.open_seats, g.paused_at, g.result, g.cause, g.ply,"               \
    " g.turn_seat, g.state_no, g.last_seq, g.turn_at, g.deadline_at, g.expires_at,"                \
    " g.created_at, g.started_at, g.moved_at, g.ended_at, g.updated_at"
/* May a user, or whoever sees all (1), look at the game g?  What arbiter/access.h says, for lists;
 * invitations to an address are not looked at: a list of its own has those. */
#define MAY_SEE(user, all)                                                                         \
    " (g.visibility = 'public' OR " all " = 1 OR EXISTS (SELECT 1 FROM members v WHERE"            \
    " v.user_id = " user " AND v.game_id = g.id AND v.until_event_id IS NULL))"
#define INVITATION_COLUMNS                                                                         \
    "id, game_id, seat, user_id, address, address_key, invited_by, state, created_at,"             \
    " expires_at, settled_at"
#define MOVE_COLUMNS                                                                               \
    "game_id, ply, seat, user_id, move, san, seq, position_hash, used_ms, is_late, chain,"         \
    " at"
#define EVENT_COLUMNS                                                                              \
    "e.id, e.game_id, g.public_id, e.seq, e.kind, e.seat, e.user_id, u.handle, e.ply,"             \
    " e.state_no, e.move, e.san, e.result, e.cause, e.amount_ms, e.deadline_at,"                   \
    " e.position_hash, e.note, e.at"
#define VOTE_COLUMNS                                                                               \
    "v.id, v.game_id, v.kind, v.seat, v.seq, v.state, v.created_at, v.settled_at, (SELECT"         \
    " is_yes FROM vote_answers WHERE vote_id = v.id AND seat = 0), (SELECT is_yes FROM"            \
    " vote_answers WHERE vote_id = v.id AND seat = 1), (SELECT is_yes FROM vote_answers"           \
    " WHERE vote_id = v.id AND seat = 2), (SELECT is_yes FROM vote_answers WHERE vote_id ="        \
    " v.id AND seat = 3)"
#define CLOCK_FACT_COLUMNS                                                                         \
    "id, game_id, seat, ply, kind, amount_ms, from_at, to_at, user_id, outage_id, seq, at"
#define TIMER_COLUMNS                                                                              \
    "id, kind, game_id, seat, state_no, detail, due_at"
#define INTENT_COLUMNS                                                                             \
    "id, dedupe_key, class, channel, template, user_id, address, webhook_id, game_id,"             \
    " seat, event_id, seq, state_no, state, due_at, expires_at, leased_until, attempts,"           \
    " content_type, envelope_from, envelope_to, message_id, has_token, last_code,"                 \
    " last_text, created_at, settled_at"
#define WEBHOOK_COLUMNS                                                                            \
    "id, user_id, url, kind, name, events, secret, old_secret, old_secret_until, auth,"            \
    " state, disabled_at, disabled_cause, failing_since_at, failures, succeeded_at,"               \
    " created_at, updated_at"
#define OUTAGE_COLUMNS                                                                             \
    "id, from_at, to_at, credited_ms, games, is_done, note, recorded_at"
#define AUDIT_COLUMNS                                                                              \
    "id, at, user_id, role, act, game_id, subject_id, detail, note"
#define TOKEN_COLUMNS                                                                              \
    "id, token_hash, purpose, user_id, game_id, seat, state_no, inbox_id, created_at,"             \
    " expires_at, used_at, revoked_at"
#define INBOX_COLUMNS                                                                              \
    "id, received_at, way, token_hash, recipient, sender, message_id, fingerprint, size, state,"   \
    " attempts, repeats, verdict, reason, user_id, game_id, answer_id, claimed_at, settled_at"
/* Letters whose bytes have been kept long enough. */
#define INBOX_OVERDUE                                                                              \
    "SELECT id FROM inbox WHERE is_kept = 1 AND settled_at < ?4 AND (verdict IN ('stranger',"      \
    " 'automatic', 'loop') OR (user_id IS NULL AND state = 'done') OR settled_at < ?1) AND"        \
    " (state <> 'quarantined' OR settled_at < ?2) ORDER BY settled_at, id LIMIT ?3"
#define HELD_COLUMNS                                                                               \
    "game_id, seat, kind, user_id, state_no, move, with_draw, inbox_id, received_at, release_at,"  \
    " created_at"
#define WEBHOOK_WAITS                                                                              \
    "next_due_at IS NOT NULL AND busy_outbox_id IS NULL AND state = 'on' AND deleted_at"           \
    " IS NULL"

/* What is under way to endpoints; `more` narrows it down. */
#define WEBHOOKS_UNDER_WAY(more)                                                                   \
    "(SELECT count(*) FROM outbox o JOIN webhooks u ON u.id = o.webhook_id WHERE o.state ="        \
    " 'leased' AND o.leased_until < 9223372036854775807 AND o.channel = 'webhook' AND " more ")"

/* ?1: at most so many of one account; ?2: at most so many to endpoints that are not known to
 * answer. */
#define WEBHOOK_MAY                                                                                \
    WEBHOOK_WAITS " AND " WEBHOOKS_UNDER_WAY("u.user_id = webhooks.user_id") " < ?1"               \
    " AND ((failing_since_at IS NULL AND succeeded_at IS NOT NULL) OR "                            \
    WEBHOOKS_UNDER_WAY("(u.failing_since_at IS NOT NULL OR u.succeeded_at IS NULL)") " < ?2)"

#define SQL_READS(X)                                                                               \
    /* spans of reading */                                                                         \
    X(SPAN_BEGIN,                                                                                  \
      "BEGIN")                                                                                     \
    X(SPAN_END,                                                                                    \
      "COMMIT")                                                                                    \
    /* keys */                                                                                     \
    X(KEY_GET,                                                                                     \
      "SELECT value FROM keys WHERE name = ?1")                                                    \
    /* users */                                                                                    \
    X(USER_GET,                                                                                    \
      "SELECT " USER_COLUMNS " FROM users WHERE id = ?1")                                          \
    X(USER_BY_HANDLE,                                                                              \
      "SELECT " USER_COLUMNS " FROM users WHERE handle_key = ?1")                                  \
    X(USER_BY_ADDRESS,                                                                             \
      "SELECT " USER_COLUMNS " FROM users WHERE address_key = ?1 AND verified_at IS NOT NULL")     \
    X(USER_LIST,                                                                                   \
      "SELECT " USER_COLUMNS " FROM users WHERE handle_key > ?1 ORDER BY handle_key LIMIT ?2")     \
    X(ADDRESS_CHANGE_GET,                                                                          \
      "SELECT " ADDRESS_CHANGE_COLUMNS " FROM address_changes WHERE id = ?1")                      \
    X(ADDRESS_CHANGE_BY_OLD,                                                                       \
      "SELECT " ADDRESS_CHANGE_COLUMNS " FROM address_changes WHERE old_token_hash = ?1")          \
    X(ADDRESS_CHANGE_BY_NEW,                                                                       \
      "SELECT " ADDRESS_CHANGE_COLUMNS " FROM address_changes WHERE new_token_hash = ?1")          \
    X(ADDRESS_CHANGE_PENDING,                                                                      \
      "SELECT " ADDRESS_CHANGE_COLUMNS " FROM address_changes WHERE user_id = ?1 AND state ="      \
      " 'pending'")                                                                                \
    X(ADDRESS_CHANGE_COUNT,                                                                        \
      "SELECT count(*) FROM address_changes WHERE user_id = ?1 AND created_at >= ?2")              \
    /* logins */                                                                                   \
    X(LOGIN_LINK_GET,                                                                              \
      "SELECT " LOGIN_LINK_COLUMNS " FROM login_links WHERE id = ?1")                              \
    X(LOGIN_LINK_FIND,                                                                             \
      "SELECT " LOGIN_LINK_COLUMNS " FROM login_links WHERE token_hash = ?1")                      \
    X(LOGIN_LINK_COUNT,                                                                            \
      "SELECT count(*) FROM login_links l WHERE user_id = ?1 AND created_at >= ?2 AND EXISTS"      \
      " (SELECT 1 FROM outbox WHERE dedupe_key IN ('login:' || l.id || ':0',"                      \
      " 'register_known:' || l.id || ':0'))")                                                      \
    X(REGISTRATION_GET,                                                                            \
      "SELECT " REGISTRATION_COLUMNS " FROM registrations WHERE id = ?1")                          \
    X(REGISTRATION_FIND,                                                                           \
      "SELECT " REGISTRATION_COLUMNS " FROM registrations WHERE token_hash = ?1")                  \
    X(REGISTRATION_COUNT,                                                                          \
      "SELECT count(*) FROM registrations WHERE address_key = ?1 AND created_at >= ?2")            \
    X(REGISTRATION_COUNT_ALL,                                                                      \
      "SELECT count(*) FROM registrations WHERE created_at >= ?1")                                 \
    X(INVITE_FIND,                                                                                 \
      "SELECT " INVITE_COLUMNS " FROM invites WHERE token_hash = ?1")                              \
    X(INVITE_GET,                                                                                  \
      "SELECT " INVITE_COLUMNS " FROM invites WHERE id = ?1")                                      \
    X(INVITES_LIST,                                                                                \
      "SELECT " INVITE_COLUMNS " FROM invites WHERE id < ?1 ORDER BY id DESC LIMIT ?2")            \
    X(SESSION_FIND,                                                                                \
      "SELECT " SESSION_COLUMNS " FROM sessions WHERE token_hash = ?1")                            \
    X(SESSION_LIST,                                                                                \
      "SELECT " SESSION_COLUMNS " FROM sessions WHERE user_id = ?1 AND expires_at > ?2 AND"        \
      " revoked_at IS NULL ORDER BY id DESC LIMIT ?3")                                             \
    X(API_TOKEN_FIND,                                                                              \
      "SELECT " API_TOKEN_COLUMNS " FROM api_tokens WHERE token_hash = ?1")                        \
    X(API_TOKEN_LIST,                                                                              \
      "SELECT " API_TOKEN_COLUMNS " FROM api_tokens WHERE user_id = ?1 AND revoked_at IS NULL"     \
      " ORDER BY id DESC LIMIT ?2")                                                                \
    /* prefs */                                                                                    \
    X(PREFS_GET,                                                                                   \
      "SELECT class, channel, is_on FROM prefs WHERE user_id = ?1")                                \
    X(ADDRESS_BLOCK_GET,                                                                           \
      "SELECT 1 FROM address_blocks WHERE address_hash = ?1")                                      \
    /* games */                                                                                    \
    X(GAME_GET,                                                                                    \
      "SELECT " GAME_COLUMNS " FROM games WHERE id = ?1")                                          \
    X(GAME_FIND,                                                                                   \
      "SELECT " GAME_COLUMNS " FROM games WHERE public_id = ?1")                                   \
    X(GAME_ID,                                                                                     \
      "SELECT id FROM games WHERE public_id = ?1")                                                 \
    X(GAME_STATE,                                                                                  \
      "SELECT state, result, cause, last_seq FROM games WHERE id = ?1")                            \
    X(GAME_TALLY,                                                                                  \
      "SELECT /*scan*/ state, n FROM game_tally")                                                  \
    X(GAME_BRIEF,                                                                                  \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE g.id ="   \
      " ?1")                                                                                       \
    X(GAMES_BY_TURN,                                                                               \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE g.id IN"  \
      " (SELECT t.id FROM games t WHERE t.turn_user_id = ?1 UNION ALL SELECT p.id FROM members m"  \
      " CROSS JOIN games p WHERE m.user_id = ?1 AND m.is_over = 0 AND p.id = m.game_id AND"        \
      " p.state = 'placing' AND EXISTS (SELECT 1 FROM seats s WHERE s.game_id = p.id AND"          \
      " s.user_id = ?1 AND s.placed_at IS NULL)) AND (coalesce(g.deadline_at,"                     \
      " 9223372036854775807) > ?2 OR (coalesce(g.deadline_at, 9223372036854775807) = ?2 AND g.id"  \
      " > ?3)) AND (?4 IS NULL OR g.variant = ?4) AND (?5 IS NULL OR g.state = ?5) AND"            \
      MAY_SEE("?6", "?7") " ORDER BY coalesce(g.deadline_at, 9223372036854775807), g.id LIMIT ?8") \
    X(GAMES_OF_USER_COUNT,                                                                         \
      "SELECT count(*) FROM (SELECT 1 FROM members WHERE user_id = ?1 AND is_over = 0 AND"         \
      " (is_player = 1 OR is_organiser = 1) AND game_id <> ?2 LIMIT ?3)")                          \
    X(GAMES_BY_PLAYER,                                                                             \
      "SELECT " BRIEF_COLUMNS " FROM members m CROSS JOIN games g CROSS JOIN users o WHERE"        \
      " m.user_id = ?1 AND m.until_event_id IS NULL AND m.game_id < ?2 AND g.id = m.game_id AND"   \
      " o.id = g.organiser_id AND (?3 IS NULL OR g.variant = ?3) AND (?4 IS NULL OR g.state ="     \
      " ?4) AND (?5 = 0 OR (g.state = 'open' AND g.open_seats > 0)) AND" MAY_SEE("?6", "?7")       \
      " ORDER BY m.game_id DESC LIMIT ?8")                                                         \
    X(GAMES_BY_PLAYER_OVER,                                                                        \
      "SELECT " BRIEF_COLUMNS " FROM members m CROSS JOIN games g CROSS JOIN users o WHERE"        \
      " m.user_id = ?1 AND m.is_over = ?9 AND m.until_event_id IS NULL AND m.game_id < ?2 AND"     \
      " g.id = m.game_id AND o.id = g.organiser_id AND (?3 IS NULL OR g.variant = ?3) AND (?4 IS"  \
      " NULL OR g.state = ?4) AND (?5 = 0 OR (g.state = 'open' AND g.open_seats > 0)) AND"         \
      MAY_SEE("?6", "?7") " ORDER BY m.game_id DESC LIMIT ?8")                                     \
    X(GAMES_INVITED,                                                                               \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE"          \
      " g.id IN (SELECT i.game_id FROM invitations i WHERE i.user_id = ?1 AND i.state ="           \
      " 'pending' UNION ALL SELECT i.game_id FROM users u CROSS JOIN invitations i WHERE u.id ="   \
      " ?1 AND u.verified_at IS NOT NULL AND i.address_key = u.address_key AND i.state ="          \
      " 'pending' AND i.user_id IS NULL) AND g.state = 'open' AND g.id < ?2 AND (?3 IS NULL OR"    \
      " g.variant = ?3) AND (?4 IS NULL OR g.state = ?4) AND (?5 = 0 OR g.open_seats > 0) AND"     \
      " (?6 = 0 OR EXISTS (SELECT 1 FROM members m WHERE m.user_id = ?6 AND m.game_id = g.id"      \
      " AND m.until_event_id IS NULL AND (?7 < 0 OR m.is_over = ?7))) ORDER BY g.id DESC LIMIT"    \
      " ?8")                                                                                       \
    X(GAMES_JOINABLE,                                                                              \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE g.state"  \
      " = 'open' AND g.open_seats > 0 AND g.id < ?1 AND (?2 IS NULL OR g.variant = ?2) AND (?6"    \
      " IS NULL OR g.state = ?6) AND" MAY_SEE("?3", "?4") " ORDER BY g.id DESC LIMIT ?5")          \
    X(GAMES_BY_VARIANT_STATE,                                                                      \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE"          \
      " g.variant = ?2 AND g.state = ?3 AND g.id < ?1 AND" MAY_SEE("?4", "?5") " ORDER BY g.id"    \
      " DESC LIMIT ?6")                                                                            \
    X(GAMES_BY_STATE,                                                                              \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE g.state"  \
      " = ?2 AND g.id < ?1 AND" MAY_SEE("?3", "?4") " ORDER BY g.id DESC LIMIT ?5")                \
    X(GAMES_BY_VARIANT,                                                                            \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE"          \
      " g.variant = ?2 AND g.id < ?1 AND" MAY_SEE("?3", "?4") " ORDER BY g.id DESC LIMIT ?5")      \
    X(GAMES_ALL,                                                                                   \
      "SELECT " BRIEF_COLUMNS " FROM games g JOIN users o ON o.id = g.organiser_id WHERE g.id <"   \
      " ?1 AND" MAY_SEE("?2", "?3") " ORDER BY g.id DESC LIMIT ?4")                                \
    X(GAME_IDS,                                                                                    \
      "SELECT id FROM games WHERE id > ?1 ORDER BY id LIMIT ?2")                                   \
    X(GAME_IDS_STATE,                                                                              \
      "SELECT id FROM games WHERE state = ?1 AND id > ?2 ORDER BY id LIMIT ?3")                    \
    X(BRIEF_SEATS,                                                                                 \
      "SELECT s.seat, s.state, s.user_id, u.handle, u.display_name, s.left_how FROM seats s"       \
      " LEFT JOIN users u ON u.id = s.user_id WHERE s.game_id = ?1 ORDER BY s.seat")               \
    X(SEATS_GET,                                                                                   \
      "SELECT s.game_id, s.seat, s.state, s.user_id, u.handle, u.display_name, s.taken_at,"        \
      " s.placement, s.placed_at, s.left_how, s.left_at, s.late_moves FROM seats s LEFT JOIN"      \
      " users u ON u.id = s.user_id WHERE s.game_id = ?1 ORDER BY s.seat")                         \
    X(HOLDERS,                                                                                     \
      "SELECT game_id, seat, user_id, role, since_at, until_at FROM seat_holders WHERE"            \
      " game_id = ?1 ORDER BY seat, since_at LIMIT ?2")                                            \
    X(MEMBER_GET,                                                                                  \
      "SELECT user_id, game_id, is_player, is_organiser, is_invited, is_over FROM members"         \
      " WHERE user_id = ?2 AND game_id = ?1 AND until_event_id IS NULL")                           \
    X(MEMBERS,                                                                                     \
      "SELECT user_id, game_id, is_player, is_organiser, is_invited, is_over FROM members"         \
      " WHERE game_id = ?1 AND until_event_id IS NULL ORDER BY user_id LIMIT ?2")                  \
    X(INVITATION_GET,                                                                              \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE id = ?1")                              \
    X(INVITATION_FIND,                                                                             \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE token_hash = ?1")                      \
    X(INVITATION_OF_SEAT,                                                                          \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE game_id = ?1 AND seat = ?2 AND"        \
      " state = 'pending'")                                                                        \
    X(INVITATIONS_OF_USER,                                                                         \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE user_id = ?1 AND state = 'pending'"    \
      " ORDER BY id LIMIT ?2")                                                                     \
    X(INVITED_ADDRESS_COUNT,                                                                       \
      "SELECT count(*), coalesce(sum(invited_by = ?3), 0) FROM invited_addresses WHERE"            \
      " address_key = ?1 AND created_at > ?2")                                                     \
    X(INVITATIONS_OF_ADDRESS,                                                                      \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE address_key = ?1 AND state ="          \
      " 'pending' ORDER BY id LIMIT ?2")                                                           \
    X(INVITATIONS_OF_GAME,                                                                         \
      "SELECT " INVITATION_COLUMNS " FROM invitations WHERE game_id = ?1 ORDER BY seat, id"        \
      " LIMIT ?2")                                                                                 \
    /* moves */                                                                                    \
    X(MOVES_LIST,                                                                                  \
      "SELECT " MOVE_COLUMNS " FROM moves WHERE game_id = ?1 AND ply >= ?2 AND taken_back_at IS"   \
      " NULL ORDER BY ply LIMIT ?3")                                                               \
    X(MOVE_GET,                                                                                    \
      "SELECT " MOVE_COLUMNS " FROM moves WHERE game_id = ?1 AND ply = ?2 AND taken_back_at IS"    \
      " NULL")                                                                                     \
    X(MOVES_HASHES,                                                                                \
      "SELECT position_hash FROM moves WHERE game_id = ?1 AND ply > ?2 AND taken_back_at IS"       \
      " NULL ORDER BY ply LIMIT ?3")                                                               \
    /* events */                                                                                   \
    X(EVENTS_OF_GAME,                                                                              \
      "SELECT " EVENT_COLUMNS " FROM game_events e JOIN games g ON g.id = e.game_id LEFT JOIN"     \
      " users u ON u.id = e.user_id WHERE e.game_id = ?1 AND e.seq > ?2 ORDER BY e.seq LIMIT"      \
      " ?3")                                                                                       \
    X(EVENT_GET,                                                                                   \
      "SELECT " EVENT_COLUMNS " FROM game_events e JOIN games g ON g.id = e.game_id LEFT JOIN"     \
      " users u ON u.id = e.user_id WHERE e.game_id = ?1 AND e.seq = ?2")                          \
    X(EVENTS_HASHES,                                                                               \
      "SELECT position_hash FROM game_events WHERE game_id = ?1 AND seq > ?2 AND kind IN"          \
      " ('move', 'resigned', 'forfeited') ORDER BY seq LIMIT ?3")                                  \
    X(EVENTS_OF_USER,                                                                              \
      "SELECT " EVENT_COLUMNS " FROM members m CROSS JOIN games g CROSS JOIN game_events e LEFT"   \
      " JOIN users u ON u.id = e.user_id WHERE m.user_id = ?1 AND g.id = m.game_id AND"            \
      " g.last_event_id > ?2 AND e.game_id = g.id AND e.seq > coalesce((SELECT p.seq FROM"         \
      " game_events p WHERE p.game_id = g.id AND p.id <= ?2 ORDER BY p.seq DESC LIMIT 1), 0)"      \
      " AND e.id <= ?3 AND (m.until_event_id IS NULL OR e.id <= m.until_event_id) ORDER BY e.id"   \
      " LIMIT ?4")                                                                                 \
    X(EVENTS_NEWEST,                                                                               \
      "SELECT coalesce(max(id), 0) FROM game_events")                                              \
    /* votes */                                                                                    \
    X(VOTE_OPEN,                                                                                   \
      "SELECT " VOTE_COLUMNS " FROM votes v WHERE v.game_id = ?1 AND v.kind = ?2 AND v.state ="    \
      " 'open'")                                                                                   \
    X(VOTES,                                                                                       \
      "SELECT " VOTE_COLUMNS " FROM votes v WHERE v.game_id = ?1 ORDER BY v.id LIMIT ?2")          \
    /* clocks */                                                                                   \
    X(CLOCK_FACTS,                                                                                 \
      "SELECT " CLOCK_FACT_COLUMNS " FROM clock_facts WHERE game_id = ?1 AND (?2 IS NULL OR ply"   \
      " = ?2) ORDER BY id LIMIT ?3")                                                               \
    X(CLOCK_FACTS_LAST_GAME,                                                                       \
      "SELECT coalesce(max(game_id), 0) FROM clock_facts WHERE outage_id = ?1")                    \
    /* timers */                                                                                   \
    X(TIMERS_DUE,                                                                                  \
      "SELECT " TIMER_COLUMNS " FROM timers WHERE due_at <= ?1 ORDER BY due_at, id LIMIT ?2")      \
    X(TIMERS_NEXT,                                                                                 \
      "SELECT min(due_at) FROM timers")                                                            \
    X(TIMERS_OF_GAME,                                                                              \
      "SELECT " TIMER_COLUMNS " FROM timers WHERE game_id = ?1 ORDER BY kind, seat, id LIMIT ?2")  \
    /* outbox */                                                                                   \
    X(OUTBOX_FATE,                                                                                 \
      "SELECT settled_at IS NULL, NOT EXISTS (SELECT 1 FROM outbox_bytes WHERE outbox_id ="        \
      " ?1) FROM outbox WHERE id = ?1")                                                            \
    X(OUTBOX_GET,                                                                                  \
      "SELECT " INTENT_COLUMNS ", params FROM outbox WHERE id = ?1")                               \
    X(BYTES_GET,                                                                                   \
      "SELECT bytes FROM outbox_bytes WHERE outbox_id = ?1")                                       \
    X(OUTBOX_OF_WEBHOOK,                                                                           \
      "SELECT " INTENT_COLUMNS " FROM outbox WHERE webhook_id = ?1 AND id < ?2 ORDER BY id DESC"   \
      " LIMIT ?3")                                                                                 \
    X(OUTBOX_OUTDATED,                                                                             \
      "SELECT id, webhook_id FROM outbox WHERE game_id = ?1 AND class = 'warning' AND settled_at"  \
      " IS NULL AND state = 'queued' AND state_no < ?2 LIMIT ?3")                                  \
    X(OUTBOX_WAITS_GAME,                                                                           \
      "SELECT EXISTS (SELECT 1 FROM outbox WHERE game_id = ?1 AND class = ?2 AND state ="          \
      " 'queued' AND due_at > created_at AND due_at > ?3)")                                        \
    X(OUTBOX_NEXT_MAIL,                                                                            \
      "SELECT min(due_at) FROM outbox WHERE state = 'queued' AND channel = 'mail' AND due_at"      \
      " < 9223372036854775807")                                                                    \
    X(OUTBOX_NEXT_WEBHOOK,                                                                         \
      "SELECT next_due_at FROM webhooks WHERE " WEBHOOK_MAY " ORDER BY next_due_at LIMIT 1")       \
    X(OUTBOX_NEXT_LEASE,                                                                           \
      "SELECT min(leased_until) FROM outbox WHERE state = 'leased' AND channel = ?1 AND"           \
      " leased_until < 9223372036854775807")                                                       \
    X(OUTBOX_TESTS,                                                                                \
      "SELECT count(*) FROM outbox WHERE state = 'queued' AND channel = 'webhook' AND webhook_id"  \
      " = ?1 AND class = 'test'")                                                                  \
    X(OUTBOX_DEPTH_MAIL,                                                                           \
      "SELECT /*scan*/ count(*), min(due_at) FROM outbox WHERE state = 'queued' AND channel ="     \
      " 'mail'")                                                                                   \
    X(OUTBOX_DEPTH_WEBHOOK,                                                                        \
      "SELECT /*scan*/ count(*), min(due_at) FROM outbox WHERE state = 'queued' AND channel ="     \
      " 'webhook'")                                                                                \
    X(OUTBOX_DEPTH_LEASED,                                                                         \
      "SELECT /*scan*/ count(*), min(due_at) FROM outbox WHERE state = 'leased' AND channel ="     \
      " ?1")                                                                                       \
    X(OUTBOX_FIND_MAIL,                                                                            \
      "SELECT " INTENT_COLUMNS " FROM outbox WHERE event_id = ?1 AND user_id = ?2 AND class = ?3"  \
      " AND state_no = ?4 AND channel = 'mail' ORDER BY id DESC LIMIT 1")                          \
    X(OUTBOX_HANDOVER,                                                                             \
      "SELECT min(CASE WHEN o.state = 'sent' THEN o.settled_at END), count(CASE WHEN o.state IN"   \
      " ('queued', 'leased') THEN 1 END), count(CASE WHEN o.state <> 'superseded' THEN 1 END)"     \
      " FROM game_events e CROSS JOIN outbox o ON o.event_id = e.id WHERE e.game_id = ?1 AND"      \
      " e.seq > ?3 AND o.user_id = ?2 AND o.state_no >= ?4 AND o.class IN ('turn', 'start')")      \
    X(ATTEMPTS,                                                                                    \
      "SELECT outbox_id, attempt, at, took_ms, outcome, code, text FROM outbox_attempts WHERE"     \
      " outbox_id = ?1 ORDER BY id LIMIT ?2")                                                      \
    /* webhooks */                                                                                 \
    X(WEBHOOK_GET,                                                                                 \
      "SELECT " WEBHOOK_COLUMNS " FROM webhooks WHERE id = ?1 AND deleted_at IS NULL")             \
    X(WEBHOOKS_OF_USER,                                                                            \
      "SELECT " WEBHOOK_COLUMNS " FROM webhooks WHERE user_id = ?1 AND deleted_at IS NULL ORDER"   \
      " BY id LIMIT ?2")                                                                           \
    /* idempotency */                                                                              \
    X(IDEMPOTENCY_GET,                                                                             \
      "SELECT request_hash, status, headers, content_type, body, created_at FROM idempotency"      \
      " WHERE user_id = ?1 AND key = ?2")                                                          \
    /* outage */                                                                                   \
    X(HEARTBEAT_GET,                                                                               \
      "SELECT at, started_at FROM heartbeat WHERE id = 1")                                         \
    X(OUTAGE_UNFINISHED,                                                                           \
      "SELECT /*scan*/ " OUTAGE_COLUMNS " FROM outages WHERE is_done = 0 ORDER BY id LIMIT 1")     \
    X(OUTAGES,                                                                                     \
      "SELECT " OUTAGE_COLUMNS " FROM outages WHERE id < ?1 ORDER BY id DESC LIMIT ?2")            \
    /* audit */                                                                                    \
    X(AUDIT_LIST,                                                                                  \
      "SELECT " AUDIT_COLUMNS " FROM audit WHERE id < ?1 ORDER BY id DESC LIMIT ?2")               \
    X(AUDIT_OF_GAME,                                                                               \
      "SELECT " AUDIT_COLUMNS " FROM audit WHERE game_id = ?1 AND id < ?2 ORDER BY id DESC"        \
      " LIMIT ?3")                                                                                 \
    /* verify: these read everything, and are asked for nothing else */                            \
    X(VERIFY_EVENTS,                                                                               \
      "SELECT count(*), coalesce(min(seq), 0), coalesce(max(seq), 0), coalesce(max(id), 0),"       \
      " coalesce(max(ply), 0), coalesce(max(state_no), 0) FROM game_events WHERE game_id = ?1")    \
    X(VERIFY_EVENTS_ORDER,                                                                         \
      "SELECT count(*) FROM (SELECT id - lag(id) OVER (ORDER BY seq) AS step FROM game_events"     \
      " WHERE game_id = ?1) AS steps /*scan*/ WHERE step <= 0")                                    \
    X(VERIFY_MOVES,                                                                                \
      "SELECT count(*), coalesce(min(ply), 0), coalesce(max(ply), 0) FROM moves WHERE game_id"     \
      " = ?1 AND taken_back_at IS NULL")                                                           \
    X(VERIFY_MOVE_EVENTS,                                                                          \
      "SELECT count(*) FROM moves m LEFT JOIN game_events e ON e.game_id = m.game_id AND"          \
      " e.seq = m.seq WHERE m.game_id = ?1 AND m.taken_back_at IS NULL AND (e.kind IS NULL OR"     \
      " e.kind <> 'move' OR e.move <> m.move OR e.seat <> m.seat OR e.user_id <> m.user_id OR"     \
      " e.position_hash <> m.position_hash)")                                                      \
    X(VERIFY_EVENT_MOVES,                                                                          \
      "SELECT count(*) FROM game_events WHERE game_id = ?1 AND kind = 'move'")                     \
    X(VERIFY_LAST_CHAIN,                                                                           \
      "SELECT chain, position_hash FROM moves WHERE game_id = ?1 AND taken_back_at IS NULL"        \
      " ORDER BY ply DESC LIMIT 1")                                                                \
    X(VERIFY_END_EVENT,                                                                            \
      "SELECT count(*) FROM game_events WHERE game_id = ?1 AND kind IN ('finished',"               \
      " 'aborted')")                                                                               \
    X(VERIFY_HOLDERS,                                                                              \
      "SELECT count(*) FROM seats s LEFT JOIN seat_holders h ON h.game_id = s.game_id AND"         \
      " h.seat = s.seat AND h.until_at IS NULL WHERE s.game_id = ?1 AND (s.user_id IS DISTINCT"    \
      " FROM h.user_id)")                                                                          \
    X(VERIFY_INVITED,                                                                              \
      "SELECT count(*) FROM seats s LEFT JOIN invitations i ON i.game_id = s.game_id AND"          \
      " i.seat = s.seat AND i.state = 'pending' WHERE s.game_id = ?1 AND (s.state = 'invited')"    \
      " <> (i.id IS NOT NULL)")                                                                    \
    X(VERIFY_MEMBERS,                                                                              \
      "SELECT count(*) FROM seats s LEFT JOIN members m ON m.user_id = s.user_id AND"              \
      " m.game_id = s.game_id AND m.is_player = 1 AND m.until_event_id IS NULL WHERE s.game_id"    \
      " = ?1 AND s.user_id IS NOT NULL AND m.user_id IS NULL")                                     \
    X(VERIFY_MEMBERS_OVER,                                                                         \
      "SELECT count(*) FROM members WHERE game_id = ?1 AND is_over <> ?2")                         \
    X(VERIFY_VOTES,                                                                                \
      "SELECT count(*) FROM votes WHERE game_id = ?1 AND state = 'open'")                          \
    X(VERIFY_TIMERS,                                                                               \
      "SELECT count(*) FROM timers WHERE game_id = ?1")                                            \
    X(VERIFY_TALLY,                                                                                \
      "SELECT /*scan*/ count(*) FROM game_tally t WHERE t.n <> (SELECT count(*) FROM games g"      \
      " WHERE g.state = t.state)")                                                                 \
    X(VERIFY_WEBHOOKS_BUSY,                                                                        \
      "SELECT /*scan*/ count(*) FROM webhooks w LEFT JOIN outbox o ON o.id = w.busy_outbox_id"     \
      " AND o.state = 'leased' WHERE w.busy_outbox_id IS NOT NULL AND o.id IS NULL")               \
    X(VERIFY_WEBHOOKS_DUE,                                                                         \
      "SELECT /*scan*/ count(*) FROM webhooks w WHERE w.next_due_at IS DISTINCT FROM (SELECT"      \
      " min(o.due_at) FROM outbox o WHERE o.webhook_id = w.id AND o.state = 'queued' AND"          \
      " o.channel = 'webhook')")                                                                   \
    X(VERIFY_TOKENS_KEPT,                                                                          \
      "SELECT /*scan*/ count(*) FROM outbox_bytes b JOIN outbox o ON o.id = b.outbox_id WHERE"     \
      " o.settled_at IS NOT NULL AND (o.has_token = 1 OR o.channel = 'mail')")                     \
    X(VERIFY_ATTEMPTS,                                                                             \
      "SELECT /*scan*/ count(*) FROM outbox o WHERE (SELECT count(*) FROM outbox_attempts a"       \
      " WHERE a.outbox_id = o.id) > o.attempts")                                                   \
    X(VERIFY_INBOX_RAW,                                                                            \
      "SELECT /*scan*/ count(*) FROM inbox i LEFT JOIN inbox_raw r ON r.inbox_id = i.id WHERE"     \
      " i.is_kept <> (r.inbox_id IS NOT NULL)")                                                    \
    X(POLICY_HOLDS,                                                                                \
      "SELECT class, domain, until_at, held_ms FROM policy_holds WHERE class > '' ORDER BY class," \
      " domain LIMIT ?1")                                                                          \
    /* tokens */                                                                                   \
    X(TOKEN_FIND,                                                                                  \
      "SELECT " TOKEN_COLUMNS " FROM turn_tokens WHERE token_hash = ?1")                           \
    /* inbox */                                                                                    \
    X(INBOX_GET,                                                                                   \
      "SELECT " INBOX_COLUMNS " FROM inbox WHERE id = ?1")                                         \
    X(INBOX_GET_RAW,                                                                               \
      "SELECT " INBOX_COLUMNS ", (SELECT raw FROM inbox_raw WHERE inbox_id = inbox.id) FROM inbox" \
      " WHERE id = ?1")                                                                            \
    X(INBOX_WAITING,                                                                               \
      "SELECT count(*) FROM inbox WHERE settled_at IS NULL AND received_at <= ?1")                 \
    X(INBOX_ANSWERS,                                                                               \
      "SELECT count(*) FROM inbox WHERE user_id = ?1 AND settled_at >= ?2 AND answer_id IS NOT"    \
      " NULL")                                                                                     \
    X(INBOX_ASKED,                                                                                 \
      "SELECT count(*) FROM inbox WHERE user_id = ?1 AND settled_at > ?3 AND game_id IS NOT"       \
      " DISTINCT FROM ?2 AND state = 'held' AND answer_id IS NOT NULL")                            \
    X(INBOX_SAME_REFUSAL,                                                                          \
      "SELECT count(*) FROM inbox WHERE user_id = ?1 AND settled_at >= ?4 AND game_id IS NOT"      \
      " DISTINCT FROM ?2 AND reason = ?3 AND verdict = 'refused' AND answer_id IS NOT NULL")       \
    X(INBOX_DEPTH,                                                                                 \
      "SELECT count(*), min(received_at) FROM inbox WHERE settled_at IS NULL AND received_at <"    \
      " 9223372036854775807")                                                                      \
    X(INBOX_QUARANTINED,                                                                           \
      "SELECT count(*) FROM inbox WHERE state = 'quarantined' AND id > 0")                         \
    X(INBOX_LIST,                                                                                  \
      "SELECT " INBOX_COLUMNS " FROM inbox WHERE id < ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS"\
      " NULL OR user_id = ?3) ORDER BY id DESC LIMIT ?4")                                          \
    /* held */                                                                                     \
    X(HELD_GET,                                                                                    \
      "SELECT " HELD_COLUMNS " FROM held_moves WHERE game_id = ?1 AND kind = 'move'")              \
    X(HELD_OF_GAME,                                                                                \
      "SELECT " HELD_COLUMNS " FROM held_moves WHERE game_id = ?1 ORDER BY seat LIMIT ?2")         \
    /* notes */                                                                                    \
    X(NOTES_COUNT,                                                                                 \
      "SELECT count(*) FROM notes WHERE game_id = ?1 AND user_id = ?2")                            \
    X(NOTES,                                                                                       \
      "SELECT id, game_id, user_id, ply, state_no, text, at FROM notes WHERE game_id = ?1 AND"     \
      " user_id = ?2 AND id > ?3 ORDER BY id LIMIT ?4")                                            \
    /* imap_boxes */                                                                               \
    X(IMAP_BOX_GET,                                                                                \
      "SELECT name, uidvalidity, last_uid, updated_at FROM imap_boxes WHERE name = ?1")

#define SQL_WRITES(X)                                                                              \
    /* transactions */                                                                             \
    X(TXN_BEGIN,                                                                                   \
      "BEGIN IMMEDIATE")                                                                           \
    X(TXN_COMMIT,                                                                                  \
      "COMMIT")                                                                                    \
    X(PART_BEGIN_0,                                                                                \
      "SAVEPOINT p0")                                                                              \
    X(PART_BEGIN_1,                                                                                \
      "SAVEPOINT p1")                                                                              \
    X(PART_BEGIN_2,                                                                                \
      "SAVEPOINT p2")                                                                              \
    X(PART_BEGIN_3,                                                                                \
      "SAVEPOINT p3")                                                                              \
    X(PART_KEEP_0,                                                                                 \
      "RELEASE p0")                                                                                \
    X(PART_KEEP_1,                                                                                 \
      "RELEASE p1")                                                                                \
    X(PART_KEEP_2,                                                                                 \
      "RELEASE p2")                                                                                \
    X(PART_KEEP_3,                                                                                 \
      "RELEASE p3")                                                                                \
    /* keys */                                                                                     \
    X(KEY_PUT,                                                                                     \
      "INSERT INTO keys (name, value, created_at) VALUES (?1, ?2, ?3)")                            \
    /* users */                                                                                    \
    X(USER_PUT,                                                                                    \
      "INSERT INTO users (handle, handle_key, display_name, zone, language, is_operator,"          \
      " password_hash, address, address_key, verified_at, created_at, updated_at) VALUES (?1,"     \
      " ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?11) RETURNING id")                              \
    X(USER_SET_PROFILE,                                                                            \
      "UPDATE users SET display_name = coalesce(?2, display_name), zone = coalesce(?3, zone),"     \
      " language = coalesce(?4, language), updated_at = ?5 WHERE id = ?1 RETURNING id")            \
    X(USER_SET_PASSWORD,                                                                           \
      "UPDATE users SET password_hash = ?2, updated_at = ?3 WHERE id = ?1 RETURNING id")           \
    X(USER_SET_OPERATOR,                                                                           \
      "UPDATE users SET is_operator = ?2, updated_at = ?3 WHERE id = ?1 RETURNING id")             \
    X(USER_SET_HOLD,                                                                               \
      "UPDATE users SET hold_ms = ?2, updated_at = ?3 WHERE id = ?1 RETURNING id")                 \
    X(USER_SET_DISABLED,                                                                           \
      "UPDATE users SET disabled_at = ?2, updated_at = ?3 WHERE id = ?1 RETURNING id")             \
    X(USER_SET_ADDRESS,                                                                            \
      "UPDATE users SET address = ?2, address_key = ?3, verified_at = ?4, address_state ="         \
      " 'ok', bounces = 0, bounced_at = NULL, bounce_text = NULL, updated_at = ?5 WHERE id ="      \
      " ?1 RETURNING id")                                                                          \
    X(USER_SET_VERIFIED,                                                                           \
      "UPDATE users SET verified_at = ?2, updated_at = ?2 WHERE id = ?1 AND address IS NOT"        \
      " NULL RETURNING id")                                                                        \
    X(USER_SET_BOUNCE,                                                                             \
      "UPDATE users SET bounces = ?2, bounced_at = ?3, bounce_text = ?4, address_state = ?5,"      \
      " updated_at = ?6 WHERE id = ?1 RETURNING id")                                               \
    X(USER_SET_REACHED,                                                                            \
      "UPDATE users SET bounces = 0, bounced_at = NULL, bounce_text = NULL, address_state ="       \
      " 'ok', updated_at = ?2 WHERE id = ?1 AND (bounces <> 0 OR address_state <> 'ok')")          \
    X(ADDRESS_CHANGE_CANCEL,                                                                       \
      "UPDATE address_changes SET state = 'cancelled' WHERE user_id = ?1 AND state ="              \
      " 'pending'")                                                                                \
    X(ADDRESS_CHANGE_PUT,                                                                          \
      "INSERT INTO address_changes (user_id, address, address_key, old_token_hash,"                \
      " new_token_hash, state, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, 'pending',"     \
      " ?6, ?7) RETURNING id")                                                                     \
    X(ADDRESS_CHANGE_OLD_TOKEN,                                                                    \
      "UPDATE address_changes SET old_token_hash = ?2 WHERE id = ?1 AND state = 'pending' AND"     \
      " old_token_hash IS NOT NULL RETURNING id")                                                  \
    X(ADDRESS_CHANGE_NEW_TOKEN,                                                                    \
      "UPDATE address_changes SET new_token_hash = ?2 WHERE id = ?1 AND state = 'pending'"         \
      " RETURNING id")                                                                             \
    X(ADDRESS_CHANGE_OLD_YES,                                                                      \
      "UPDATE address_changes SET old_confirmed_at = ?2 WHERE id = ?1 AND state = 'pending'"       \
      " RETURNING id")                                                                             \
    X(ADDRESS_CHANGE_NEW_YES,                                                                      \
      "UPDATE address_changes SET new_confirmed_at = ?2 WHERE id = ?1 AND state = 'pending'"       \
      " RETURNING id")                                                                             \
    X(ADDRESS_CHANGE_SETTLE,                                                                       \
      "UPDATE address_changes SET state = ?2 WHERE id = ?1 AND state = 'pending' RETURNING id")    \
    /* logins */                                                                                   \
    X(LOGIN_LINK_PUT,                                                                              \
      "INSERT INTO login_links (user_id, token_hash, prelogin_hash, created_at, expires_at)"       \
      " VALUES (?1, ?2, ?3, ?4, ?5) RETURNING id")                                                 \
    X(LOGIN_LINK_TOKEN,                                                                            \
      "UPDATE login_links SET token_hash = ?2, expires_at = ?3 WHERE id = ?1 AND used_at IS"       \
      " NULL RETURNING id")                                                                        \
    X(LOGIN_LINK_USE,                                                                              \
      "UPDATE login_links SET used_at = ?2 WHERE token_hash = ?1 AND used_at IS NULL AND"          \
      " expires_at > ?2 RETURNING " LOGIN_LINK_COLUMNS)                                            \
    X(REGISTRATION_PUT,                                                                            \
      "INSERT INTO registrations (token_hash, handle, handle_key, display_name, zone,"             \
      " language, address, address_key, invite_id, created_at, expires_at) VALUES (?1, ?2, ?3,"    \
      " ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11) RETURNING id")                                           \
    X(REGISTRATION_TOKEN,                                                                          \
      "UPDATE registrations SET token_hash = ?2, expires_at = ?3 WHERE id = ?1 AND used_at IS"     \
      " NULL RETURNING id")                                                                        \
    X(REGISTRATION_USE,                                                                            \
      "UPDATE registrations SET used_at = ?2 WHERE token_hash = ?1 AND used_at IS NULL AND"        \
      " expires_at > ?2 RETURNING " REGISTRATION_COLUMNS)                                          \
    X(INVITE_PUT,                                                                                  \
      "INSERT INTO invites (token_hash, created_by, address, note, created_at, expires_at)"        \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id")                                             \
    X(INVITE_USE,                                                                                  \
      "UPDATE invites SET used_by = ?2, used_at = ?3 WHERE id = ?1 AND used_at IS NULL AND"        \
      " revoked_at IS NULL AND expires_at > ?3 RETURNING id")                                      \
    X(INVITE_REVOKE,                                                                               \
      "UPDATE invites SET revoked_at = ?2 WHERE id = ?1 AND used_at IS NULL AND revoked_at IS"     \
      " NULL RETURNING id")                                                                        \
    X(INVITE_REVOKE_ALL,                                                                           \
      "UPDATE invites SET revoked_at = ?2 WHERE created_by = ?1 AND used_at IS NULL AND"           \
      " revoked_at IS NULL")                                                                       \
    X(SESSION_PUT,                                                                                 \
      "INSERT INTO sessions (token_hash, user_id, method, agent, created_at, last_used_at,"        \
      " expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6) RETURNING id")                             \
    X(SESSION_TOUCH,                                                                               \
      "UPDATE sessions SET last_used_at = ?2, expires_at = ?3 WHERE id = ?1 AND revoked_at IS"     \
      " NULL RETURNING id")                                                                        \
    X(SESSION_REVOKE,                                                                              \
      "UPDATE sessions SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND user_id ="      \
      " ?2 RETURNING id")                                                                          \
    X(SESSION_REVOKE_ALL,                                                                          \
      "UPDATE sessions SET revoked_at = ?3 WHERE user_id = ?1 AND id <> ?2 AND revoked_at IS"      \
      " NULL")                                                                                     \
    X(API_TOKEN_PUT,                                                                               \
      "INSERT INTO api_tokens (token_hash, user_id, name, scopes, created_at, expires_at)"         \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6) RETURNING id")                                             \
    X(API_TOKEN_TOUCH,                                                                             \
      "UPDATE api_tokens SET last_used_at = ?2 WHERE id = ?1 RETURNING id")                        \
    X(API_TOKEN_REVOKE,                                                                            \
      "UPDATE api_tokens SET revoked_at = coalesce(revoked_at, ?3) WHERE id = ?1 AND user_id"      \
      " = ?2 RETURNING id")                                                                        \
    X(API_TOKEN_REVOKE_ALL,                                                                        \
      "UPDATE api_tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL")           \
    X(LOGIN_LINK_EXPIRE_ALL,                                                                       \
      "UPDATE login_links SET used_at = ?2 WHERE user_id = ?1 AND used_at IS NULL")                \
    X(LOGIN_LINK_PURGE,                                                                            \
      "DELETE FROM login_links WHERE id IN (SELECT id FROM login_links WHERE expires_at < ?1"      \
      " ORDER BY expires_at LIMIT ?2)")                                                            \
    X(REGISTRATION_PURGE,                                                                          \
      "DELETE FROM registrations WHERE id IN (SELECT id FROM registrations WHERE expires_at <"     \
      " ?1 ORDER BY expires_at LIMIT ?2)")                                                         \
    X(SESSION_PURGE,                                                                               \
      "DELETE FROM sessions WHERE id IN (SELECT id FROM sessions WHERE expires_at < ?1 ORDER"      \
      " BY expires_at LIMIT ?2)")                                                                  \
    X(ADDRESS_CHANGE_PURGE,                                                                        \
      "DELETE FROM address_changes WHERE id IN (SELECT id FROM address_changes WHERE"              \
      " expires_at < ?1 ORDER BY expires_at LIMIT ?2)")                                            \
    /* prefs */                                                                                    \
    X(ADDRESS_BLOCK_PUT,                                                                           \
      "INSERT INTO address_blocks (address_hash, created_at) VALUES (?1, ?2) ON CONFLICT"          \
      " (address_hash) DO NOTHING")                                                                \
    X(PREF_PUT,                                                                                    \
      "INSERT INTO prefs (user_id, class, channel, is_on, via, updated_at) VALUES (?1, ?2,"        \
      " ?3, ?4, ?5, ?6) ON CONFLICT (user_id, class, channel) DO UPDATE SET is_on ="               \
      " excluded.is_on, via = excluded.via, updated_at = excluded.updated_at")                     \
    X(PREF_DROP,                                                                                   \
      "DELETE FROM prefs WHERE user_id = ?1 AND class = ?2 AND channel = ?3")                      \
    /* games */                                                                                    \
    X(GAME_PUT,                                                                                    \
      "INSERT INTO games (public_id, variant, rules, reserve, is_rated, visibility,"               \
      " table_talk, clock, per_move_ms, grace_ms, placing_ms, organiser_id, state, open_seats,"    \
      " conditions, expires_at, created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"       \
      " ?8, ?9, ?10, ?11, ?12, 'open', 4, ?13, ?14, ?15, ?16) RETURNING id")                       \
    X(GAME_SAVE,                                                                                   \
      "UPDATE games SET " GAME_CHANGES " WHERE id = ?1 AND last_seq <= ?2")                        \
    X(GAME_SAVE_STATE,                                                                             \
      "UPDATE games SET state = ?24, result = ?25, cause = ?26, " GAME_CHANGES " WHERE id = ?1"    \
      " AND last_seq <= ?2")                                                                       \
    X(GAME_COUNT_SEATS,                                                                            \
      "UPDATE games SET open_seats = (SELECT count(*) FROM seats WHERE game_id = ?1 AND state"     \
      " = 'open') WHERE id = ?1")                                                                  \
    X(GAME_TURN_USER,                                                                              \
      "UPDATE games SET turn_user_id = ?3 WHERE id = ?1 AND turn_seat = ?2")                       \
    X(TALLY_ADD,                                                                                   \
      "UPDATE game_tally SET n = n + ?2 WHERE state = ?1")                                         \
    X(SEAT_PUT,                                                                                    \
      "INSERT INTO seats (game_id, seat, state) VALUES (?1, ?2, 'open')")                          \
    X(SEAT_STATE,                                                                                  \
      "UPDATE seats SET state = ?3 WHERE game_id = ?1 AND seat = ?2 AND state <> 'taken'"          \
      " RETURNING seat")                                                                           \
    X(SEAT_TAKE,                                                                                   \
      "UPDATE seats SET state = 'taken', user_id = ?3, taken_at = ?4 WHERE game_id = ?1 AND"       \
      " seat = ?2 AND state <> 'taken' RETURNING seat")                                            \
    X(SEAT_LEAVE,                                                                                  \
      "UPDATE seats SET state = 'open', user_id = NULL, taken_at = NULL, placement = '',"          \
      " placed_at = NULL WHERE game_id = ?1 AND seat = ?2 AND user_id = ?3 RETURNING seat")        \
    X(SEAT_PLACE,                                                                                  \
      "UPDATE seats SET placement = ?3, placed_at = ?4 WHERE game_id = ?1 AND seat = ?2"           \
      " RETURNING seat")                                                                           \
    X(SEAT_LEFT,                                                                                   \
      "UPDATE seats SET left_how = ?3, left_at = ?4 WHERE game_id = ?1 AND seat = ?2 AND"          \
      " left_how IS NULL RETURNING seat")                                                          \
    X(SEAT_LATE,                                                                                   \
      "UPDATE seats SET late_moves = late_moves + 1 WHERE game_id = ?1 AND seat = ?2"              \
      " RETURNING seat")                                                                           \
    X(HOLDER_PUT,                                                                                  \
      "INSERT INTO seat_holders (game_id, seat, user_id, role, since_at) VALUES (?1, ?2, ?3,"      \
      " ?4, ?5)")                                                                                  \
    X(HOLDER_END,                                                                                  \
      "UPDATE seat_holders SET until_at = ?3 WHERE game_id = ?1 AND seat = ?2 AND until_at IS"     \
      " NULL")                                                                                     \
    X(MEMBER_PLAYER,                                                                               \
      "INSERT INTO members (user_id, game_id, is_player) VALUES (?1, ?2, 1) ON CONFLICT"           \
      " (user_id, game_id) DO UPDATE SET is_player = 1, until_event_id = NULL")                    \
    X(MEMBER_ORGANISER,                                                                            \
      "INSERT INTO members (user_id, game_id, is_organiser) VALUES (?1, ?2, 1) ON CONFLICT"        \
      " (user_id, game_id) DO UPDATE SET is_organiser = 1, until_event_id = NULL")                 \
    X(MEMBER_INVITED,                                                                              \
      "INSERT INTO members (user_id, game_id, is_invited) VALUES (?1, ?2, 1) ON CONFLICT"          \
      " (user_id, game_id) DO UPDATE SET is_invited = 1, until_event_id = NULL")                   \
    X(MEMBER_AFRESH,                                                                               \
      "UPDATE members SET is_player = EXISTS (SELECT 1 FROM seats s WHERE s.game_id = ?2 AND"      \
      " s.user_id = ?1), is_invited = EXISTS (SELECT 1 FROM invitations i WHERE i.game_id = ?2"    \
      " AND i.user_id = ?1 AND i.state = 'pending') WHERE user_id = ?1 AND game_id = ?2")          \
    X(MEMBER_CLOSE,                                                                                \
      "UPDATE members SET until_event_id = (SELECT id FROM game_events WHERE game_id = ?2 ORDER"   \
      " BY seq DESC LIMIT 1) WHERE user_id = ?1 AND game_id = ?2 AND is_player = 0 AND"            \
      " is_organiser = 0 AND is_invited = 0")                                                      \
    X(MEMBERS_OVER,                                                                                \
      "UPDATE members SET is_over = 1 WHERE game_id = ?1")                                         \
    X(INVITED_ADDRESS_PUT,                                                                         \
      "INSERT INTO invited_addresses (address_key, invited_by, created_at) VALUES (?1, ?2, ?3)")   \
    X(INVITED_ADDRESS_PURGE,                                                                       \
      "DELETE FROM invited_addresses WHERE id IN (SELECT id FROM invited_addresses WHERE"          \
      " created_at < ?1 ORDER BY created_at LIMIT ?2)")                                            \
    X(INVITATION_PUT,                                                                              \
      "INSERT INTO invitations (game_id, seat, user_id, address, address_key, token_hash,"         \
      " invited_by, state, created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7,"            \
      " 'pending', ?8, ?9) RETURNING id")                                                          \
    X(INVITATION_CLAIM,                                                                            \
      "UPDATE invitations SET user_id = ?2 WHERE id = ?1 AND state = 'pending' AND (user_id"       \
      " IS NULL OR user_id = ?2) RETURNING game_id")                                               \
    X(INVITATION_TOKEN,                                                                            \
      "UPDATE invitations SET token_hash = ?2 WHERE id = ?1 AND state = 'pending' RETURNING"       \
      " id")                                                                                       \
    X(INVITATION_SETTLE,                                                                           \
      "UPDATE invitations SET state = ?2, settled_at = ?3, address = NULL, address_key ="          \
      " NULL, token_hash = NULL WHERE id = ?1 AND state = 'pending' RETURNING game_id, seat,"      \
      " user_id")                                                                                  \
    /* moves */                                                                                    \
    X(MOVE_PUT,                                                                                    \
      "INSERT INTO moves (" MOVE_COLUMNS ") VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"      \
      " ?11, ?12)")                                                                                \
    /* events */                                                                                   \
    X(EVENT_PUT,                                                                                   \
      "INSERT INTO game_events (game_id, seq, kind, seat, user_id, ply, state_no, move, san,"      \
      " result, cause, amount_ms, deadline_at, position_hash, note, at) VALUES (?1, ?2, ?3,"       \
      " ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16)")                               \
    /* votes */                                                                                    \
    X(VOTE_PUT,                                                                                    \
      "INSERT INTO votes (game_id, kind, seat, seq, state, created_at) VALUES (?1, ?2, ?3,"        \
      " ?4, 'open', ?5) RETURNING id")                                                             \
    X(VOTE_ANSWER,                                                                                 \
      "INSERT INTO vote_answers (vote_id, seat, is_yes, at) SELECT id, ?2, ?3, ?4 FROM votes"      \
      " WHERE id = ?1 AND state = 'open' ON CONFLICT (vote_id, seat) DO UPDATE SET is_yes ="       \
      " excluded.is_yes, at = excluded.at RETURNING vote_id")                                      \
    X(VOTE_SETTLE,                                                                                 \
      "UPDATE votes SET state = ?2, settled_at = ?3 WHERE id = ?1 AND state = 'open'"              \
      " RETURNING id")                                                                             \
    /* clocks */                                                                                   \
    X(CLOCK_FACT_PUT,                                                                              \
      "INSERT INTO clock_facts (game_id, seat, ply, kind, amount_ms, from_at, to_at, user_id,"     \
      " outage_id, seq, at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")                \
    /* timers */                                                                                   \
    X(TIMER_MOVE,                                                                                  \
      "UPDATE timers SET state_no = ?4, detail = ?5, due_at = ?6 WHERE game_id = ?1 AND kind"      \
      " = ?2 AND seat IS NOT DISTINCT FROM ?3")                                                    \
    X(TIMER_MOVE_OWN,                                                                              \
      "UPDATE timers SET state_no = ?2, detail = ?3, due_at = ?4 WHERE game_id IS NULL AND"        \
      " kind = ?1")                                                                                \
    X(TIMER_PUT,                                                                                   \
      "INSERT INTO timers (kind, game_id, seat, state_no, detail, due_at) VALUES (?1, ?2, ?3,"     \
      " ?4, ?5, ?6)")                                                                              \
    X(TIMER_CLEAR,                                                                                 \
      "DELETE FROM timers WHERE game_id = ?1 AND kind = ?2 AND seat IS NOT DISTINCT FROM ?3")      \
    X(TIMER_CLEAR_OWN,                                                                             \
      "DELETE FROM timers WHERE game_id IS NULL AND kind = ?1")                                    \
    X(TIMER_CLEAR_GAME,                                                                            \
      "DELETE FROM timers WHERE game_id = ?1")                                                     \
    /* outbox */                                                                                   \
    X(OUTBOX_PUT,                                                                                  \
      "INSERT INTO outbox (dedupe_key, class, channel, template, user_id, address,"                \
      " webhook_id, game_id, seat, event_id, seq, state_no, params, state, due_at, expires_at,"    \
      " created_at, content_type, envelope_from, envelope_to, message_id, has_token)"              \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, 'queued', ?14, ?15,"       \
      " ?16, ?17, ?18, ?19, ?20, ?21) ON CONFLICT (dedupe_key) DO NOTHING")                        \
    X(OUTBOX_FIRST_ANSWER,                                                                         \
      "SELECT id, expires_at FROM outbox WHERE state = 'queued' AND class = 'answer' AND due_at <="\
      " ?1 ORDER BY due_at, id LIMIT 1")                                                           \
    X(OUTBOX_FIRST_MAIL,                                                                           \
      "SELECT id, expires_at FROM outbox WHERE state = 'queued' AND channel = 'mail' AND"          \
      " due_at <= ?1 ORDER BY due_at, id LIMIT 1")                                                 \
    X(OUTBOX_FIRST_WEBHOOK,                                                                        \
      "SELECT id, expires_at FROM outbox WHERE webhook_id = ?1 AND state = 'queued' AND"           \
      " channel = 'webhook' AND due_at <= ?2 ORDER BY due_at, id LIMIT 1")                         \
    X(WEBHOOK_FIRST,                                                                               \
      "SELECT id FROM webhooks WHERE " WEBHOOK_MAY " AND next_due_at <= ?3 ORDER BY"               \
      " next_due_at LIMIT 1")                                                                      \
    X(OUTBOX_LEASE,                                                                                \
      "UPDATE outbox SET state = 'leased', leased_until = ?2, attempts = attempts + 1 WHERE"       \
      " id = ?1 AND state = 'queued' RETURNING " INTENT_COLUMNS ", params")                        \
    X(OUTBOX_ENDED_LEASES,                                                                         \
      "UPDATE outbox SET state = 'queued', leased_until = NULL WHERE id IN (SELECT id FROM"        \
      " outbox WHERE state = 'leased' AND leased_until <= ?1 ORDER BY leased_until LIMIT 64)"      \
      " RETURNING id, webhook_id")                                                                 \
    X(WEBHOOK_BUSY,                                                                                \
      "UPDATE webhooks SET busy_outbox_id = ?2 WHERE id = ?1")                                     \
    X(WEBHOOK_IDLE,                                                                                \
      "UPDATE webhooks SET busy_outbox_id = NULL WHERE id = ?1 AND busy_outbox_id = ?2")           \
    X(WEBHOOK_NEXT_DUE,                                                                            \
      "UPDATE webhooks SET next_due_at = (SELECT o.due_at FROM outbox o WHERE o.webhook_id ="      \
      " ?1 AND o.state = 'queued' AND o.channel = 'webhook' ORDER BY o.due_at, o.id LIMIT 1)"      \
      " WHERE id = ?1")                                                                            \
    X(OUTBOX_COMPOSE,                                                                              \
      "UPDATE outbox SET content_type = ?3, envelope_from = ?4, envelope_to = ?5, message_id ="    \
      " ?6, has_token = ?7 WHERE id = ?1 AND state = 'leased' AND attempts = ?2 RETURNING id")     \
    X(OUTBOX_SETTLE,                                                                               \
      "UPDATE outbox SET state = ?3, settled_at = ?4, leased_until = NULL, last_code = ?5,"        \
      " last_text = ?6 WHERE id = ?1 AND state = 'leased' AND attempts = ?2 RETURNING"             \
      " webhook_id")                                                                               \
    X(OUTBOX_EXPIRE,                                                                               \
      "UPDATE outbox SET state = 'expired', settled_at = ?2, leased_until = NULL WHERE id = ?1"    \
      " AND state = 'queued' RETURNING webhook_id")                                                \
    X(OUTBOX_RETRY,                                                                                \
      "UPDATE outbox SET state = 'queued', leased_until = NULL, due_at = ?3, last_code = ?4,"      \
      " last_text = ?5 WHERE id = ?1 AND state = 'leased' AND attempts = ?2 RETURNING"             \
      " webhook_id, expires_at")                                                                   \
    X(OUTBOX_RELEASE,                                                                              \
      "UPDATE outbox SET state = 'queued', leased_until = NULL, due_at = ?3, attempts ="           \
      " attempts - 1 WHERE id = ?1 AND state = 'leased' AND attempts = ?2 RETURNING webhook_id")   \
    X(OUTBOX_SUPERSEDE,                                                                            \
      "UPDATE outbox SET state = 'superseded', settled_at = ?2, last_text = 'the game has"         \
      " moved on' WHERE id = ?1")                                                                  \
    X(OUTBOX_DROP_WEBHOOK,                                                                         \
      "UPDATE outbox SET state = 'superseded', settled_at = ?2, last_text = ?3 WHERE"              \
      " webhook_id = ?1 AND state = 'queued' AND channel = 'webhook'")                             \
    X(OUTBOX_HURRY_USER,                                                                           \
      "UPDATE outbox SET due_at = ?2 WHERE id IN (SELECT id FROM outbox WHERE state = 'queued' AND"\
      " channel = 'mail' AND due_at > ?2 AND user_id = ?1)")                                       \
    X(OUTBOX_SET_BACK_MAIL,                                                                        \
      "UPDATE outbox SET due_at = ?1 WHERE id IN (SELECT id FROM outbox WHERE state = 'queued' AND"\
      " channel = 'mail' AND due_at > ?1 AND (created_at > ?1 OR due_at > ?2))")                   \
    X(OUTBOX_SET_BACK_WEBHOOK,                                                                     \
      "UPDATE /*scan*/ outbox SET due_at = ?1 WHERE state = 'queued' AND channel = 'webhook' AND"  \
      " due_at > ?1 AND (created_at > ?1 OR due_at > ?2)")                                         \
    X(WEBHOOK_SET_BACK,                                                                            \
      "UPDATE /*scan*/ webhooks SET next_due_at = ?1 WHERE next_due_at > ?1")                      \
    X(OUTBOX_HURRY_GAME,                                                                           \
      "UPDATE outbox SET due_at = ?4 WHERE id IN (SELECT id FROM outbox WHERE game_id = ?1 AND"    \
      " class = ?2 AND state = 'queued' AND due_at > created_at AND due_at > ?4 AND channel ="     \
      " 'mail' AND state_no < ?3)")                                                                \
    X(OUTBOX_AGAIN,                                                                                \
      "UPDATE outbox SET state = 'queued', settled_at = NULL, due_at = ?2, expires_at = ?3"        \
      " WHERE id = ?1 AND settled_at IS NOT NULL AND EXISTS (SELECT 1 FROM outbox_bytes WHERE"     \
      " outbox_id = ?1) RETURNING webhook_id")                                                     \
    X(BYTES_PUT,                                                                                   \
      "INSERT INTO outbox_bytes (outbox_id, bytes) VALUES (?1, ?2) ON CONFLICT (outbox_id) DO"     \
      " UPDATE SET bytes = excluded.bytes")                                                        \
    X(BYTES_ERASE,                                                                                 \
      "DELETE FROM outbox_bytes WHERE outbox_id = ?1 AND EXISTS (SELECT 1 FROM outbox WHERE id ="  \
      " ?1 AND settled_at IS NOT NULL AND (has_token = 1 OR channel = 'mail'))")                   \
    X(BYTES_ERASE_WEBHOOK,                                                                         \
      "DELETE FROM outbox_bytes WHERE outbox_id IN (SELECT id FROM outbox WHERE webhook_id = ?1"   \
      " AND settled_at IS NOT NULL AND has_token = 1)")                                            \
    X(POLICY_HOLDS_CLEAR,                                                                          \
      "DELETE FROM policy_holds WHERE class > ''")                                                 \
    X(POLICY_HOLD_PUT,                                                                             \
      "INSERT INTO policy_holds (class, domain, until_at, held_ms) VALUES (?1, ?2, ?3, ?4)")       \
    X(OUTBOX_BOUNCED,                                                                              \
      "UPDATE outbox SET bounced_at = ?2 WHERE id = ?1 AND bounced_at IS NULL RETURNING id")       \
    X(ATTEMPT_PUT,                                                                                 \
      "INSERT INTO outbox_attempts (outbox_id, attempt, at, took_ms, outcome, code, text)"         \
      " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)")                                                      \
    X(ATTEMPTS_PURGE,                                                                              \
      "DELETE FROM outbox_attempts WHERE outbox_id IN (SELECT id FROM outbox WHERE settled_at"     \
      " < ?1 ORDER BY settled_at, id LIMIT ?2)")                                                   \
    X(OUTBOX_PURGE,                                                                                \
      "DELETE FROM outbox WHERE id IN (SELECT id FROM outbox WHERE settled_at < ?1 ORDER BY"       \
      " settled_at, id LIMIT ?2)")                                                                 \
    /* webhooks */                                                                                 \
    X(WEBHOOK_PUT,                                                                                 \
      "INSERT INTO webhooks (user_id, url, kind, name, events, secret, auth, state,"               \
      " created_at, updated_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?9) RETURNING id")     \
    X(WEBHOOK_UPDATE,                                                                              \
      "UPDATE webhooks SET url = ?2, kind = ?3, name = ?4, events = ?5, auth = ?6, state ="        \
      " ?7, updated_at = ?8, disabled_at = CASE WHEN ?7 = 'disabled' THEN disabled_at ELSE"        \
      " NULL END, disabled_cause = CASE WHEN ?7 = 'disabled' THEN disabled_cause ELSE '' END,"     \
      " failing_since_at = CASE WHEN ?7 = 'on' AND state <> 'on' THEN NULL ELSE"                   \
      " failing_since_at END, failures = CASE WHEN ?7 = 'on' AND state <> 'on' THEN 0 ELSE"        \
      " failures END WHERE id = ?1 AND deleted_at IS NULL RETURNING id")                           \
    X(WEBHOOK_ROTATE,                                                                              \
      "UPDATE webhooks SET old_secret = secret, old_secret_until = ?3, secret = ?2,"               \
      " updated_at = ?4 WHERE id = ?1 AND deleted_at IS NULL RETURNING id")                        \
    X(WEBHOOK_DELETE,                                                                              \
      "UPDATE webhooks SET deleted_at = ?2, updated_at = ?2, state = 'off', auth = NULL,"          \
      " old_secret = NULL, old_secret_until = NULL WHERE id = ?1 AND deleted_at IS NULL"           \
      " RETURNING id")                                                                             \
    X(WEBHOOK_SUCCEEDED,                                                                           \
      "UPDATE webhooks SET failing_since_at = NULL, failures = 0, succeeded_at = ?2 WHERE id"      \
      " = ?1")                                                                                     \
    X(WEBHOOK_FAILED,                                                                              \
      "UPDATE webhooks SET failing_since_at = coalesce(failing_since_at, ?2), failures ="          \
      " failures + 1 WHERE id = ?1")                                                               \
    X(WEBHOOK_DISABLE,                                                                             \
      "UPDATE webhooks SET state = 'disabled', disabled_at = ?2, disabled_cause = ?3,"             \
      " updated_at = ?2 WHERE id = ?1 AND state = 'on' AND deleted_at IS NULL RETURNING id")       \
    X(WEBHOOKS_OFF,                                                                                \
      "UPDATE webhooks SET state = 'off', updated_at = ?2 WHERE user_id = ?1 AND deleted_at"       \
      " IS NULL AND state = 'on' RETURNING id")                                                    \
    /* idempotency */                                                                              \
    X(IDEMPOTENCY_PUT,                                                                             \
      "INSERT INTO idempotency (user_id, key, request_hash, status, headers, content_type,"        \
      " body, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")                                \
    X(IDEMPOTENCY_PURGE,                                                                           \
      "DELETE FROM idempotency WHERE (user_id, key) IN (SELECT user_id, key FROM idempotency"      \
      " WHERE created_at < ?1 ORDER BY created_at LIMIT ?2)")                                      \
    /* outage */                                                                                   \
    X(HEARTBEAT_PUT,                                                                               \
      "INSERT INTO heartbeat (id, at, started_at) VALUES (1, ?1, ?1) ON CONFLICT (id) DO"          \
      " UPDATE SET at = excluded.at, started_at = CASE WHEN ?2 = 1 THEN excluded.started_at"       \
      " ELSE heartbeat.started_at END")                                                            \
    X(HEARTBEAT_MOVE,                                                                              \
      "UPDATE heartbeat SET at = at + ?1 WHERE id = 1")                                            \
    X(OUTAGE_PUT,                                                                                  \
      "INSERT INTO outages (from_at, to_at, credited_ms, note, recorded_at) VALUES (?1, ?2,"       \
      " ?3, ?4, ?5) RETURNING id")                                                                 \
    X(OUTAGE_CREDITED,                                                                             \
      "UPDATE outages SET games = games + ?2, is_done = ?3 WHERE id = ?1 RETURNING id")            \
    /* tokens */                                                                                   \
    X(TOKEN_PUT,                                                                                   \
      "INSERT INTO turn_tokens (token_hash, purpose, user_id, game_id, seat, state_no, inbox_id,"  \
      " created_at, expires_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9) ON CONFLICT"           \
      " (token_hash) DO NOTHING RETURNING id")                                                     \
    X(TOKEN_USE,                                                                                   \
      "UPDATE turn_tokens SET used_at = coalesce(used_at, ?2) WHERE id = ?1 RETURNING id")         \
    X(TOKENS_REVOKE_USER,                                                                          \
      "UPDATE turn_tokens SET revoked_at = ?2 WHERE user_id = ?1 AND revoked_at IS NULL")          \
    X(TOKENS_PURGE,                                                                                \
      "DELETE FROM turn_tokens WHERE id IN (SELECT id FROM turn_tokens WHERE expires_at < ?1"      \
      " ORDER BY expires_at, id LIMIT ?2)")                                                        \
    /* inbox */                                                                                    \
    X(INBOX_PUT,                                                                                   \
      "INSERT INTO inbox (received_at, way, token_hash, recipient, sender, message_id,"            \
      " fingerprint, size, state) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, 'received')"             \
      " ON CONFLICT (fingerprint) DO UPDATE SET repeats = inbox.repeats + 1 RETURNING id,"         \
      " repeats")                                                                                  \
    X(INBOX_RAW_PUT,                                                                               \
      "INSERT INTO inbox_raw (inbox_id, raw) VALUES (?1, ?2)")                                     \
    X(INBOX_CLAIM,                                                                                 \
      "UPDATE inbox SET state = 'claimed', attempts = attempts + 1, claimed_at = ?1 WHERE id IN"   \
      " (SELECT id FROM inbox WHERE state = 'received' AND id > 0 AND (id = (SELECT id FROM inbox" \
      " WHERE state = 'received' AND id > 0 ORDER BY id LIMIT 1) OR id < coalesce((SELECT id FROM" \
      " inbox WHERE state = 'received' AND id > 0 AND attempts > 0 ORDER BY id LIMIT 1),"          \
      " 9223372036854775807)) ORDER BY id LIMIT ?2) RETURNING " INBOX_COLUMNS)                     \
    X(INBOX_RECLAIM,                                                                               \
      "UPDATE inbox SET state = 'received' WHERE settled_at IS NULL AND received_at <"             \
      " 9223372036854775807 AND state = 'claimed'")                                                \
    X(INBOX_UNCLAIM,                                                                               \
      "UPDATE inbox SET state = 'received', attempts = attempts - 1 WHERE id = ?1 AND state ="     \
      " 'claimed' RETURNING id")                                                                   \
    X(INBOX_SETTLE,                                                                                \
      "UPDATE inbox SET state = ?2, verdict = ?3, reason = ?4, user_id = coalesce(?5, user_id),"   \
      " game_id = coalesce(?6, game_id), answer_id = coalesce(?7, answer_id), settled_at = ?8"     \
      " WHERE id = ?1 AND (state = 'claimed' OR (state = 'held' AND ?2 = 'done')) RETURNING id")   \
    X(INBOX_THIN,                                                                                  \
      "DELETE FROM inbox WHERE id = ?1 AND state = 'claimed' AND ?3 <= (SELECT count(*) FROM"      \
      " (SELECT 1 FROM inbox WHERE settled_at > ?2 AND user_id IS NULL AND state = 'done' LIMIT"   \
      " ?3)) RETURNING id")                                                                        \
    X(INBOX_RETRY,                                                                                 \
      "UPDATE inbox SET state = 'received', attempts = 0, verdict = 'none', reason = '',"          \
      " settled_at = NULL WHERE id = ?1 AND state = 'quarantined' AND is_kept = 1 RETURNING id")   \
    X(INBOX_RAW_ERASE,                                                                             \
      "DELETE FROM inbox_raw WHERE inbox_id IN (" INBOX_OVERDUE ")")                               \
    X(INBOX_ERASE,                                                                                 \
      "UPDATE inbox SET is_kept = 0 WHERE id IN (" INBOX_OVERDUE ")")                              \
    X(INBOX_PURGE,                                                                                 \
      "DELETE FROM inbox WHERE id IN (SELECT id FROM inbox WHERE settled_at < ?1 ORDER BY"         \
      " settled_at, id LIMIT ?2)")                                                                 \
    /* held */                                                                                     \
    X(HELD_PUT,                                                                                    \
      "INSERT INTO held_moves (game_id, seat, kind, user_id, state_no, move, with_draw, inbox_id," \
      " received_at, release_at, created_at) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10,"     \
      " ?11) ON CONFLICT DO NOTHING RETURNING game_id")                                            \
    X(HELD_TAKE,                                                                                   \
      "DELETE FROM held_moves WHERE game_id = ?1 AND seat = ?2 RETURNING " HELD_COLUMNS)           \
    /* notes */                                                                                    \
    X(NOTE_PUT,                                                                                    \
      "INSERT INTO notes (game_id, user_id, ply, state_no, text, at) VALUES (?1, ?2, ?3, ?4, ?5,"  \
      " ?6) RETURNING id")                                                                         \
    /* imap_boxes */                                                                               \
    X(IMAP_BOX_SET,                                                                                \
      "INSERT INTO imap_boxes (name, uidvalidity, last_uid, updated_at) VALUES (?1, ?2, ?3, ?4)"   \
      " ON CONFLICT (name) DO UPDATE SET uidvalidity = excluded.uidvalidity, last_uid ="           \
      " excluded.last_uid, updated_at = excluded.updated_at")                                      \
    X(IMAP_BOXES_PURGE,                                                                            \
      "DELETE /*scan*/ FROM imap_boxes WHERE updated_at < ?1")                                     \
    /* audit */                                                                                    \
    X(AUDIT_PUT,                                                                                   \
      "INSERT INTO audit (at, user_id, role, act, game_id, subject_id, detail, note) VALUES"       \
      " (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)")

#endif
