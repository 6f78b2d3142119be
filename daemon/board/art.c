/* board/art.c - see art.h. */
#include "board/art.h"

#include <assert.h>
#include <stddef.h>

#define BASE "M10.5 30.6h19c.8 0 1.4.6 1.4 1.4v1.7h-21.8v-1.7c0-.8.6-1.4 1.4-1.4z"

static const struct {
    char letter;
    const char *body;   /* filled and outlined */
    const char *lines;  /* strokes in ink, not filled */
} men[] = {
    {'K',
     "M18.7 3.6h2.6v2.5h2.5v2.5h-2.5v3.2h-2.6v-3.2h-2.5v-2.5h2.5z"
     "M20 16.4c1.2-3.2 3.6-4.7 6.3-4.5 3.4.3 5.6 3.2 4.8 6.8-.7 3.2-3 5.6-4 9.4h-14.2"
     "c-1-3.8-3.3-6.2-4-9.4-.8-3.6 1.4-6.5 4.8-6.8 2.7-.2 5.1 1.3 6.3 4.5z" BASE,
     "M20 17v7.6M13.4 25.4c4-1.4 9.2-1.4 13.2 0"},
    {'Q',
     "M8.2 10.4a2.1 2.1 0 1 1 .1 0M14.2 7.3a2.1 2.1 0 1 1 .1 0M20 6a2.1 2.1 0 1 1 .1 0"
     "M25.8 7.3a2.1 2.1 0 1 1 .1 0M31.8 10.4a2.1 2.1 0 1 1 .1 0"
     "M8.6 10.6l4 7.4 2-9.6 5.4 9 5.4-9 2 9.6 4-7.4-3.6 17.5h-15.6z" BASE,
     "M12.7 25.2c4.4-1.3 10.2-1.3 14.6 0M13.2 21.6c4.2-1.2 9.4-1.2 13.6 0"},
    {'R',
     "M10.6 7.6h4.6v3h2.6v-3h4.4v3h2.6v-3h4.6v7l-3.2 2.6v8.4l2.4 2.5h-17.2l2.4-2.5v-8.4"
     "l-3.2-2.6z" BASE,
     "M11.4 14.4h17.2M13.8 17.4h12.4M13.8 25.4h12.4"},
    {'B',
     "M20 3.6a2.3 2.3 0 1 1 -.1 0z"
     "M20 8c5.6 4.2 7.6 7.8 7.6 11.4 0 2.7-1.6 4.7-3.4 5.6l2.2 3.4h-12.8l2.2-3.4"
     "c-1.8-.9-3.4-2.9-3.4-5.6 0-3.6 2-7.2 7.6-11.4z" BASE,
     "M20 13.4v6.4M16.9 16.5h6.2M15.9 24.9c2.6-.8 5.6-.8 8.2 0"},
    {'N',
     "M12.4 28.2c.4-6.4 5.6-7.4 5.4-12.2l-3.4 3.4c-1 1-2.2 1.3-3.2 1.9-1.5.9-3.4-.2-3.5-1.9"
     "c0-1.2.4-1.9 1-2.7l4-6 .6-4.7 3 2.7c7.8-.8 12.8 5 12.8 13 0 2.7-.5 4.3-.8 6.5z" BASE,
     "M14.3 12.2l.9-.9M9.4 18.9l.5-.5M20.4 11.4c4.4 1.6 6 6.2 5.6 12.6"},
    {'P',
     "M20 9.2a5 5 0 0 1 3.5 8.6h2l-1.5 2.6c.4 3.6 2.6 5 3.6 8h-15.2c1-3 3.2-4.4 3.6-8l-1.5-2.6"
     "h2a5 5 0 0 1 3.5-8.6z" BASE,
     "M15.6 25.6c2.8-.8 6-.8 8.8 0"},
};

