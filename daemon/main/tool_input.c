/* main/tool_input.c - lines of standard input, and the answers to them. */
#include "main/tool.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "main/cli.h"

struct tool_input *input_new(void)
{
    struct tool_input *in = malloc(sizeof *in);

    if (in == NULL)
        return NULL;
    in->from = in->to = 0;
    in->number = 0;
    in->is_over = in->has_failed = false;
    in->line = buf_make(LINE_MAX_BYTES);
    return in;
}
void input_free(struct tool_input *in)
{
    if (in == NULL)
        return;
    buf_release(&in->line);
    free(in);
}

bool input_fill(struct tool_input *in)
{
    ssize_t n;

    if (in->is_over)
        return false;
    fflush(stdout);
    do
        n = read(STDIN_FILENO, in->block, sizeof in->block);
    while (n < 0 && errno == EINTR);
    if (n <= 0) {
        if (n < 0) {
            cli_fail(CLI_FAILED, "standard input: %s", strerror(errno));
            in->has_failed = true;
        }
        in->is_over = true;
        return false;
    }
    in->from = 0;
    in->to = (size_t)n;
    return true;
}

char *input_line(struct tool_input *in, bool *ret_too_long)
{
    bool any = false;

    *ret_too_long = false;
    buf_clear(&in->line);
    for (;;) {
        const char *end;
        size_t n;

        if (in->from == in->to && !input_fill(in)) {
            if (!any)
                return NULL;
            break;
        }
        any = true;
        end = memchr(in->block + in->from, '\n', in->to - in->from);
        n = end != NULL ? (size_t)(end - in->block) - in->from : in->to - in->from;
        buf_add(&in->line, in->block + in->from, n);
        in->from += n + (end != NULL);
        if (end != NULL)
            break;
    }
    in->number++;
    if (buf_failed(&in->line)) {
        buf_clear(&in->line);
        *ret_too_long = true;
    }
    if (in->line.len > 0 && in->line.data[in->line.len - 1] == '\r')
        in->line.data[--in->line.len] = '\0';
    if (strlen(in->line.data) != in->line.len)
        in->line.data[0] = '\0'; /* a NUL among text: nothing that can be read */
    return in->line.data;
}

void tool_refuse(struct tool_args *args, const char *fmt, ...)
{
    va_list list;

    args->has_failed = true;
    fputs("! ", stdout);
    va_start(list, fmt);
    vprintf(fmt, list);
    va_end(list);
    putchar('\n');
}

int tool_finish(const struct tool_args *args, const struct tool_input *in)
{
    if (fflush(stdout) != 0 || ferror(stdout))
        return cli_fail(CLI_FAILED, "standard output: %s", strerror(errno));
    return args->has_failed || (in != NULL && in->has_failed) ? CLI_FAILED : CLI_OK;
}

int tool_each_line(struct tool_args *args, void (*answer)(struct tool_args *args, char *line))
{
    struct tool_input *in = input_new();
    char *line;
    bool too_long = false;
    int status;

    if (in == NULL)
        return cli_fail(CLI_FAILED, "out of memory");
    while ((line = input_line(in, &too_long)) != NULL) {
        if (too_long)
            tool_refuse(args, "the line is longer than %d bytes", LINE_MAX_BYTES);
        else
            answer(args, line);
    }
    status = tool_finish(args, in);
    input_free(in);
    return status;
}
