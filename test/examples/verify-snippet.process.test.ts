import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac, randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { codeBlocks } from '../docs/markdown.ts'
import { interpreter } from '../support/interpreters.ts'
import { temporaryFolder, type TemporaryFolder } from '../support/temporary-folder.ts'
import { read } from '../tidy/source-files.ts'

const page = 'docs/start/php-python.md'

/** Reads what is to be verified, a list, and prints a letter for each that is ours, or is not. */
const frames = {
  python3: `
import json, sys
from verify import is_ours
for one in json.load(sys.stdin):
    ours = is_ours(one["secret"], one["headers"], one["body"].encode(), one.get("now"))
    print("y" if ours else "n", end="")
`,
  php: `<?php
require 'verify.php';
foreach (json_decode(file_get_contents('php://stdin'), true) as $one) {
    echo isOurs($one['secret'], $one['headers'], $one['body'], $one['now'] ?? null) ? 'y' : 'n';
}`,
}

type Headers = Readonly<Record<string, string>>
interface Sent {
  readonly secret: string
  readonly headers: Headers
  readonly body: string
  readonly now?: number
}

/** The request that the page of the webhooks shows, and the secret that has signed it. */
function shownRequest(): Required<Sent> {
  const text = read('docs/18-webhooks-out.md')
  const block = codeBlocks({ path: page, text }).find(({ language }) => language === 'http')
  const [head = '', body = ''] = block?.code.split('\n\n') ?? []
  const headers = Object.fromEntries(
    head.split('\n').flatMap((line) => {
      const [, name, value] = /^(webhook-\w+): (.+)$/.exec(line) ?? []
      return name === undefined ? [] : [[name, value]]
    }),
  ) as Headers
  const [, secret = ''] = /BILLING_FORWARD_SECRET=(\S+)/.exec(text) ?? []
  return { secret, headers, body: body.trimEnd(), now: Number(headers['webhook-timestamp']) }
}

for (const { program, missing } of [interpreter('python3'), interpreter('php')]) {
  describe(`the lines of ${program} that the page shows`, { skip: missing }, () => {
    let folder: TemporaryFolder
    before(() => {
      folder = temporaryFolder()
      for (const { code } of codeBlocks({ path: page, text: read(page) })) {
        const [, file] = /^(?:<\?php \/\/|#) (verify\.\w+)\n/.exec(code) ?? []
        if (file !== undefined) writeFileSync(join(folder.path, file), code)
      }
      writeFileSync(join(folder.path, 'frame'), frames[program])
    })
    after(() => folder.remove())

    const verdicts = (...sent: readonly Sent[]) => {
      const { stdout, stderr } = spawnSync(program, ['frame'], {
        cwd: folder.path,
        env: { ...process.env, PYTHONPATH: folder.path },
        input: JSON.stringify(sent),
        encoding: 'utf8',
      })
      assert.equal(stderr, '')
      return stdout
    }

    test('verify what the library of the standard signs', () => {
      const secret = `whsec_${randomBytes(32).toString('base64')}`
      const body = JSON.stringify({ id: 'event', name: 'Пані Ї', separator: '\u2028' })
      const now = new Date()
      const signed = (at: Date) => ({
        'webhook-id': 'event',
        'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
        'webhook-signature': new Webhook(secret).sign('event', at, body),
      })
      const right = signed(now)
      const of = (headers: Headers, more: Partial<Sent> = {}): Sent => {
        return { secret, headers, body, ...more }
      }
      const several = `v1,ї ${right['webhook-signature']}`
      assert.equal(verdicts(of(right), of({ ...right, 'webhook-signature': several })), 'yy')
      const bad = [
        of(right, { body: `${body} ` }),
        of({ ...right, 'webhook-signature': 'v1,ї' }),
        of({ ...right, 'webhook-timestamp': 'now' }),
        of({ ...right, 'webhook-id': 'another' }),
        of({}),
        ...[-360, 360].map((seconds) => of(signed(new Date(now.getTime() + seconds * 1000)))),
      ]
      assert.equal(verdicts(...bad), 'n'.repeat(bad.length))
    })

    test('a secret that is empty verifies nothing, whoever signs', () => {
      const at = String(Math.floor(Date.now() / 1000))
      const digest = createHmac('sha256', '').update(`event.${at}.{}`).digest('base64')
      const headers = {
        'webhook-id': 'event',
        'webhook-timestamp': at,
        'webhook-signature': `v1,${digest}`,
      }
      const forged = { headers, body: '{}' }
      assert.equal(verdicts({ secret: 'whsec_', ...forged }, { secret: '', ...forged }), 'nn')
    })

    test('verify the request that the page of the webhooks shows, at its time alone', () => {
      const shown = shownRequest()
      assert.doesNotThrow(() => JSON.parse(shown.body))
      const changed = { ...shown, body: shown.body.replace('1999', '1998') }
      const later = { ...shown, now: shown.now + 3_600 }
      assert.equal(verdicts(shown, changed, later), 'ynn')
    })
  })
}