void art_defs(struct buf *out)
{
    buf_puts(out, "<defs>\n");
    for (size_t i = 0; i < sizeof men / sizeof men[0]; i++)
        buf_printf(out,
                   "<symbol id=\"fh-%c\" overflow=\"visible\"><path d=\"%s\"/></symbol>\n"
                   "<symbol id=\"fh-%c-lines\" overflow=\"visible\"><path d=\"%s\" "
                   "fill=\"none\" stroke-linecap=\"round\"/></symbol>\n",
                   men[i].letter, men[i].body, men[i].letter, men[i].lines);
    buf_puts(out,
             "<pattern id=\"fh-hatch\" width=\"4\" height=\"4\" patternUnits=\"userSpaceOnUse\" "
             "patternTransform=\"rotate(45)\"><rect width=\"4\" height=\"4\" fill=\"#d4d4d4\"/>"
             "<rect width=\"1.6\" height=\"4\" fill=\"#8d8d8d\"/></pattern>\n"
             "</defs>\n");
}

/* A box of 4 x 6, y downwards. */
const char *art_glyph(char c)
{
    switch (c) {
    case '0':
        return "M2 0C.6 0 .3 1.2.3 3S.6 6 2 6 3.7 4.8 3.7 3 3.4 0 2 0z";
    case '1':
        return "M.8 1.3L2.2 0V6M.8 6H3.6";
    case '2':
        return "M.4 1.4C.5.4 1.2 0 2 0 3 0 3.7.6 3.7 1.6 3.7 3 .8 4.4.3 6H3.8";
    case '3':
        return "M.4.9C.8.3 1.3 0 2 0 3 0 3.6.6 3.6 1.5 3.6 2.4 3 2.9 1.8 2.9 3.1 2.9 3.8 3.5 3.8 "
               "4.4 3.8 5.4 3.1 6 2 6 1.2 6 .6 5.7.2 5";
    case '4':
        return "M2.9 6V0L.1 4.2H3.9";
    case '5':
        return "M3.5 0H.8L.5 2.8C.9 2.4 1.4 2.2 2 2.2 3.1 2.2 3.8 3 3.8 4.1 3.8 5.2 3.1 6 2 6 "
               "1.2 6 "
               ".6 5.7.2 5.1";
    case '6':
        return "M3.5.8C3.1.3 2.6 0 2.1 0 .9 0 .3 1.3.3 3.5.3 5.1 1 6 2.1 6 3.1 6 3.8 5.2 3.8 "
               "4.1 3.8 "
               "3 3.1 2.3 2.1 2.3 1.1 2.3.4 3 .3 4";
    case '7':
        return "M.2 0H3.8L1.6 6";
    case '8':
        return "M2 2.8C1.1 2.8.5 2.2.5 1.4.5.6 1.1 0 2 0S3.5.6 3.5 1.4C3.5 2.2 2.9 2.8 2 2.8 .9 "
               "2.8.2 "
               "3.5.2 4.4.2 5.4.9 6 2 6S3.8 5.4 3.8 4.4C3.8 3.5 3.1 2.8 2 2.8z";
    case '9':
        return "M.5 5.2C.9 5.7 1.4 6 1.9 6 3.1 6 3.7 4.7 3.7 2.5 3.7.9 3 0 1.9 0 .9 0 .2.8.2 "
               "1.9.2 3 .9 "
               "3.7 1.9 3.7 2.9 3.7 3.6 3 3.7 2";
    case 'a':
        return "M.6 2.6C.9 2.2 1.4 2 1.9 2 2.9 2 3.4 2.6 3.4 3.6V6M3.4 3.8C1.5 3.8.3 4.1.3 5 .3 "
               "5.6.8 6 "
               "1.5 6 2.3 6 3.1 5.5 3.4 4.7";
    case 'b':
        return "M.5 0V6M.5 4C.5 2.8 1.1 2 2 2 3 2 3.7 2.8 3.7 4S3 6 2 6C1.1 6 .5 5.2.5 4z";
    case 'c':
        return "M3.5 2.8C3.2 2.3 2.7 2 2.1 2 1 2 .3 2.8.3 4S1 6 2.1 6C2.7 6 3.2 5.7 3.5 5.2";
    case 'd':
        return "M3.5 0V6M3.5 4C3.5 2.8 2.9 2 2 2 1 2 .3 2.8.3 4S1 6 2 6C2.9 6 3.5 5.2 3.5 4z";
    case 'e':
        return "M.3 4H3.7C3.7 2.8 3 2 2 2 1 2 .3 2.8.3 4S1 6 2.1 6C2.7 6 3.2 5.7 3.5 5.3";
    case 'f':
        return "M3.2.1C2.9 0 2.7 0 2.5 0 1.7 0 1.4.5 1.4 1.3V6M.4 2H2.9";
    case 'g':
        return "M3.5 2V6.2C3.5 7.3 2.9 7.8 1.9 7.8 1.3 7.8.9 7.7.5 7.4M3.5 4C3.5 2.8 2.9 2 2 2 "
               "1 2 .3 "
               "2.8.3 4S1 5.9 2 5.9C2.9 5.9 3.5 5.2 3.5 4z";
    case 'h':
        return "M.5 0V6M.5 3.4C.8 2.5 1.4 2 2.1 2 3 2 3.4 2.6 3.4 3.5V6";
    case 'i':
        return "M2 2V6M2 .1V.5";
    case 'j':
        return "M2.4 2V6.6C2.4 7.4 2 7.8 1.3 7.8L.9 7.7M2.4.1V.5";
    case 'k':
        return "M.5 0V6M3.3 2L.6 4.4M1.6 3.6L3.5 6";
    case 'l':
        return "M2 0V6";
    case 'm':
        return "M-.4 2V6M-.4 3.3C-.2 2.5.3 2 .9 2 1.6 2 1.9 2.5 1.9 3.2V6M1.9 3.3C2.1 2.5 2.6 2 "
               "3.2 2 3.9 "
               "2 4.2 2.5 4.2 3.2V6";
    case 'n':
        return "M.5 2V6M.5 3.4C.8 2.5 1.4 2 2.1 2 3 2 3.4 2.6 3.4 3.5V6";
    case 'o':
        return "M2 2C1 2 .3 2.8.3 4S1 6 2 6 3.7 5.2 3.7 4 3 2 2 2z";
    case 'p':
        return "M.5 2V7.8M.5 4C.5 2.8 1.1 2 2 2 3 2 3.7 2.8 3.7 4S3 6 2 6C1.1 6 .5 5.2.5 4z";
    case 'W':
        return "M-.5 0L.7 6 2 1.2 3.3 6 4.5 0";
    case 'R':
        return "M.4 6V0H2.1C3.1 0 3.7.6 3.7 1.6S3.1 3.2 2.1 3.2H.4M2.3 3.2L3.8 6";
    case 'Y':
        return "M.1 0L2 3 3.9 0M2 3V6";
    case 'B':
        return "M.4 3H2.2C3.2 3 3.8 3.6 3.8 4.5S3.2 6 2.2 6H.4V0H2.1C3 0 3.5.6 3.5 1.5S3 3 2.1 3";
    case 'U':
        return "M.4 0V4C.4 5.3 1 6 2 6S3.6 5.3 3.6 4V0";
    case 'G':
        return "M3.6 1.2C3.3.4 2.8 0 2.1 0 .9 0 .3 1.2.3 3S.9 6 2.1 6C3.1 6 3.7 5.2 3.7 "
               "3.8V3.4H2.2";
    default:
        return NULL;
    }
}

