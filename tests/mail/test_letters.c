/*
 * Whole answers as mail programs write them: HTML of many makers, plain text, flowed text, with
 * the answer above, below and between (M1, P05–P10, P34).  A row a letter.
 */
#include "mail/reading.h"

#include "base/str.h"

struct row {
    const char *name;
    const char *type; /* Content-Type */
    const char *body;
    const char *top;     /* the reply area, lines joined by "|" */
    const char *between; /* unquoted below or between quotes */
};

#define HTML "text/html; charset=utf-8"
#define TEXT "text/plain; charset=utf-8"
#define FLOWED "text/plain; charset=utf-8; format=flowed"
#define OLD_HTML "<div>b1-b3</div><div>resign</div>"

static const struct row rows[] = {
    {"gmail web", HTML,
     "<div dir=\"ltr\">e2-e4</div><br><div class=\"gmail_quote gmail_quote_container\"><div "
     "dir=\"ltr\" class=\"gmail_attr\">Am Di., 3. Feb. 2026 um 11:00 Uhr schrieb Club &lt;<a "
     "href=\"mailto:g@club.example\">g@club.example</a>&gt;:<br></div><blockquote "
     "class=\"gmail_quote\" style=\"border-left:1px solid\">" OLD_HTML "</blockquote></div>",
     "e2-e4", ""},
    {"gmail, old style, attribution outside a class", HTML,
     "<div dir=\"ltr\">e2-e4</div><div class=\"gmail_extra\"><br><div class=\"gmail_quote\">On "
     "Tue, "
     "Feb 3, 2026 at 11:00 AM, Club <span dir=\"ltr\">&lt;g@club.example&gt;</span> wrote:<br>"
     "<blockquote class=\"gmail_quote\">" OLD_HTML "</blockquote></div><br></div>",
     "e2-e4", ""},
    {"gmail, answered below", HTML,
     "<div dir=\"ltr\"><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Tue, Feb 3, 2026 "
     "Club wrote:<br></div><blockquote class=\"gmail_quote\">" OLD_HTML
     "</blockquote><div><br></div><div>e2-e4</div></div></div>",
     "", "e2-e4"},
    {"gmail, answered in between", HTML,
     "<div dir=\"ltr\"><div class=\"gmail_quote\"><div class=\"gmail_attr\">On Tue, Feb 3, 2026 "
     "Club wrote:<br></div><blockquote class=\"gmail_quote\">b1-b3</blockquote><div>e2-e4</div>"
     "<blockquote class=\"gmail_quote\">resign</blockquote></div></div>",
     "", "e2-e4"},
    {"gmail forward", HTML,
     "<div dir=\"ltr\">e2-e4<br><br><div class=\"gmail_quote\"><div "
     "class=\"gmail_attr\">---------- "
     "Forwarded message ---------<br>Von: <b>Club</b><br></div><br>resign</div></div>",
     "e2-e4", ""},
    {"gmail on a telephone", HTML,
     "<div dir=\"auto\">e2-e4</div><div><br></div><div "
     "class=\"gmail_signature\">Anna<br>resign</div>"
     "<div class=\"gmail_quote\"><blockquote>" OLD_HTML "</blockquote></div>",
     "e2-e4", ""},
    {"outlook desktop", HTML,
     "<html xmlns:o=\"urn:x\"><head><meta charset=utf-8><style><!-- p.MsoNormal {margin:0} "
     "--></style><!--[if gte mso 9]><xml></xml><![endif]--></head><body lang=DE><div "
     "class=WordSection1><p class=MsoNormal>e2-e4<o:p></o:p></p><p "
     "class=MsoNormal><o:p>&nbsp;</o:p></p><div style='border:none;border-top:solid #E1E1E1 "
     "1.0pt;padding:3.0pt 0cm 0cm 0cm'><p class=MsoNormal><b><span>Von:</span></b><span> Club "
     "&lt;g@club.example&gt; <br><b>Gesendet:</b> Dienstag, 3. Februar 2026 11:00<br><b>An:</b> "
     "Anna<br><b>Betreff:</b> Ihr Zug<o:p></o:p></span></p></div><p class=MsoNormal>b1-b3</p><p "
     "class=MsoNormal>resign</p></div></body></html>",
     "e2-e4", ""},
    {"outlook desktop, several commands", HTML,
     "<p class=MsoNormal>e2-e4</p><p class=MsoNormal>note good luck</p><p "
     "class=MsoNormal>&nbsp;</p><p class=MsoNormal>-----Original Message-----<br>From: Club<br>"
     "resign</p>",
     "e2-e4|note good luck", ""},
    {"outlook web, ids marked by a second pass", HTML,
     "<div class=\"x_elementToProof\">e2-e4</div><div id=\"x_appendonsend\"></div><hr "
     "tabindex=\"-1\"><div id=\"x_divRplyFwdMsg\"><b>Frá:</b> Club</div>" OLD_HTML,
     "e2-e4", ""},
    {"outlook for ios", HTML,
     "<div dir=\"ltr\">e2-e4</div><div id=\"ms-outlook-mobile-signature\"><div>Hanki <a>Outlook "
     "for "
     "iOS</a></div></div><div id=\"mail-editor-reference-message-container\"><hr><div>"
     "<strong>L\u00e4hett\u00e4j\u00e4:</strong> Club</div>" OLD_HTML "</div>",
     "e2-e4", ""},
    {"hotmail of old", HTML,
     "<body class='hmmessage'><div dir='ltr'>e2-e4<br><br><div><hr id=\"stopSpelling\">Date: Tue, "
     "3 "
     "Feb 2026 11:00:00 +0100<br>From: g@club.example<br>resign</div></div></body>",
     "e2-e4", ""},
    {"apple mail", HTML,
     "<html><head></head><body style=\"word-wrap: break-word;\">e2-e4<br "
     "id=\"lineBreakAtBeginningOfMessage\"><div><br><blockquote type=\"cite\"><div>On 3 Feb 2026, "
     "at "
     "11:00, Club &lt;g@club.example&gt; wrote:</div><br>" OLD_HTML "</blockquote></div></body>",
     "e2-e4", ""},
    {"apple mail, typed into the signature", HTML,
     "<div id=\"AppleMailSignature\">e2-e4<br><br>Sent from my iPhone</div><div><br>On 3 Feb 2026, "
     "at 11:00, Club wrote:<br><br></div><blockquote type=\"cite\">" OLD_HTML "</blockquote>",
     "e2-e4", ""},
    {"apple mail, answered below", HTML,
     "<blockquote type=\"cite\"><div>Il giorno 3 feb 2026, alle ore 11:00, Club ha "
     "scritto:</div>b1-b3</blockquote><div>e2-e4</div>",
     "", "e2-e4"},
    {"thunderbird", HTML,
     "<p>e2-e4</p><div class=\"moz-cite-prefix\">Am 03.02.26 um 11:00 schrieb Club:<br></div>"
     "<blockquote type=\"cite\" cite=\"mid:x\">" OLD_HTML "</blockquote><pre "
     "class=\"moz-signature\">-- \nAnna</pre>",
     "e2-e4", ""},
    {"thunderbird, answered below, signature", HTML,
     "<div class=\"moz-cite-prefix\">Le 03/02/2026, Club a \u00e9crit :</div><blockquote>b1-b3"
     "</blockquote><p>e2-e4</p><pre class=\"moz-signature\">-- \nresign</pre>",
     "", "e2-e4"},
    {"thunderbird, plain text as html", HTML,
     "<div class=\"moz-text-plain\"><pre wrap>e2-e4\nnote a  b\n</pre></div>", "e2-e4|note a b",
     ""},
    {"yahoo", HTML,
     "<div class=\"yahoo-style-wrap\"><div>e2-e4</div></div><div id=\"ydp1yahoo_quoted_1\" "
     "class=\"ydp1yahoo_quoted\"><div>On Tuesday, Club wrote:</div>" OLD_HTML "</div>",
     "e2-e4", ""},
    {"proton", HTML,
     "<div>e2-e4</div><div class=\"protonmail_signature_block\">Sent with Proton Mail</div><div "
     "class=\"protonmail_quote\">On Tuesday, 3 February 2026, Club wrote:<br><blockquote "
     "type=\"cite\">b1-b3</blockquote>resign</div>",
     "e2-e4", ""},
    {"gmx", HTML,
     "<div>e2-e4</div><div name=\"quote\" style=\"margin:10px; border-left:2px solid "
     "#C3D9E5;\"><div>"
     "<b>Gesendet:</b> Dienstag<br><b>Von:</b> Club</div>" OLD_HTML "</div>",
     "e2-e4", ""},
    {"a bar at the left", HTML,
     "<div>e2-e4</div><div style=\"padding-left: 5px; border-left: 3px solid rgb(0, 0, 255)\">"
     OLD_HTML "</div>",
     "e2-e4", ""},
    {"fastmail", HTML,
     "<!DOCTYPE html><html><head><title>resign</title></head><body><div>e2-e4<br></div><div>"
     "<br></div><div>On Tue, 3 Feb 2026, at 11:00 AM, Club wrote:<br></div><blockquote "
     "type=\"cite\" "
     "id=\"qt\">" OLD_HTML "</blockquote></body></html>",
     "e2-e4", ""},
    {"zimbra", HTML,
     "<div>e2-e4</div><hr id=\"zwchr\" data-marker=\"__DIVIDER__\"><div><b>De: "
     "</b>Club<br><b>\u00c0: "
     "</b>Anna<br></div>" OLD_HTML,
     "e2-e4", ""},
    {"roundcube", HTML,
     "<p>e2-e4</p><p id=\"reply-intro\">Dne 3. 2. 2026 v 11:00, Club napsal:</p><blockquote "
     "type=\"cite\">" OLD_HTML "</blockquote>",
     "e2-e4", ""},
    {"k-9", HTML,
     "e2-e4<br><br><div class=\"gmail_quote\">Op 3 februari 2026 11:00:00 CET schreef "
     "Club:<blockquote class=\"gmail_quote\">" OLD_HTML "</blockquote></div>",
     "e2-e4", ""},
    {"samsung", HTML,
     "<div dir=\"auto\">e2-e4</div><div id=\"composer_signature\">Von meinem Samsung Galaxy "
     "Smartphone gesendet.</div><div>-------- Urspr\u00fcngliche Nachricht --------</div><div>Von: "
     "Club</div><div>Datum: 03.02.26 11:00</div>" OLD_HTML,
     "e2-e4", ""},
    {"mail.ru", HTML,
     "<div>e2-e4</div><blockquote style=\"border-left:1px solid #0857A6\">\u0412\u0442\u043e\u0440"
     "\u043d\u0438\u043a, 3 \u0444\u0435\u0432\u0440\u0430\u043b\u044f 2026 \u043e\u0442 Club:<br>"
     OLD_HTML "</blockquote>",
     "e2-e4", ""},
    {"yandex", HTML,
     "<div>e2-e4</div><div> </div><div>03.02.2026, 11:00, \"Club\" &lt;g@club.example&gt;:</div>"
     "<blockquote>" OLD_HTML "</blockquote>",
     "e2-e4", ""},
    {"qq mail", HTML,
     "<div>e2-e4</div><div><br></div><div style=\"font-size:12px\">------------------ "
     "\u539f\u59cb\u90ae\u4ef6 ------------------</div><div><b>\u53d1\u4ef6\u4eba:</b> Club</div>"
     OLD_HTML,
     "e2-e4", ""},
    {"naver", HTML,
     "<div>e2-e4</div><p>-----Original Message-----<br><b>From:</b> Club<br><b>To:</b> Anna<br>"
     "<b>Sent:</b> 2026-02-03 (\ud654) 11:00:00<br><b>Subject:</b> Re</p>" OLD_HTML,
     "e2-e4", ""},
    {"zoho", HTML,
     "<div>e2-e4</div><br><div class=\"zmail_extra\">---- On Tue, 03 Feb 2026 11:00:00 +0100 "
     "<b>Club</b> wrote ----<br><blockquote>" OLD_HTML "</blockquote></div>",
     "e2-e4", ""},
    {"tutanota", HTML,
     "e2-e4<br><br>-- <br>Sent with Tuta<br><br>3 Feb 2026, 11:00 by "
     "g@club.example:<br><blockquote "
     "class=\"tutanota_quote\">" OLD_HTML "</blockquote>",
     "e2-e4", ""},
    {"notes", HTML,
     "<font>e2-e4</font><br><br><font color=#990099>-----Club/Example wrote: -----</font>"
     OLD_HTML,
     "e2-e4", ""},
    {"a header block is marked, what it heads is not", HTML,
     "<div>e2-e4</div><div class=\"quote\"><b>From:</b> Club<br><b>Sent:</b> 3 Feb<br><b>To:</b> "
     "Anna"
     "<br><b>Subject:</b> x</div><div>resign</div>",
     "e2-e4", ""},
    {"spark", HTML,
     "<div name=\"messageBodySection\">e2-e4</div><div name=\"messageSignatureSection\"><br>Anna"
     "</div><div name=\"messageReplySection\">On Feb 3, 2026 at 11:00 +0100, Club, wrote:<br>"
     "<blockquote style=\"border-left-style: solid;\">" OLD_HTML "</blockquote></div>",
     "e2-e4", ""},
    {"a newline in the source is no line", HTML, "<p>place R p4\n N n3  B\t o1</p>",
     "place R p4 N n3 B o1", ""},
    {"white space kept by style", HTML,
     "<div style=\"white-space: pre-wrap\">e2-e4\nnote x</div>", "e2-e4|note x", ""},
    {"hidden text", HTML,
     "<div style=\"display:none\">resign</div><span style='mso-hide:all'>resign</span><div "
     "hidden>resign</div><p>e2-e4</p>",
     "e2-e4", ""},
    {"entities", HTML, "Rd4&#8211;d8&nbsp;<br>e2&ndash;e4&zwnj;<br>e7-e8&equals;Q&#x0;",
     "Rd4-d8|e2-e4|e7-e8=Q\ufffd", ""},
    {"broken nesting", HTML,
     "<div><b><p>e2-e4</b></i></div></p></div></blockquote><blockquote><div>resign</blockquote>",
     "e2-e4", ""},
    {"a quote that never ends", HTML, "<p>e2-e4<blockquote><p>b1-b3<p>resign", "e2-e4", ""},
    {"a table as banner and footer", HTML,
     "<table><tr><td>CAUTION: This email came from outside of the organisation, so please be "
     "careful</td></tr></table><p>e2-e4</p><hr><p>Example Ltd, registered in England</p>",
     "e2-e4", ""},
    {"script and style say nothing", HTML,
     "<style>resign</style><script>document.write('<p>resign')</script><p>e2-e4<!-- resign -->"
     "</p>",
     "e2-e4", ""},
    {"text: mutt, answered between", TEXT,
     "On Tue, Feb 03, 2026 at 11:00:00AM +0100, Club wrote:\n> Your move?\n\ne2-e4\n\n> Anything "
     "else?\n\nNo.\n\n-- \nAnna\n",
     "", "e2-e4|No."},
    {"text: alpine", TEXT,
     "e2-e4\n\nOn Tue, 3 Feb 2026, Club wrote:\n\n> b1-b3\n", "e2-e4", ""},
    {"text: gnus", TEXT,
     "Club <g@club.example> writes:\n\n> b1-b3\n\ne2-e4\n", "", "e2-e4"},
    {"text: claws", TEXT,
     "On Tue, 3 Feb 2026 11:00:00 +0100\nClub <g@club.example> wrote:\n\n> b1-b3\n\ne2-e4\n", "",
     "e2-e4"},
    {"text: the bat", TEXT,
     "e2-e4\n\n\u0412\u044b \u043f\u0438\u0441\u0430\u043b\u0438 3 \u0444\u0435\u0432\u0440\u0430"
     "\u043b\u044f 2026 \u0433., 11:00:00:\n\nC> b1-b3\nC> resign\n",
     "e2-e4", ""},
    {"text: outlook express", TEXT,
     "e2-e4\n\n----- Original Message ----- \nFrom: \"Club\" <g@club.example>\nTo: "
     "<anna@example.org>\nSent: Tuesday, February 03, 2026 11:00 AM\nSubject: Your move\n\n\n> "
     "b1-b3\n> resign\n",
     "e2-e4", ""},
    {"text: fairemail", TEXT,
     "e2-e4\n\nFeb 3, 2026 11:00:00 AM Club <g@club.example>:\n\n> b1-b3\n", "e2-e4", ""},
    {"text: evolution", TEXT,
     "e2-e4\n\nOn Tue, 2026-02-03 at 11:00 +0100, Club wrote:\n> b1-b3\n", "e2-e4", ""},
    {"text: kmail", TEXT,
     "Am Dienstag, 3. Februar 2026, 11:00:00 Mitteleurop\u00e4ische Normalzeit schrieb Club:\n> "
     "b1-b3\n\ne2-e4\n",
     "", "e2-e4"},
    {"text: sylpheed ja", TEXT,
     "e2-e4\n\nClub <g@club.example> \u3055\u3093\u306f\u66f8\u304d\u307e\u3057\u305f:\n\n> b1\n",
     "e2-e4", ""},
    {"text: blackberry", TEXT,
     "e2-e4\nSent from my BlackBerry 10 smartphone on the Example network.\nFrom: Club\nSent: "
     "Tuesday, February 3, 2026 11:00\nTo: Anna\nSubject: Your move\n\nresign\n",
     "e2-e4", ""},
    {"text: aol", TEXT,
     "e2-e4\n\n\n-----Original Message-----\nFrom: Club <g@club.example>\nTo: anna\nSent: Tue, Feb "
     "3, 2026 11:00 am\nSubject: Your move\n\nresign\n",
     "e2-e4", ""},
    {"text: windows mail", TEXT,
     "e2-e4\n\nSent from Mail for Windows\n\nFrom: Club\nSent: 03 February 2026 11:00\nTo: Anna\n"
     "Subject: Your move\n\nresign\n",
     "e2-e4", ""},
    {"text: hey", TEXT,
     "e2-e4\n\n\nOn February 3, 2026, Club <g@club.example> wrote:\n> b1-b3\n", "e2-e4", ""},
    {"flowed: thunderbird", FLOWED,
     "e2-e4\n\nOn 2/3/26 11:00 AM, the Chess Club of Exampletown and its friends \nwrote:\n> It is "
     "your \n> move.\n> b1-b3\n",
     "e2-e4", ""},
    {"flowed: a note over two lines", FLOWED,
     "e2-e4\nnote a thought that is long enough to be wrapped by the \nprogram\n\n-- \nAnna\n",
     "e2-e4|note a thought that is long enough to be wrapped by the program", ""},
};

