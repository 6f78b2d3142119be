/* A move's text, in a position that the first byte chooses. */
#include "fuzz.h"

static const char *const positions[] = {
    /* a busy middle game of each, with promotions, castling, en passant, leaps and turned pawns */
    "verney x,x,x,yR,yN,1,yB,yK,1,yN,yR,x,x,x/x,x,x,yP,1,wP,yP,1,yP,yP,1,x,x,x/x,x,x,3,yP,4,x,x,x/"
    "rR,rP,9,wP,1,bR/rN,12,bN/1,rP,4,wN,1,wQ,4,bB/rK,rP,5,wN,4,bP,1/rQ,1,rP,4,yV,4,bP,bK/"
    "rB,rP,5,wP,4,bP,bB/rN,rP,5,yP,5,bN/rR,13/x,x,x,1,wV,6,x,x,x/x,x,x,wP,wP,wP,3,wP,wP,x,x,x/"
    "x,x,x,wR,1,wB,1,wK,wB,1,wR,x,x,x w aaaa - - 3 40",
    "teams x,x,x,yR,1,yB,yK,yQ,1,yN,yR,x,x,x/x,x,x,yP,yP,3,yP,yP,yP,x,x,x/x,x,x,8,x,x,x/"
    "bR,bP,12/1,bP,2,rP,7,gP,1/1,bP,2,rP,7,gP,1/1,bP,10,gP,gK/bK,bP,11,gQ/12,gP,1/1,bP,12/"
    "bR,3,bP,8,gR/x,x,x,rP,7,x,x,x/x,x,x,1,rN,4,rP,1,x,x,x/x,x,x,rR,3,rK,2,rR,x,x,x r aaaa "
    "rrrlbrblyrylgl bc4 0 21",
    "fortress 1,rB,2,x,x,x,x,x,x,x,x,uR,3/4,x,x,x,x,x,x,x,x,3,uB/2,rN,1,rR,rN,rB,rK,rQ,rB,rN,rR,1,"
    "uN,2/rR,3,rP,rP,rP,rP,rP,rP,rP,rP,4/x,x,bR,bP,8,uP,uR,x,x/x,x,bN,bP,8,uP,uN,x,x/"
    "x,x,bB,bP,8,uP,uB,x,x/x,x,bQ,bP,8,uP,uK,x,x/x,x,bK,bP,8,uP,uQ,x,x/x,x,bB,bP,8,uP,uB,x,x/"
    "x,x,bN,bP,8,uP,uN,x,x/x,x,bR,bP,8,uP,uR,x,x/4,wP,wP,wP,wP,wP,wP,wP,wP,3,wR/"
    "2,bN,1,wR,wN,wB,wQ,wK,wB,wN,wR,1,wN,2/bB,3,x,x,x,x,x,x,x,x,4/3,bR,x,x,x,x,x,x,x,x,2,wB,1 w "
    "aaaa wrwlbrblrrrlurul - 0 0"};
enum { POSITIONS = sizeof positions / sizeof positions[0] };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct position pos[POSITIONS];
    static bool is_ready;
    const struct position *p;
    struct move_reading reading;
    enum seat seat;
    enum leave_how how;
    char sentence[MOVE_READING_SENTENCE_MAX];

    if (!is_ready) {
        for (int i = 0; i < POSITIONS; i++) {
            struct variant variant;

            must(variant_of_text(positions[i], &variant));
            must(position_parse(&variant, positions[i], &pos[i], NULL) == POSITION_OK);
            fuzz_position_use(&pos[i]);
        }
        is_ready = true;
    }
    if (size == 0)
        return 0;
    p = &pos[data[0] % POSITIONS];
    move_read(p, (const char *)data + 1, size - 1, &reading);
    must(move_reading_sentence(p, &reading, sentence, sizeof sentence) < sizeof sentence);
    switch (reading.code) {
    case READ_MOVE:
        must(position_judge_move(p, reading.move, NULL) == MOVE_LEGAL);
        break;
    case READ_SEVERAL:
        must(reading.candidates > 1);
        for (int i = 0; i < reading.candidates && i < MOVE_CANDIDATES_MAX; i++)
            must(position_judge_move(p, reading.candidate[i], NULL) == MOVE_LEGAL);
        break;
    case READ_ILLEGAL:
        must(reading.judgement.code != MOVE_LEGAL);
        break;
    case READ_NOT_A_MOVE:
        must(reading.offset <= size - 1);
        break;
    default:
        break;
    }
    (void)leave_read(p, (const char *)data + 1, size - 1, true, &seat, &how);
    return 0;
}
