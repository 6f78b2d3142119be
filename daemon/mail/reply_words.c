/* mail/reply_words.c - see reply_words.h. */
#include "mail/reply_words.h"

#include <stddef.h>
#include <string.h>

static const char *const from_words[] = {
    "from", "von", "de", "da", "van", "od", "от", "от кого", "від", "від кого", "fra", "från",
    "lähettäjä", "feladó", "kimden", "gönderen", "από", "发件人", "寄件者", "寄件人", "差出人",
    "보낸 사람", "보낸사람", "발신", "发送人", "送信者", "expéditeur", "remitente", "mittente",
    "afzender", "nadawca", "odesílatel", "odosielateľ", "de la", "expeditor", "frá", "nuo", "no",
    "saatja", "kellelt", "pošiljatelj", "šalje", "từ", "người gửi", "dari", "من", "מאת", "sender",
    "remetente", "absender", "avsändare", "avsender", "afsender", "отправитель", "відправник",
    "подател", "från:", "nork", "จาก", "az", "ad", "пошиљалац", "шаље", "ko", NULL};
static const char *const sent_words[] = {
    "sent", "date", "sent on", "sent at", "gesendet", "datum", "gesendet am", "datum/uhrzeit",
    "envoyé", "envoyé le", "date d'envoi", "enviado", "enviado el", "enviada el", "fecha",
    "enviada em", "enviado em", "enviada", "data", "inviato", "data invio", "verzonden",
    "verzonden op", "wysłano", "wysłane", "data wysłania", "odesláno", "odoslané", "dátum",
    "отправлено", "дата", "отправлен", "дата отправки", "надіслано", "дата надсилання", "trimis",
    "trimis la", "skickat", "sendt", "dato", "lähetetty", "päiväys", "päivämäärä", "pvm",
    "elküldve", "küldve", "küldés ideje", "tarih", "gönderildi", "gönderilme tarihi",
    "gönderme tarihi", "ημερομηνία", "στάλθηκε", "αποστολή", "发送时间", "发送日期", "日期",
    "时间", "寄件日期", "傳送時間", "傳送日期", "送信日時", "送信", "日付", "日時", "보낸 날짜",
    "날짜", "보낸날짜", "išsiųsta", "nosūtīts", "saadetud", "kuupäev", "poslano", "poslato",
    "изпратено", "enviat", "enviat el", "đã gửi", "ngày", "ngày gửi", "dikirim", "tanggal",
    "تاريخ", "التاريخ", "تم الإرسال", "נשלח", "תאריך", "dagsetning", "bidalia", "วันที่",
    "sendt dato", "time", "послато", NULL};
static const char *const to_words[] = {
    "to", "an", "à", "a", "para", "naar", "aan", "do", "komu", "pro", "кому", "till", "til",
    "vastaanottaja", "címzett", "kime", "alıcı", "kişiye", "προς", "收件人", "收件者", "宛先",
    "받는 사람", "받는사람", "수신", "către", "catre", "pentru", "destinatario", "destinataire",
    "за", "до", "kam", "za", "prima", "kas", "gavėjas", "adresāts", "kellele", "saaja", "nori",
    "đến", "tới", "kepada", "إلى", "אל", "empfänger", "mottagare", "modtager", "odbiorca",
    "získá", "për", "ถึง", "получатель", "до кого", "за кого", NULL};
static const char *const cc_words[] = {
    "cc", "kopie", "copie", "копия", "копія", "dw", "kopia", "másolat", "másolatot kap", "kopi",
    "kopio", "bilgi", "κοιν", "κοινοποίηση", "抄送", "副本", "참조", "bcc", "cópia", "copia",
    "con copia", "копие", "kopija", "koopia", "ccn", "cci", NULL};
static const char *const subject_words[] = {
    "subject", "betreff", "objet", "asunto", "oggetto", "onderwerp", "assunto", "temat",
    "předmět",
    "predmet", "тема", "тема письма", "subiect", "ämne", "emne", "aihe", "otsikko", "tárgy",
    "konu", "θέμα", "主题", "主旨", "主題", "件名", "제목", "assumpte", "tema", "teema", "tēma",
    "zadeva", "naslov", "chủ đề", "tiêu đề", "perihal", "subjek", "judul", "الموضوع", "נושא",
    "относно", "предмет", "efni", "gaia", "เรื่อง", "re", "betr.", "subj", "sujet", "naslov",
    NULL};
