/* mail/letter.c - see letter.h. */
#include "mail/letter.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/str.h"
#include "mail/address.h"
#include "mail/body.h"
#include "mail/decode.h"
#include "mail/message.h"
#include "mail/reply.h"
#include "mail/reply_line.h"
#include "mail/scan.h"

enum {
    RECIPIENT_MAX = 320, /* bytes of an address that is kept */
    ID_MAX = 500,        /* bytes of a message id that is kept */
    GREETING_MAX = 50,   /* bytes of a line that only greets */
    REACTION_MAX = 240,  /* bytes of a line that tells of a reaction */
    WORDING_MAX = 1000,  /* bytes of a subject or line that are looked at for machines' words */
    VALUE_MAX = 8192     /* bytes of an Authentication-Results value that is kept */
};

const char *letter_mark_str(enum letter_mark mark)
{
    static const char *const words[LETTER_MARKS] = {
        "none",        "loop",     "report",     "reaction", "calendar", "auto_submitted",
        "null_sender", "auto_header", "suppress", "precedence", "list",  "daemon"};

    return words[mark];
}

const char *letter_from_fault_str(enum letter_from_fault fault)
{
    static const char *const words[LETTER_FROM_FAULTS] = {"ok", "missing", "several", "group",
                                                          "bad"};

    return words[fault];
}

const char *letter_problem_str(enum letter_problem problem)
{
    static const char *const words[LETTER_PROBLEMS] = {"fine", "no_text", "encrypted", "tnef"};

    return words[problem];
}

void letter_free(struct letter *letter)
{
    if (letter == NULL)
        return;
    free(letter->from);
    free(letter->from_domain);
    free(letter->from_name);
    free(letter->subject);
    free(letter->message_id);
    free(letter->in_reply_to);
    for (size_t i = 0; i < letter->reference_count; i++)
        free(letter->references[i]);
    free(letter->references);
    for (size_t i = 0; i < letter->recipient_count; i++)
        free(letter->recipients[i].address);
    free(letter->recipients);
    free(letter->loop_id);
    for (size_t i = 0; i < letter->authentication_result_count; i++)
        free(letter->authentication_results[i]);
    free(letter->authentication_results);
    report_release(&letter->report);
    free(letter->text);
    free(letter->html_text);
    free(letter);
}

static enum status no_memory(struct err *err)
{
    return err_set(err, ST_NOMEM, "no memory to read a letter");
}

/* ---------------------------------------------------------------- who and to whom */

static enum status read_from(struct letter *letter, const struct scan *scan, struct err *err)
{
    size_t index = 0;
    const char *value = scan_next(scan, "From", &index);
    enum status st = ST_OK;

    letter->from_fault = LETTER_FROM_MISSING;
    if (value && scan_next(scan, "From", &index) != NULL)
        letter->from_fault = LETTER_FROM_SEVERAL;
    else if (value)
        st = address_from(value, &letter->from_fault, &letter->from, &letter->from_name, err);
    if (st != ST_OK)
        return st;
    letter->has_from = letter->from != NULL;
    if (!letter->has_from) {
        letter->from = str_dup("");
        letter->from_name = str_dup("");
    }
    letter->from_domain = str_dup(letter->has_from ? strrchr(letter->from, '@') + 1 : "");
    return letter->from && letter->from_name && letter->from_domain ? ST_OK : no_memory(err);
}

struct gathering {
    struct letter *letter;
    enum letter_source source;
    bool is_out_of_memory;
};

static bool take_recipient(void *arg, const char *address, size_t n)
{
    struct gathering *g = arg;
    struct letter *l = g->letter;

    if (l->recipient_count == LETTER_RECIPIENTS_MAX)
        return false;
    if (n > RECIPIENT_MAX)
        return true;
    l->recipients[l->recipient_count].source = g->source;
    l->recipients[l->recipient_count].address = str_ndup(address, n);
    g->is_out_of_memory = l->recipients[l->recipient_count].address == NULL;
    l->recipient_count += !g->is_out_of_memory;
    return !g->is_out_of_memory;
}

