/* store/kinds.c - see kinds.h. */
#include "store/kinds.h"

#include <string.h>

#define WORD_(name, word) word,
#define DEFINE_(name, list, count, column)                                                         \
    static const char *const name##_words[] = {list(WORD_)};                                       \
    const char *name##_str(enum name value)                                                        \
    {                                                                                              \
        return (unsigned)value < (unsigned)count ? name##_words[value] : "?";                      \
    }                                                                                              \
    bool name##_parse(const char *word, enum name *ret)                                            \
    {                                                                                              \
        for (int i = 0; i < (int)count; i++)                                                       \
            if (strcmp(word, name##_words[i]) == 0) {                                              \
                *ret = (enum name)i;                                                               \
                return true;                                                                       \
            }                                                                                      \
        return false;                                                                              \
    }
STORE_ENUMS(DEFINE_)
