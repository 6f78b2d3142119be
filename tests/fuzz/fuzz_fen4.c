/* A FEN4: what is read and written again reads the same, in both dialects. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const games[] = {"teams", "verney", "fortress"};

    for (size_t i = 0; i < sizeof games / sizeof games[0]; i++) {
        struct variant variant;
        struct position pos, again;
        struct fen4_error error;
        char text[FEN4_TEXT_MAX + 1], sentence[FEN4_SENTENCE_MAX];

        must(variant_find(games[i], &variant));
        if (fen4_parse(&variant, (const char *)data, size, &pos, &error) != FEN4_OK) {
            must(error.code != FEN4_OK && error.offset <= size);
            must(error.line >= 1 && error.column >= 1);
            must(fen4_error_sentence(&error, sentence, sizeof sentence) < sizeof sentence);
            continue;
        }
        for (int dialect = 0; dialect < 2; dialect++) {
            size_t n = fen4_print(&pos, (enum fen4_corners)dialect, text, sizeof text);

            must(n > 0 && n < sizeof text);
            must(fen4_parse(&variant, text, n, &again, NULL) == FEN4_OK);
            must(fuzz_position_same(&pos, &again));
        }
        fuzz_position_use(&pos);
    }
    return 0;
}