static enum status read_recipients(struct letter *letter, const struct scan *scan,
                                   struct err *err)
{
    static const struct {
        const char *name;
        enum letter_source source;
    } fields[] = {
        {"Delivered-To", LETTER_DELIVERED_TO}, {"X-Original-To", LETTER_X_ORIGINAL_TO},
        {"Envelope-To", LETTER_ENVELOPE_TO},   {"X-Envelope-To", LETTER_ENVELOPE_TO},
        {"To", LETTER_TO},                     {"Cc", LETTER_CC},
    };

    letter->recipients = calloc(LETTER_RECIPIENTS_MAX, sizeof *letter->recipients);
    if (letter->recipients == NULL)
        return no_memory(err);
    for (size_t i = 0; i < COUNT_OF(fields); i++) {
        struct gathering g = {.letter = letter, .source = fields[i].source};
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, fields[i].name, &index)) != NULL;) {
            address_each(value, take_recipient, &g);
            if (g.is_out_of_memory)
                return no_memory(err);
        }
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- ids */

/* The next "<…>" of a value, without blanks inside; false: no more. */
static bool next_id(const char **p, const char **ret_id, size_t *ret_n)
{
    for (const char *lt; (lt = strchr(*p, '<')) != NULL;) {
        size_t n = strcspn(lt + 1, "<> ");

        *p = lt + 1 + n;
        if (**p == '>' && n > 0 && n <= ID_MAX) {
            *ret_id = lt + 1;
            *ret_n = n;
            return true;
        }
    }
    return false;
}

static char *first_id(const char *value)
{
    const char *id = NULL;
    size_t n = 0;
    char *text;

    if (value == NULL || !next_id(&value, &id, &n))
        return str_dup("");
    text = str_ndup(id, n);
    if (text && !utf8_is_valid(text, n))
        text[0] = '\0';
    return text;
}

static bool take_references(struct letter *letter, const char *value)
{
    const char *id = NULL;
    size_t n = 0;

    while (value && next_id(&value, &id, &n)) {
        char *text;

        if (!utf8_is_valid(id, n))
            continue;
        if ((text = str_ndup(id, n)) == NULL)
            return false;
        if (letter->reference_count == LETTER_REFERENCES_MAX) {
            free(letter->references[0]);
            memmove(letter->references, letter->references + 1,
                    (LETTER_REFERENCES_MAX - 1) * sizeof letter->references[0]);
            letter->reference_count--;
        }
        letter->references[letter->reference_count++] = text;
    }
    return true;
}

static enum status read_ids(struct letter *letter, const struct scan *scan, struct err *err)
{
    const char *in_reply_to = scan_first(scan, "In-Reply-To");

    letter->message_id = first_id(scan_first(scan, "Message-ID"));
    letter->in_reply_to = first_id(in_reply_to);
    letter->references = calloc(LETTER_REFERENCES_MAX, sizeof *letter->references);
    if (letter->message_id == NULL || letter->in_reply_to == NULL || letter->references == NULL ||
        !take_references(letter, scan_first(scan, "References")) ||
        !take_references(letter, in_reply_to))
        return no_memory(err);
    return ST_OK;
}

static enum status read_authentication(struct letter *letter, const struct scan *scan,
                                       struct err *err)
{
    size_t index = 0;

    letter->authentication_results = calloc(LETTER_AUTHRES_MAX, sizeof(char *));
    if (letter->authentication_results == NULL)
        return no_memory(err);
    for (const char *value; letter->authentication_result_count < LETTER_AUTHRES_MAX &&
                            (value = scan_next(scan, "Authentication-Results", &index)) != NULL;) {
        size_t n = strlen(value);
        /* One that is too long says nothing, but keeps its place: authres_judge() stops there. */
        char *kept = str_ndup(value, n > VALUE_MAX ? 0 : n);

        if (kept == NULL)
            return no_memory(err);
        letter->authentication_results[letter->authentication_result_count++] = kept;
    }
    return ST_OK;
}

