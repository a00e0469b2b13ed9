import assert from 'node:assert/strict'
import { createPrivateKey } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { databaseUrlFault } from '../../src/database/database-url.ts'
import { openDatabase } from '../../src/database/open-database.ts'
import { tlsFaultOf } from '../../src/database/tls-faults.ts'
import { tlsParameters } from '../../src/database/tls-parameters.ts'
import { isQuittanceError } from '../../src/kernel/errors.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { expiredCertificate, selfSigned } from '../outbound/self-signed.ts'
import { onPostgres, type TestDatabase } from '../support/databases.ts'
import { startTlsFront, type TlsFront } from '../support/tls-front.ts'

onPostgres((engine) => {
  let place: TestDatabase
  let secure: TlsFront
  let expired: TlsFront
  let old: TlsFront
  const folder = mkdtempSync(join(tmpdir(), 'quittance-tls-'))
  const file = (name: string, text: string) => {
    writeFileSync(join(folder, name), text)
    return join(folder, name)
  }
  const ca = file('ca.pem', selfSigned.cert)
  const key = file('key.pem', selfSigned.key)
  const locked = createPrivateKey(selfSigned.key).export({
    type: 'pkcs8',
    format: 'pem',
    cipher: 'aes-256-cbc',
    passphrase: 'open',
  })
  const lockedKey = file('locked.pem', locked)
  before(async () => {
    place = await engine.create()
    const url = place.url ?? ''
    secure = await startTlsFront(url, { ...selfSigned, ca: selfSigned.cert })
    expired = await startTlsFront(url, { key: selfSigned.key, cert: expiredCertificate })
    old = await startTlsFront(url, { ...selfSigned, maxVersion: 'TLSv1.2' })
  })
  after(async () => {
    await Promise.all([secure.close(), expired.close(), old.close()])
    await place.drop()
    rmSync(folder, { recursive: true })
  })

  /** What becomes of it; the code and the words of an error. */
  async function opened(parameters: string, port?: number, host = '127.0.0.1'): Promise<string> {
    const url = new URL(place.url ?? '')
    url.hostname = host
    if (port !== undefined) url.port = `${port}`
    url.search = parameters
    try {
      const open = await openDatabase({
        url: url.href,
        dataDir: '',
        memory: false,
        attach: false,
        poolSize: 1,
        log: silentLog,
        onLost: () => {},
      })
      await open.close()
      return 'opened'
    } catch (error) {
      return isQuittanceError(error)
        ? `${error.code}: ${error.message} ${error.fix}`
        : String(error)
    }
  }

  test('each mode is what the docs say, at a server with TLS and at one without', async () => {
    const root = `sslrootcert=${ca}`
    const unknown = /^database_tls_failed: .*authority that is not known here .*sslrootcert=FILE/
    const otherName = /^database_tls_failed: .*for another name .*sslmode=verify-ca/
    for (const mode of ['allow', 'prefer', 'require', 'verify-full']) {
      const parameters = `sslmode=${mode}&${root}`
      assert.equal(await opened(parameters, secure.port), 'opened', mode)
      assert.match(await opened(parameters, secure.port, 'localhost'), otherName, mode)
      assert.match(await opened(`sslmode=${mode}`, secure.port), unknown, mode)
      assert.match(
        await opened(parameters),
        /^database_tls_failed: .*no TLS .*sslmode=disable/,
        mode,
      )
    }
    assert.equal(await opened(`sslmode=verify-ca&${root}`, secure.port, 'localhost'), 'opened')
    assert.match(await opened('sslmode=verify-ca', secure.port), unknown)
    assert.equal(await opened('sslmode=no-verify', secure.port, 'localhost'), 'opened')
    for (const without of ['sslmode=disable', 'ssl=false', 'ssl=0', '']) {
      assert.equal(await opened(without), 'opened', without)
    }
    for (const verifying of [`ssl=true&${root}`, `ssl=1&${root}`, root]) {
      assert.equal(await opened(verifying, secure.port), 'opened', verifying)
      assert.match(await opened(verifying, secure.port, 'localhost'), otherName, verifying)
    }
    assert.equal(await opened('ssl=no-verify', secure.port), 'opened')
    assert.match(await opened('sslmode=require&sslrootcert=system', secure.port), unknown)
  })

  test('so is each other parameter', async () => {
    const root = `sslmode=verify-full&sslrootcert=${ca}`
    await opened(root, secure.port)
    assert.equal(secure.hadCertificate, false)
    for (const own of [
      `sslcert=${ca}&sslkey=${key}`,
      `sslcert=${ca}&sslkey=${lockedKey}&sslpassword=open`,
    ]) {
      assert.equal(await opened(`${root}&${own}`, secure.port), 'opened', own)
      assert.equal(secure.hadCertificate, true, own)
    }
    const misfit = /^database_tls_failed: .*does not fit .*sslpassword/
    const wrong = `${root}&sslcert=${ca}&sslkey=${lockedKey}`
    assert.match(await opened(`${wrong}&sslpassword=shut`, secure.port), misfit)
    assert.match(await opened(wrong, secure.port), misfit)
    assert.match(await opened(`${root}&sslcert=${ca}&sslkey=${ca}`, secure.port), misfit)
    const noFile = /^setting_invalid: .*sslrootcert names .*ENOENT.*nowhere\.pem/
    assert.match(await opened(`sslrootcert=${folder}/nowhere.pem`, secure.port), noFile)

    assert.equal(await opened(`${root}&sslnegotiation=direct`, secure.port), 'opened')
    assert.equal(await opened(`${root}&sslnegotiation=postgres`, secure.port), 'opened')
    const noVersion = /^database_tls_failed: .*no version of TLS/
    assert.equal(await opened(`${root}&ssl_max_protocol_version=TLSv1.2`, secure.port), 'opened')
    assert.match(await opened(`${root}&ssl_min_protocol_version=TLSv1.3`, old.port), noVersion)
    const asAlways = 'sslcompression=0&sslsni=1&sslcertmode=allow'
    assert.equal(await opened(`${root}&${asAlways}`, secure.port), 'opened')
  })

  test('a certificate that has expired is said to have', async () => {
    const root = `sslrootcert=${file('expired.pem', expiredCertificate)}`
    assert.match(await opened(root, expired.port), /^database_tls_failed: .*has expired .*clock/)
  })
})