static const char *const other_words[] = {
    "reply-to", "reply to", "antwort an", "répondre à", "importance", "priority", "wichtigkeit",
    "priorität", "anlagen", "attachments", "anhang", "pièces jointes", "adjuntos", "organization",
    "newsgroups", "mailed-by", "message-id", "вложения", "важность", "bijlagen", "allegati",
    "anexos", "załączniki", "liitteet", "mellékletek", NULL};

static bool is_in(const char *word, const char *const *list)
{
    for (; *list; list++)
        if (strcmp(word, *list) == 0)
            return true;
    return false;
}

unsigned reply_words_role(const char *label)
{
    static const struct {
        const char *const *list;
        unsigned role;
    } roles[] = {{from_words, ROLE_FROM}, {sent_words, ROLE_SENT},       {to_words, ROLE_TO},
                 {cc_words, ROLE_CC},     {subject_words, ROLE_SUBJECT}, {other_words, ROLE_OTHER}};

    for (size_t i = 0; i < sizeof roles / sizeof roles[0]; i++)
        if (is_in(label, roles[i].list))
            return roles[i].role;
    return 0;
}

const char *const reply_words_verbs[] = {
    "wrote", "writes", "said", "schrieb", "schreibt", "geschrieben", "a écrit", "a ecrit",
    "écrit",
    "escribió", "escribio", "escribe", "ha escrito", "ha scritto", "scrive", "scritto", "scrisse",
    "escreveu", "escreve", "schreef", "geschreven", "napisał", "napisal", "pisze", "napsal",
    "píše", "napísal", "написал", "пишет", "пише", "написав", "писал", "a scris", "scrie",
    "skrev", "skriver", "kirjoitti", "kirjoittaa", "írta", "irta", "yazdı", "yazdi", "yazmış",
    "έγραψε", "γράφει", "写道", "寫道", "写到", "写信", "のメール", "書きました", "さんは",
    "さんの", "さんが", "作成", "작성", "님이", "보낸 메일", "wrote", "написа", "писа", "написао",
    "napisao", "rašė", "parašė", "rakstīja", "kirjutas", "va escriure", "ha escrit", "escribiu",
    "idatzi", "skrifaði", "shkroi", "đã viết", "viết", "เขียน", "menulis", "כתב", "מאת", "كتب",
    "كتابة", "نوشت", "लिखा", "quoting", "zitat von", "quotation", "citando", "citando a",
    "citerar", "citeert", "missatge de", "responded", "replied", "antwortete", "пісаў", "напісаў",
    "დაწერა", "գրել", "scripsit", "skreiv", "ha redactado", "hat am", NULL};

const char *const reply_words_openers[] = {
    "on ", "am ", "le ", "el ", "il ", "em ", "op ", "w dniu ", "dnia ", "dne ", "dňa ", "в ",
    "on: ", "у ", "la ", "în ", "pe ", "den ", "ved ", "kl ", "στις ", "την ", "på ", "a las ",
    "no dia ", "in data ", "alle ore ", "vào ", "na ", "els ", "pada ", "เมื่อ", "في ", "ב",
    "בתאריך", "در ", "quoting ", "zitat ", "citando ", "at ", "mon", "tue", "wed", "thu",
    "fri", "sat", "sun", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "нд", NULL};