/* ---------------------------------------------------------------- machines */

static bool begins(const char *text, size_t n, const char *what)
{
    size_t m = strlen(what);

    return n >= m && strncasecmp(text, what, m) == 0;
}

bool letter_address_is_machine(const char *address)
{
    static const char *const whole[] = {"mailer-daemon", "mailerdaemon", "mail-daemon",
                                        "maildaemon",    "mdaemon",      "daemon",
                                        "postmaster",    "bounce",       "bounces",
                                        "autoreply",     "auto-reply",   "autoresponder",
                                        "autorespond",   "mailer"};
    static const char *const beginnings[] = {
        "noreply",     "no-reply",    "no_reply",   "no.reply",       "donotreply", "do-not-reply",
        "do_not_reply", "do.not.reply", "dontreply", "mailer-daemon", "bounce-",    "bounce+",
        "bounce_",     "bounces-",    "bounces+",   "bounces_",       "bounce.",    "bounces.",
        "noresponse",  "no-response", "notreply",   "not-reply"};
    size_t n = strcspn(address, "@");

    if (n == 0)
        return true; /* the null sender */
    for (size_t i = 0; i < COUNT_OF(whole); i++)
        if (strlen(whole[i]) == n && begins(address, n, whole[i]))
            return true;
    for (size_t i = 0; i < COUNT_OF(beginnings); i++)
        if (begins(address, n, beginnings[i]))
            return true;
    return false;
}

/* The first word of a value is one of the list (ended by NULL). */
static bool value_is(const char *value, const char *const *list)
{
    size_t n = strcspn(value, " ;,(");

    for (; *list; list++)
        if (strlen(*list) == n && strncasecmp(value, *list, n) == 0)
            return true;
    return false;
}

/* One of the headers (ended by NULL) is there and doesn't say no. */
static bool has_header(const struct scan *scan, const char *const *names)
{
    static const char *const no[] = {"no", "none", "false", "0", NULL};

    for (; *names; names++) {
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, *names, &index)) != NULL;)
            if (!value_is(value, no))
                return true;
    }
    return false;
}

static bool is_null_sender(const char *return_path)
{
    return return_path && (*return_path == '\0' || strncmp(return_path, "<>", 2) == 0 ||
                           strncmp(return_path, "< >", 3) == 0);
}

/* Programs that say it in the value of a header with other uses. */
static bool is_autoresponder(const struct scan *scan)
{
    static const char *const names[] = {"X-POST-MessageClass", "Preference", "Delivered-To"};
    static const char *const words[] = {"autoresponder", "auto_reply"};

    for (size_t i = 0; i < COUNT_OF(names); i++) {
        size_t index = 0;

        for (const char *value; (value = scan_next(scan, names[i], &index)) != NULL;)
            for (size_t k = 0; k < COUNT_OF(words); k++) {
                size_t n = strlen(value), m = strlen(words[k]);

                if (n >= m && strcasecmp(value + n - m, words[k]) == 0)
                    return true;
            }
    }
    return false;
}

static enum letter_mark header_mark(const struct letter *letter, const struct scan *scan)
{
    static const char *const precedences[] = {"bulk",       "junk",       "list",
                                              "auto_reply", "auto-reply", "autoreply", NULL};
    static const char *const auto_headers[] = {
        "X-Autoreply",      "X-Auto-Reply",       "X-Autorespond",         "X-Auto-Respond",
        "X-Autoresponder",  "X-Auto-Responder",   "X-Auto-Generated",      "X-Autogenerated",
        "X-Mail-Autoreply", "X-Autoreply-From",   "X-Auto-Reply-From",     "X-Vacation",
        "X-AutoReply-To",   "X-Amazon-Auto-Reply", "X-Failed-Recipients",  "X-Out-Of-Office",
        "X-Facebook-Notify", "X-FC-MachineGenerated", NULL};
    static const char *const suppress[] = {"X-Auto-Response-Suppress", NULL};
    /* Not Feedback-ID: some providers put it into what people write. */
    static const char *const list_headers[] = {
        "List-Id",   "List-Unsubscribe", "List-Post",      "List-Help",
        "X-List-Id", "Mailing-List",     "X-Mailing-List", "X-BeenThere", NULL};
    static const char *const no[] = {"no", NULL};
    size_t index = 0;

