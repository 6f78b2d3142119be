#!/usr/bin/env python3
"""Answers to letters, as mail programs write them.

Reads one JSON object a line: {"style", "letter" (base64 of the letter answered), "from" (address),
"name", "text" (what the player types), "date" (ISO, UTC), "id", "port" (0, or where to hand it in by
SMTP)}, and writes one a line: {"to" (where the program would send it), "raw" (base64 of the answer)}.

The styles differ in what matters to a reader of answers: where the quotes stand and how they are
marked, the attribution, the encoding, alternatives in HTML, signatures.
"""
import base64
import email
import email.policy
import html
import json
import smtplib
import sys
from datetime import datetime, timezone
from email.message import EmailMessage
from email.utils import format_datetime, formataddr, parseaddr


def original_of(raw):
    return email.message_from_bytes(raw, policy=email.policy.default)


def text_of(letter):
    part = letter.get_body(preferencelist=("plain",))
    return part.get_content().replace("\r\n", "\n").rstrip("\n")


def html_of(letter):
    part = letter.get_body(preferencelist=("html",))
    return part.get_content() if part else "<pre>" + html.escape(text_of(letter)) + "</pre>"


def quoted(text):
    return "\n".join(("> " + line if line and not line.startswith(">") else ">" + line) for line in text.split("\n"))


def as_html(text):
    return "".join("<div>%s</div>" % (html.escape(line) or "<br>") for line in text.split("\n"))


def gmail(letter, order, sender, when):
    wrote = "On %s at %s, %s <%s> wrote:" % (
        when.strftime("%a, %b %-d, %Y"), when.strftime("%-I:%M\u202f%p"), sender[0], sender[1])
    if len(wrote) > 78:  # it breaks the line before the address
        wrote = wrote.replace(" <", "\n<")
    plain = "%s\n\n%s\n\n%s\n" % (order, wrote, quoted(text_of(letter)))
    rich = ('<div dir="ltr">%s</div><br><div class="gmail_quote gmail_quote_container"><div dir="ltr" class="gmail_attr">'
            'On %s, %s &lt;<a href="mailto:%s">%s</a>&gt; wrote:<br></div>'
            '<blockquote class="gmail_quote" style="margin:0px 0px 0px 0.8ex;border-left:1px solid rgb(204,204,204)">%s'
            '</blockquote></div>' % (as_html(order), when.strftime("%b %-d"), html.escape(sender[0]), sender[1], sender[1], html_of(letter)))
    return alternative(plain, rich, "utf-8", "quoted-printable")


def outlook(letter, order, sender, when):
    head = [("From", "%s <%s>" % sender), ("Sent", when.strftime("%A, %B %-d, %Y %-I:%M %p")),
            ("To", "me"), ("Subject", str(letter["Subject"]))]
    plain = "%s\n\n________________________________\n%s\n\n%s\n" % (
        order, "\n".join("%s: %s" % pair for pair in head), text_of(letter))
    rich = ('<html><head><style>p.MsoNormal{margin:0cm}</style></head><body>%s'
            '<div id="appendonsend"></div><hr style="display:inline-block;width:98%%" tabindex="-1">'
            '<div id="divRplyFwdMsg" dir="ltr">%s</div>%s</body></html>' % (
                "".join('<p class="MsoNormal">%s</p>' % (html.escape(x) or "&nbsp;") for x in order.split("\n")),
                "".join("<b>%s:</b> %s<br>" % (k, html.escape(v)) for k, v in head), html_of(letter)))
    return alternative(plain, rich, "utf-8", "base64")


def outlook_html(letter, order, sender, when):
    full = outlook(letter, order, sender, when)
    message = EmailMessage()
    message.set_content(full.get_body(preferencelist=("html",)).get_content(), subtype="html", charset="utf-8", cte="quoted-printable")
    return message


