/* mail/hostile.c - see hostile.h. */
#include "mail/hostile.h"

#include <string.h>

#include "base/str.h"

/*
 * A letter is its fields, begin, unit as often as it fits, and end.  In a unit \1 becomes the
 * number of the repetition.  With wide, a unit is a line of so many repetitions.  What belongs into
 * a header block is `field`, field_unit as often as fits in FIELD_SIZE, and a line end.
 */
struct hostile {
    const char *name;
    const char *type;  /* the fields of content */
    const char *begin;
    const char *unit;
    size_t wide;
    const char *end;
    const char *field;
    const char *field_unit;
};

enum { FIELD_SIZE = 60000 };

#define TEXT "Content-Type: text/plain; charset=utf-8\n"
#define HTML "Content-Type: text/html; charset=utf-8\n"
#define FLOWED "Content-Type: text/plain; charset=utf-8; format=flowed\n"
#define BASE64 "Content-Transfer-Encoding: base64\n"
#define QUOTED "Content-Transfer-Encoding: quoted-printable\n"
#define MIXED "Content-Type: multipart/mixed; boundary=b\n"
#define REPORT "Content-Type: multipart/report; report-type=delivery-status; boundary=b\n"
#define LONG_BOUNDARY "bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb"
#define NEST(inner, outer)                                                                         \
    "--" outer "\nContent-Type: multipart/mixed; boundary=" inner "\n\n"
#define PLAIN(what, line) {.name = what, .type = TEXT, .unit = line}
#define BELOW(what, line) {.name = what, .type = TEXT, .begin = "e2-e4\n\n", .unit = line}
#define WIDE(what, piece, n) {.name = what, .type = TEXT, .unit = piece, .wide = n}
#define TAGS(what, tags) {.name = what, .type = HTML, .begin = "<p>e2-e4</p>", .unit = tags}
#define HEAD(what, f, u) {.name = what, .type = TEXT, .begin = "e2-e4\n\n", .unit = "> a\n", \
                          .field = f, .field_unit = u}