    for (const char *value; (value = scan_next(scan, "Auto-Submitted", &index)) != NULL;)
        if (!value_is(value, no))
            return LETTER_MARK_AUTO_SUBMITTED;
    index = 0;
    if (is_null_sender(scan_first(scan, "Return-Path")))
        return LETTER_MARK_NULL_SENDER;
    if (has_header(scan, auto_headers))
        return LETTER_MARK_AUTO_HEADER;
    if (is_autoresponder(scan))
        return LETTER_MARK_AUTO_HEADER;
    if (has_header(scan, suppress))
        return LETTER_MARK_SUPPRESS;
    for (const char *value; (value = scan_next(scan, "Precedence", &index)) != NULL;)
        if (value_is(value, precedences))
            return LETTER_MARK_PRECEDENCE;
    if (has_header(scan, list_headers))
        return LETTER_MARK_LIST;
    if (letter->has_from && letter_address_is_machine(letter->from))
        return LETTER_MARK_DAEMON;
    return LETTER_MARK_NONE;
}

/* Beginnings of subjects of machines' answers, after "Re:" and the like; any case (folded). */
static const char *const automatic_subjects[] = {
    "automatic reply", "auto reply", "auto-reply", "autoreply", "auto response", "auto-response",
    "automated reply", "automated response", "auto:", "out of office", "out of the office",
    "out-of-office", "ooo:", "on vacation", "vacation reply", "away from", "i am away",
    "i'm away", "undeliverable", "undelivered", "undeliv", "delivery status notification",
    "delivery failure", "delivery delayed", "mail delivery", "returned mail", "failure notice",
    "message not delivered", "warning: could not send", "read:", "not read:", "return receipt",
    "read receipt", "disposition notification", "accepted:", "declined:", "tentative:",
    "automatische antwort", "automatische antwoord", "automatisch antwoord", "autom. antwort",
    "abwesenheit", "abwesend", "unzustellbar", "gelesen:", "lesebestätigung", "afwezig",
    "réponse automatique", "reponse automatique", "absence du bureau", "absent", "non remis",
    "lu :", "accusé de", "respuesta automática", "respuesta automatica", "fuera de la oficina",
    "no se puede entregar", "leído:", "risposta automatica", "fuori sede", "fuori ufficio",
    "assenza", "letto:", "resposta automática", "resposta automatica", "fora do escritório",
    "ausência", "lida:", "automatyczna odpowiedź", "autoodpowiedź", "odpowiedź automatyczna",
    "poza biurem", "nieobecność", "automatická odpověď", "automatická odpoveď",
    "mimo kancelář", "автоответ", "автоматический ответ", "автоматична відповідь",
    "автовідповідь", "нет на работе", "вне офиса", "нет на месте", "răspuns automat",
    "raspuns automat", "în afara biroului", "autosvar", "automatiskt svar", "automatisk svar",
    "frånvaro", "fraværende", "ikke til stede", "automaattinen vastaus", "poissa",
    "automatikus válasz",
    "házon kívül", "otomatik yanıt", "otomatik cevap", "ofis dışında", "αυτόματη απάντηση",
    "εκτός γραφείου", "自動返信", "自動応答", "不在", "自动回复", "自动答复", "自動回覆",
    "外出", "자동 회신", "자동 응답", "부재중", "автоматичен отговор", "automatski odgovor",
    "automatinis atsakymas", "automātiskā atbilde", "automaatvastus", "samodejni odgovor",
    "message d'absence", "je suis absent", "votre message a été reçu", "in vacanza", "en vacances",
    "de vacaciones", "av. reply", "אוטומטית", "מענה אוטומטי", "תשובה אוטומטית", "הודעת היעדרות",
    "رد تلقائي", "الرد التلقائي", "پاسخ خودکار", "自动应答", "自動應答", "休假", "休暇",
    "ตอบกลับอัตโนมัติ", "trả lời tự động", "thư trả lời tự động", "balasan otomatis",
    "jawapan automatik", "sjálfvirkt svar", "erantzun automatikoa", "resposta automàtica",
    "аутоматски одговор", "автоматски одговор", "аўтаматычны адказ", "স্বয়ংক্রিয় উত্তর",
    "स्वचालित उत्तर", "urlaub", "ferienabwesenheit", "im urlaub", "out of town", "not available",
    "прочитано:", "citit:", "leest:", "läst:", "læst:", "lest:", "luettu:", "okundu:", "přečteno:",
    "přečtené:", "przeczytano:", "elolvasva:", "開封済み:", "已读:", "已讀:", "읽음:",
    "przeczytane:", "gelezen:", "прийнято:", "принято:", "zugesagt:", "abgesagt:", "accepté :",
    "refusé :", "aceptada:", "aceptado:", "accettato:", "rifiutato:", "aceite:", "geaccepteerd:"};