const char *const reply_words_originals[] = {
    "original message", "forwarded message", "forwarded email", "original email", "original mail",
    "original appointment", "reply message", "replied message", "previous message",
    "ursprüngliche nachricht", "original-nachricht", "originalnachricht", "original-mail",
    "weitergeleitete nachricht", "ursprüngliche mail", "message d'origine", "message original",
    "message initial", "message transféré", "courriel original", "mensaje original",
    "mensaje reenviado", "mensaje anterior", "messaggio originale", "messaggio inoltrato",
    "messaggio originario", "mensagem original", "mensagem encaminhada", "oorspronkelijk bericht",
    "doorgestuurd bericht", "origineel bericht", "wiadomość oryginalna", "oryginalna wiadomość",
    "pierwotna wiadomość", "wiadomość przekazana", "przekazana wiadomość", "původní zpráva",
    "původní e-mail", "přeposlaná zpráva", "pôvodná správa", "исходное сообщение",
    "пересылаемое сообщение", "пересланное сообщение", "оригинальное сообщение",
    "исходное письмо", "вихідне повідомлення", "оригінальне повідомлення",
    "переслане повідомлення", "mesaj original", "mesajul original", "mesaj redirecționat",
    "ursprungligt meddelande", "ursprungligt mejl", "vidarebefordrat meddelande",
    "originalmeddelande", "oprindelig meddelelse", "original meddelelse", "videresendt",
    "opprinnelig melding", "opprinnelig e-post", "alkuperäinen viesti", "välitetty viesti",
    "eredeti üzenet", "eredeti levél", "továbbított", "orijinal mesaj", "özgün ileti",
    "iletilen mesaj", "iletilmiş mesaj", "αρχικό μήνυμα", "προωθημένο μήνυμα", "原始邮件",
    "原始郵件", "原始信件", "原始消息", "转发邮件", "轉寄郵件", "元のメッセージ",
    "転送メッセージ", "オリジナルメッセージ", "원본 메시지", "원본 메일", "전달된 메시지",
    "original melding", "originalno sporočilo", "originalna poruka", "izvorna poruka",
    "оригинално съобщение", "препратено съобщение", "missatge original", "originaal",
    "tin nhắn gốc", "thư gốc", "pesan asli", "pesan terusan", "begin forwarded",
    "anfang der weitergeleiteten", "début du message", "inizio messaggio inoltrato",
    "inicio del mensaje reenviado", "início da mensagem", "begin doorgestuurd", NULL};

const char *const reply_words_sent[] = {
    "yahoo mail:", "yahoo mail :", "dictated using", "dictated with", "dictated on",
    "typos courtesy", "excuse the typos", "sicher versendet", "sicher gesendet",
    "message envoyé de",
    "message envoyé avec", "provenance :", "wiadomość wysłana z", "wiadomość wysłano z",
    "a következőről küldve", "с телефона", "с айфона", "с моего iphone", "mit dem handy",
    "vom handy", "desde mi móvil", "desde mi iphone", "dal mio iphone", "depuis mon",
    "securely sent", "get bluemail", "get spark", "get typeapp", "sent securely",
    "sent from", "sent via", "sent with", "sent by", "sent using", "get outlook for",
    "downloaded from", "composed on", "written on my", "sent on the go", "typed on",
    "please excuse", "excuse typos", "envoyé de", "envoyé depuis", "envoyé avec",
    "envoyé à partir",
    "envoyé via", "télécharger outlook", "téléchargez outlook", "obtenez outlook",
    "gesendet von", "gesendet mit", "gesendet via", "gesendet aus", "von meinem", "von unterwegs",
    "versendet mit", "versandt mit", "verschickt mit", "verschickt von", "mobil gesendet",
    "diese nachricht wurde", "diese e-mail wurde von meinem", "holen sie sich outlook",
    "outlook für", "inviato da", "inviato dal", "inviata da", "inviato con", "scarica outlook",
    "ottieni outlook", "enviado desde", "enviado de", "enviado do", "enviado a partir",
    "enviado con", "enviado com", "enviado por", "enviado via", "enviado pelo", "enviada desde",
    "enviado mediante", "obtener outlook", "obter o outlook", "baixe o outlook",
    "verzonden vanaf",
    "verzonden met", "verzonden via", "verstuurd vanaf", "verstuurd met", "verstuurd vanuit",
    "download outlook", "outlook voor", "wysłane z", "wysłano z", "wysłane przy",
    "pobierz outlook",
    "uzyskaj aplikację", "odesláno z", "odesláno pomocí", "posláno z", "získejte outlook",
    "odoslané z", "odoslané pomocou", "נשלח באמצעות", "נשלח דרך", "descărcați outlook",
    "pobierz aplikację", "получить outlook", "получите outlook", "отримати outlook",
    "завантажити outlook", "töltse le az outlook", "preuzmite outlook", "изтеглете outlook",
    "отправлено с", "отправлено из", "отправлено через",
    "послано с", "скачать outlook", "надіслано з", "надіслано із", "відправлено з",
    "надіслано через",
    "trimis de pe", "trimis din", "trimis de la", "trimis cu", "obțineți outlook", "skickat från",
    "skickat med", "skickades från", "hämta outlook", "skaffa outlook", "sendt fra", "sendt med",
    "sendt via", "hent outlook", "få outlook", "lähetetty", "hanki outlook", "küldve", "elküldve",
    "küldve az", "telefonomról", "iphone-omról", "στάλθηκε", "αποστολή από", "εστάλη από",
    "发自", "發自", "从我的", "從我的", "来自我的", "获取", "下载", "나의", "изпратено от",
    "poslano z", "poslano iz", "poslano s", "poslato sa", "poslato iz", "išsiųsta iš",
    "nosūtīts no",
    "saadetud", "enviat des", "bidalia nire", "sent frá", "dërguar nga", "đã gửi từ",
    "được gửi từ",
    "dikirim dari", "dihantar dari", "ส่งจาก", "נשלח מ", "أُرسلت من", "أرسلت من", "تم الإرسال من",
    "ارسال شده از", "فرستاده شده از", "послано од", NULL};