def apple(letter, order, sender, when):
    wrote = "On %s, at %s, %s <%s> wrote:" % (when.strftime("%b %-d, %Y"), when.strftime("%-I:%M\u202f%p"), sender[0], sender[1])
    plain = "%s\n\nSent from my iPhone\n\n%s\n%s\n" % (order, quoted(wrote + "\n"), quoted(text_of(letter)))
    rich = ('<html><body dir="auto">%s<div dir="ltr"><br>Sent from my iPhone</div><div dir="ltr"><br><blockquote type="cite">%s<br><br>'
            '</blockquote></div><blockquote type="cite"><div dir="ltr">%s</div></blockquote></body></html>' % (
                as_html(order), html.escape(wrote), html_of(letter)))
    return alternative(plain, rich, "utf-8", "quoted-printable")


def thunderbird(letter, order, sender, when):
    plain = "%s\n\nAm %s um %s schrieb %s:\n%s\n\n-- \nmit Gruß\n" % (
        order, when.strftime("%d.%m.%y"), when.strftime("%H:%M"), sender[0], quoted(text_of(letter)))
    message = EmailMessage()
    message.set_content(plain, charset="utf-8", cte="8bit")
    message.replace_header("Content-Type", 'text/plain; charset="utf-8"; format="flowed"')
    return message


def mutt(letter, order, sender, when):
    plain = "On %s, %s wrote:\n%s\n\n%s\n\n-- \nHe who plays slowly plays twice\n" % (
        when.strftime("%a, %b %d, %Y at %I:%M:%S%p +0000"), sender[0], quoted(text_of(letter)), order)
    message = EmailMessage()
    message.set_content(plain, charset="utf-8", cte="8bit")
    return message


def k9(letter, order, sender, when):
    plain = "%s\n-- \nDiese Nachricht wurde von meinem Android-Gerät mit K-9 Mail gesendet.\n\nAm %s schrieb %s <%s>:\n%s\n" % (
        order, when.strftime("%-d. Januar %Y %H:%M:%S MEZ"), sender[0], sender[1], quoted(text_of(letter)))
    message = EmailMessage()
    message.set_content(plain, charset="utf-8", cte="base64")
    return message


def plain(letter, order, sender, when):
    message = EmailMessage()
    message.set_content(order + "\n", charset="us-ascii" if order.isascii() else "utf-8")
    return message


def alternative(text, rich, charset, cte):
    message = EmailMessage()
    message.set_content(text, charset=charset, cte=cte)
    message.add_alternative(rich, subtype="html", charset=charset, cte=cte)
    return message


STYLES = {"gmail": gmail, "outlook": outlook, "outlook-html": outlook_html, "apple": apple,
          "thunderbird": thunderbird, "mutt": mutt, "k9": k9, "plain": plain}


def answer(wish):
    letter = original_of(base64.b64decode(wish["letter"]))
    when = datetime.fromisoformat(wish["date"].replace("Z", "+00:00")).astimezone(timezone.utc)
    where = letter["Reply-To"] or letter["From"]
    sender = parseaddr(str(letter["From"]))
    message = STYLES[wish["style"]](letter, wish["text"], sender, when)
    message["From"] = formataddr((wish.get("name", ""), wish["from"]))
    message["To"] = str(where)
    message["Subject"] = "Re: " + str(letter["Subject"]).removeprefix("Re: ")
    message["Date"] = format_datetime(when)
    message["Message-ID"] = "<%s>" % wish["id"]
    message["In-Reply-To"] = str(letter["Message-ID"])
    message["References"] = " ".join([*str(letter["References"] or "").split()[-8:], str(letter["Message-ID"])])
    policy = email.policy.SMTP.clone(max_line_length=998 if wish["style"] == "plain" else 78)
    raw = message.as_bytes(policy=policy)
    to = parseaddr(str(where))[1]
    if wish.get("port"):
        with smtplib.SMTP("127.0.0.1", wish["port"]) as server:
            server.sendmail(wish["from"], [to], raw)
    return {"to": to, "raw": base64.b64encode(raw).decode("ascii")}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