/* Wordings of reactions, somewhere in the first line of the text (folded). */
static const char *const reaction_words[] = {
    "reacted via gmail", "reacted to your message", "reacted to your email",
    "reacted to this message", "reacted to this email", "hat auf diese nachricht reagiert",
    "a réagi à ce message", "отреагировал(а) на это сообщение", "a reacționat la acest mesaj",
    "hat auf ihre nachricht reagiert", "hat auf deine nachricht reagiert", "über gmail reagiert",
    "a réagi à votre message", "a réagi via gmail", "ha reaccionado a tu mensaje",
    "reaccionó a tu mensaje", "ha reaccionado mediante gmail", "ha reagito al tuo messaggio",
    "ha reagito tramite gmail", "reagiu à sua mensagem", "reagiu pelo gmail",
    "heeft gereageerd op je bericht", "heeft gereageerd via gmail",
    "zareagował(a) na twoją wiadomość", "отреагировал(а) на ваше сообщение",
    "отреагировал на ваше сообщение", "отреагировала на ваше сообщение",
    "a reacționat la mesajul", "liked your message", "loved your message"};

/* What a program says of a reaction in any language: a picture or a colon at the end, the stem of
 * the word, and mail. */
static bool tells_reaction(const char *line)
{
    static const char *const stems[] = {
        "reacted", "reagiert", "réagi", "reaccion", "reagito", "reagiu", "gereageerd", "zareagow",
        "отреагир", "відреагув", "reacționat", "reagera", "reageret", "reagert", "reagoi",
        "reagova", "reagált", "tepki verdi", "αντέδρασε", "リアクション", "反应", "回应", "回應",
        "반응", "реагира", "reagira", "bày tỏ cảm xúc", "bereaksi", "הגיב", "تفاعل", NULL};
    const char *at = line;
    size_t n = strlen(line);
    unsigned first = n > 0 ? decode_char(&at) : 0;
    bool is_picture =
        (first >= 0x2190 && first <= 0x2bff) || (first >= 0x1f000 && first <= 0x1faff);

    return n > 0 && n <= REACTION_MAX && (is_picture || line[n - 1] == ':') &&
           line_has_stem(line, stems) && line_is_about_mail(line);
}