const char *const reply_words_sent_end[] = {
    "から送信", "から送信されました", "から送信しています", "에서 보냄", "에서 보낸 메일",
    "에서 보냈습니다", "发来的邮件", "發來的郵件", "发出的邮件", "에서 보냅니다", "傳送", "发送", "寄出", "gönderildi",
    "gönderilmiştir",
    "gesendet", "gesendet.", "lähetetty", "küldve", "elküldve", "से भेजा गया", NULL};

const char *const reply_words_devices[] = {
    "iphone", "ipad", "ipod", "android", "samsung", "galaxy", "outlook", "blackberry", "huawei",
    "xiaomi", "redmi", "oppo", "nokia", "windows phone", "windows mail", "mail for windows",
    "k-9", "k9", "fairemail", "protonmail", "proton mail", "thunderbird", "yahoo", "gmail",
    "gmx", "web.de", "hotmail", "icloud", "apple watch", "macbook", "smartphone", "handy",
    "mobile", "mobil", "mail.ru", "яндекс", "почты", "телефона", "telefon", "telefono",
    "teléfono", "phone", "tablet", "tutanota", "fastmail", "spark", "bluemail", "aquamail",
    "手机", "手機", "スマートフォン", "휴대폰", "ios", "sailfish", "zoho", "superhuman", NULL};

