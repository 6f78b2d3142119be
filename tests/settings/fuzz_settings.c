/* Any bytes as a configuration: read or refused, and what is read prints and reads back. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "settings/settings.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct buf errors = buf_make(SETTINGS_ERRORS_MAX), print = buf_make(SETTINGS_FILE_MAX);
    struct settings s = SETTINGS_INIT, again = SETTINGS_INIT;
    struct err err = ERR_INIT;

    if (size > SETTINGS_FILE_MAX || memmem(data, size, "@include", 8) ||
        memmem(data, size, "@file", 5)) /* these read other files */
        goto out;
    if (settings_parse((const char *)data, size, "fuzz", "/nowhere", NULL, 0, &s, &errors, &err) ==
        ST_OK) {
        settings_print(&s, &print);
        if (buf_failed(&print) || settings_parse(print.data, print.len, "print", "/nowhere", NULL,
                                                 0, &again, &errors, &err) != ST_OK)
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