/* text (normalised, its beginning) with its letters in lower case, as far as they have two. */
static char *folded(const char *text, size_t n)
{
    char *plain, *ret;

    if (n > WORDING_MAX)
        for (n = WORDING_MAX; n > 0 && ((unsigned char)text[n] & 0xc0) == 0x80;)
            n--;
    plain = reply_normalise(text, n);
    ret = plain ? decode_lower(plain) : NULL;
    free(plain);
    return ret;
}

/* Past "Re:", "AW:" and their like. */
static const char *skip_reply_marks(const char *subject)
{
    static const char *const marks[] = {"re:", "aw:", "sv:", "vs:", "antw:", "odp:", "res:", "rif:",
                                        "ynt:", "на:", "re :", "fw:", "fwd:", "wg:"};

    for (size_t i = 0; i < COUNT_OF(marks); i++) {
        if (str_starts(subject, marks[i])) {
            subject += strlen(marks[i]);
            subject += strspn(subject, " ");
            i = (size_t)-1; /* from the first one again */
        }
    }
    return subject;
}

/* Words of somebody's absence, anywhere in the first line (folded). */
static const char *const absence_words[] = {
    "out of the office", "out of office", "on vacation", "on annual leave", "on holiday until",
    "automatic reply", "automated reply", "auto-reply", "automatic response", "nicht im büro",
    "nicht im haus", "außer haus", "abwesenheitsnotiz", "automatische antwort", "im urlaub",
    "absent du bureau", "réponse automatique", "en congé", "fuera de la oficina",
    "respuesta automática", "de vacaciones hasta", "fuori ufficio", "risposta automatica",
    "in ferie", "fora do escritório", "resposta automática", "de férias", "niet op kantoor",
    "automatisch antwoord", "met vakantie", "poza biurem", "na urlopie", "automatyczna odpowiedź",
    "mimo kancelář", "automatická odpověď", "na dovolené", "автоматический ответ", "автоответ",
    "в отпуске", "автоматична відповідь", "у відпустці", "răspuns automat", "în concediu",
    "autosvar", "på semester", "på ferie", "lomalla", "automatikus válasz", "szabadságon",
    "otomatik yanıt", "izindeyim", "αυτόματη απάντηση", "自動返信", "自动回复", "自動回覆",
    "不在にして", "부재중", "휴가 중",
    "בחופשה", "מחוץ למשרד", "في إجازة", "休假", "休暇をいただいて", "休暇中", "không có mặt",
    "sedang cuti", "na odmoru", "na dopustu", "atostogauju", "atvaļinājumā", "puhkusel",
    "на отдыхе", "буду отсутствовать", "я отсутствую", "меня нет на", "я буду відсутн",
    "voi fi plecat", "lipsesc de la birou", "sunt plecat", "je serai absent", "je suis absent",
    "ich bin abwesend", "bin ich nicht erreichbar", "nicht erreichbar", "estaré ausente",
    "estou ausente", "sono assente", "jestem nieobecn", "jsem nepřítom", "ik ben afwezig",
    "jeg er fraværende", "jag är inte på", "en poissa ole", "nem vagyok elérhető"};

static bool subject_is_automatic(const char *subject)
{
    const char *p = skip_reply_marks(subject);

    for (size_t i = 0; i < COUNT_OF(automatic_subjects); i++)
        if (str_starts(p, automatic_subjects[i]))
            return true;
    return false;
}

static const char *skip_blank_lines(const char *text)
{
    while (*text != '\0' && strchr(" \t\n", *text) != NULL)
        text++;
    return text;
}

/* "Guten Tag," and its like: what the letter has to say comes below. */
static bool is_greeting(const char *line, size_t n)
{
    static const char *const ends[] = {",", "!", "\u3002", "\uff0c", "\uff01", "\u3001"};

    while (n > 0 && (line[n - 1] == ' ' || line[n - 1] == '\t'))
        n--;
    for (size_t i = 0; n <= GREETING_MAX && i < COUNT_OF(ends); i++) {
        size_t m = strlen(ends[i]);

        if (n >= m && memcmp(line + n - m, ends[i], m) == 0)
            return true;
    }
    return false;
}

