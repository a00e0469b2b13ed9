import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { routes } from '../../src/console/pages/index.ts'
import { onAnyDatabase } from '../support/databases.ts'
import { presses } from './presses.ts'
import { openPressing, type Pressing } from './pressing.ts'

const actions = routes.flatMap((route) => ('action' in route ? [route] : []))

test('there is a case for each form of the console, and for nothing else', () => {
  assert.deepEqual(Object.keys(presses).toSorted(), actions.map(({ path }) => path).toSorted())
})

onAnyDatabase((engine) => {
  describe('a form that is sent twice at once, to two processes', () => {
    let world: Pressing
    before(async () => {
      world = await openPressing(engine)
    })
    after(() => world.close())

    for (const { path: route, action } of actions) {
      test(`has one effect, and is recorded once: ${action.name}`, async () => {
        const prepare = presses[route]
        assert.ok(prepare)
        const { path, typed = {}, counted, fails = false } = await prepare(world)
        const browsers = await world.browsers()
        const form = await world.formOf(browsers[0], path)
        for (const [name, value] of Object.entries(typed)) form.set(name, value)
        const before = await counted()
        const answers = await Promise.all(browsers.map((one) => world.press(one, form, path)))
        // Where the first has ended the session, nobody is there any more.
        const isLate = ({ status, location }: (typeof answers)[number]) =>
          isAgain(location) || (action.name === 'signOutOperator' && status === 403)
        const [done, ...others] = answers.filter((one) => !isLate(one))
        assert.ok(done && others.length === 0, `${others.length + 1} of them do it`)
        assert.equal(done.status >= 400, fails, done.text)
        const after = await counted()
        const grown = after.map((count, at) => count - (before[at] ?? 0))
        assert.deepEqual(
          grown,
          grown.map(() => 1),
        )
        const recorded = await world.recorded(form.get('id') ?? '')
        assert.deepEqual(recorded, [action.name])
      })
    }
  })
})

function isAgain(location: string | null): boolean {
  return /[?&]done=already$/.test(location ?? '')
}
