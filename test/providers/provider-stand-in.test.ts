import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { providers } from '../money/providers.ts'

for (const [name, start] of providers) {
  describe(name, () => {
    test(`${name}: a request that the provider does not document fails the test`, async () => {
      const provider = await start()
      const { status } = await fetch(`${provider.base}/not/documented`, { method: 'POST' })
      assert.ok(status >= 400, String(status))
      await assert.rejects(provider.close, /what was sent is not what the provider documents/)
    })

    test(`${name}: a fault that a test has taken is expected`, async () => {
      await using provider = await start()
      await fetch(`${provider.base}/not/documented`, { method: 'POST' })
      assert.equal(provider.takeFaults().length, 1)
      assert.deepEqual(provider.takeFaults(), [])
    })
  })
}
