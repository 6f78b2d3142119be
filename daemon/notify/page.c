/* notify/page.c - one letter as text and as HTML; see internal.h. */
#include <stdio.h>
#include <string.h>

#include "base/str.h"
#include "notify/internal.h"

enum { PAGE_MAX = 512 * 1024, COLUMNS = 76 };

struct page page_make(void)
{
    return (struct page){.text = buf_make(PAGE_MAX), .html = buf_make(PAGE_MAX)};
}

void page_release(struct page *page)
{
    buf_release(&page->text);
    buf_release(&page->html);
}

static size_t columns_of(const char *text, size_t n)
{
    size_t columns = 0;

    for (size_t i = 0; i < n; i++)
        columns += ((unsigned char)text[i] & 0xc0) != 0x80;
    return columns;
}

/* Lines of at most COLUMNS characters, broken at blanks; further ones begin with `indent`. */
static void wrapped(struct buf *out, const char *text, const char *indent)
{
    size_t column = strlen(indent); /* as if the first line were indented too */
    bool is_start = true;           /* of a line */
    const char *p = text;

    while (*p != '\0') {
        size_t n = strcspn(p, " \n");
        size_t width = columns_of(p, n);

        if (!is_start && column + 1 + width > COLUMNS) {
            buf_printf(out, "\n%s", indent);
            column = strlen(indent);
        } else if (!is_start) {
            buf_putc(out, ' ');
            column++;
        }
        buf_add(out, p, n);
        column += width;
        is_start = false;
        p += n;
        if (*p == '\n') {
            buf_printf(out, "\n%s", indent);
            column = strlen(indent);
            is_start = true;
        }
        p += *p != '\0';
    }
    buf_putc(out, '\n');
}

static void tagged(struct page *page, const char *open, const char *text, const char *close)
{
    buf_puts(&page->html, open);
    buf_puts_markup(&page->html, text);
    buf_puts(&page->html, close);
}

void page_para(struct page *page, const char *text)
{
    wrapped(&page->text, text, "");
    buf_putc(&page->text, '\n');
    tagged(page, "<p>", text, "</p>\n");
}

void page_strong(struct page *page, const char *text)
{
    wrapped(&page->text, text, "");
    buf_putc(&page->text, '\n');
    tagged(page, "<p style=\"font-size:1.2em\"><strong>", text, "</strong></p>\n");
}

void page_heading(struct page *page, const char *text)
{
    buf_printf(&page->text, "%s:\n\n", text);
    tagged(page, "<h2 style=\"font-size:1.05em;margin:1.4em 0 .4em\">", text, "</h2>\n");
}

void page_link(struct page *page, const char *url)
{
    buf_printf(&page->text, "  %s\n\n", url); /* never broken */
    buf_puts(&page->html, "<p><a href=\"");
    buf_puts_markup(&page->html, url);
    tagged(page, "\">", url, "</a></p>\n");
}

void page_list_begin(struct page *page)
{
    buf_puts(&page->html, "<ul style=\"margin:.2em 0;padding-left:1.4em\">\n");
}

void page_item(struct page *page, const char *text)
{
    buf_puts(&page->text, "  ");
    wrapped(&page->text, text, "    ");
    tagged(page, "<li>", text, "</li>\n");
}

void page_list_end(struct page *page)
{
    buf_putc(&page->text, '\n');
    buf_puts(&page->html, "</ul>\n");
}

void page_aside(struct page *page, const char *text)
{
    wrapped(&page->text, text, "");
    buf_putc(&page->text, '\n');
}

void page_pre(struct page *page, const char *text)
{
    buf_printf(&page->text, "%s\n", text);
}

void page_text(struct page *page, const char *text)
{
    size_t n = strlen(text);

    buf_puts(&page->text, text);
    buf_puts(&page->text, n > 0 && text[n - 1] == '\n' ? "\n" : "\n\n");
    tagged(page, "<pre style=\"white-space:pre-wrap\">", text, "</pre>\n");
}

void page_image(struct page *page, const char *cid, const char *alt, int width)
{
    buf_printf(&page->html,
               "<p><img src=\"cid:%s\" width=\"%d\" style=\"max-width:100%%;height:auto\" alt=\"",
               cid, width);
    buf_puts_markup(&page->html, alt);
    buf_puts(&page->html, "\"></p>\n");
}

void page_small(struct page *page, const char *text)
{
    wrapped(&page->text, text, "");
    tagged(page, "<p style=\"font-size:.85em;color:#555\">", text, "</p>\n");
}

void page_end(struct page *page, const char *lang, const char *title)
{
    struct buf whole = buf_make(PAGE_MAX);

    buf_printf(&whole,
               "<!DOCTYPE html>\n<html lang=\"%s\"><head><meta charset=\"utf-8\">"
               "<meta name=\"viewport\" content=\"width=device-width\"><title>",
               lang);
    buf_puts_markup(&whole, title);
    buf_puts(&whole, "</title></head>\n<body style=\"font-family:sans-serif;line-height:1.4;"
                     "max-width:40em;margin:1em\">\n");
    buf_add(&whole, page->html.data, page->html.len);
    buf_puts(&whole, "</body></html>\n");
    if (page->html.st != ST_OK)
        whole.st = page->html.st;
    buf_release(&page->html);
    page->html = whole;
}

/* ---------------------------------------------------------------- times */

void local_time_put(struct buf *out, enum lang lang, const struct zone *zone, utc_ms at)
{
    struct civil civil = zone != NULL ? zone_moment(zone, at).local : civil_from_ms(at);

    words_civil(out, lang, &civil);
}

bool zone_is_utc(const struct zone *zone, utc_ms at)
{
    return zone == NULL || str_eq(zone_moment(zone, at).abbreviation, "UTC");
}

void zone_put(struct buf *out, const struct zone *zone, utc_ms at)
{
    if (zone_is_utc(zone, at))
        buf_puts(out, "UTC");
    else
        buf_printf(out, "%s (%s)", zone_moment(zone, at).abbreviation, zone_name(zone));
}