/* After the palette that Okabe and Ito found to stay apart for all kinds of colour vision, beside
 * white and black. */
struct art_paint art_paint_of(char letter)
{
    switch (letter) {
    case 'w':
        return (struct art_paint){"#ffffff", "#1c1c1c", "#1c1c1c"};
    case 'r':
        return (struct art_paint){"#d55e00", "#2a0f00", "#ffffff"};
    case 'y':
        return (struct art_paint){"#f2dc23", "#1c1c1c", "#1c1c1c"};
    case 'b':
        return (struct art_paint){"#2b2b2b", "#000000", "#ffffff"};
    case 'u':
        return (struct art_paint){"#0072b2", "#00182b", "#ffffff"};
    case 'g':
        return (struct art_paint){"#009e73", "#00251b", "#ffffff"};
    default:
        return (struct art_paint){"#888888", "#222222", "#ffffff"};
    }
}

const char *art_mark(enum seat seat)
{
    static const char *const mark[SEATS] = {
        "M-6 0a6 6 0 1 1 12 0a6 6 0 1 1 -12 0z", /* disc */
        "M0-8.6L8.2 5.6H-8.2z",                  /* triangle */
        "M-5.6-5.6H5.6V5.6H-5.6z",               /* square */
        "M0-7.8L7.8 0 0 7.8-7.8 0z",             /* diamond */
    };

    assert(seat < SEATS);
    return mark[seat];
}
