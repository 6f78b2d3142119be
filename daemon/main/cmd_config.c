#include "main/cmd_config.h"

#include <stdio.h>

#include "clock/zone.h"
#include "people/people.h"
#include "words/words.h"

const struct cli_option check_config_options[] = {
    {"print", 'p', NULL, "print the effective values, secrets masked"},
    {"sample", 0, NULL, "print a sample configuration with every key explained"},
    {NULL, 0, NULL, NULL},
};

/* What only other rooms can judge. */
static int rooms_check(struct cli *cli, const struct settings *s)
{
    struct err err = ERR_INIT;
    struct zone *zone = NULL;
    int st = CLI_OK;

    if (zone_load(NULL, s->time_zone, &zone, &err) != ST_OK) {
        fprintf(stderr, "%s: time_zone: %s\n", cli->config_path, err.text);
        st = CLI_FAILED;
    }
    zone_free(zone);
    if (language_is_fit(s->language, lang_tags(), &err) != ST_OK) {
        fprintf(stderr, "%s: language: %s\n", cli->config_path, err.text);
        st = CLI_FAILED;
    }
    return st;
}

int config_load(struct cli *cli, struct settings *ret)
{
    struct buf errors = buf_make(SETTINGS_ERRORS_MAX);
    struct settings s = SETTINGS_INIT;
    struct err err = ERR_INIT;
    int st = CLI_OK;

    if (settings_load(cli->config_path, cli->sets, cli->set_count, &s, &errors, &err) != ST_OK) {
        fputs(errors.data, stderr);
        st = cli_fail(CLI_FAILED, "%s", err.text);
    } else if (rooms_check(cli, &s) != CLI_OK) {
        st = cli_fail(CLI_FAILED, "%s has errors", cli->config_path);
    } else {
        *ret = s;
        s = SETTINGS_INIT;
    }
    settings_release(&s);
    buf_release(&errors);
    return st;
}

int cmd_check_config(struct cli *cli)
{
    struct buf out = buf_make(SETTINGS_FILE_MAX);
    struct settings s = SETTINGS_INIT;
    int st = CLI_OK;

    if (cli_flag(cli, "sample")) {
        settings_sample(&out);
        fputs(out.data, stdout);
        goto out;
    }
    st = config_load(cli, &s);
    if (st != CLI_OK)
        goto out;
    if (cli_flag(cli, "print")) {
        settings_print(&s, &out);
        fputs(out.data, stdout);
    } else {
        printf("OK\n");
    }
out:
    settings_release(&s);
    buf_release(&out);
    return st;
}
