import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import fc from 'fast-check'
import { sql } from 'kysely'
import { connect, type Database } from '../../src/database/connect.ts'
import { parseFormBody } from '../../src/gateways/body/parse-form-body.ts'
import { parseJsonBody } from '../../src/gateways/body/parse-json-body.ts'
import { readStored } from '../../src/gateways/body/read-stored.ts'
import type { Payload } from '../../src/gateways/body/payload.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { anyText } from '../support/any-text.ts'

// A `json` column, as the payload of a stored call has: what is signed must not be lost to it.

const valueOf = (payload: Payload) => (payload.kind === 'unreadable' ? undefined : payload.value)

onAnyDatabase((engine) => {
  let database: Database
  let drop: () => Promise<void>
  before(async () => {
    const { target, drop: remove } = await engine.createEmpty()
    database = connect({ target, log: silentLog, poolSize: 2, applicationName: 'test' })
    drop = remove
  })
  after(async () => {
    await database.close()
    await drop()
  })

  async function storedAndRead(payload: Payload): Promise<Payload> {
    assert.notEqual(payload.kind, 'unreadable')
    if (payload.kind === 'unreadable') return payload
    const { rows } = await sql<{ text: string }>`
      select (${payload.text}::json)::text as text`.execute(database.db)
    const [row] = rows
    assert.equal(row?.text, payload.text)
    return readStored(payload.kind, row?.text ?? '')
  }

  test('the json column takes every readable JSON text and gives the same value back', async () => {
    const texts = [
      '1e400',
      '-1e-400',
      '1e200000',
      '7'.repeat(900_000),
      '-0',
      '0.10',
      'null',
      '""',
      '"\\u0000"',
      '"\\ud800"',
      '"\\udc00\\ud800"',
      '"\u007f\u2028\ufffe\uffff"',
      '"\\/"',
      '{"__proto__":{"a":1},"\\u0061":2,"A":3}',
      '\r\n\t {"a" : [ 1 , 2 ] }\n',
      '"\u{10ffff}"',
      `${'['.repeat(64)}${']'.repeat(64)}`,
      `{"long":"${'ж'.repeat(400_000)}"}`,
    ]
    for (const text of texts) {
      const wire = parseJsonBody(Buffer.from(text))
      assert.deepEqual(await storedAndRead(wire), wire, text.slice(0, 60))
    }
  })

  test('the json column gives any JSON value and any form back as it came', async () => {
    const strings = fc.oneof(anyText(), fc.string({ unit: 'grapheme' }))
    const forms = fc.dictionary(strings, strings).map((fields) => {
      const wellFormed = Object.entries(fields).map((pair) =>
        pair.map((text) => text.toWellFormed()),
      )
      return new URLSearchParams([['\0', '\0'], ...wellFormed]).toString()
    })
    await fc.assert(
      fc.asyncProperty(fc.json({ stringUnit: 'binary' }), forms, async (json, form) => {
        const jsonPayload = parseJsonBody(Buffer.from(json))
        assert.deepEqual(valueOf(await storedAndRead(jsonPayload)), valueOf(jsonPayload))
        const formPayload = parseFormBody(Buffer.from(form))
        // Making them well formed may have made two names equal.
        if (formPayload.kind === 'unreadable') {
          assert.equal(formPayload.reason, 'duplicate_key')
          return
        }
        assert.deepEqual(await storedAndRead(formPayload), formPayload)
      }),
      { numRuns: 50 },
    )
  })
})