static char *read_lines(const struct row *row, char **ret_between)
{
    struct buf b = buf_make(1024 * 1024);
    struct letter *letter = NULL;
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    char *top;

    buf_printf(&b, "From: anna@example.org\nContent-Type: %s\n\n%s", row->type, row->body);
    assert_ok(letter_read(b.data, b.len, NULL, &letter, &err), err);
    assert_ok(reply_split(letter->text, &reading_options, &reply, &err), err);
    top = reply_lines(&reply, REPLY_TOP);
    *ret_between = reply_lines(&reply, REPLY_BETWEEN);
    if (strcmp(top, row->top) != 0 || strcmp(*ret_between, row->between) != 0)
        for (size_t i = 0; i < reply.count; i++)
            print_message("  %-11s %s\n", reply_kind_str(reply.lines[i].kind),
                          reply.lines[i].text);
    reply_release(&reply);
    letter_free(letter);
    buf_release(&b);
    return top;
}

static void test_answers_are_found_whatever_wrote_them(void **state)
{
    int failed = 0;

    (void)state;
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        char *between = NULL;
        char *top = read_lines(&rows[i], &between);

        if (strcmp(top, rows[i].top) != 0 || strcmp(between, rows[i].between) != 0) {
            print_error("%s: top \"%s\" (not \"%s\"), between \"%s\" (not \"%s\")\n",
                        rows[i].name, top, rows[i].top, between, rows[i].between);
            failed++;
        }
        free(top);
        free(between);
    }
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_answers_are_found_whatever_wrote_them),
    };

    mail_library_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
