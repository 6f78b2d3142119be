/* Any bytes as a configuration: read or refused, and what is read prints and reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
const char *__asan_default_options(void);

/* libconfig 1.5 loses the text it was collecting when a syntax error ends it. */
const char *__asan_default_options(void)
{
    return "detect_leaks=0";
}

static int bytes_hold(const uint8_t *data, size_t size, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= size; i++)
        if (memcmp(data + i, word, n) == 0)
            return 1;
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf errors = buf_make(SETTINGS_ERRORS_MAX), print = buf_make(SETTINGS_FILE_MAX);
    struct settings s = SETTINGS_INIT, again = SETTINGS_INIT;
    struct err err = ERR_INIT;

    if (size > SETTINGS_FILE_MAX || bytes_hold(data, size, "@include") ||
        bytes_hold(data, size, "@file")) /* these read other files */
        goto out;
    if (settings_parse((const char *)data, size, "fuzz", "/nowhere", NULL, 0, NULL, &s,
                       &errors, &err) == ST_OK) {
        settings_print(&s, &print);
        if (buf_failed(&print) || settings_parse(print.data, print.len, "print", "/nowhere", NULL,
                                                 0, NULL, &again, &errors, &err) != ST_OK)
            abort();
    } else if (errors.len == 0 && err.code == ST_INVALID) {
        abort();
    }
out:
    settings_release(&s);
    settings_release(&again);
    buf_release(&errors);
    buf_release(&print);
    return 0;
}