static enum status read_wording(struct letter *letter, struct err *err)
{
    const char *line = skip_blank_lines(letter->text);
    size_t n = strcspn(line, "\n");
    char *first = folded(is_greeting(line, n) ? skip_blank_lines(line + n) : line,
                         is_greeting(line, n) ? strcspn(skip_blank_lines(line + n), "\n") : n);
    char *subject = folded(letter->subject, strlen(letter->subject));
    enum status st = first && subject ? ST_OK : no_memory(err);

    if (st == ST_OK && letter->mark == LETTER_MARK_NONE && tells_reaction(first))
        letter->mark = LETTER_MARK_REACTION;
    for (size_t i = 0; st == ST_OK && i < COUNT_OF(reaction_words); i++) {
        bool is_told = strstr(first, reaction_words[i]) != NULL ||
                       (strstr(subject, reaction_words[i]) != NULL &&
                        skip_reply_marks(subject) == subject);

        if (is_told && letter->mark == LETTER_MARK_NONE)
            letter->mark = LETTER_MARK_REACTION;
    }
    if (st == ST_OK)
        letter->is_perhaps_automatic = subject_is_automatic(subject);
    for (size_t i = 0; st == ST_OK && i < COUNT_OF(absence_words); i++)
        if (strstr(first, absence_words[i]) != NULL)
            letter->is_perhaps_automatic = true;
    free(first);
    free(subject);
    return st;
}

static void read_marks(struct letter *letter, const struct scan *scan, const struct body *body)
{
    if (letter->loop_id[0] != '\0')
        letter->mark = LETTER_MARK_LOOP;
    else if (body->has_report)
        letter->mark = LETTER_MARK_REPORT;
    else if (body->has_reaction)
        letter->mark = LETTER_MARK_REACTION;
    else if (body->has_calendar_reply)
        letter->mark = LETTER_MARK_CALENDAR;
    else
        letter->mark = header_mark(letter, scan);
}

/* ---------------------------------------------------------------- the whole */

static enum status read_headers(struct letter *letter, const struct scan *scan, struct err *err)
{
    const char *subject = scan_first(scan, "Subject");
    const char *loop_id = scan_first(scan, "X-Loop-Id");
    enum status st = read_from(letter, scan, err);

    if (st == ST_OK)
        st = read_recipients(letter, scan, err);
    if (st == ST_OK)
        st = read_ids(letter, scan, err);
    if (st == ST_OK)
        st = read_authentication(letter, scan, err);
    if (st != ST_OK)
        return st;
    letter->subject = decode_header(subject ? subject : "", MAIL_HEADER_TEXT_MAX, NULL);
    letter->loop_id = decode_header(loop_id ? loop_id : "", MAIL_HEADER_TEXT_MAX, NULL);
    return letter->subject && letter->loop_id ? ST_OK : no_memory(err);
}

/* Plain before HTML; the other one is kept beside it.  But a plain twin does not show what was
 * struck out: then the HTML is what was written. */
static enum status read_text(struct letter *letter, struct body *body, struct err *err)
{
    bool is_plain = body->plain.len > 0 && !body->hides;
    struct buf *text = is_plain ? &body->plain : &body->html;

    letter->is_cut = letter->is_cut || body->is_cut;
    letter->problem = text->len > 0         ? LETTER_FINE
                      : body->has_encrypted ? LETTER_ENCRYPTED
                      : body->has_tnef      ? LETTER_TNEF
                                            : LETTER_NO_TEXT;
    letter->text = str_dup(text->data);
    if (letter->text == NULL)
        return no_memory(err);
    if (is_plain && body->html.len > 0) {
        letter->html_text = str_dup(body->html.data);
        if (letter->html_text == NULL)
            return no_memory(err);
    }
    letter->has_report = body->has_report;
    letter->report = body->report;
    body->report = REPORT_INIT;
    return ST_OK;
}