const char *const reply_words_closings[] = {
    "best regards", "kind regards", "regards", "warm regards", "warmest regards", "many regards",
    "with regards", "with kind regards", "with best regards", "kindest regards", "best wishes",
    "best", "all the best", "cheers", "sincerely", "yours sincerely", "yours faithfully",
    "yours truly", "yours", "thanks", "many thanks", "thank you", "thanks and regards",
    "thanks in advance", "br", "rgds", "thx", "have a nice day", "have a good day",
    "have a great day", "have a nice weekend", "have a great weekend", "schönen tag",
    "schönen abend", "schönes wochenende", "bonne journée", "bonne soirée", "buona giornata",
    "tot ziens", "vriendelijke groet", "numai bine", "o zi frumoasă", "pozdrav",
    "všechno nejlepší",
    "хорошего дня", "гарного дня", "mit freundlichen grüßen", "mit freundlichen grüssen",
    "mit freundlichem gruß", "mit besten grüßen", "mit besten grüssen", "freundliche grüße",
    "freundliche grüsse", "viele grüße", "viele grüsse", "beste grüße", "beste grüsse",
    "liebe grüße", "liebe grüsse", "herzliche grüße", "herzliche grüsse", "schöne grüße", "grüße",
    "gruß", "gruss", "grüsse", "mfg", "lg", "vg", "danke", "hochachtungsvoll", "cordialement",
    "bien cordialement", "bien à vous", "bien à toi", "sincères salutations", "salutations",
    "meilleures salutations", "amicalement", "amitiés", "merci", "à bientôt", "cdt", "saludos",
    "un saludo", "saludos cordiales", "un cordial saludo", "atentamente", "cordialmente",
    "un abrazo", "gracias", "cordiali saluti", "distinti saluti", "saluti", "un saluto",
    "cari saluti", "grazie", "atenciosamente", "cumprimentos", "com os melhores cumprimentos",
    "melhores cumprimentos", "abraço", "abraços", "um abraço", "obrigado", "obrigada",
    "met vriendelijke groet", "met vriendelijke groeten", "vriendelijke groeten", "groeten",
    "groetjes", "hartelijke groeten", "mvg", "bedankt", "z poważaniem", "pozdrawiam",
    "z wyrazami szacunku", "serdecznie pozdrawiam", "pozdrowienia", "dziękuję", "s pozdravem",
    "se srdečným pozdravem", "hezký den", "děkuji", "s pozdravom", "ďakujem", "с уважением",
    "с наилучшими пожеланиями", "всего доброго", "всего наилучшего", "с приветом", "спасибо",
    "з повагою", "з найкращими побажаннями", "дякую", "cu stimă", "cu stima", "cu respect",
    "toate cele bune", "cu drag", "mulțumesc", "multumesc", "o zi bună", "med vänlig hälsning",
    "med vänliga hälsningar", "vänliga hälsningar", "hälsningar", "mvh", "tack", "hälsar",
    "med venlig hilsen", "venlig hilsen", "de bedste hilsner", "hilsen", "mange hilsner", "tak",
    "med vennlig hilsen", "vennlig hilsen", "beste hilsen", "takk", "ystävällisin terveisin",
    "parhain terveisin", "terveisin", "terveiset", "kiitos", "t.", "üdvözlettel",
    "szívélyes üdvözlettel", "üdv", "köszönöm", "tisztelettel", "saygılarımla", "iyi günler",
    "sevgiler", "teşekkürler", "selamlar", "με εκτίμηση", "φιλικά", "ευχαριστώ", "此致",
    "敬礼", "谢谢", "顺祝商祺", "祝好", "敬上", "謝謝", "よろしくお願いします",
    "よろしくお願いいたします", "以上", "敬具", "감사합니다", "안녕히 계세요", "поздрави",
    "с поздрави", "lep pozdrav", "lijep pozdrav", "srdačan pozdrav", "pagarbiai", "ar cieņu",
    "lugupidamisega", "salutacions", "trân trọng", "salam", "בברכה", "مع التحية", NULL};

