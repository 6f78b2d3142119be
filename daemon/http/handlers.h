/*
 * http/handlers.h - functions for each operation of web/openapi.yaml, by its name there.
 *
 * …_read      answers at once, on the pool thread
 * …_prepare   reads the body before a change, on the pool thread
 * …_act       makes the change, in the writer's transaction
 * What they may call, and when, is told in http/server.h.  This header brings all of it.
 */
#ifndef FH_HTTP_HANDLERS_H
#define FH_HTTP_HANDLERS_H

#include "http/change.h"
#include "http/readers.h"
#include "http/server.h"

enum status get_health_read(struct request *r, struct err *err);
enum status get_readiness_read(struct request *r, struct err *err);
enum status get_service_read(struct request *r, struct err *err);
enum status get_openapi_read(struct request *r, struct err *err);
enum status get_words_read(struct request *r, struct err *err);
enum status get_problem_read(struct request *r, struct err *err);
enum status request_link_prepare(struct request *r, struct err *err);
enum status request_link_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status consume_link_prepare(struct request *r, struct err *err);
enum status consume_link_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status login_by_password_read(struct request *r, struct err *err);
enum status login_by_password_act(struct request *r, struct store_txn *txn, utc_ms now,
                                  struct err *err);
enum status logout_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status register_prepare(struct request *r, struct err *err);
enum status register_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status confirm_address_prepare(struct request *r, struct err *err);
enum status confirm_address_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err);
enum status get_me_read(struct request *r, struct err *err);
enum status patch_me_prepare(struct request *r, struct err *err);
enum status patch_me_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status set_password_read(struct request *r, struct err *err);
enum status set_password_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status delete_password_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err);
enum status change_address_prepare(struct request *r, struct err *err);
enum status change_address_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err);
enum status get_notices_read(struct request *r, struct err *err);
enum status patch_notices_prepare(struct request *r, struct err *err);
enum status patch_notices_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err);
enum status list_sessions_read(struct request *r, struct err *err);
enum status end_other_sessions_act(struct request *r, struct store_txn *txn, utc_ms now,
                                   struct err *err);
enum status end_session_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status list_tokens_read(struct request *r, struct err *err);
enum status create_token_prepare(struct request *r, struct err *err);
enum status create_token_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status revoke_token_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status list_webhooks_read(struct request *r, struct err *err);
enum status create_webhook_prepare(struct request *r, struct err *err);
enum status create_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err);
enum status get_webhook_read(struct request *r, struct err *err);
enum status patch_webhook_prepare(struct request *r, struct err *err);
enum status patch_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err);
enum status delete_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err);
enum status rotate_webhook_act(struct request *r, struct store_txn *txn, utc_ms now,
                               struct err *err);
enum status ping_webhook_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status list_deliveries_read(struct request *r, struct err *err);
enum status redeliver_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status get_user_read(struct request *r, struct err *err);
enum status list_games_read(struct request *r, struct err *err);
enum status create_game_prepare(struct request *r, struct err *err);
enum status create_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status get_game_read(struct request *r, struct err *err);
enum status join_game_prepare(struct request *r, struct err *err);
enum status join_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status leave_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status accept_invitation_prepare(struct request *r, struct err *err);
enum status accept_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                  struct err *err);
enum status decline_invitation_prepare(struct request *r, struct err *err);
enum status decline_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                   struct err *err);
enum status invite_prepare(struct request *r, struct err *err);
enum status invite_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status withdraw_invitation_act(struct request *r, struct store_txn *txn, utc_ms now,
                                    struct err *err);
enum status get_placement_read(struct request *r, struct err *err);
enum status place_prepare(struct request *r, struct err *err);
enum status place_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status list_moves_read(struct request *r, struct err *err);
enum status move_prepare(struct request *r, struct err *err);
enum status move_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status get_legal_read(struct request *r, struct err *err);
enum status resign_prepare(struct request *r, struct err *err);
enum status resign_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status offer_draw_prepare(struct request *r, struct err *err);
enum status offer_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status accept_draw_prepare(struct request *r, struct err *err);
enum status accept_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status decline_draw_prepare(struct request *r, struct err *err);
enum status decline_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status claim_draw_prepare(struct request *r, struct err *err);
enum status claim_draw_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status list_notes_read(struct request *r, struct err *err);
enum status add_note_prepare(struct request *r, struct err *err);
enum status add_note_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status get_position_read(struct request *r, struct err *err);
enum status get_board_text_read(struct request *r, struct err *err);
enum status get_board_svg_read(struct request *r, struct err *err);
enum status get_board_png_read(struct request *r, struct err *err);
enum status get_pgn4_read(struct request *r, struct err *err);
enum status get_game_text_read(struct request *r, struct err *err);
enum status abort_game_prepare(struct request *r, struct err *err);
enum status abort_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status pause_game_prepare(struct request *r, struct err *err);
enum status pause_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status resume_game_prepare(struct request *r, struct err *err);
enum status resume_game_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status credit_time_prepare(struct request *r, struct err *err);
enum status credit_time_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);
enum status adjudicate_game_prepare(struct request *r, struct err *err);
enum status adjudicate_game_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err);
enum status get_game_events_read(struct request *r, struct err *err);
enum status get_events_read(struct request *r, struct err *err);
enum status login_page_read(struct request *r, struct err *err);
enum status login_by_page_act(struct request *r, struct store_txn *txn, utc_ms now,
                              struct err *err);
enum status confirm_page_read(struct request *r, struct err *err);
enum status confirm_by_page_act(struct request *r, struct store_txn *txn, utc_ms now,
                                struct err *err);
enum status unsubscribe_page_read(struct request *r, struct err *err);
enum status unsubscribe_prepare(struct request *r, struct err *err);
enum status unsubscribe_act(struct request *r, struct store_txn *txn, utc_ms now, struct err *err);

#endif