static const struct hostile letters[] = {
    BELOW("prose", "The quick brown fox jumps over the lazy dog, and again.\n"),
    PLAIN("lines of a letter", "a\n"),
    PLAIN("empty lines", "\n"),
    PLAIN("lines of a blank", " \n"),
    PLAIN("quotes", "> \n"),
    BELOW("deep quotes", ">>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>>> a\n"),
    BELOW("quotes and answers", "> a\nb\n"),
    PLAIN("openers", "On a\n"),
    PLAIN("attributions", "On 1.1.2026 a wrote:\n"),
    PLAIN("attributions over four lines", "On 1.1.2026\n12:00\n<a@b.c>\nwrote\n"),
    PLAIN("attributions without an end", "On 1.1.2026 12:00 <a@b.c>\n"),
    PLAIN("names above addresses", "Anna Bo\n<a@b.c>\n"),
    PLAIN("labels", "From: a\n"),
    PLAIN("labels and gaps", "From: a\nSent: 1.1.2026\n\n"),
    PLAIN("labels in a row", "from: a sent: 1.1.2026 to: b subject: c\n"),
    PLAIN("rules", "-----\n"),
    PLAIN("rules above labels", "-----\n\nFrom: a\n\n"),
    PLAIN("signatures", "-- \n"),
    PLAIN("delimiters", "-----Original Message-----\n"),
    PLAIN("banners", "[EXTERNAL]\n"),
    PLAIN("banners that go on", "external: this is a line long enough to be wrapped, and then\n"),
    PLAIN("programs' lines", "Sent from my iPhone\n"),
    BELOW("law", "this letter is confiden\n\n"),
    BELOW("paragraphs of law", "this letter is long and says nothing at all but words\n"),
    PLAIN("commands", "moves\n"),
    PLAIN("paragraphs of commands", "board\n\n"),
    PLAIN("moves", "e2-e4\n"),
    PLAIN("notes", "note a\n"),
    PLAIN("marks", "--- Please write above this line ---\n"),
    WIDE("digits", "1.", 2000),
    WIDE("times", "12:12 ", 650),
    WIDE("addresses", "@a.b", 1000),
    WIDE("colons", ":", 4000),
    WIDE("verbs", "wrote ", 650),
    WIDE("commas", "a,", 2000),
    WIDE("pairs", "a=b ", 1000),
    WIDE("stars", "*", 4000),
    WIDE("dashes", "--", 2000),
    WIDE("dashes between letters", "a--", 1300),
    WIDE("lines as long as may be", "x", 131000),
    WIDE("one line", "x", HOSTILE_SIZE),
    WIDE("long notes", "note a ", 9000),
    WIDE("letters that are sentences", "\xef\xb7\xba", 300),
    WIDE("other such letters", "\xef\xb7\xbb", 300),
    WIDE("accents", "e\xcc\x81", 1300),
    WIDE("accents on one letter", "\xcc\x81", 2000),
    WIDE("accents out of order", "\xcc\x81\xcc\xa7", 1000),
    WIDE("Hangul", "\xe1\x84\x80\xe1\x85\xa1", 600),
    WIDE("squared words", "\xe3\x8c\x80", 1300),
    WIDE("signs of nothing", "\xe2\x80\x8b", 1300),
    WIDE("capitals", "\xc4\xb0", 2000),
    PLAIN("look-alikes", "\xd0\xb5" "2-\xd0\xb5" "4\n"),
    {.name = "flowed", .type = FLOWED, .unit = "a \n"},
    {.name = "flowed quotes", .type = FLOWED, .unit = "> a \n>> b \n"},
    {.name = "flowed blanks", .type = FLOWED, .unit = " \n"},
    {.name = "base64 of lines", .type = TEXT BASE64, .unit = "YQphCmEK", .wide = 9},
    {.name = "base64 of commands", .type = TEXT BASE64, .unit = "Ym9hcmQK", .wide = 9},
    {.name = "base64 that ends", .type = TEXT BASE64, .unit = "YQ==\n"},
    {.name = "base64 of tags", .type = HTML BASE64, .unit = "PHA+YTxwPmI8", .wide = 6},
    {.name = "no base64", .type = TEXT BASE64, .unit = "!!!!\n"},
    {.name = "soft breaks", .type = TEXT QUOTED, .unit = "=\n"},
    {.name = "quoted lines", .type = TEXT QUOTED, .unit = "=0A=0Aa", .wide = 10},
    {.name = "quoted signs", .type = TEXT QUOTED, .unit = "=EF=B7=BA", .wide = 8},
    {.name = "undeclared quoted", .type = TEXT, .unit = "a=20b=\n"},
    TAGS("paragraphs", "<p>a"),
    TAGS("containers", "<div class=\"gmail_quote\"><blockquote>a"),
    TAGS("ends", "</div></blockquote>"),
    TAGS("open tags", "<a b=\""),
    TAGS("brackets", "<"),
    TAGS("brackets and letters", "<a"),
    TAGS("lines", "<br>"),
    TAGS("cells", "<td>a"),
    TAGS("rules of HTML", "<hr>"),
    TAGS("ampersands", "&"),
    TAGS("entities", "&nbsp;"),
    TAGS("numbers", "&#x41;"),
    TAGS("entities that are none", "&abcdefghijk"),
    TAGS("styles", "<style>"),
    TAGS("styles that end", "<style>p{</style>"),
    TAGS("scripts that do not end", "<script></scrip"),
    TAGS("comments", "<!--"),
    TAGS("declarations", "<!a><?b>"),
    TAGS("hidden", "<div style=\"display:none\">a"),
    TAGS("borders", "<div style=\"border-left:1px solid\">a</div>"),
    TAGS("signatures of HTML", "<div class=\"signature\">a</div>"),
    TAGS("preformatted", "<pre>\n\n"),
    TAGS("headings and lists", "<h1>a<ul><li>"),
    {.name = "one tag", .type = HTML, .begin = "<p ", .unit = "a=b ", .end = ">e2-e4"},
    {.name = "one value", .type = HTML, .begin = "<p class=\"", .unit = "a ", .end = "\">e2-e4"},
    {.name = "HTML without tags", .type = HTML, .unit = "a\n"},
    {.name = "parts", .type = MIXED, .unit = "--b\n\na\n"},
    {.name = "parts without a line", .type = MIXED, .unit = "--b\n"},
    {.name = "nearly the boundary", .type = "Content-Type: multipart/mixed; boundary=" LONG_BOUNDARY
                                            "c\n",
     .begin = "--" LONG_BOUNDARY "c\n\n", .unit = "--" LONG_BOUNDARY "\n"},
    {.name = "dashes in a part", .type = MIXED, .begin = "--b\n\n", .unit = "--\n"},
    {.name = "dashes in parts in parts", .type = MIXED,
     .begin = NEST("c", "b") NEST("d", "c") NEST("e", "d") NEST("f", "e") NEST("g", "f")
         NEST("h", "g") NEST("i", "h") NEST("j", "i") NEST("k", "j") NEST("l", "k") "--l\n\n",
     .unit = "--m\n"},
    {.name = "parts in parts", .type = MIXED,
     .unit = "--b\1\nContent-Type: multipart/mixed; boundary=b\1\n\n"},
    {.name = "parts in parts of one boundary", .type = MIXED, .unit = NEST("b", "b")},
    {.name = "letters in letters", .type = "Content-Type: message/rfc822\n",
     .unit = "Content-Type: message/rfc822\n\n"},
    {.name = "before the parts", .type = MIXED, .unit = "a\n", .end = "--b\n\ne2-e4\n--b--\n"},
    {.name = "behind the parts", .type = MIXED, .begin = "--b\n\ne2-e4\n--b--\n", .unit = "a\n"},
    {.name = "a part's fields", .type = MIXED, .begin = "--b\n", .unit = "X: a\n"},
    {.name = "both forms", .type = "Content-Type: multipart/alternative; boundary=b\n",
     .begin = "--b\n" HTML "\n<p>hello</p>\n--b\n" TEXT "\n", .unit = "hello\n"},
    {.name = "report of recipients", .type = REPORT,
     .begin = "--b\nContent-Type: message/delivery-status\n\nReporting-MTA: dns; a\n\n",
     .unit = "Final-Recipient: rfc822; a@b.c\nAction: failed\nStatus: 5.1.1\n\n"},
    {.name = "report of fields", .type = REPORT,
     .begin = "--b\nContent-Type: message/delivery-status\n\n", .unit = "Status: 5.1.1\n"},
    {.name = "report of one field", .type = REPORT,
     .begin = "--b\nContent-Type: message/delivery-status\n\nDiagnostic-Code: a\n",
     .unit = " a\n"},
    {.name = "returned fields", .type = REPORT,
     .begin = "--b\nContent-Type: text/rfc822-headers\n\n", .unit = "Message-IC: <a@b>\n"},
    {.name = "a calendar", .type = "Content-Type: text/calendar\n", .unit = "METHOD:REPLX\n"},
    PLAIN("signed text", "-----BEGIN PGP SIGNED MESSAGE-----\n\na\n-----BEGIN PGP SIGNATURE-----\n"
                         "-----END PGP SIGNATURE-----\n"),
    PLAIN("begun armour", "-----BEGIN PGP SIGNED MESSAGE-----\n"),
    PLAIN("begun signatures", "-----BEGIN PGP SIGNATURE-----\n"),
    {.name = "sealed", .type = "Content-Type: application/pkcs7-mime\n" BASE64, .unit = "MIAwgDCA",
     .wide = 9},
    {.name = "octets of a seal", .type = "Content-Type: application/pkcs7-mime\n" BASE64,
     .begin = "MIAGCSqGSIb3DQEHAqCAMIACAQExADCABgkqhkiG9w0BBwGggCSA\n", .unit = "BAEK", .wide = 18},
    {.name = "escapes", .type = "Content-Type: text/plain; charset=iso-2022-jp\n",
     .unit = "\x1b$B\x1b(B", .wide = 10},
    {.name = "Chinese that is none", .type = "Content-Type: text/plain; charset=gb18030\n",
     .unit = "\x81\n"},
    {.name = "16 bits", .type = "Content-Type: text/plain; charset=utf-16\n", .unit = "a\nb\n"},
    {.name = "UTF-7", .type = "Content-Type: text/plain; charset=utf-7\n", .unit = "+AGE-\n"},
    {.name = "no charset", .type = "Content-Type: text/plain; charset=x\n", .unit = "\xff\xfe\n"},
    {.name = "surrogates", .type = TEXT, .unit = "\xed\xa0\x80\n"},
    {.name = "no blank line", .type = TEXT "X: ", .unit = "a: b\n"},
    {.name = "fields", .type = TEXT, .unit = "a\n", .field = "", .field_unit = "X: a\n"},
    HEAD("a folded field", "X: a\n", " b\n"),
    HEAD("words of a subject", "Subject: ", "=?utf-8?B?YQ==?= "),
    HEAD("lone words of a subject", "Subject: ", "=?"),
    HEAD("charsets of a subject", "Subject: ", "=?x?Q?=E9?="),
    HEAD("quotes in a name", "From: \"", "\\\""),
    HEAD("comments in an address", "From: ", "("),
    HEAD("addresses of recipients", "To: ", "a@b.c,"),
    HEAD("names of recipients", "To: ", "\"<a@b>\" <"),
    HEAD("references", "References: ", "<a@b> "),
    HEAD("brackets of references", "References: ", "<"),
    HEAD("results", "Authentication-Results: mx.club.example; ", "dmarc=fail (a) x=\"b\"; "),
    HEAD("comments of results", "Authentication-Results: mx.club.example; dmarc=pass ", "(\\("),
    HEAD("many results", "", "Authentication-Results: mx.club.example; spf=pass a=b\n"),
    HEAD("parameters", "Content-Disposition: inline", "; a=b"),
    HEAD("pieces of a parameter", "Content-Disposition: inline", "; a*\1*=%20"),
    HEAD("unclosed parameters", "Content-Disposition: inline; ", "a=\"\\"),
};