const char *const reply_words_banners[] = {
    "caution", "warning", "attention", "external", "[external", "(external", "security notice",
    "security alert", "security warning", "this email originated", "this e-mail originated",
    "this message originated", "this email came from", "this message came from",
    "this email was sent from", "this message was sent from", "this email is from",
    "this message is from an external", "the sender of this", "sender is external",
    "this mail originated", "mail from outside", "email from outside", "outside email",
    "be careful", "think before", "do not click", "don't click", "suspicious",
    "unverified sender",
    "first-time sender", "originated outside", "exercise caution", "beware", "phishing",
    "report suspicious", "externe", "extern", "achtung", "vorsicht", "warnung", "warnhinweis",
    "sicherheitshinweis", "hinweis: ", "diese e-mail stammt", "diese e-mail kommt",
    "diese email kommt", "diese mail kommt", "diese nachricht stammt", "diese nachricht kommt",
    "diese e-mail wurde von außerhalb", "diese e-mail wurde von extern", "avertissement",
    "prudence", "courriel externe", "message externe", "expéditeur externe",
    "ce message provient",
    "ce courriel provient", "cet e-mail provient", "ce mail provient", "mise en garde",
    "atención",
    "atencion", "precaución", "advertencia", "correo externo", "mensaje externo",
    "este correo proviene", "este mensaje proviene", "este correo electrónico se ha originado",
    "este correo se originó", "cuidado", "attenzione", "avviso di sicurezza", "messaggio esterno",
    "mittente esterno", "questa e-mail proviene", "questo messaggio proviene", "email esterna",
    "atenção", "aviso", "e-mail externo", "mensagem externa", "este e-mail foi enviado",
    "esta mensagem foi enviada", "esta mensagem veio", "let op", "waarschuwing",
    "dit bericht is afkomstig", "dit bericht komt van", "deze e-mail is afkomstig",
    "deze e-mail komt van", "uwaga", "ostrzeżenie", "wiadomość zewnętrzna",
    "ta wiadomość pochodzi",
    "wiadomość spoza", "upozornění", "pozor", "varování", "tato zpráva pochází", "externí",
    "upozornenie", "внимание", "осторожно", "предупреждение", "внешнее", "внешний", "внешняя",
    "это письмо отправлено извне", "это письмо пришло", "данное письмо", "письмо извне",
    "это сообщение отправлено", "увага", "обережно", "зовнішн", "цей лист надійшов",
    "цей лист надіслано", "atenție", "atentie", "atenţie", "avertisment", "acest mesaj provine",
    "acest e-mail provine", "mesaj extern", "e-mail extern", "obs!", "obs:", "varning",
    "detta meddelande kommer", "externt", "advarsel", "forsigtig", "denne e-mail kommer",
    "denne mail kommer", "denne e-posten kommer", "ekstern", "huomio", "varoitus", "ulkoinen",
    "tämä viesti on", "tämä sähköposti", "figyelem", "figyelmeztetés", "külső", "ez az e-mail",
    "ez a levél", "dikkat", "uyarı", "harici", "bu e-posta", "bu ileti", "προσοχή", "εξωτερικ",
    "προειδοποίηση", "注意", "警告", "外部", "【外部", "【注意", "[外部", "社外", "此邮件来自", "此郵件來自", "该邮件来自",
    "このメールは", "외부", "주의", "경고", "이 메일은", "внимание!", "pozornost", "oprez", "pažnja", "dėmesio",
    "uzmanību", "tähelepanu", "chú ý", "cảnh báo", "perhatian", "peringatan", "זהירות", "تحذير",
    "تنبيه", NULL};

const char *const reply_words_outside[] = {
    "aka.ms/learnabout",
    "external", "outside", "untrusted", "unknown sender", "suspicious", "phishing", "spoof",
    "do not open", "do not click", "extern", "außerhalb", "unbekannter absender", "l'extérieur",
    "expéditeur inconnu", "externo", "externa", "fuera de la organización", "estern",
    "mittente sconosciuto", "fora da organização", "van buiten", "buiten de organisatie",
    "zewnętrzn", "spoza organizacji", "mimo organizaci", "внешн", "извне",
    "неизвестный отправитель",
    "зовнішн", "ззовні", "din afara", "utanför organisationen", "utifrån", "ekstern", "udefra",
    "utenfor organisasjonen", "ulkopuolelta", "ulkoi", "külső", "kívülről", "harici",
    "kurum dışı", "εξωτερικ", "외부", "外部", "社外", "组织外", "組織外", "vanjsk", "zunanj",
    "išorin", "ārēj", "bên ngoài", "luar organisasi", "חיצוני", "خارجي", NULL};

const char *const reply_words_legal[] = {
    "confiden", "privileged", "intended recipient", "intended solely", "intended only",
    "intended for", "if you are not the", "if you have received this", "virus", "disclaimer",
    "please consider the environment", "vertraulich", "nicht der richtige adressat",
    "irrtümlich", "umwelt", "confidentiel", "destinataire", "par erreur", "environnement",
    "destinatario", "por error", "destinatário", "riservat", "per errore", "vertrouwelijk",
    "geadresseerde", "bestemd voor", "poufn", "adresat", "důvěrn", "dôvern", "adresát",
    "конфиденц",
    "конфіденц", "адресат", "по ошибке", "destinatar", "konfidentiell", "sekretess", "mottagare",
    "fortrolig", "taushets", "luottamuk", "bizalmas", "címzett", "gizli", "εμπιστευτικ",
    "機密", "机密", "保密", "기밀", "поверител", "zaupn", "povjerlj", "registered office",
    "handelsregister", "registered in england", "sitz der gesellschaft", "amtsgericht",
    "geschäftsführer", NULL};

