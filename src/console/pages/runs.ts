import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import { isUuid } from '../../kernel/uuid.ts'
import { filterText, runKinds, runNoun } from '../../wire/run.ts'
import type { Run, RunKind, RunState } from '../../wire/run.ts'
import { actionLink, type Action } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { pageSize } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { nounFacts, nounTable, type Cells } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { number } from '../../kernel/figures.ts'
import { badge, shortId, type Tone } from '../parts/values.ts'

const tones: Readonly<Record<RunState, Tone>> = {
  running: 'warn',
  stopping: 'warn',
  stopped: 'plain',
  finished: 'good',
}

/** Replays of many, newest first. */
export async function runsPage(visit: Visit): Promise<ConsolePage> {
  const { data } = await visit.console.core.runs.list({ limit: pageSize })
  return {
    title: 'Runs',
    section: 'failed',
    body: nounTable(runNoun, data, {
      visit,
      cells,
      empty: 'Nothing was replayed by a filter yet.',
    }),
  }
}

const cells: Cells<Run> = {
  state: ({ state }) => badge(state, tones[state]),
  done: (run) => `${number(run.done)} of ${estimateOf(run)}`,
}

/** What the page of a run says above its facts. */
const without = ['id', 'state', 'filter', 'estimate', 'estimateIsLeast']

/** How far one has come. */
export async function runPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const { id } = params
  const run = isUuid(id) ? await console.core.runs.get(id) : undefined
  if (run === undefined) return undefined
  const isUnderWay = run.state === 'running'
  const goesOn = isUnderWay || run.state === 'stopping' || run.waiting > 0
  return {
    title: `Run ${shortId(run.id)}`,
    section: 'failed',
    ...(goesOn && { refreshSeconds: 2 }),
    beside: html`<span class="actions"
      >${isUnderWay && actionLink(visit, `${console.path}/runs/${run.id}/stop`, 'Stop')}</span
    >`,
    body: html`<div id="run" data-live>
      <p>${badge(run.state, tones[run.state])} ${shown(filterText(run.filter))}</p>
      ${progressOf(run)}
      ${run.state === 'finished' && run.done === 0 && html`<p class="banner">Nothing matched.</p>`}
      ${nounFacts(runNoun, run, { visit, cells, without })}
    </div>`,
  }
}

/** Of how many is not always known. */
function progressOf({ done, estimate, estimateIsLeast, state }: Run): Html {
  if (estimateIsLeast && state === 'running') return html`<progress></progress>`
  return html`<progress max="${Math.max(1, estimate)}" value="${done}">${done}</progress>`
}

function estimateOf({ estimate, estimateIsLeast }: Run): string {
  return `${number(estimate)}${estimateIsLeast ? ' or more' : ''}`
}

const field = (form: URLSearchParams, name: string) => {
  const value = form.get(name)?.trim() ?? ''
  return value === '' ? undefined : value
}

function isRunKind(text: string | undefined): text is RunKind {
  return runKinds.some((kind) => kind === text)
}

/** Replays all that failed and matches. The form's id is the run's: the same form is one run. */
export const startRun: Action = {
  name: 'startRun',
  back: ({ console }) => `${console.path}/failed`,
  subject: () => null,
  question: async ({ url, console }, form = url.searchParams) => {
    const kind = runKinds.find((one) => one === field(form, 'kind'))
    const [listener, exception] = [field(form, 'listener'), field(form, 'exception')]
    const gateway = field(form, 'gateway')
    return {
      title: 'Replay all that match?',
      section: 'failed',
      explanation: html`<p>
        All that has failed for good and matches is put back into the queue, 100 at a time, by any
        worker. What was dispatched is not dispatched again. It can be stopped; what is in the queue
        by then stays there.
      </p>`,
      fields: html`<label
          >Kind
          <select name="kind">
            <option value="">any</option>
            ${runKinds.map(
              (one) =>
                html`<option value="${one}" ${one === kind && html`selected`}>
                  ${one.replace('_', ' ')}
                </option>`,
            )}
          </select></label
        >
        ${gatewayField(Object.keys(console.core.gateways()), gateway)}
        <label>Listener <input name="listener" maxlength="200" value="${listener ?? ''}" /></label>
        <label
          >First line of the exception
          <input name="exception" maxlength="500" value="${exception ?? ''}"
        /></label>`,
      button: 'Replay them',
    }
  },
  detail: (form) => ({
    kind: field(form, 'kind') ?? 'any',
    gateway: field(form, 'gateway') ?? 'any',
    listener: shown(field(form, 'listener') ?? 'any'),
    exception: shown(field(form, 'exception') ?? 'any'),
  }),
  act: async ({ console, visitor }, { id, form }) => {
    const kind = field(form, 'kind')
    const run = await console.core.runs.start({
      id,
      operator: visitor.name,
      ...(isRunKind(kind) && { kind }),
      ...given({
        gateway: field(form, 'gateway'),
        listener: field(form, 'listener'),
        exception: field(form, 'exception'),
      }),
    })
    return { notice: 'run_started', to: `/runs/${run.id}` }
  },
}

function gatewayField(names: readonly string[], chosenName: string | undefined): Html {
  return html`<label
    >Gateway
    <select name="gateway">
      <option value="">any</option>
      ${names.map((name) => html`<option ${name === chosenName && html`selected`}>${name}</option>`)}
    </select></label
  >`
}

export const stopRun: Action = {
  name: 'stopRun',
  back: ({ console, params }) => `${console.path}/runs/${params['id']}`,
  question: async ({ console, params }) => {
    const run = isUuid(params['id']) ? await console.core.runs.get(params['id']) : undefined
    return (
      run && {
        title: 'Stop the run?',
        section: 'failed',
        explanation: html`<p>
          It ends after its present batch. The ${number(run.done)} that are back in the queue stay
          there.
        </p>`,
        button: 'Stop it',
      }
    )
  },
  act: async ({ console, params }) => {
    await console.core.runs.stop(params['id'] ?? '')
    return { notice: 'run_stopped' }
  },
}
