/*
 * Which lines of a letter are the answer (M1, P07–P10, P33, P34).  One table, a row a letter: the
 * mail programs and languages that players write with, none copied from anywhere.
 */
#include "mail/reading.h"

#include "base/str.h"

struct row {
    const char *name;
    const char *text;
    const char *top;     /* the reply area, lines joined by "|" */
    const char *between; /* unquoted below or between quotes */
};

#define Q "> It is your move.\n> b1-b3\n"

/* ---- attributions, one language after the other: above a ">" quote ---- */

static const struct row attributions[] = {
    {"en gmail", "e2-e4\n\nOn Tue, Feb 3, 2026 at 11:00 AM Club <g@club.example> wrote:\n\n" Q,
     "e2-e4", ""},
    {"en gmail, wrapped before the address",
     "e2-e4\n\nOn Tue, Feb 3, 2026 at 11:00 AM Chess Club of Exampletown\n<g@club.example> "
     "wrote:\n\n" Q, "e2-e4", ""},
    {"en wrapped within the address",
     "e2-e4\n\nOn Tue, Feb 3, 2026 at 11:00 AM Chess Club <\ng@club.example> wrote:\n\n" Q,
     "e2-e4", ""},
    {"en over three lines",
     "e2-e4\n\nOn Tuesday, the 3rd of February 2026, at 11:00,\nthe Chess Club of Exampletown and "
     "Surroundings\n<g@club.example> wrote:\n\n" Q, "e2-e4", ""},
    {"en no blank line above", "e2-e4\nOn 3/2/26 11:00, Club wrote:\n" Q, "e2-e4", ""},
    {"en apple", "e2-e4\n\n> On 3 Feb 2026, at 11:00, Club <g@club.example> wrote:\n> \n" Q,
     "e2-e4", ""},
    {"en name only", "e2-e4\n\nChess Club wrote:\n" Q, "e2-e4", ""},
    {"en emacs", "e2-e4\n\n\"Chess Club\" <g@club.example> writes:\n\n" Q, "e2-e4", ""},
    {"en horde", "e2-e4\n\nQuoting Chess Club <g@club.example>:\n\n" Q, "e2-e4", ""},
    {"mutt iso date", "e2-e4\n\n* Chess Club <g@club.example> [2026-02-03 11:00]:\n" Q, "e2-e4",
     ""},
    {"mutt default",
     "e2-e4\n\nOn Tue, Feb 03, 2026 at 11:00:00AM +0100, Chess Club wrote:\n" Q, "e2-e4", ""},
    {"sup", "e2-e4\n\nExcerpts from Chess Club's message of 2026-02-03 11:00:00 +0100:\n" Q,
     "e2-e4", ""},
    {"de gmail",
     "e2-e4\n\nAm Di., 3. Feb. 2026 um 11:00 Uhr schrieb Club <g@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"de thunderbird", "e2-e4\n\nAm 03.02.26 um 11:00 schrieb Chess Club:\n" Q, "e2-e4", ""},
    {"de k-9",
     "e2-e4\n\nAm 3. Februar 2026 11:00:00 MEZ schrieb Club <g@club.example>:\n" Q, "e2-e4", ""},
    {"de apple", "e2-e4\n\nAm 03.02.2026 um 11:00 schrieb Club <g@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"de name first", "e2-e4\n\nChess Club <g@club.example> schrieb am Di. 3. Feb. 2026 um "
                      "11:00:\n\n" Q, "e2-e4", ""},
    {"de name first, wrapped after the name",
     "e2-e4\n\nSchachgesellschaft Beispielhausen\n<g@club.example> schrieb am 3. Feb. 2026:\n\n" Q,
     "e2-e4", ""},
    {"de roundcube", "e2-e4\n\nAm 2026-02-03 11:00, schrieb Chess Club:\n" Q, "e2-e4", ""},
    {"fr gmail", "e2-e4\n\nLe mar. 3 f\u00e9vr. 2026 \u00e0 11:00, Club <g@club.example> a "
                 "\u00e9crit\u00a0:\n\n" Q, "e2-e4", ""},
    {"fr thunderbird", "e2-e4\n\nLe 03/02/2026 \u00e0 11:00, Chess Club a \u00e9crit\u00a0:\n" Q,
     "e2-e4", ""},
    {"fr h", "e2-e4\n\nLe 3 f\u00e9vrier 2026 11h00, Chess Club a \u00e9crit :\n" Q, "e2-e4", ""},
    {"es gmail", "e2-e4\n\nEl mar, 3 feb 2026 a las 11:00, Club (<g@club.example>) "
                 "escribi\u00f3:\n\n" Q, "e2-e4", ""},
    {"es wrapped", "e2-e4\n\nEl mar, 3 feb 2026 a la(s) 11:00 a.m., Club (g@club.example)\n"
                   "escribi\u00f3:\n\n" Q, "e2-e4", ""},
    {"it gmail", "e2-e4\n\nIl giorno mar 3 feb 2026 alle ore 11:00 Club <g@club.example> ha "
                 "scritto:\n\n" Q, "e2-e4", ""},
    {"it apple", "e2-e4\n\nIl giorno 3 feb 2026, alle ore 11:00, Club ha scritto:\n\n" Q, "e2-e4",
     ""},
    {"pt", "e2-e4\n\nEm ter., 3 de fev. de 2026 \u00e0s 11:00, Club <g@club.example> "
           "escreveu:\n\n" Q, "e2-e4", ""},
    {"nl", "e2-e4\n\nOp di 3 feb 2026 om 11:00 schreef Club <g@club.example>:\n\n" Q, "e2-e4", ""},
    {"nl het volgende", "e2-e4\n\nClub <g@club.example> schreef op 3 februari 2026 om 11:00 het "
                        "volgende:\n\n" Q, "e2-e4", ""},
    {"pl gmail", "e2-e4\n\nwt., 3 lut 2026 o 11:00 Club <g@club.example> napisa\u0142(a):\n\n" Q,
     "e2-e4", ""},
    {"pl thunderbird", "e2-e4\n\nW dniu 3.02.2026 o\u00a011:00, Chess Club pisze:\n" Q, "e2-e4",
     ""},
    {"cs", "e2-e4\n\n\u00fat 3. 2. 2026 v 11:00 odes\u00edlatel Club <g@club.example> "
           "napsal:\n\n" Q, "e2-e4", ""},
    {"cs thunderbird", "e2-e4\n\nDne 03. 02. 26 v 11:00 Chess Club napsal(a):\n" Q, "e2-e4", ""},
    {"sk", "e2-e4\n\nut 3. 2. 2026 o 11:00 Club <g@club.example> nap\u00edsal(a):\n\n" Q, "e2-e4",
     ""},
    {"ru gmail", "e2-e4\n\n\u0432\u0442, 3 \u0444\u0435\u0432\u0440. 2026 \u0433. \u0432 11:00, "
                 "Club <g@club.example>:\n\n" Q, "e2-e4", ""},
    {"ru thunderbird", "e2-e4\n\n03.02.2026 11:00, Chess Club \u043f\u0438\u0448\u0435\u0442:\n" Q,
     "e2-e4", ""},
    {"ru mail.ru", "e2-e4\n\n>\u0412\u0442\u043e\u0440\u043d\u0438\u043a, 3 "
                   "\u0444\u0435\u0432\u0440\u0430\u043b\u044f 2026, 11:00 +03:00 \u043e\u0442 "
                   "Club <g@club.example>:\n>\n>b1-b3\n", "e2-e4", ""},
    {"ru yandex", "e2-e4\n\n03.02.2026, 11:00, \"Club\" <g@club.example>:\n" Q, "e2-e4", ""},
    {"uk", "e2-e4\n\n\u0432\u0442, 3 \u043b\u044e\u0442. 2026 \u0440. \u043e 11:00 Club "
           "<g@club.example> \u043f\u0438\u0448\u0435:\n\n" Q, "e2-e4", ""},
    {"bg", "e2-e4\n\n\u041d\u0430 \u0432\u0442, 3.02.2026 \u0433. \u0432 11:00 Club "
           "<g@club.example> \u043d\u0430\u043f\u0438\u0441\u0430:\n\n" Q, "e2-e4", ""},
    {"ro", "e2-e4\n\n\u00cen mar., 3 feb. 2026 la 11:00, Club <g@club.example> a scris:\n\n" Q,
     "e2-e4", ""},
    {"ro thunderbird", "e2-e4\n\nPe 03.02.2026 11:00, Chess Club a scris:\n" Q, "e2-e4", ""},
    {"sv", "e2-e4\n\nDen tis 3 feb. 2026 kl 11:00 skrev Club <g@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"sv thunderbird", "e2-e4\n\nDen 2026-02-03 kl. 11:00, skrev Chess Club:\n" Q, "e2-e4", ""},
    {"da", "e2-e4\n\nDen tirs. 3. feb. 2026 kl. 11.00 skrev Club <g@club.example>:\n\n" Q,
     "e2-e4", ""},
    {"no", "e2-e4\n\ntir. 3. feb. 2026 kl. 11:00 skrev Club <g@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"no apple", "e2-e4\n\n3. feb. 2026 kl. 11:00 skrev Club <g@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"fi", "e2-e4\n\nti 3. helmik. 2026 klo 11.00 Club (g@club.example) kirjoitti:\n\n" Q,
     "e2-e4", ""},
    {"hu", "e2-e4\n\nClub <g@club.example> ezt \u00edrta (id\u0151pont: 2026. febr. 3., K, "
           "11:00):\n\n" Q, "e2-e4", ""},
    {"hu thunderbird", "e2-e4\n\n2026. 02. 03. 11:00 keltez\u00e9ssel, Chess Club \u00edrta:\n" Q,
     "e2-e4", ""},
    {"tr", "e2-e4\n\nClub <g@club.example>, 3 \u015eub 2026 Sal, 11:00 tarihinde \u015funu "
           "yazd\u0131:\n\n" Q, "e2-e4", ""},
    {"el", "e2-e4\n\n\u03a3\u03c4\u03b9\u03c2 \u03a4\u03c1\u03af 3 \u03a6\u03b5\u03b2 2026 "
           "\u03c3\u03c4\u03b9\u03c2 11:00 \u03c0.\u03bc., \u03bf \u03c7\u03c1\u03ae\u03c3"
           "\u03c4\u03b7\u03c2 Club <g@club.example> \u03ad\u03b3\u03c1\u03b1\u03c8\u03b5:\n\n" Q,
     "e2-e4", ""},
    {"zh gmail", "e2-e4\n\nClub <g@club.example> \u4e8e2026\u5e742\u67083\u65e5\u5468\u4e8c "
                 "11:00\u5199\u9053\uff1a\n\n" Q, "e2-e4", ""},
    {"zh apple", "e2-e4\n\n> \u57282026\u5e742\u67083\u65e5\uff0c11:00\uff0cClub "
                 "<g@club.example> \u5199\u9053\uff1a\n> \n" Q, "e2-e4", ""},
    {"zh-tw", "e2-e4\n\nClub <g@club.example> \u65bc 2026\u5e742\u67083\u65e5 \u9031\u4e8c "
              "\u4e0a\u534811:00\u5beb\u9053\uff1a\n\n" Q, "e2-e4", ""},
    {"ja gmail", "e2-e4\n\n2026\u5e742\u67083\u65e5(\u706b) 11:00 Club <g@club.example>:\n\n" Q,
     "e2-e4", ""},
    {"ja apple", "e2-e4\n\n2026/02/03 11:00\u3001Club <g@club.example>\u306e\u30e1\u30fc\u30eb"
                 ":\n\n" Q, "e2-e4", ""},
    {"ko", "e2-e4\n\n2026\ub144 2\uc6d4 3\uc77c (\ud654) \uc624\uc804 11:00, Club "
           "<g@club.example>\ub2d8\uc774 \uc791\uc131:\n\n" Q, "e2-e4", ""},
    {"he, with direction marks",
     "e2-e4\n\n\u202b\u05d1\u05ea\u05d0\u05e8\u05d9\u05da \u05d9\u05d5\u05dd \u05d2\u05f3, 3 "
     "\u05d1\u05e4\u05d1\u05e8\u05f3 2026 \u05d1-11:00 \u05de\u05d0\u05ea \u202aClub\u202c\u200f "
     "<\u202ag@club.example\u202c\u200f>:\u202c\n\n" Q, "e2-e4", ""},
    {"ar digits", "e2-e4\n\n\u0641\u064a \u0627\u0644\u062b\u0644\u0627\u062b\u0627\u0621\u060c "
                  "\u0663 \u0641\u0628\u0631\u0627\u064a\u0631 \u0662\u0660\u0662\u0666 "
                  "\u0641\u064a \u0661\u0661:\u0660\u0660 Club <g@club.example>:\n\n" Q,
     "e2-e4", ""},
    {"th", "e2-e4\n\n\u0e40\u0e21\u0e37\u0e48\u0e2d \u0e2d. 3 \u0e01.\u0e1e. 2569 "
           "\u0e40\u0e27\u0e25\u0e32 11:00 Club <g@club.example> "
           "\u0e40\u0e02\u0e35\u0e22\u0e19\u0e27\u0e48\u0e32:\n\n" Q, "e2-e4", ""},
    {"vi", "e2-e4\n\nV\u00e0o Th 3, 3 thg 2, 2026 v\u00e0o l\u00fac 11:00 Club <g@club.example> "
           "\u0111\u00e3 vi\u1ebft:\n\n" Q, "e2-e4", ""},
    {"lt", "e2-e4\n\n2026-02-03, an, 11:00 Club <g@club.example> ra\u0161\u0117:\n\n" Q, "e2-e4",
     ""},
    {"et", "e2-e4\n\nKontakt Club (<g@club.example>) kirjutas kuup\u00e4eval T, 3. veebruar 2026 "
           "kell 11:00:\n\n" Q, "e2-e4", ""},
    {"a language that nobody here knows",
     "e2-e4\n\nDie Martis 3 Februarii 2026 hora 11:00 Club <g@club.example> vergat:\n\n" Q,
     "e2-e4", ""},
    {"zoho", "e2-e4\n\n---- On Tue, 03 Feb 2026 11:00:00 +0100 Club <g@club.example> wrote "
             "----\n\n" Q, "e2-e4", ""},
    {"proton", "e2-e4\n\n------- Original Message -------\nOn Tuesday, February 3rd, 2026 at 11:00 "
               "AM, Club <g@club.example> wrote:\n\n" Q, "e2-e4", ""},
    {"a bracket torn off", "e2-e4\n\ntir. 3. feb. 2026 kl. 11:00 skrev Club <g@club.example\n>:\n\n"
                           Q, "e2-e4", ""},
    {"the verb in a line of its own",
     "e2-e4\n\nOn Feb 3, 2026, at 11:00 AM, Chess Club\n<g@club.example>\nwrote:\n\n" Q, "e2-e4",
     ""},
    {"a date without a year or a time",
     "e2-e4\n\nOn Tue, Feb 3, Chess Club\n<g@club.example>\nwrote:\n\n" Q, "e2-e4", ""},
    {"gmail of old", "e2-e4\n\n2026-02-03 11:00 GMT+01:00 Club <\ng@club.example>:\n\n" Q, "e2-e4",
     ""},
    {"no verb, no colon", "e2-e4\n\n2026/2/3 Chess Club <g@club.example>\n\n" Q, "e2-e4", ""},
    {"each piece in a line of its own",
     "e2-e4\n\nOn Feb 3, 2026,\nat 11:00,\nChess Club <g@club.example> wrote:\n\n" Q, "e2-e4",
     ""},
    {"pl, a name and a verb of both genders", "e2-e4\n\nChess Club "
                                              "napisa\u0142(a):\n" Q, "e2-e4", ""},
    {"sr", "e2-e4\n\nChess Club \u0458\u0435 "
           "\u043d\u0430\u043f\u0438\u0441\u0430\u043e/\u043b\u0430:\n"
           Q, "e2-e4", ""},
    {"hr", "e2-e4\n\nDana 3. 2. 2026. u 11:00 Chess Club napisao je:\n" Q, "e2-e4", ""},
    {"hi", "e2-e4\n\n\u092e\u0902\u0917\u0932, 3 \u092b\u093c\u0930\u0970 2026 \u0915\u094b 11:00 "
           "Club <g@club.example> \u0928\u0947 \u0932\u093f\u0916\u093e:\n\n" Q, "e2-e4", ""},
    {"zh 163", "e2-e4\n\n\u5728 2026-02-03 11:00:00\uff0c\"Club\" <g@club.example> "
               "\u5199\u9053\uff1a\n" Q, "e2-e4", ""},
    {"pl apple, wrapped after the name",
     "e2-e4\n\nWiadomo\u015b\u0107 napisana przez Chess Club\n<g@club.example> w dniu 3 lut "
     "2026:\n\n" Q,
     "e2-e4", ""},
    {"nothing is drawn in from above", "resign\n<g@club.example> wrote:\n" Q, "resign", ""},
    {"notes", "e2-e4\n\nChess Club/Example wrote on 02/03/2026 11:00:00 AM:\n\n" Q, "e2-e4", ""},
};

/* ---- quotes without marks: nothing below may be read ---- */

#define OLD "b1-b3\nresign\n"

static const struct row unmarked[] = {
    {"yahoo", "e2-e4\n\n    On Tuesday, February 3, 2026 at 11:00:00 AM GMT+1, Club "
              "<g@club.example> wrote:  \n\n " OLD, "e2-e4", ""},
    {"outlook en", "e2-e4\n\nFrom: Club <g@club.example>\nSent: Tuesday, February 3, 2026 11:00\n"
                   "To: Anna\nSubject: Your move\n\n" OLD, "e2-e4", ""},
    {"outlook en with Date and Cc",
     "e2-e4\n\nFrom: Club <g@club.example>\nDate: Tuesday, 3 February 2026 at 11:00\nTo: Anna "
     "<anna@example.org>,\n Bert <bert@example.org>\nCc: Carl\nSubject: Your move\n\n" OLD,
     "e2-e4", ""},
    {"outlook de", "e2-e4\n\nVon: Club <g@club.example>\nGesendet: Dienstag, 3. Februar 2026 "
                   "11:00\nAn: Anna\nBetreff: Ihr Zug\n\n" OLD, "e2-e4", ""},
    {"outlook fr", "e2-e4\n\nDe : Club <g@club.example>\nEnvoy\u00e9 : mardi 3 f\u00e9vrier 2026 "
                   "11:00\n\u00c0 : Anna\nObjet : Votre coup\n\n" OLD, "e2-e4", ""},
    {"outlook es", "e2-e4\n\nDe: Club <g@club.example>\nEnviado: martes, 3 de febrero de 2026 "
                   "11:00\nPara: Anna\nAsunto: Su jugada\n\n" OLD, "e2-e4", ""},
    {"outlook it", "e2-e4\n\nDa: Club <g@club.example>\nInviato: marted\u00ec 3 febbraio 2026 "
                   "11:00\nA: Anna\nOggetto: Tocca a te\n\n" OLD, "e2-e4", ""},
    {"outlook pt", "e2-e4\n\nDe: Club <g@club.example>\nEnviada: 3 de fevereiro de 2026 11:00\n"
                   "Para: Anna\nAssunto: A sua vez\n\n" OLD, "e2-e4", ""},
    {"outlook nl", "e2-e4\n\nVan: Club <g@club.example>\nVerzonden: dinsdag 3 februari 2026 "
                   "11:00\nAan: Anna\nOnderwerp: Uw zet\n\n" OLD, "e2-e4", ""},
    {"outlook pl", "e2-e4\n\nOd: Club <g@club.example>\nWys\u0142ano: wtorek, 3 lutego 2026 "
                   "11:00\nDo: Anna\nTemat: Ruch\n\n" OLD, "e2-e4", ""},
    {"outlook cs", "e2-e4\n\nOd: Club <g@club.example>\nOdesl\u00e1no: \u00fater\u00fd 3. "
                   "\u00fanora 2026 11:00\nKomu: Anna\nP\u0159edm\u011bt: Tah\n\n" OLD, "e2-e4",
     ""},
    {"outlook uk", "e2-e4\n\n\u0412\u0456\u0434: Club <g@club.example>\n\u041d\u0430\u0434"
                   "\u0456\u0441\u043b\u0430\u043d\u043e: 3 \u043b\u044e\u0442\u043e\u0433\u043e "
                   "2026 11:00\n\u041a\u043e\u043c\u0443: Anna\n\u0422\u0435\u043c\u0430: "
                   "\u0425\u0456\u0434\n\n" OLD, "e2-e4", ""},
    {"outlook ro", "e2-e4\n\nDe la: Club <g@club.example>\nTrimis: mar\u021bi, 3 februarie 2026 "
                   "11:00\nC\u0103tre: Anna\nSubiect: Mutarea\n\n" OLD, "e2-e4", ""},
    {"outlook sv", "e2-e4\n\nFr\u00e5n: Club <g@club.example>\nSkickat: den 3 februari 2026 "
                   "11:00\nTill: Anna\n\u00c4mne: Ditt drag\n\n" OLD, "e2-e4", ""},
    {"outlook da", "e2-e4\n\nFra: Club <g@club.example>\nSendt: 3. februar 2026 11:00\nTil: "
                   "Anna\nEmne: Dit tr\u00e6k\n\n" OLD, "e2-e4", ""},
    {"outlook fi", "e2-e4\n\nL\u00e4hett\u00e4j\u00e4: Club <g@club.example>\nL\u00e4hetetty: "
                   "tiistai 3. helmikuuta 2026 11.00\nVastaanottaja: Anna\nAihe: Siirto\n\n" OLD,
     "e2-e4", ""},
    {"outlook hu", "e2-e4\n\nFelad\u00f3: Club <g@club.example>\nElk\u00fcldve: 2026. febru\u00e1r "
                   "3., kedd 11:00\nC\u00edmzett: Anna\nT\u00e1rgy: L\u00e9p\u00e9s\n\n" OLD,
     "e2-e4", ""},
    {"outlook tr", "e2-e4\n\nKimden: Club <g@club.example>\nG\u00f6nderildi: 3 \u015eubat 2026 "
                   "Sal\u0131 11:00\nKime: Anna\nKonu: Hamle\n\n" OLD, "e2-e4", ""},
    {"outlook el", "e2-e4\n\n\u0391\u03c0\u03cc: Club <g@club.example>\n\u03a3\u03c4\u03ac\u03bb"
                   "\u03b8\u03b7\u03ba\u03b5: 3 \u03a6\u03b5\u03b2\u03c1\u03bf\u03c5\u03b1\u03c1"
                   "\u03af\u03bf\u03c5 2026 11:00\n\u03a0\u03c1\u03bf\u03c2: Anna\n\u0398\u03ad"
                   "\u03bc\u03b1: \u039a\u03af\u03bd\u03b7\u03c3\u03b7\n\n" OLD, "e2-e4", ""},
    {"outlook zh", "e2-e4\n\n\u53d1\u4ef6\u4eba: Club <g@club.example>\n\u53d1\u9001\u65f6\u95f4: "
                   "2026\u5e742\u67083\u65e5 11:00\n\u6536\u4ef6\u4eba: Anna\n\u4e3b\u9898: Re\n\n"
                   OLD, "e2-e4", ""},
    {"outlook ja, full-width colons",
     "e2-e4\n\n\u5dee\u51fa\u4eba\uff1a Club <g@club.example>\n\u9001\u4fe1\u65e5\u6642\uff1a "
     "2026\u5e742\u67083\u65e5 11:00\n\u5b9b\u5148\uff1a Anna\n\u4ef6\u540d\uff1a Re\n\n" OLD,
     "e2-e4", ""},
    {"outlook ko", "e2-e4\n\n\ubcf4\ub0b8 \uc0ac\ub78c: Club <g@club.example>\n\ubcf4\ub0b8 "
                   "\ub0a0\uc9dc: 2026\ub144 2\uc6d4 3\uc77c 11:00\n\ubc1b\ub294 \uc0ac\ub78c: "
                   "Anna\n\uc81c\ubaa9: Re\n\n" OLD, "e2-e4", ""},
    {"outlook ios", "e2-e4\n\nGet Outlook for iOS<https://aka.ms/o0ukef>\n"
                    "________________________________\nFrom: Club <g@club.example>\nSent: Tuesday, "
                    "February 3, 2026 11:00:00 AM\nTo: Anna\nSubject: Your move\n\n" OLD, "e2-e4",
     ""},
    {"blank lines between the header words",
     "e2-e4\n\nFrom: Club <g@club.example>\n\nSent: Tuesday, February 3, 2026 11:00\n\nTo: Anna\n"
     "\nSubject: Your move\n\n" OLD, "e2-e4", ""},
    {"header words in bold", "e2-e4\n\n*From:* Club <g@club.example>\n*Sent:* 3 Feb 2026 11:00\n"
                             "*To:* Anna\n*Subject:* Your move\n\n" OLD, "e2-e4", ""},
    {"all in one line", "e2-e4\n\nFrom: Club Sent: Tuesday To: Anna Subject: Your move\n\n" OLD,
     "e2-e4", ""},
    {"samsung", "e2-e4\n\n-------- Original message --------\nFrom: Club <g@club.example> \nDate: "
                "03/02/2026 11:00 (GMT+01:00) \nTo: Anna \nSubject: Your move \n\n" OLD, "e2-e4",
     ""},
    {"delimiter de", "e2-e4\n\n-----Urspr\u00fcngliche Nachricht-----\n" OLD, "e2-e4", ""},
    {"delimiter ru", "e2-e4\n\n-----\u0418\u0441\u0445\u043e\u0434\u043d\u043e\u0435 "
                     "\u0441\u043e\u043e\u0431\u0449\u0435\u043d\u0438\u0435-----\n" OLD, "e2-e4",
     ""},
    {"delimiter of no known language", "e2-e4\n\n----- Epistula prior -----\n" OLD, "e2-e4", ""},
    {"delimiter with one side of dashes", "e2-e4\n\n--- Original Message\n" OLD, "e2-e4", ""},
    {"forwarded below", "e2-e4\n\n---------- Forwarded message ---------\nFrom: Club\n\n" OLD,
     "e2-e4", ""},
    {"groupwise", "e2-e4\n\n>>> Club <g@club.example> 03.02.2026 11:00 >>>\n" OLD, "e2-e4", ""},
    {"our own marker", "e2-e4\n\n--- Reply above this line ---\n" OLD, "e2-e4", ""},
    {"our own marker, dashes made long", "e2-e4\n\n\u2014 Reply above this line \u2014\n" OLD,
     "e2-e4", ""},
    {"bottom answer below an unmarked quote is not guessed at",
     "On Tue, 3 Feb 2026 at 11:00, Club wrote:\n\nb1-b3\n\ne2-e4\n", "", ""},
    {"notes block", "e2-e4\n\n\n\nClub <g@club.example> \n03.02.2026 11:00\n\nAn\nAnna\nKopie\n\n"
                    "Thema\nIhr Zug\n\n" OLD, "e2-e4", ""},
    {"outlook for mac", "e2-e4\n\nOn 03/02/2026, 11:00, \"Club\" <g@club.example> wrote:\n\n    "
                        "b1-b3\n"
                        "    resign\n", "e2-e4", ""},
    {"the words original message alone", "e2-e4\n\n  Original Message  \nFrom: "
                                         "Club\nresign\n", "e2-e4",
     ""},
    {"daum", "e2-e4\n\n--------- \uc6d0\ubcf8 \uba54\uc77c ---------\n\ubcf4\ub0b8\uc0ac\ub78c: "
             "Club\n"
             "\ubc1b\ub294\uc0ac\ub78c : Anna\n\ub0a0\uc9dc: 2026\ub144 2\uc6d4 "
             "3\uc77c\n\uc81c\ubaa9: "
             "Re\n\n" OLD, "e2-e4", ""},
    {"t-online", "e2-e4\n\n-----Original-Nachricht-----\nBetreff: Ihr Zug\nDatum: "
                 "2026-02-03T11:00:00+0100\nVon: \"Club\" <g@club.example>\nAn: Anna\n\n" OLD,
     "e2-e4", ""},
    {"gmx", "e2-e4\n\nGesendet: Dienstag, 3. Februar 2026 um 11:00 Uhr\nVon: \"Club\" "
            "<g@club.example>\nAn: anna@example.org\nBetreff: Ihr Zug\n\n" OLD, "e2-e4", ""},
    {"apple forward", "e2-e4\n\nBegin forwarded message:\n\nFrom: Club <g@club.example>\nSubject: "
                      "Your move\nDate: 3 February 2026 at 11:00:00 CET\nTo: Anna\n\n" OLD,
     "e2-e4", ""},
};

/* ---- answers below and between ---- */

static const struct row below[] = {
    {"bottom", "On 3.2.2026 11:00, Club wrote:\n" Q "\ne2-e4\n", "", "e2-e4"},
    {"bottom without blank line", "Club wrote:\n\n" Q "e2-e4\n", "", "e2-e4"},
    {"bottom with signature", Q "\ne2-e4\n\n-- \nAnna\nresign\n", "", "e2-e4"},
    {"bottom with telephone's signature", Q "\ne2-e4\n\nSent from my iPad\n", "", "e2-e4"},
    {"inline", Q "\ne2-e4\n\n> Do you take the draw?\n\nno idea\n", "", "e2-e4|no idea"},
    {"above and below", "e2-e4\n\n" Q "\nresign\n", "e2-e4", "resign"},
    {"a wrapped quote's torn end is no answer",
     "> You may answer with a move, or with one word of the list below, which\nresign\n> or draw "
     "and so on.\n", "", ""},
    {"a bar as quote mark", "| It is your move.\n| b1-b3\n\ne2-e4\n", "", "e2-e4"},
    {"initials as quote marks", "CC> It is your move.\nCC> b1-b3\n\ne2-e4\n", "", "e2-e4"},
    {"nested quotes", "Club wrote:\n>> b1-b3\n> resign\n\ne2-e4\n", "", "e2-e4"},
    {"escaped quote marks", "e2-e4\n\n&gt; b1-b3\n", "e2-e4", ""},
};

/* ---- above and after: banners, signatures, footers ---- */

static const struct row around[] = {
    {"plain", "e2-e4\n", "e2-e4", ""},
    {"several commands", "e2-e4\nnote a good day\nboard\n", "e2-e4|note a good day|board", ""},
    {"signature", "e2-e4\n-- \nAnna\nresign\n", "e2-e4", ""},
    {"signature without blank", "e2-e4\n\n--\nAnna\n", "e2-e4", ""},
    {"signature by a long dash", "e2-e4\n\n\u2014\nAnna\n", "e2-e4", ""},
    {"signature by underscores", "e2-e4\n\n__________\nAnna\n", "e2-e4", ""},
    {"list footer", "e2-e4\n_______________________________________________\nChess mailing list\n"
                    "resign\n", "e2-e4", ""},
    {"closing", "e2-e4\n\nBest regards,\nAnna\n", "e2-e4", ""},
    {"closing with a name", "e2-e4\nCheers, Anna Example\nresign\n", "e2-e4", ""},
    {"short closing with a name", "e2-e4\nLG Anna\nresign\n", "e2-e4", ""},
    {"a closing's word before a command", "e2-e4\nthanks draw\n", "e2-e4|thanks draw", ""},
    {"a closing with what is no name", "e2-e4\nbest, 12. e4-e5\n", "e2-e4|best, 12. e4-e5", ""},
    {"closing of two words", "e2-e4\nTot ziens,\nAnna\n", "e2-e4", ""},
    {"closing with a full stop of its own",
     "e2-e4\n\u3088\u308d\u3057\u304f\u304a\u9858\u3044\u3057\u307e\u3059\u3002\nanna\n", "e2-e4",
     ""},
    {"closing at once", "e2-e4\nMit freundlichen Gr\u00fc\u00dfen\nAnna\n", "e2-e4", ""},
    {"closing ru", "e2-e4\n\n\u0421 \u0443\u0432\u0430\u0436\u0435\u043d\u0438\u0435\u043c,\n"
                   "\u0410\u043d\u043d\u0430\n", "e2-e4", ""},
    {"iphone en", "e2-e4\n\nSent from my iPhone\n", "e2-e4", ""},
    {"iphone de", "e2-e4\n\nVon meinem iPhone gesendet\n", "e2-e4", ""},
    {"iphone fr", "e2-e4\n\nEnvoy\u00e9 de mon iPhone\n", "e2-e4", ""},
    {"iphone es", "e2-e4\n\nEnviado desde mi iPhone\n", "e2-e4", ""},
    {"iphone it", "e2-e4\n\nInviato da iPhone\n", "e2-e4", ""},
    {"iphone nl", "e2-e4\n\nVerstuurd vanaf mijn iPhone\n", "e2-e4", ""},
    {"iphone pl", "e2-e4\n\nWys\u0142ane z iPhone'a\n", "e2-e4", ""},
    {"iphone ru", "e2-e4\n\n\u041e\u0442\u043f\u0440\u0430\u0432\u043b\u0435\u043d\u043e \u0441 "
                  "iPhone\n", "e2-e4", ""},
    {"iphone tr", "e2-e4\n\niPhone\u2019umdan g\u00f6nderildi\n", "e2-e4", ""},
    {"iphone ja", "e2-e4\n\niPhone\u304b\u3089\u9001\u4fe1\n", "e2-e4", ""},
    {"iphone zh", "e2-e4\n\n\u53d1\u81ea\u6211\u7684 iPhone\n", "e2-e4", ""},
    {"iphone ko", "e2-e4\n\n\ub098\uc758 iPhone\uc5d0\uc11c \ubcf4\ub0c4\n", "e2-e4", ""},
    {"k-9 de", "e2-e4\n-- \nDiese Nachricht wurde von meinem Android-Ger\u00e4t mit K-9 Mail "
               "gesendet.\n", "e2-e4", ""},
    {"android ro", "e2-e4\n\nTrimis de pe Android\n", "e2-e4", ""},
    {"device of no known language", "e2-e4\n\nMissum ex meo iPhone\n", "e2-e4", ""},
    {"telephone's signature above the text", "Sent from my iPhone\n\ne2-e4\n", "e2-e4", ""},
    {"a note on a telephone is a note", "e2-e4\n\nnote sent from my phone\n",
     "e2-e4|note sent from my phone", ""},
    {"disclaimer", "e2-e4\n\nThis message and its attachments are confidential. If you are not the "
                   "intended\nrecipient please delete it.\nresign\n", "e2-e4", ""},
    {"disclaimer de", "e2-e4\n\nDiese E-Mail enth\u00e4lt vertrauliche Informationen. Wenn Sie "
                      "nicht "
                      "der richtige Adressat\nsind, l\u00f6schen Sie sie.\n", "e2-e4", ""},
    {"virus scanner", "e2-e4\n\nVirus-free. www.avast.com\n", "e2-e4", ""},
    {"banner en", "[EXTERNAL]\n\ne2-e4\n", "e2-e4", ""},
    {"banner en, no blank line", "CAUTION: This email originated from outside. Be careful with "
                                 "links.\ne2-e4\n", "e2-e4", ""},
    {"banner between rules", "------------------------------\nEXTERNAL EMAIL: be careful\n"
                             "------------------------------\n\ne2-e4\n", "e2-e4", ""},
    {"banner of stars", "*** ACHTUNG: externe E-Mail ***\n\ne2-e4\n", "e2-e4", ""},
    {"banner with a picture", "\u26a0\ufe0f Warning: unknown sender\n\ne2-e4\n", "e2-e4", ""},
    {"banner ru", "\u0412\u043d\u0438\u043c\u0430\u043d\u0438\u0435! \u041f\u0438\u0441\u044c\u043c"
                  "\u043e \u0438\u0437\u0432\u043d\u0435.\n\ne2-e4\n", "e2-e4", ""},
    {"a banner with other words first", "IMPORTANT: external email\n\ne2-e4\n", "e2-e4", ""},
    {"a banner that is a sentence",
     "This Message Is From an Untrusted Sender\nYou have not previously corresponded with this "
     "sender.\n\ne2-e4\n", "e2-e4", ""},
    {"two banners", "[External]\nYou don't often get email from g@club.example. Learn why this is "
                    "important<https://aka.ms/x>\n\ne2-e4\n", "e2-e4", ""},
    {"a logo above", "[cid:image001.png@01D]\n\ne2-e4\n", "e2-e4", ""},
    {"a banner's word in the middle is no banner", "e2-e4\nnote caution is good\n",
     "e2-e4|note caution is good", ""},
    {"bold", "*e2-e4*\n**resign**\n", "e2-e4|resign", ""},
    {"blanks of every kind", "\u00a0\ufeff Rd4\u2013d8\u200b \u3000\n", "Rd4-d8", ""},
    {"dashes that draw, and an Armenian one", "Rd4\u2500d8\nRd4\u2501d8\nRd4\u058ad8\n",
     "Rd4-d8|Rd4-d8|Rd4-d8", ""},
    {"a placing", "place R p4 N n3 B o1\n\n" Q, "place R p4 N n3 B o1", ""},
    {"a numbered move", "12. Rd4-d8\n\n" Q, "12. Rd4-d8", ""},
    {"two dashes of an address and of a name",
     "seat E bo@xn--bcher-kva.example\nseat N anna--b\ne2--e4\n",
     "seat E bo@xn--bcher-kva.example|seat N anna--b|e2-e4", ""},
    {"a seat for an address", "create teams\nseat N bert@example.org\nseat E 14 days\n",
     "create teams|seat N bert@example.org|seat E 14 days", ""},
    {"a note with a colon", "e2-e4\nnote plan: push\nnote then: wait until 2027\n",
     "e2-e4|note plan: push|note then: wait until 2027", ""},
    {"a note that looks up names", "note Anna wrote a book\ne2-e4\n",
     "note Anna wrote a book|e2-e4", ""},
    {"a note with a date", "note on 3.2.2026 at 12:00 I wrote:\ne2-e4\n",
     "note on 3.2.2026 at 12:00 I wrote:|e2-e4", ""},
    {"a banner in a frame", "+-----------------+\n| EXTERNAL EMAIL  "
                            "|\n+-----------------+\n\ne2-e4\n",
     "e2-e4", ""},
    {"nothing", "\n \n", "", ""},
};

/* What mail systems add right below a move, in its paragraph. */
static const char *const notices[] = {
    "[EXTERNAL]",
    "[EXT]",
    "EXTERNAL EMAIL",
    "[EXTERNAL EMAIL] Do not click links or open attachments unless you recognize the sender.",
    "CAUTION: This email originated from outside of the organization. Do not click links.",
    "*** This email originates from outside the company. Think before you click! ***",
    "CAUTION\nThis email came from outside Example Ltd.",
    "ZjQcmQRYFpfptBannerStart\nThis Message Is From an External Sender",
    "External (anna@example.org)",
    "\u26a0\ufe0f Caution: External",
    "You don't often get email from anna@example.org. Learn why this is important",
    ("Sie erhalten nicht h\u00e4ufig E-Mails von anna@example.org. Erfahren Sie, warum dies wichtig"
     " ist"),
    ("Nem gyakran kap levelet innen: anna@example.org, az ok\u00e1t\n"
     "itt tudhatja meg<https://aka.ms/LearnAboutSenderIdentification>"),
    "ACHTUNG: Diese E-Mail kommt von einem externen Absender. Bitte keine Links anklicken.",
    "ATTENTION : Ce courriel provient de l'ext\u00e9rieur de l'organisation.",
    ("ATENCI\u00d3N: Este correo electr\u00f3nico se ha enviado desde fuera\n"
     "de la organizaci\u00f3n. No haga clic en enlaces."),
    "ATTENZIONE: Questa e-mail proviene dall'esterno dell'organizzazione.",
    "LET OP: Deze e-mail is afkomstig van buiten de organisatie. Klik niet op links.",
    "UWAGA: Wiadomo\u015b\u0107 pochodzi spoza organizacji. Nie klikaj w linki.",
    ("\u0412\u041d\u0418\u041c\u0410\u041d\u0418\u0415: \u042d\u0442\u043e \u043f\u0438\u0441\u044c"
     "\u043c\u043e \u043f\u043e\u043b\u0443\u0447\u0435\u043d\u043e \u043e\u0442 \u0432\u043d\u0435"
     "\u0448\u043d\u0435\u0433\u043e \u043e\u0442\u043f\u0440\u0430\u0432\u0438\u0442\u0435\u043b"
     "\u044f. \u041d\u0435 \u043f\u0435\u0440\u0435\u0445\u043e\u0434\u0438\u0442\u0435 \u043f"
     "\u043e \u0441\u0441\u044b\u043b\u043a\u0430\u043c."),
    "[\u0412\u041d\u0415\u0428\u041d\u0415\u0415]",
    "ATEN\u021aIE: Acest e-mail provine din afara organiza\u021biei. Nu accesa\u021bi linkuri.",
    "D\u0130KKAT: Bu e-posta kurum d\u0131\u015f\u0131ndan g\u00f6nderilmi\u015ftir.",
    ("\u3010\u5916\u90e8\u30e1\u30fc\u30eb\u3011\u3053\u306e\u30e1\u30fc\u30eb\u306f\u793e\u5916"
     "\u304b\u3089\u9001\u4fe1\u3055\u308c\u307e\u3057\u305f\u3002"),
    "This email has been checked for viruses by Avast antivirus software.\nwww.avast.com",
    "Diese E-Mail wurde von Avast-Antivirussoftware auf Viren gepr\u00fcft.",
    "Garanti sans virus. www.avast.com",
    ("\u041d\u0435 \u0441\u043e\u0434\u0435\u0440\u0436\u0438\u0442 \u0432\u0438\u0440\u0443\u0441"
     "\u043e\u0432. www.avast.com"),
    "F\u0103r\u0103 viru\u0219i.www.avast.com",
    "No virus found in this message.\nChecked by AVG - www.avg.com\nVersion: 2016.0.7998",
    "__________ Information from ESET NOD32 Antivirus, version 1234 (20261129) __________",
    ("This message has been scanned for viruses and\n"
     "dangerous content by MailScanner, and is\nbelieved to be clean."),
    ("\u041f\u0440\u043e\u0432\u0435\u0440\u0435\u043d\u043e \u0430\u043d\u0442\u0438\u0432\u0438"
     "\u0440\u0443\u0441\u043e\u043c \u041a\u0430\u0441\u043f\u0435\u0440\u0441\u043a\u043e\u0433"
     "\u043e"),
    ("Ten e-mail zosta\u0142 sprawdzony pod k\u0105tem wirus\u00f3w przez oprogramowanie AVAST Anti"
     "virus."),
    "Please consider the environment before printing this email.",
    "This e-mail and any attachments are confidential and may be legally privileged.",
    "AVISO LEGAL: Este mensaje puede contener informaci\u00f3n confidencial.",
    "Acest e-mail \u0219i orice fi\u0219iere ata\u0219ate sunt confiden\u021biale.",
    "Example GmbH, Amtsgericht Charlottenburg HRB 12345, Gesch\u00e4ftsf\u00fchrer: Max Muster",
    "Classification: Internal",
};

/* What a writer may say there, and a move must not be played over. */
static const char *const remarks[] = {
    "but only if Boris agrees",
    "or d2-d3 if that is illegal",
    "Caution: I am not sure of this",
    "Warning: I might take it back",
    "Attention: do not play this",
    "External: no",
    "outside chance it works",
    "virus is a funny word",
    "this email move is conditional",
    "think before you play it",
    "Confidential: between us, I would rather resign",
    "click",
    ("\u0412\u041d\u0418\u041c\u0410\u041d\u0418\u0415: \u043d\u0435 \u0445\u043e\u0434\u0438\u0442"
     "\u0435 \u0442\u0430\u043a"),
    "Achtung: nicht ausf\u00fchren",
};

/* … and above it, right before the move. */
static const char *const remarks_above[] = {
    "Caution: I am not sure",
    "External things made me late, sorry",
    "Attention please",
    "Warning!",
    ("\u0412\u041d\u0418\u041c\u0410\u041d\u0418\u0415: \u043d\u0435 \u0445\u043e\u0434\u0438\u0442"
     "\u0435 \u0442\u0430\u043a"),
};

static void check(const struct row *rows, size_t count)
{
    int failed = 0;

    for (size_t i = 0; i < count; i++) {
        struct reply reply = REPLY_INIT;
        struct err err = ERR_INIT;
        char *top, *between;

        assert_ok(reply_split(rows[i].text, &reading_options, &reply, &err), err);
        top = reply_lines(&reply, REPLY_TOP);
        between = reply_lines(&reply, REPLY_BETWEEN);
        if (strcmp(top, rows[i].top) != 0 || strcmp(between, rows[i].between) != 0) {
            for (size_t k = 0; k < reply.count; k++)
                print_message("  %-11s %s\n", reply_kind_str(reply.lines[k].kind),
                              reply.lines[k].text);
            print_error("%s: top \"%s\" (not \"%s\"), between \"%s\" (not \"%s\")\n",
                        rows[i].name, top, rows[i].top, between, rows[i].between);
            failed++;
        }
        failed += reply.has_top != (rows[i].top[0] != '\0');
        failed += reply.has_between != (rows[i].between[0] != '\0');
        free(top);
        free(between);
        reply_release(&reply);
    }
    assert_int_equal(failed, 0);
}

/* P09 */
static void test_attributions_of_any_language_end_the_answer(void **state)
{
    (void)state;
    check(attributions, COUNT_OF(attributions));
}

/* P07 */
static void test_nothing_is_read_below_an_unmarked_quote(void **state)
{
    (void)state;
    check(unmarked, COUNT_OF(unmarked));
}

/* P10 */
static void test_answers_below_quotes_are_told_from_those_above(void **state)
{
    (void)state;
    check(below, COUNT_OF(below));
}

/* P33, P34 */
static void test_what_stands_around_an_answer_is_not_it(void **state)
{
    (void)state;
    check(around, COUNT_OF(around));
}

/* The reply area of head, text and tail. */
static char *top_around(const char *head, const char *text, const char *tail)
{
    char whole[600];

    (void)snprintf(whole, sizeof whole, "%s%s%s", head, text, tail);
    return top_of(whole);
}

/* P34 */
static void test_a_notice_right_below_the_move_is_passed_over(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(notices); i++) {
        char *top = top_around("e2-e4\n", notices[i], "\n\n" Q);
        char *last = top_around("board\ne2-e4\n", notices[i], "");

        if (strcmp(top, "e2-e4") != 0 || strcmp(last, "board|e2-e4") != 0)
            fail_msg("%s: \"%s\", \"%s\"", notices[i], top, last);
        free(top);
        free(last);
    }
}

/* P34: a move is never half read. */
static void test_what_a_writer_says_beside_his_move_is_no_notice(void **state)
{
    char wanted[200];

    (void)state;
    for (size_t i = 0; i < COUNT_OF(remarks); i++) {
        char *top = top_around("e2-e4\n", remarks[i], "\n");

        (void)snprintf(wanted, sizeof wanted, "e2-e4|%s", remarks[i]);
        assert_string_equal(top, wanted);
        free(top);
    }
    for (size_t i = 0; i < COUNT_OF(remarks_above); i++) {
        char *top = top_around("", remarks_above[i], "\ne2-e4\n");

        (void)snprintf(wanted, sizeof wanted, "%s|e2-e4", remarks_above[i]);
        assert_string_equal(top, wanted);
        free(top);
    }
}

static void test_a_configured_banner_and_marker_are_known(void **state)
{
    static const char *const banners[] = {"Poczta spoza firmy"};
    static const char *const markers[] = {"Please write above"};
    const struct reply_options options = {
        .banners = banners, .banner_count = 1, .markers = markers, .marker_count = 1};
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    char *top;

    (void)state;
    assert_ok(reply_split("POCZTA SPOZA FIRMY\n\ne2-e4\n\nplease write above this\nresign\n",
                          &options, &reply, &err), err);
    top = reply_lines(&reply, REPLY_TOP);
    assert_string_equal(top, "e2-e4");
    free(top);
    assert_int_equal(reply.lines[0].kind, REPLY_BANNER);
    assert_int_equal(reply.lines[4].kind, REPLY_ATTRIBUTION);
    reply_release(&reply);
    /* Without them both stand in the way. */
    top = top_of("Poczta spoza firmy\n\ne2-e4\n\nplease write above this\nresign\n");
    assert_string_equal(top, "Poczta spoza firmy|e2-e4|please write above this|resign");
    free(top);
}

static void test_raw_text_is_kept_for_notes(void **state)
{
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(reply_split("note \u201cH\u00fcb\u2014sch\u201d \u2026 \t\n", NULL, &reply, &err),
              err);
    assert_string_equal(reply.lines[0].text, "note \"H\u00fcb-sch\" ...");
    assert_string_equal(reply.lines[0].raw, "note \u201cH\u00fcb\u2014sch\u201d \u2026");
    reply_release(&reply);
}

/* What is cut off a line for matching can't turn it into a command. */
static void test_a_long_line_is_no_short_one(void **state)
{
    struct buf b = buf_make(16384);
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;

    (void)state;
    buf_puts(&b, "resign");
    for (int i = 0; i < 5000; i++)
        buf_putc(&b, ' ');
    buf_puts(&b, "not\n");
    assert_ok(reply_split(b.data, NULL, &reply, &err), err);
    assert_string_equal(reply.lines[0].text, "resign...");
    reply_release(&reply);
    buf_release(&b);
}

static void test_limits_and_bad_text_are_told(void **state)
{
    struct reply reply = REPLY_INIT;
    struct err err = ERR_INIT;
    char *big = malloc(REPLY_TEXT_MAX + 2);

    (void)state;
    assert_non_null(big);
    memset(big, '\n', REPLY_TEXT_MAX);
    big[REPLY_TEXT_MAX] = '\0';
    assert_ok(reply_split(big, NULL, &reply, &err), err);
    assert_int_equal(reply.count, REPLY_LINES_MAX);
    reply_release(&reply);
    big[REPLY_TEXT_MAX] = '\n';
    big[REPLY_TEXT_MAX + 1] = '\0';
    assert_st(reply_split(big, NULL, &reply, &err), ST_TOO_LARGE, err);
    free(big);
    assert_st(reply_split("e2\xff-e4", NULL, &reply, &err), ST_INVALID, err);
    assert_null(reply.lines); /* untouched on failure */
}

/* NFKC makes up to eighteen letters of one; that one, nobody writes to be read. */
static void test_no_letter_becomes_a_sentence(void **state)
{
    struct reply r = REPLY_INIT;
    struct err err = ERR_INIT;

    (void)state;
    assert_ok(reply_split("\ufdf8\n\ufdfa\n\ufdfb\n\ufdfc\n", NULL, &r, &err), err);
    assert_string_equal(r.lines[0].text, "\u0648\u0633\u0644\u0645");
    assert_string_equal(r.lines[1].text, "\ufffd");
    assert_string_equal(r.lines[2].text, "\ufffd");
    assert_string_equal(r.lines[3].text, "\u0631\u06cc\u0627\u0644");
    reply_release(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_attributions_of_any_language_end_the_answer),
        cmocka_unit_test(test_nothing_is_read_below_an_unmarked_quote),
        cmocka_unit_test(test_answers_below_quotes_are_told_from_those_above),
        cmocka_unit_test(test_what_stands_around_an_answer_is_not_it),
        cmocka_unit_test(test_a_notice_right_below_the_move_is_passed_over),
        cmocka_unit_test(test_what_a_writer_says_beside_his_move_is_no_notice),
        cmocka_unit_test(test_a_configured_banner_and_marker_are_known),
        cmocka_unit_test(test_raw_text_is_kept_for_notes),
        cmocka_unit_test(test_a_long_line_is_no_short_one),
        cmocka_unit_test(test_limits_and_bad_text_are_told),
        cmocka_unit_test(test_no_letter_becomes_a_sentence),
    };

    mail_library_init();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