const char *const reply_words_scanned[] = {
    "virus-free", "virenfrei", "sans virus", "libre de virus", "sin virus", "privo di virus",
    "livre de vírus", "virusvrij", "wolna od wirusów", "bez virů", "без вирусов", "avast", "avg",
    "checked by", "scanned by", "checked for viruses", "this email has been scanned",
    "this message has been scanned", "eset", "kaspersky", "mailscanner", "mimecast", NULL};

const char *const reply_words_notices[] = {
    "you don't often get", "you do not often get", "some people who received this",
    "sie erhalten nicht", "sie erhalten nur selten", "vous n'obtenez pas souvent",
    "vous ne recevez pas souvent", "no suele recibir", "no sueles recibir",
    "non si ricevono spesso", "você não costuma receber", "não costuma receber",
    "u ontvangt niet vaak", "je ontvangt niet vaak", "nieczęsto otrzymujesz",
    "вы нечасто получаете", "ви не часто", "nu primiți des", "du får inte ofta",
    "du får ikke ofte", "du modtager ikke ofte", "et saa usein", "ritkán kap",
    "ext]", "this sender is", "classification: ", "sensitivity: ",
    "klassifizierung: ", "powered by mimecast", "zjqcmqryfpfptbannerstart",
    "zjqcmqryfpfptbannerend",
    "this message was sent securely", "information from eset", "report this message as spam",
    "click here to report", "report spam", "report suspicious", "report this email",
    "you have not previously corresponded", "you don't usually receive", "make sure you trust",
    "use caution with links", "use caution when opening", "this sender might be",
    "this sender may be", "new sender", "sent from outside", "originated from:",
    "total control panel", "spamfighter", "i am using the free version of",
    "think green", "before printing", "please consider the environment", "p please consider",
    "please think of the environment", "denken sie an die umwelt",
    "bitte denken sie an die umwelt",
    "pensez à l'environnement", "piense en el medio ambiente", "antes de imprimir",
    "prima di stampare", "pensa all'ambiente", "подумайте об экологии", "берегите природу",
    "protejați natura", "protejați mediul", "gândiți-vă la mediu", "zanim wydrukujesz",
    "get your free email", "get your free e-mail", "do you yahoo", "kostenlos mails",
    "freemail powered", "créez votre adresse", "email gratis", "this mail was sent through",
    "this e-mail is sent by", "this email is sent by", NULL};

const char *const reply_words_labels[] = {
    "unclassified", "official", "official: sensitive", "official-sensitive", "official sensitive",
    "restricted", "protected", "public", "internal", "internal only", "internal use",
    "internal use only", "for internal use only", "for official use only", "personal",
    "non-confidential", "not confidential", "confidential", "strictly confidential",
    "company confidential", "general", "business use only", "c0 - public", "c1 - public",
    "c1 - internal", "c2 - internal", "c2 - restricted", "c2 - confidential", "c3 - confidential",
    "öffentlich", "intern", "vertraulich", "offen", "nur für den dienstgebrauch",
    "nur für internen gebrauch", "interne", "usage interne", "confidentiel", "diffusion interne",
    "diffusion restreinte", "pública", "público", "interno", "uso interno", "confidencial",
    "riservato", "ad uso interno", "vertrouwelijk", "openbaar", "publiczne", "wewnętrzne",
    "poufne", "veřejné", "interní", "důvěrné", "для внутреннего использования",
    "для служебного пользования", "конфиденциально", "общедоступно",
    "для службового користування",
    "pentru uz intern", "uz intern", "confidențial", "sisäinen", "julkinen", "intern bruk",
    "internt", "offentlig", "社外秘", "公開", "内部", "公开", "대외비", NULL};

