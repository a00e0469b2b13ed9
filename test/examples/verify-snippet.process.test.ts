import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import { codeBlocks } from '../docs/markdown.ts'
import { interpreter } from '../support/interpreters.ts'
import { read } from '../tidy/source-files.ts'

const page = 'docs/18-webhooks-out.md'
const python = interpreter('python3')

/** Reads what is to be verified, and prints whether it is ours. */
const frame = `
import json, sys
given = json.load(sys.stdin)
print(is_ours(given["secret"], given["headers"], given["body"].encode()))
`

test(
  'the ten lines of Python that the page shows verify what the library of the standard signs',
  {
    skip: python.missing,
  },
  () => {
    const snippet = codeBlocks({ path: page, text: read(page) }).find(
      ({ language }) => language === 'python',
    )
    const secret = `whsec_${randomBytes(32).toString('base64')}`
    const body = JSON.stringify({ id: 'event', name: 'Пані Ї', separator: '\u2028' })
    const now = new Date()
    const signed = (at: Date) => ({
      'webhook-id': 'event',
      'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
      'webhook-signature': new Webhook(secret).sign('event', at, body),
    })
    const right = signed(now)
    const isOurs = (headers: Readonly<Record<string, string>>, sent = body) => {
      const { stdout, stderr } = spawnSync(python.program, ['-c', `${snippet?.code}${frame}`], {
        input: JSON.stringify({ secret, headers, body: sent }),
        encoding: 'utf8',
      })
      assert.equal(stderr, '')
      return stdout.trim() === 'True'
    }
    assert.ok(isOurs(right))
    assert.ok(isOurs({ ...right, 'webhook-signature': `v1,ї ${right['webhook-signature']}` }))
    assert.ok(!isOurs(right, `${body} `))
    assert.ok(!isOurs({ ...right, 'webhook-signature': 'v1,ї' }))
    assert.ok(!isOurs({ ...right, 'webhook-timestamp': 'now' }))
    assert.ok(!isOurs({ ...right, 'webhook-id': 'another' }))
    assert.ok(!isOurs({}))
    for (const seconds of [-360, 360]) {
      assert.ok(!isOurs(signed(new Date(now.getTime() + seconds * 1000))))
    }
  },
)
