/* A position's text: what is read is written the same, and everything can be asked of it. */
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char text[POSITION_TEXT_MAX * 2 + 1], back[POSITION_TEXT_MAX + 1];
    struct variant variant;
    struct position pos;
    struct position_error error;

    if (size >= sizeof text)
        return 0;
    memcpy(text, data, size);
    text[size] = '\0';
    if (!variant_of_text(text, &variant))
        (void)variant_find("fortress", &variant);
    if (position_parse(&variant, text, &pos, &error) != POSITION_OK) {
        must(error.code != POSITION_OK && error.offset <= strlen(text));
        must(position_error_sentence(variant.game, &error, back, sizeof back) < sizeof back);
        return 0;
    }
    must(position_print(&pos, back, sizeof back) < sizeof back);
    must(strcmp(text, back) == 0);
    fuzz_position_use(&pos);
    for (int seat = 0; seat < SEATS; seat++) {
        struct position after = pos;

        if (position_leave(&after, (enum seat)seat, LEAVE_RESIGN, NULL) == LEAVE_OK)
            must(position_is_ok(&after));
    }
    return 0;
}