const char *const reply_words_label_heads[] = {
    "classification", "data classification", "information classification",
    "security classification",
    "sensitivity", "confidentiality", "label", "tlp", "classificatie", "vertrouwelijkheid",
    "einstufung", "klassifizierung", "klassifikation", "vertraulichkeit", "diffusion",
    "confidentialité", "clasificación", "confidencialidad", "classificação", "classificazione",
    "riservatezza", "klasyfikacja", "klasifikace", "гриф", "классификация", "конфиденциальность",
    "класифікація", "clasificare", "confidențialitate", "klassificering", "luokitus",
    "besorolás", "機密区分", NULL};

const char *const reply_words_scanners[] = {
    "avast", "avg", "eset", "nod32", "kaspersky", "касперск", "mailscanner", "mimecast", "mcafee",
    "symantec", "messagelabs", "sophos", "norton", "bitdefender", "dr.web", "mailguard",
    "malwarebytes", "websense", "forcepoint", "trend micro", "f-secure", "g data", "barracuda",
    "proofpoint", "fortinet", "fortimail", "spamexperts", "trustwave", "avira", "comodo",
    "clamav", "panda", "bullguard", "check point", "libraesva", "mailmarshal", "vade", "webroot",
    "checkpoint", "zscaler", "ironscales", "avanan", "cisco secure email", "hornetsecurity",
    "retarus", "cloudmark", NULL};

const char *const reply_words_viruses[] = {
    "virus", "viren", "wirus", "vírus", "virů", "viry", "вирус", "вірус", "ιούς", "ウイルス",
    "病毒", "바이러스", "malware", "malicious", "schadsoftware", "spam", "dangerous content", NULL};

const char *const reply_words_checked[] = {
    "checked", "scanned", "verified", "found", "free", "protected", "believed to be clean",
    "geprüft", "überprüft", "gefunden", "frei", "vérifi", "analys", "garanti", "analizado",
    "comprobado", "libre", "controllat", "privo", "sprawdzon", "przeskanowan", "wolny", "wolna",
    "провере", "не содержит", "без вирус", "перевірен", "verificat", "scanat", "fără",
    "gecontroleerd", "gescand", "vrij", "zkontrolov", "prověř", "proveril", "skontrolovan",
    "escaneado", "verificado", "livre", "kontroller", "kontrollerad", "genomsökt", "fri",
    "tarkist", "tarkast", "ellenőriz", "tarandı", "ελέγχθηκε", "スキャン", "检测", "扫描", "掃描",
    "검사", NULL};

const char *const reply_words_mail[] = {
    "mail", "message", "sender", "nachricht", "absender", "courriel", "courrier", "expéditeur",
    "correo", "mensaje", "remitente", "messaggi", "mittente", "posta", "mensagem", "remetente",
    "bericht", "afzender", "wiadomoś", "nadawc", "zpráv", "odesílatel", "odesilatel", "správ",
    "odosielateľ", "письм", "сообщени", "почт", "отправител", "лист", "повідомлен", "відправник",
    "пошт", "mesaj", "expeditor", "meddeland", "avsändar", "e-post", "meddelelse", "afsender",
    "melding", "avsender", "viesti", "lähettäj", "sähköposti", "levél", "üzenet", "feladó",
    "ileti", "gönderen", "μήνυμα", "αποστολέα", "メール", "差出人", "送信者", "邮件", "郵件",
    "发件人", "寄件", "메일", "발신", "поща", "подател", "poruk", "pošiljatelj", "sporočil",
    "laišk", "vēstul", "sõnum", "pesan", "הודעה", "דוא", "رسالة", "بريد", "メッセージ", "消息",
    "메시지", "tin nhắn", "thư", NULL};

const char *const reply_words_risks[] = {
    "click", "link", "attachment", "klick", "anhang", "anhäng", "anlage", "cliqu", "lien",
    "pièce", "clic", "enlace", "adjunt", "allegat", "anexo", "klik", "bijlage", "załącznik",
    "odkaz", "příloh", "ссылк", "вложени", "посилан", "вкладен", "länk", "bilag", "lenke",
    "vedlegg", "linkk", "liitte", "hivatkoz", "melléklet", "bağlantı", "ekleri", "συνδέσμου",
    "リンク", "添付", "链接", "附件", "連結", "링크", "첨부", NULL};
