/*
 * e2e/lib/postfix.mjs - a real Postfix in a folder of its own, between the players and the daemon.
 *
 *   const postfix = await startPostfix({ lmtpPath, sinkPort, domain: 'club.example.org' });
 *   postfix.port                    speaks SMTP: players and the daemon hand letters in here
 *   await postfix.close();
 *
 * Letters to `domain` go to the daemon by LMTP (a Unix socket), all others to our own mail server
 * on sinkPort, which stands for the rest of the world.  Postfix must be started by root; isPossible() tells.
 *
 * Nothing sleeps: Postfix tries a letter that was put off again at once when flush() is called.
 */
import { execFileSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.mjs';

export const isPossible = () => process.getuid() === 0;

const idOf = (name) => Number(execFileSync('id', ['-u', name], { encoding: 'utf8' }));

/* Resolves when something greets on the port. */
export function greeting(port) {
    return new Promise((resolve) => {
        const attempt = () => {
            const socket = connect(port, '127.0.0.1');
            socket.once('data', () => { socket.destroy(); resolve(); });
            socket.once('error', () => setImmediate(attempt));
        };
        attempt();
    });
}

const MASTER = (port) => `
127.0.0.1:${port} inet n - n - - smtpd
pickup    unix  n - n 60 1 pickup
cleanup   unix  n - n - 0 cleanup
qmgr      unix  n - n 300 1 qmgr
rewrite   unix  - - n - - trivial-rewrite
bounce    unix  - - n - 0 bounce
defer     unix  - - n - 0 bounce
trace     unix  - - n - 0 bounce
verify    unix  - - n - 1 verify
flush     unix  n - n 1000? 0 flush
proxymap  unix  - - n - - proxymap
smtp      unix  - - n - - smtp
relay     unix  - - n - - smtp
showq     unix  n - n - - showq
error     unix  - - n - - error
retry     unix  - - n - - error
discard   unix  - - n - - discard
lmtp      unix  - - n - - lmtp
anvil     unix  - - n - 1 anvil
scache    unix  - - n - 1 scache
postlog   unix-dgram n - n - 1 postlogd
`;

/* Settings but for those that others override.  Each program of Postfix would warn of every one that
 * stands twice; postlogd does so to its own socket, where ten such warnings that it has not read yet
 * make it wait for itself for ever. */
function without(settings, others) {
    const name = (line) => /^([a-z0-9_]+) *=/.exec(line)?.[1];
    const overridden = new Set(others.split('\n').map(name).filter(Boolean));
    return settings.split('\n').filter((line) => !overridden.has(name(line))).join('\n');
}

/* main, master: what a sample of config/mail adds to those files. */
export async function startPostfix({ lmtpPath, sinkPort, domain, local = '(play|bounce|unsubscribe)', main = '', master = '' }) {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-postfix-'));
    const port = await freePort();
    const owner = idOf('postfix');
    chmodSync(folder, 0o755);
    for (const name of ['conf', 'queue', 'data']) mkdirSync(join(folder, name), { mode: 0o755 });
    chownSync(join(folder, 'data'), owner, -1);
    const escaped = domain.replaceAll('.', '\\.');
    writeFileSync(join(folder, 'conf/recipients'), `/^${local}(\\+[a-z0-9.]{1,57})?@${escaped}$/ ok\n`);
    const base = `
compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
command_directory = /usr/sbin
daemon_directory = /usr/lib/postfix/sbin
mail_owner = postfix
setgid_group = postdrop
maillog_file = ${folder}/queue/log
maillog_file_prefixes = ${folder}
myhostname = mail.${domain}
mydestination =
mynetworks = 127.0.0.0/8
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
alias_maps =
alias_database =
local_recipient_maps =
recipient_delimiter = +
virtual_mailbox_domains = ${domain}
virtual_mailbox_maps = regexp:${folder}/conf/recipients
virtual_transport = lmtp:unix:${lmtpPath}
lmtp_destination_recipient_limit = 1
default_transport = smtp:[127.0.0.1]:${sinkPort}
smtp_tls_security_level = none
lmtp_tls_security_level = none
smtputf8_enable = no
smtpd_recipient_restrictions = permit_mynetworks, reject
smtpd_relay_restrictions = permit_mynetworks, reject
disable_dns_lookups = yes
minimal_backoff_time = 1s
maximal_backoff_time = 2s
queue_run_delay = 1s
smtp_destination_concurrency_limit = 5
lmtp_destination_concurrency_limit = 10
`;
    writeFileSync(join(folder, 'conf/main.cf'), without(base, main) + main);
    writeFileSync(join(folder, 'conf/master.cf'), `${MASTER(port)}${master}`);
    const run = (...words) => execFileSync('/usr/sbin/postfix', ['-c', join(folder, 'conf'), ...words], { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8', timeout: 300_000 });
    try {
        run('start');
        await greeting(port);
    } catch (error) {
        rmSync(folder, { recursive: true, force: true });
        throw error;
    }
    return {
        port, folder,
        check: () => run('check'),
        log: () => readFileSync(join(folder, 'queue/log'), 'utf8'),
        flush: () => run('flush'),
        queued: () => execFileSync('/usr/sbin/postqueue', ['-c', join(folder, 'conf'), '-j'], { encoding: 'utf8' }).split('\n').filter(Boolean).map((x) => JSON.parse(x)),
        close: async () => {
            try { run('stop'); } catch { /* it has gone already */ }
            if (!process.env.FH_KEEP) rmSync(folder, { recursive: true, force: true });
        },
    };
}