enum status letter_read(const void *bytes, size_t n, const struct letter_limits *limits,
                        struct letter **ret_letter, struct err *err)
{
    struct letter *letter = calloc(1, sizeof *letter);
    struct scan scan = SCAN_INIT;
    struct body body = {.report = REPORT_INIT};
    enum status st = letter ? scan_letter(bytes, n, limits, &scan, err) : no_memory(err);

    if (st != ST_OK)
        goto out;
    st = read_headers(letter, &scan, err);
    letter->is_cut = scan.is_cut;
    if (st == ST_OK)
        st = body_read(&scan.entity, limits, &body, err);
    if (st != ST_OK)
        goto out;
    read_marks(letter, &scan, &body);
    st = read_text(letter, &body, err);
    body_release(&body);
    if (st == ST_OK)
        st = read_wording(letter, err);
    if (st != ST_OK)
        goto out;
    letter->is_automatic = letter->mark != LETTER_MARK_NONE;
    *ret_letter = letter;
    letter = NULL;
out:
    scan_release(&scan);
    letter_free(letter);
    return st;
}

/* ---------------------------------------------------------------- the fingerprint */

/* Digests of any length without memory: each piece is digested behind the sum so far. */
struct summing {
    const struct digest *digest;
    unsigned char block[DIGEST_SIZE + 4096];
    size_t n;
};

static void sum_flush(struct summing *s)
{
    unsigned char sum[DIGEST_SIZE];

    s->digest->sha256(s->digest->arg, s->block, DIGEST_SIZE + s->n, sum);
    memcpy(s->block, sum, DIGEST_SIZE);
    s->n = 0;
}

static void sum_add(struct summing *s, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t room = sizeof s->block - DIGEST_SIZE - s->n;
        size_t take = n < room ? n : room;

        memcpy(s->block + DIGEST_SIZE + s->n, bytes, take);
        s->n += take;
        bytes += take;
        n -= take;
        if (s->n == sizeof s->block - DIGEST_SIZE)
            sum_flush(s);
    }
}

/* The header lines that count, their folds with them; where the body begins. */
static size_t sum_headers(struct summing *s, const char *bytes, size_t n, size_t cr)
{
    bool is_ours = false;
    size_t at = 0, next = 0;

    for (; at < n; at += next) {
        size_t len = scan_line(bytes + at, n - at, at >= cr, &next);
        const char *line = bytes + at;
        size_t name = 0;

        if (len == 0)
            return at + next;
        if (len >= 5 && (memcmp(line, "From ", 5) == 0 || (*line == '>' && len >= 6))) {
            continue;
        } else if (*line != ' ' && *line != '\t') {
            if (!scan_is_header(line, len, &name))
                return at;
            is_ours = (name == 4 && strncasecmp(line, "From", 4) == 0) ||
                      (name == 10 && strncasecmp(line, "Message-ID", 10) == 0);
        }
        if (is_ours) {
            sum_add(s, line, len);
            sum_add(s, "\n", 1);
        }
    }
    return at;
}

void mail_fingerprint(const void *bytes, size_t n, const struct digest *digest,
                      unsigned char ret[DIGEST_SIZE])
{
    struct summing s = {.digest = digest, .n = 0};
    const char *p = bytes;
    size_t cr = scan_cr_from(p, n);
    size_t at = sum_headers(&s, p, n, cr), next;
    size_t blank = 0; /* line ends not summed yet: those at the very end don't count */

    sum_add(&s, "\n", 1);
    for (; at < n; at += next) {
        size_t len = scan_line(p + at, n - at, at >= cr, &next);

        for (; len > 0 && blank > 0; blank--)
            sum_add(&s, "\n", 1);
        sum_add(&s, p + at, len);
        blank++;
    }
    sum_flush(&s);
    memcpy(ret, s.block, DIGEST_SIZE);
}
