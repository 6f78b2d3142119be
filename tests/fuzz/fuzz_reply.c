/* A text: its lines are told apart, whatever they hold; the first byte picks the charset. */
#include "fuzz.h"

#include "base/str.h"
#include "mail/decode.h"
#include "mail/html_text.h"
#include "mail/message.h"
#include "mail/reply.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const charsets[] = {NULL,         "utf-8",  "iso-2022-jp", "utf-16",
                                           "windows-1251", "x-nope", "gb18030",     "utf-7"};
    struct buf utf8 = buf_make(1024 * 1024), text = buf_make(128 * 1024);
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;

    if (size == 0 || size > 8 * 1024)
        return 0;
    mail_library_init();
    decode_charset((const char *)data + 1, size - 1, charsets[data[0] & 7], &utf8);
    must(utf8_is_valid(utf8.data, utf8.len));
    must(memchr(utf8.data, '\0', utf8.len) == NULL);
    if (data[0] & 8) {
        html_text(utf8.data, utf8.len, &text, NULL);
        must(buf_failed(&text) || utf8_is_valid(text.data, text.len));
    } else {
        buf_add(&text, utf8.data, utf8.len);
    }
    if (!buf_failed(&text)) {
        must(reply_split(text.data, NULL, &reply, &err) == ST_OK);
        for (size_t i = 0; i < reply.count; i++)
            must(utf8_is_valid(reply.lines[i].text, strlen(reply.lines[i].text)));
    }
    reply_release(&reply);
    buf_release(&utf8);
    buf_release(&text);
    return 0;
}
