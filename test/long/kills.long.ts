import { after, before, test } from 'node:test'
import { killAtRandom } from '../faults/kill-at-random.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { deploy, type Deployment } from '../support/deployment.ts'

onAnyDatabase((engine) => {
  let deployment: Deployment
  before(async () => {
    deployment = await deploy(engine)
  })
  after(() => deployment.remove())

  test('kill -9 of the service at 50 random moments under load loses and doubles nothing', () =>
    killAtRandom(deployment, 50))
})