size_t hostile_count(void)
{
    return COUNT_OF(letters);
}

const char *hostile_name(size_t i)
{
    return letters[i].name;
}

/* One repetition of a unit. */
static void put_unit(struct buf *out, const struct hostile *h, const char *unit, size_t number)
{
    for (size_t w = 0; w < (h->wide ? h->wide : 1) && (w == 0 || out->len < HOSTILE_SIZE - 64);
         w++)
        for (const char *p = unit; *p != '\0'; p++) {
            if (*p == '\1')
                buf_printf(out, "%zu", number);
            else
                buf_putc(out, *p);
        }
    if (h->wide)
        buf_putc(out, '\n');
}

static void put_field(struct buf *out, const struct hostile *h)
{
    size_t begin = out->len;

    if (!h->field)
        return;
    buf_puts(out, h->field);
    for (size_t i = 0; out->len - begin < FIELD_SIZE; i++)
        for (const char *p = h->field_unit; *p != '\0'; p++) {
            if (*p == '\1')
                buf_printf(out, "%zu", i);
            else
                buf_putc(out, *p);
        }
    if (out->data[out->len - 1] != '\n')
        buf_putc(out, '\n');
}

void hostile_make(size_t i, const char *token, struct buf *out)
{
    const struct hostile *h = &letters[i];
    bool has_from = h->field && strncmp(h->field, "From:", 5) == 0;

    if (!has_from)
        buf_puts(out, "From: Anna <anna@example.org>\n");
    buf_printf(out, "To: play+%s@club.example\nMessage-ID: <hostile-%zu@example.org>\n", token, i);
    put_field(out, h);
    buf_puts(out, h->type);
    if (strncmp(h->name, "no blank line", 13) != 0)
        buf_putc(out, '\n');
    if (h->begin)
        buf_puts(out, h->begin);
    for (size_t k = 0; out->len + (h->wide ? 64 : strlen(h->unit) + 16) +
                           (h->end ? strlen(h->end) : 0) < HOSTILE_SIZE;
         k++)
        put_unit(out, h, h->unit, k);
    if (h->end)
        buf_puts(out, h->end);
}
