import { knownGateway } from '../../billing/known-gateway.ts'
import { readRun, runRules } from '../../billing/run-input.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import { pageSchema, pageView } from '../../wire/page.ts'
import { runSchema, runView } from '../../wire/run.ts'
import { operatorOf } from '../operator-name.ts'
import { inJson, inLibrary } from './bodies.ts'
import { idOf } from './params.ts'
import { runsQuery } from './queries.ts'
import { defined } from './read-request.ts'
import { listErrors } from './refusals.ts'
import { route } from './route.ts'

const ofRun = idOf('the run')

/** What is to be replayed. Error: `run_invalid`. */
const runBody = {
  schema: inJson(runRules),
  read: (given: unknown) => readRun(inLibrary(given, runRules, { code: 'run_invalid' })),
}

/** `/runs` of the management API. */
export const runRoutes = [
  route({
    name: 'listRuns',
    method: 'GET',
    path: '/runs',
    summary: 'Lists replays of all that failed and matches a filter, newest first',
    query: runsQuery,
    answers: { 200: pageSchema(runSchema) },
    errors: listErrors,
    handle: async ({ core, query }) => {
      return { status: 200, body: pageView(await core.runs.list(defined(query)), runView) }
    },
  }),
  route({
    name: 'startRun',
    method: 'POST',
    path: '/runs',
    summary: 'Replays all calls, deliveries and deferred events that failed and match',
    description:
      'Workers go on with it, a hundred at a time. To repeat it with the same id is safe: it is the same run.',
    body: runBody,
    answers: { 202: runSchema },
    errors: ['run_invalid', 'run_exists', 'gateway_unknown'],
    handle: async ({ core, body, c }) => {
      const { id, operator, filter } = body
      const gateway = filter.gateway === null ? null : knownGateway(core, filter.gateway)
      const asked = { id, ...filter, gateway, operator: operatorOf(c) ?? operator }
      return { status: 202, body: runView(await core.runs.start(asked)) }
    },
  }),
  route({
    name: 'getRun',
    method: 'GET',
    path: '/runs/{id}',
    summary: 'How far one has come',
    params: ofRun,
    answers: { 200: runSchema },
    errors: ['run_not_found'],
    handle: async ({ core, params }) => {
      const run = await core.runs.get(params.id)
      if (run === undefined) throw new QuittanceError('run_not_found', 'there is no such run')
      return { status: 200, body: runView(run) }
    },
  }),
  route({
    name: 'stopRun',
    method: 'POST',
    path: '/runs/{id}/stop',
    summary: 'Ends one after its present batch; what is in the queue stays there',
    params: ofRun,
    answers: { 200: runSchema },
    errors: ['run_not_found'],
    handle: async ({ core, params }) => {
      return { status: 200, body: runView(await core.runs.stop(params.id)) }
    },
  }),
]