test('what a server says to who comes without TLS, or without a certificate, has its own words', () => {
  for (const [text, fix] of [
    ['no pg_hba.conf entry for host "::1", user "a", database "b", no encryption', /verify-full/],
    ['connection is insecure (try using `sslmode=require`)', /verify-full/],
    ['SSL required', /verify-full/],
    ['connection requires a valid client certificate', /sslcert=FILE&sslkey=FILE/],
  ] as const) {
    assert.match(tlsFaultOf(new Error(text))?.fix ?? '', fix, text)
  }
  assert.equal(tlsFaultOf(new Error('password authentication failed for user "a"')), undefined)
})

test('what is not supported is refused by its name, and the docs have all that is', () => {
  const url = 'postgres://user:hush@db/billing'
  for (const [parameters, fault] of [
    ['sslmode=maybe', /must have disable or allow or .* as sslmode/],
    ['ssl=yes', /as ssl$/],
    ['sslcrl=a.crl', /has sslcrl, which is not supported/],
    ['sslsni=0', /must have 1 as sslsni/],
    ['sslcert=a.pem', /sslcert and sslkey together/],
    ['uselibpqcompat=true&sslmode=require', /has uselibpqcompat/],
    ['statement_timeout=0', /has statement_timeout/],
  ] as const) {
    assert.match(databaseUrlFault(`${url}?${parameters}`) ?? '', fault)
  }
  const docs = readFileSync(new URL('../../docs/5-operations.md', import.meta.url), 'utf8')
  const [, section = ''] = docs.split('\n## TLS to the database\n')
  for (const name of Object.keys(tlsParameters)) assert.ok(section.includes(`\`${name}`), name)
})
