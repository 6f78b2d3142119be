/*
 * e2e/lib/dovecot.mjs - a real Dovecot with one mailbox, as a club rents it somewhere.
 *
 *   const box = await startDovecot();
 *   box.port, box.tlsPort, box.caFile, box.user, box.password
 *   box.deliver(bytes)              a letter arrives, as by the provider's mail server
 *   box.files()                     { fresh, seen }: how many letters lie there
 *   await box.close();
 *
 * The certificate is signed by an authority made for this run.  Dovecot is started by root here.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.mjs';
import { greeting } from './postfix.mjs';

const idOf = (kind, name) => Number(execFileSync('id', [kind, name], { encoding: 'utf8' }));

/* ca.pem, and cert.pem with key.pem for 127.0.0.1 and localhost. */
export function makeCertificates(folder) {
    const openssl = (...words) => execFileSync('openssl', words, { cwd: folder, stdio: ['ignore', 'ignore', 'pipe'] });
    openssl('req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '30', '-subj', '/CN=Test authority',
        '-keyout', 'ca.key', '-out', 'ca.pem', '-addext', 'basicConstraints=critical,CA:TRUE', '-addext', 'keyUsage=critical,keyCertSign');
    openssl('req', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-subj', '/CN=localhost', '-keyout', 'key.pem', '-out', 'cert.csr');
    writeFileSync(join(folder, 'ext'), 'subjectAltName=DNS:localhost,IP:127.0.0.1\n');
    openssl('x509', '-req', '-in', 'cert.csr', '-CA', 'ca.pem', '-CAkey', 'ca.key', '-CAcreateserial', '-days', '30', '-extfile', 'ext', '-out', 'cert.pem');
    return { ca: join(folder, 'ca.pem'), cert: join(folder, 'cert.pem'), key: join(folder, 'key.pem') };
}

export async function startDovecot({ user = 'club', password = 'a long pass-phrase' } = {}) {
    const folder = mkdtempSync(join(tmpdir(), 'fourhanded-dovecot-'));
    chmodSync(folder, 0o755);
    const port = await freePort(), tlsPort = await freePort();
    const uid = idOf('-u', 'nobody'), gid = idOf('-g', 'nobody');
    const maildir = join(folder, 'Maildir');
    for (const name of [maildir, join(maildir, 'tmp'), join(maildir, 'new'), join(maildir, 'cur'), join(folder, 'run')]) mkdirSync(name);
    for (const name of [maildir, join(maildir, 'tmp'), join(maildir, 'new'), join(maildir, 'cur')]) chownSync(name, uid, gid);
    const tls = makeCertificates(folder);
    writeFileSync(join(folder, 'users'), `${user}:{PLAIN}${password}\n`);
    const conf = join(folder, 'dovecot.conf');
    writeFileSync(conf, `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${tls.cert}
ssl_key = <${tls.key}
disable_plaintext_auth = no
auth_mechanisms = plain login
default_internal_user = dovecot
default_login_user = dovenull
first_valid_uid = 1
mail_location = maildir:${maildir}
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${folder}/users
}
userdb {
  driver = static
  args = uid=${uid} gid=${gid} home=${folder}
}
service imap-login {
  inet_listener imap { 
    port = ${port}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
service stats {
  unix_listener stats-writer {
    mode = 0666
  }
}
`);
    const child = spawn('/usr/sbin/dovecot', ['-F', '-c', conf], { stdio: 'ignore' });
    const ended = new Promise((resolve) => { child.on('exit', resolve); });
    await Promise.race([greeting(port), ended.then((code) => { throw new Error(`dovecot ended: ${code}`); })]);
    let n = 0;
    return {
        port, tlsPort, folder, user, password, caFile: tls.ca,
        deliver(bytes) {
            const name = `${Date.now()}.${process.pid}_${++n}.test`;
            writeFileSync(join(maildir, 'tmp', name), bytes);
            chownSync(join(maildir, 'tmp', name), uid, gid);
            renameSync(join(maildir, 'tmp', name), join(maildir, 'new', name));
        },
        files() {
            const all = [...readdirSync(join(maildir, 'new')), ...readdirSync(join(maildir, 'cur'))];
            const seen = all.filter((x) => /:2,[A-Z]*S/.test(x)).length;
            return { fresh: all.length - seen, seen };
        },
        log: () => execFileSync('cat', [join(folder, 'log')], { encoding: 'utf8' }),
        async close() {
            child.kill('SIGTERM');
            await ended;
            if (!process.env.FH_KEEP) rmSync(folder, { recursive: true, force: true });
        },
    };
}
