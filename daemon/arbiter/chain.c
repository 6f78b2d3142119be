#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "arbiter/desk.h"

void chain_start(const struct digest *digest, const struct game_row *game,
                 unsigned char ret[DIGEST_SIZE])
{
    char text[64 + GAME_PUBLIC_ID_SIZE + GAME_RULES_SIZE + GAME_POSITION_SIZE];
    int n = snprintf(text, sizeof text, "fourhanded chain 1\n%s\n%s\n%s\n", game->public_id,
                     game->rules, game->start_position);

    digest->sha256(digest->arg, text, (size_t)n, ret);
}

void chain_next(const struct digest *digest, const unsigned char before[DIGEST_SIZE],
                const struct move_row *move, unsigned char ret[DIGEST_SIZE])
{
    char bytes[DIGEST_SIZE + 160];

    memcpy(bytes, before, DIGEST_SIZE);
    int n = snprintf(bytes + DIGEST_SIZE, sizeof bytes - DIGEST_SIZE,
                     "%d %d %" PRId64 " %s %016" PRIx64 " %" PRId64 "\n", move->ply, move->seat,
                     move->user_id, move->move, move->position_hash, move->at);
    digest->sha256(digest->arg, bytes, DIGEST_SIZE + (size_t)n, ret);
}
