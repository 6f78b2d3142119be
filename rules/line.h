/*
 * rules/line.h - writes a line of text into a buffer of the caller's.
 *
 * Purpose: inside rules/, where no stdio may be called.  line_start(); any number of line_…();
 * line_end() puts the NUL and gives the length of the whole text, as snprintf() does.
 * Threads: any; a struct line belongs to one caller.  No errors: what does not fit is counted.
 */
#ifndef RULES_LINE_H
#define RULES_LINE_H

#include "rules/rules.h"

struct line {
    char *text;
    size_t size, length;
};

static inline struct line line_start(char *text, size_t size)
{
    return (struct line){.text = text, .size = size, .length = 0};
}
static inline void line_char(struct line *line, char c)
{
    if (line->length + 1 < line->size)
        line->text[line->length] = c;
    line->length++;
}
static inline void line_string(struct line *line, const char *string)
{
    while (*string != '\0')
        line_char(line, *string++);
}
static inline void line_number(struct line *line, uint64_t number)
{
    char digits[20];
    int n = 0;

    do {
        digits[n++] = (char)('0' + number % 10);
        number /= 10;
    } while (number != 0);
    while (n > 0)
        line_char(line, digits[--n]);
}
static inline void line_square(struct line *line, int square)
{
    line_char(line, (char)('a' + square_file(square)));
    line_number(line, (uint64_t)square_rank(square) + 1);
}
static inline size_t line_end(struct line *line)
{
    if (line->size > 0)
        line->text[line->length < line->size ? line->length : line->size - 1] = '\0';
    return line->length;
}

#endif
