#include "settings/table.h"

#include "base/str.h"
#include "base/utc.h"

#define AT(member) offsetof(struct settings, member)
#define KIB INT64_C(1024)

const struct key settings_keys[] = {
    {"public_url", KEY_URL, AT(public_url), 1, KEY_TEXT_MAX, NULL, NULL, "",
     "Where players reach this server: scheme, host and port; every link in letters, feeds and "
     "answers begins with it, and a path is not served. It must be https, ended by a reverse "
     "proxy, except on this machine alone (localhost). Port 0 stands for the port that "
     "http.listen got."},
    {"site_name", KEY_TEXT, AT(site_name), 1, 60, NULL, "Fourhanded", "",
     "The name in page titles and letters."},
    {"database", KEY_PATH, AT(database), 1, KEY_PATH_MAX, NULL,
     "/var/lib/fourhanded/fourhanded.db", "",
     "The one file that holds everything; back it up with `fourhanded backup`."},
    {"control_socket", KEY_PATH, AT(control_socket), 1, 100, NULL,
     "/run/fourhanded/control.sock", "",
     "Where subcommands that change something reach the running daemon; made with mode 0600. Each "
     "daemon has one of its own: where one listens already, none starts."},
    {"registration", KEY_CHOICE, AT(registration), 0, 0, "open|invite|closed", "invite", "",
     "Who may make an account: anybody with a mail address; who holds an invitation; nobody but "
     "the operator with `fourhanded user add`."},
    {"language", KEY_TEXT, AT(language), 2, 35, NULL, "en", "BCP 47 tag",
     "The language of pages and letters for who has not chosen one; one that there are texts in: "
     "en, ru or ro, also with a region."},
    {"time_zone", KEY_TEXT, AT(time_zone), 1, 64, NULL, "UTC", "IANA name, such as Europe/Berlin",
     "The time zone of new accounts that do not name one."},
    {"web_directory", KEY_PATH, AT(web_directory), 1, KEY_PATH_MAX, NULL,
     "/usr/share/fourhanded/web", "", "The files of the browser client."},
    {"log_level", KEY_CHOICE, AT(log_level), 0, 0, "error|warning|info|debug", "info", "",
     "The least important events that are logged."},

    {"http.listen", KEY_LISTEN, AT(http.listen), 1, KEY_TEXT_MAX, NULL, "127.0.0.1:8484",
     "address:port or unix:/path",
     "Where HTTP is spoken; port 0 takes a free one. TLS is the reverse proxy's task: beyond this "
     "machine it listens only when public_url is https and http.trusted_proxies names the proxy. A "
     "socket named \"http\" handed over by systemd is used instead."},
    {"http.metrics_listen", KEY_LISTEN, AT(http.metrics_listen), 0, KEY_TEXT_MAX, NULL, "",
     "address:port or unix:/path",
     "Where Prometheus may fetch /metrics; on this machine only. Empty: nowhere. A socket named "
     "\"metrics\" handed over by systemd is used instead."},
    {"http.trusted_proxies", KEY_NETS, AT(http.trusted_proxies), 0, KEY_LIST_MAX, NULL, "",
     "addresses or networks",
     "The reverse proxies whose X-Forwarded-For is believed. A unix socket is always trusted."},
    {"http.threads", KEY_NUMBER, AT(http.threads), 2, 64, NULL, "4", "threads",
     "How many threads answer requests."},
    {"http.connections", KEY_NUMBER, AT(http.connections), 16, 65536, NULL, "1024", "connections",
     "How many connections may be open at once. Each is a file descriptor, and is refused if the "
     "process may not have so many (LimitNOFILE= of the unit)."},
    {"http.connections_per_address", KEY_NUMBER, AT(http.connections_per_address), 1, 65536, NULL,
     "256", "connections",
     "How many of them one address may hold, at most http.connections; behind a proxy, the proxy's "
     "limit is the one that counts."},
    {"http.body_size", KEY_SIZE, AT(http.body_size), 4 * KIB, 4096 * KIB, NULL, "64KiB",
     "bytes, as in \"64KiB\" or \"1MiB\"", "The longest request body that is read."},
    {"http.request_time", KEY_LENGTH, AT(http.request_ms), MS_SECOND, 10 * MS_MINUTE, NULL, "20s",
     "a length of time", "How long a request may take to arrive before it is cut off."},
    {"http.idle_time", KEY_LENGTH, AT(http.idle_ms), MS_SECOND, MS_HOUR, NULL, "30s",
     "a length of time",
     "How long a connection may be silent between requests; never less than http.request_time and "
     "two seconds more, whatever stands here."},
    {"http.streams_per_account", KEY_NUMBER, AT(http.streams_per_account), 1, 1000, NULL, "8",
     "streams", "How many event streams one account may hold open."},
    {"http.rate_requests", KEY_NUMBER, AT(http.rate_requests), 1, 1000000, NULL, "300",
     "requests a minute", "How many requests an account, or an address without one, may make."},
    {"http.rate_logins", KEY_NUMBER, AT(http.rate_logins), 1, 1000000, NULL, "30",
     "attempts an hour", "How many times an address may try to log in or to register."},
    {"http.shutdown_time", KEY_LENGTH, AT(http.shutdown_ms), 0, 5 * MS_MINUTE, NULL, "5s",
     "a length of time", "How long requests and letters under way may take to end at a stop."},

    {"mail.transport", KEY_CHOICE, AT(mail.transport), 0, 0, "directory|smtp", "directory", "",
     "How letters leave: as files in a folder, or to a mail server."},
    {"mail.directory", KEY_PATH, AT(mail.directory), 1, KEY_PATH_MAX, NULL,
     "/var/lib/fourhanded/mail", "", "The folder for the transport \"directory\"."},
    {"mail.host", KEY_TEXT, AT(mail.host), 1, KEY_TEXT_MAX, NULL, "localhost", "",
     "The mail server for the transport \"smtp\"."},
    {"mail.port", KEY_NUMBER, AT(mail.port), 1, 65535, NULL, "25", "",
     "Its port: 25, 587 (starttls) or 465 (implicit)."},
    {"mail.tls", KEY_CHOICE, AT(mail.tls), 0, 0, "none|starttls|implicit", "starttls", "",
     "Whether the connection is encrypted: never (this machine only), by STARTTLS, from the "
     "start."},
    {"mail.ca_file", KEY_PATH, AT(mail.ca_file), 0, KEY_PATH_MAX, NULL, "", "",
     "Certificates to trust instead of the system's. Empty: the system's."},
    {"mail.user", KEY_TEXT, AT(mail.user), 0, KEY_TEXT_MAX, NULL, "", "",
     "The user name at the mail server. Empty: no login."},
    {"mail.password", KEY_SECRET, AT(mail.password), 0, SETTINGS_SECRET_MAX, NULL, "", "",
     "The password for mail.user."},
    {"mail.from_name", KEY_TEXT, AT(mail.from_name), 0, 60, NULL, "", "",
     "The name that letters come from. Empty: site_name."},
    {"mail.from_address", KEY_MAIL, AT(mail.from_address), 1, 254, NULL, "fourhanded@localhost",
     "", "The address that letters come from."},
    {"mail.hello", KEY_TEXT, AT(mail.hello), 0, KEY_TEXT_MAX, NULL, "", "",
     "The name this server gives itself to the mail server. Empty: the domain of "
     "mail.from_address."},
    {"mail.timeout", KEY_LENGTH, AT(mail.timeout_ms), MS_SECOND, 10 * MS_MINUTE, NULL, "60s",
     "a length of time", "How long handing one letter over may take."},

    {"mail_in.address", KEY_MAIL, AT(mail_in.address), 0, 254, NULL, "", "",
     "The address that players answer to; letters to it are how a game is played by mail. Each "
     "letter of this server carries it with a token of its own. At most 37 bytes stand before the "
     "@ of this and of the next two, and each is another. Empty: no play by mail."},
    {"mail_in.delimiter", KEY_TEXT, AT(mail_in.delimiter), 0, 1, NULL, "+", "",
     "What stands between the name in mail_in.address and the token, as in play+token@example.org: "
     "\"+\" or \"-\". Empty: the token is the whole name (token@example.org), for a domain whose "
     "every address comes here."},
    {"mail_in.bounce_address", KEY_MAIL, AT(mail_in.bounce_address), 0, 254, NULL, "", "",
     "The address that reports about letters that could not be delivered come to; each letter's "
     "own is made from it. Empty: such reports go to mail.from_address and are not read."},
    {"mail_in.unsubscribe_address", KEY_MAIL, AT(mail_in.unsubscribe_address), 0, 254, NULL, "",
     "", "The address for unsubscribing by mail. Empty: by link alone."},
    {"mail_in.lmtp_listen", KEY_LISTEN, AT(mail_in.lmtp_listen), 0, KEY_TEXT_MAX, NULL, "",
     "address:port or unix:/path",
     "Where a mail server of this machine delivers letters by LMTP. Empty: nowhere. A socket named "
     "\"lmtp\" handed over by systemd is used instead."},
    {"mail_in.maildir", KEY_PATH, AT(mail_in.maildir), 0, KEY_PATH_MAX, NULL, "", "",
     "A Maildir that is watched for letters. Empty: none."},
    {"mail_in.imap_host", KEY_TEXT, AT(mail_in.imap.host), 0, KEY_TEXT_MAX, NULL, "", "",
     "The server of a rented mailbox that is watched by IMAP. Empty: none."},
    {"mail_in.imap_port", KEY_NUMBER, AT(mail_in.imap.port), 1, 65535, NULL, "993", "",
     "Its port: 993 (implicit) or 143 (starttls)."},
    {"mail_in.imap_tls", KEY_CHOICE, AT(mail_in.imap.tls), 0, 0, "none|starttls|implicit",
     "implicit", "",
     "Whether the connection is encrypted: never (this machine only), by STARTTLS, from the "
     "start."},
    {"mail_in.imap_ca_file", KEY_PATH, AT(mail_in.imap.ca_file), 0, KEY_PATH_MAX, NULL, "", "",
     "Certificates to trust instead of the system's. Empty: the system's."},
    {"mail_in.imap_user", KEY_TEXT, AT(mail_in.imap.user), 0, KEY_TEXT_MAX, NULL, "", "",
     "The user name at the IMAP server."},
    {"mail_in.imap_password", KEY_SECRET, AT(mail_in.imap.password), 0, SETTINGS_SECRET_MAX, NULL,
     "", "", "The password for mail_in.imap_user."},
    {"mail_in.imap_mailbox", KEY_TEXT, AT(mail_in.imap.mailbox), 1, KEY_TEXT_MAX, NULL, "INBOX",
     "", "The mailbox that is watched."},
    {"mail_in.imap_keep", KEY_BOOL, AT(mail_in.imap.keep), 0, 0, NULL, "true", "",
     "Whether letters that were read stay there, marked as seen; else they are deleted."},
    {"mail_in.authserv_id", KEY_TEXT, AT(mail_in.authserv_id), 0, KEY_TEXT_MAX, NULL, "", "",
     "The name by which your own mail server signs Authentication-Results; lines by any other "
     "name are anybody's and not looked at. Empty: none are."},
    {"mail_in.dmarc", KEY_CHOICE, AT(mail_in.dmarc), 0, 0, "ignore|prefer|require", "prefer", "",
     "What Authentication-Results count for: nothing; a letter that failed DMARC is held until its "
     "owner confirms it; so is one that did not pass it."},
    {"mail_in.hold_time", KEY_LENGTH, AT(mail_in.hold_ms), 0, MS_HOUR, NULL, "10m",
     "a length of time",
     "How long a move or a resignation by mail is held, so that its player can take it back, "
     "before the others see it; for players who have not chosen a time of their own."},
    {"mail_in.confirm_resign", KEY_BOOL, AT(mail_in.confirm_resign), 0, 0, NULL, "true", "",
     "Whether a resignation by mail is done only once its player has confirmed it by another "
     "letter."},
    {"mail_in.letter_size", KEY_SIZE, AT(mail_in.letter_size), 16 * KIB, 16384 * KIB, NULL, "1MiB",
     "bytes, as in \"64KiB\" or \"1MiB\"", "The longest letter that is taken."},
    {"mail_in.answers_an_hour", KEY_NUMBER, AT(mail_in.answers_an_hour), 1, 1000, NULL, "20",
     "letters an hour",
     "How many letters one player is answered; beyond that his letters are acted on in silence."},
    {"mail_in.connections", KEY_NUMBER, AT(mail_in.connections), 1, 1000, NULL, "50",
     "connections", "How many LMTP connections may be open at once."},
    {"mail_in.banners", KEY_TEXTS, AT(mail_in.banners), 0, KEY_LIST_MAX, NULL, "",
     "beginnings of paragraphs",
     "Paragraphs that mail servers put into letters, such as \"CAUTION: This email originated from "
     "outside\"; what begins so is not read as commands."},

    {"webhooks.enabled", KEY_BOOL, AT(webhooks.enabled), 0, 0, NULL, "true", "",
     "Whether players may have events sent to a URL of theirs."},
    {"webhooks.allow", KEY_NETS, AT(webhooks.allow), 0, KEY_LIST_MAX, NULL, "",
     "addresses or networks",
     "Networks that webhooks may reach although they are private; plain http is allowed there "
     "too. All public addresses are allowed over https, all others are refused."},
    {"webhooks.ca_file", KEY_PATH, AT(webhooks.ca_file), 0, KEY_PATH_MAX, NULL, "", "",
     "Certificates of receivers to trust instead of the system's. Empty: the system's."},
    {"webhooks.timeout", KEY_LENGTH, AT(webhooks.timeout_ms), MS_SECOND, MS_MINUTE, NULL, "15s",
     "a length of time", "How long a receiver may take to answer."},

    {"clock.move_time", KEY_LENGTH, AT(clock.move_ms), MS_HOUR, 365 * MS_DAY, NULL, "14d",
     "a length of time", "The time for a move of games that do not name one."},
    {"clock.grace", KEY_LENGTH, AT(clock.grace_ms), 0, 30 * MS_DAY, NULL, "12h",
     "a length of time",
     "How long after its deadline a move is still taken, and marked late; then the seat is lost."},
    {"clock.placing_time", KEY_LENGTH, AT(clock.placing_ms), MS_HOUR, 365 * MS_DAY, NULL, "7d",
     "a length of time", "The time to place a chosen reserve."},
    {"clock.invitation_time", KEY_LENGTH, AT(clock.invitation_ms), MS_HOUR, 365 * MS_DAY, NULL,
     "14d", "a length of time", "After this an invitation that nobody answered expires."},

    {"limits.games", KEY_NUMBER, AT(limits.games), 1, 100000, NULL, "100", "games",
     "How many unfinished games one player may be in."},
    {"limits.tokens", KEY_NUMBER, AT(limits.tokens), 1, 100, NULL, "20", "tokens",
     "How many API tokens one account may hold."},
    {"limits.webhooks", KEY_NUMBER, AT(limits.webhooks), 1, 1000, NULL, "5", "webhooks",
     "How many webhooks one account may hold."},
    {"limits.letters", KEY_NUMBER, AT(limits.letters), 1, 100, NULL, "3", "letters an hour",
     "How many login and confirmation letters one address may be sent."},
    {"limits.accounts", KEY_NUMBER, AT(limits.accounts), 1, 100000, NULL, "100",
     "accounts an hour", "How many accounts may be made, by everybody together."},
    {"limits.queue", KEY_NUMBER, AT(limits.queue), 16, 4096, NULL, "1024", "commands",
     "How many changes may wait for the writer before new ones are told to try again."},
};

const size_t settings_key_count = COUNT_OF(settings_keys);
