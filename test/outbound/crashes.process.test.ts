import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { sql } from 'kysely'
import { onPostgres } from '../support/databases.ts'
import { apiToken, deployOpen, type OpenDeployment } from '../support/deployment.ts'
import { startService } from '../support/process.ts'
import { until } from '../support/until.ts'
import { insertEvent } from './events-in-feed.ts'
import { accept, startReceiver, type Receiver } from './receiver.ts'

const perKill = 150
/** After how many answers the process is killed: once for each. */
const kills = [23, 41, 87]
const maxConcurrency = 16
/** So many results may wait to be written. */
const mostTogether = 32

/** Has the service send to a receiver. */
async function makeEndpoint(serviceUrl: string, receiver: Receiver): Promise<void> {
  const answer = await fetch(`${serviceUrl}/billing/api/endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${apiToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ name: 'shop', url: receiver.url, max_concurrency: maxConcurrency }),
  })
  assert.equal(answer.status, 201)
  receiver.secret = ((await answer.json()) as { readonly secret: string }).secret
}

/** Kills the sender at the moment of an answer: it is written 50 ms later, so this one never is. */
function killAfter(receiver: Receiver, answers: number, kill: () => void): void {
  let count = 0
  receiver.answer = (received, response) => {
    count += 1
    if (count === answers) response.once('finish', kill)
    accept(received, response)
  }
}

/** The lease of a process that was killed has run out. */
async function endLeases({ database }: OpenDeployment): Promise<void> {
  await sql`update billing.endpoints set lease_until = statement_timestamp()
    where lease_until is not null`.execute(database.db)
}

onPostgres((engine) => {
  test('kill -9 between an answer and its writing: those are sent again with the same id, none is lost (12)', async () => {
    const deployment = await deployOpen(engine)
    await using receiver = await startReceiver()
    const env = { ...deployment.env, BILLING_ENCRYPTION_KEY: randomBytes(32).toString('base64') }
    const start = () => startService({ cwd: deployment.cwd, env })
    let service = await start()
    try {
      await makeEndpoint(service.url, receiver)
      const events = new Set<string>()
      const come = () => new Set(receiver.taken).size
      for (const answers of kills) {
        const before = { come: come(), taken: receiver.taken.length }
        killAfter(receiver, answers, () => void service.child.kill('SIGKILL'))
        for (let made = 0; made < perKill; made += 1) {
          events.add(await insertEvent(deployment.database.db))
        }
        await service.ended
        await endLeases(deployment)
        service = await start()
        await until(() => come() === events.size, { what: `all are here, killed after ${answers}` })
        const repeated = receiver.taken.length - before.taken - (come() - before.come)
        assert.ok(repeated >= 1, `none after ${answers} answers: was the last one written?`)
        assert.ok(repeated <= mostTogether + maxConcurrency, `${repeated} were sent again`)
      }
      assert.deepEqual(new Set(receiver.taken), events)
      assert.deepEqual(receiver.forged, [])
    } finally {
      await service.stop()
      await deployment.remove()
    }
  })
})
