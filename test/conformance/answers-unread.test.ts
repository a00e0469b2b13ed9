import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseJsonBody } from '../../src/gateways/body/parse-json-body.ts'
import { builtin } from '../../src/gateways/builtin.ts'
import { readCredentials } from '../../src/gateways/credentials.ts'

const unread = builtin.filter(({ answersUnread }) => answersUnread !== undefined)

test('some gateways answer their callbacks unread', () => {
  assert.ok(unread.length > 0)
})

for (const gateway of unread) {
  test(`${gateway.name}: whatever a body says, it is answered with what is answered unread`, () => {
    const credentials = readCredentials(gateway, {}, { production: false })
    for (const text of ['{}', '{"id":"evt_1","object":"event","a":{"a":[1]}}', '[]', 'x', '']) {
      const request = { headers: {}, body: Buffer.from(text) }
      const payload = gateway.parse(request)
      assert.deepEqual(payload, parseJsonBody(request.body))
      assert.deepEqual(gateway.acknowledge(payload, credentials, new Date()), gateway.answersUnread)
    }
    assert.deepEqual(gateway.secretFields, [])
  })
}
