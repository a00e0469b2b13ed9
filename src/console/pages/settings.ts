import { html } from 'hono/html'
import type { ShownSetting } from '../../billing/shown-settings.ts'
import type { Html } from '../../http/pages/layout.ts'
import { listenerNoun } from '../../listeners/known-listeners.ts'
import type { Action } from '../action.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { nounTable } from '../parts/noun.ts'
import { shown } from '../parts/shown.ts'
import { facts, table } from '../parts/table.ts'
import { badge, nothing, time } from '../parts/values.ts'

/** How the service is set up, and who looks. */
export async function settingsPage(visit: Visit): Promise<ConsolePage> {
  const { console, visitor } = visit
  const { core, path } = console
  const { production, database, queueConnection, retentionDays, settings, warnings } =
    core.inspect.settings()
  return {
    title: 'Settings',
    section: 'settings',
    beside: html`<span class="actions"
      >${
        console.access.kind === 'sessions' &&
        actionLink(visit, `${path}/settings/sign-out`, 'Sign me out everywhere')
      }</span
    >`,
    body: html`${facts([
      ['You are', html`${shown(visitor.name)} (${visitor.role})`],
      ['Rules', production ? 'production' : 'development'],
      ['Database', database === 'embedded' ? 'embedded' : 'PostgreSQL'],
      ['Calls are processed', queueConnection === 'sync' ? 'within the request' : 'by workers'],
      ['Calls are kept for', `${retentionDays} days`],
      ['Public URL', shown(core.origin)],
    ])}
    ${warningsOf(warnings)} ${settingsOf([...settings, ...console.ownSettings])}
    ${await listenersOf(visit)} ${await schedulesOf(visit)}`,
  }
}

function warningsOf(warnings: readonly string[]): Html | false {
  if (warnings.length === 0) return false
  return html`<ul class="problems">
    ${warnings.map((warning) => html`<li class="warned">${shown(warning)}</li>`)}
  </ul>`
}

function settingsOf(settings: readonly ShownSetting[]): Html {
  return html`<h2>What is set</h2>
    <p>
      Of secrets, and of what is no text, it says only that they are set. The secrets of each
      gateway are on its page.
    </p>
    ${table({
      caption: 'Settings that are not as they are by default',
      columns: ['Setting', 'Value', 'Variable'],
      rows: settings.map((one) => [
        one.name,
        one.value === null ? 'set' : shown(one.value),
        one.variables.length === 0 ? nothing : html`<code>${one.variables.join(', ')}</code>`,
      ]),
      empty: 'Everything is as it is by default.',
    })}`
}

async function listenersOf(visit: Visit): Promise<Html> {
  return html`<h2>Listeners</h2>
    ${nounTable(listenerNoun, await visit.console.core.listeners.list(), {
      visit,
      cells: { present: ({ present }) => (present ? badge('yes', 'good') : badge('no', 'warn')) },
      columns: ['name', 'eventTypes', 'queued', 'present', 'registeredAt'],
      caption: 'Listeners that the database remembers',
      empty: 'No listener is known: events are stored, and nobody hears of them.',
    })}`
}

async function schedulesOf({ console }: Visit): Promise<Html> {
  const now = console.now()
  const schedules = await console.core.inspect.schedules()
  return html`<h2>Schedules</h2>
    ${table({
      caption: 'What is done at its times',
      columns: ['Schedule', 'Next', 'Last done', 'Last failure'],
      rows: schedules.map(({ name, nextRunAt, lastRunAt, lastError }) => [
        shown(name),
        time(nextRunAt, now),
        time(lastRunAt, now),
        lastError === null ? nothing : shown(lastError),
      ]),
      empty: 'None has run yet: no process of this database works.',
    })}`
}

/** Ends all sessions of whoever asks, this one too. */
export const signOutEverywhere: Action = {
  name: 'signOutOperator',
  back: ({ console }) => `${console.path}/settings`,
  subject: ({ visitor }) => visitor.name,
  question: async ({ console, visitor }) => {
    if (console.access.kind !== 'sessions') return undefined
    return {
      title: 'Sign out everywhere?',
      section: 'settings',
      explanation: html`<p>
        Every browser that is signed in as ${shown(visitor.name)} is signed out, this one too. The
        token still works. If somebody else may have it, have it removed, and a new one made.
      </p>`,
      button: 'Sign me out everywhere',
    }
  },
  act: async ({ console, visitor }) => {
    // An app's own guard has sessions of its own: there are none of ours to end.
    if (console.access.kind === 'sessions') await console.core.operators.signOut(visitor.name)
    return { notice: 'signed_out_everywhere', to: '/sign-in' }
  },
}
