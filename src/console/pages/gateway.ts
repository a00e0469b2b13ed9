import { html } from 'hono/html'
import type { GatewaySetup, ShownCredential } from '../../billing/gateway-setup.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { GatewayDescription } from '../../wire/gateway.ts'
import { type Action, actionLink } from '../action.ts'
import {
  type AskedRegistration,
  askRegistration,
  knownRegistration,
} from '../asked-registrations.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { shown, shownWhole } from '../parts/shown.ts'
import { facts, table } from '../parts/table.ts'
import { number } from '../../kernel/figures.ts'
import { ago, nothing, time } from '../parts/values.ts'
import { capabilityWords } from '../words/capabilities.ts'
import { registrationFaults } from '../words/registration.ts'
import { stateOf } from './gateways.ts'

/** Of one gateway: what it has, what it lacks, and where its callbacks go. */
export async function gatewayPage(visit: Visit): Promise<ConsolePage | undefined> {
  const { console, params } = visit
  const found = gatewayOf(visit)
  if (found === undefined) return undefined
  const { gateway, setup } = found
  const { path } = console
  const at = `${path}/gateways/${params['name']}`
  const scenarios = console.development?.scenarios(gateway.name) ?? []
  const canTest = scenarios.length > 0 && setup.lacks.length === 0
  const canAsk = gateway.capabilities.registerWebhook && setup.lacksToAsk === null
  return {
    title: gateway.title,
    section: 'gateways',
    beside: html`<span class="actions"
      >${canTest && actionLink(visit, `${at}/test`, 'Send a test callback')}
      ${canAsk && actionLink(visit, `${at}/registration`, 'Check the registration')}</span
    >`,
    body: html`${facts([
        ['Name', gateway.name],
        ['Callbacks', stateOf(gateway, setup)],
        ['Verified by', gateway.scheme],
        ...(gateway.driver === gateway.name ? [] : [['An account of', gateway.driver] as const]),
        ...(gateway.aliases.length === 0
          ? []
          : [['Also called', gateway.aliases.join(', ')] as const]),
      ])}
      <p>
        <a href="${path}/calls?gateway=${gateway.name}">Its calls</a>,
        <a href="${path}/payments?gateway=${gateway.name}">its payments</a>,
        <a href="${path}/reviews?gateway=${gateway.name}">its reviews</a>
      </p>
      ${await countedOf(visit, gateway)} ${urlsOf(visit, gateway)}
      ${await registrationOf(visit, { gateway, setup })} ${abilitiesOf(gateway)}
      ${credentialsOf(setup)}`,
  }
}

/** What was counted of it, of the last 24 hours. */
async function countedOf({ console }: Visit, { name }: GatewayDescription): Promise<Html> {
  const counted = await console.core.inspect.gateway(name)
  if (counted === undefined) return html``
  const now = console.now()
  const { lastAcceptedAt, accepted, refused, decided, secrets } = counted
  const refusals = refused.map(({ reason, count }) => `${shown(reason)} ${number(count)}`)
  const inUse = secrets.map(
    ({ secret, lastAt }) => html`<li>secret ${secret}: last used ${ago(lastAt, now)}</li>`,
  )
  return html`<h2>In 24 hours</h2>
    ${facts([
      ['Last accepted', lastAcceptedAt === null ? 'none in 90 days' : ago(lastAcceptedAt, now)],
      ['Accepted', number(accepted)],
      [
        'Refused',
        refusals.length === 0
          ? 'none'
          : html`<a href="${console.path}/refused?gateway=${name}">${refusals.join(', ')}</a>`,
      ],
      ['Payments decided by a callback', number(decided.byCallback)],
      ['Payments found by asking', number(decided.byAsking)],
      [
        'Secrets in use',
        inUse.length === 0
          ? nothing
          : html`<ul class="plain-list">
              ${inUse}
            </ul>`,
      ],
    ])}`
}

interface FoundGateway {
  readonly gateway: GatewayDescription
  readonly setup: GatewaySetup
}

/** By its name or alias. */
export function gatewayOf({ console: { core }, params }: Visit): FoundGateway | undefined {
  const name = core.gatewayName(params['name'] ?? '')
  const gateway = name === undefined ? undefined : core.gateways()[name]
  return gateway && { gateway, setup: core.inspect.gatewaySetup(gateway.name) }
}

function urlsOf({ console: { core } }: Visit, gateway: GatewayDescription): Html {
  const { webhook_url: first, name, callbackUrlField } = gateway
  const urls = core.webhookPaths.map((path) => core.origin + path.replace('{gateway}', name))
  const others = urls.filter((url) => url !== first)
  const field = callbackUrlField === null ? '' : `, in the field ${callbackUrlField}`
  return html`<h2>Callback URL</h2>
    <p><code>${first}</code></p>
    ${
      others.length > 0 &&
      html`<p>Answered as well: ${others.map((url) => html`<code>${url}</code> `)}</p>`
    }
    <p>
      ${
        gateway.webhook_requires_dashboard_setup
          ? 'It must be registered at the provider: in its dashboard, or by the command that registers it.'
          : `It need not be registered: each payment carries it${field}.`
      }
    </p>`
}

function abilitiesOf({ capabilities }: GatewayDescription): Html {
  const names = Object.entries(capabilityWords).flatMap(([name, words]) =>
    Object.entries(capabilities).some(([one, can]) => one === name && can) ? [words] : [],
  )
  return html`<h2>What it can do</h2>
    <p>It takes callbacks${names.length > 0 ? `; ${names.join('; ')}` : ''}.</p>`
}

function credentialsOf({ credentials }: GatewaySetup): Html {
  return html`<h2>Settings</h2>
    ${table({
      caption: 'Settings of the gateway, by their variables',
      columns: ['Variable', 'Set', 'Needed', 'Meaning'],
      rows: credentials.map((one) => [
        html`<code>${one.variable}</code>`,
        valueOf(one),
        one.required ? 'yes' : 'no',
        one.description,
      ]),
      empty: 'It has none.',
    })}`
}

/** Of a secret only that it is there. */
function valueOf({ secret, values, value }: ShownCredential): Html | string {
  if (values === 0) return nothing
  if (!secret) return value === null ? 'set' : shown(value)
  return values === 1 ? 'set' : `${values} are set`
}

/** What the provider said, if it was asked lately. */
async function registrationOf(visit: Visit, found: FoundGateway): Promise<Html | false> {
  const { gateway, setup } = found
  if (!gateway.capabilities.registerWebhook) return false
  if (setup.lacksToAsk !== null) {
    return html`<h2>Registration</h2>
      <p>To ask the provider needs <code>${setup.lacksToAsk}</code>.</p>`
  }
  const asked = await answerFor(visit, gateway.name)
  return html`<h2 id="registration">Registration</h2>
    ${
      asked === undefined
        ? html`<p>The provider was not asked in the last 10 minutes.</p>`
        : answerOf(visit, { ...found, asked })
    }`
}

/** An operator comes here from having asked: another process may have done it. */
async function answerFor({ console, url, visitor }: Visit, gateway: string) {
  const known = knownRegistration(console, gateway)
  const isWanted = url.searchParams.has('registration') && visitor.role === 'operator'
  return known ?? (isWanted ? askRegistration(console, gateway) : undefined)
}

function answerOf(
  { console }: Visit,
  { asked, gateway, setup }: FoundGateway & { readonly asked: AskedRegistration },
): Html {
  const now = console.now()
  const { at, answer } = asked
  const when = html`<p class="soft">Asked at ${time(at, now)}, ${ago(at, now)}.</p>`
  if (answer.kind === 'failed') {
    return html`<p class="fault">It could not be asked: ${answer.text}</p>
      ${when}`
  }
  const faults = registrationFaults(answer.state, {
    title: gateway.title,
    variable: setup.registrationSecret,
  })
  if (faults.length === 0) {
    return html`<p class="notice">It sends exactly what is handled here, to the right URL.</p>
      ${when}`
  }
  return html`<ul class="problems">
      ${faults.map(
        ({ found, fix }) =>
          html`<li><span>${shownWhole(found)}</span> <span class="soft">${fix}</span></li>`,
      )}
    </ul>
    ${when}`
}

/** Asks the provider which callback URLs it has. Nothing is changed there. */
export const checkRegistration: Action = {
  name: 'readRegistration',
  back: ({ console, params }) => `${console.path}/gateways/${params['name']}`,
  subject: ({ params }) => params['name'] ?? null,
  question: async (visit) => {
    const found = gatewayOf(visit)
    if (found?.gateway.capabilities.registerWebhook !== true) return undefined
    return {
      title: 'Check the registration?',
      section: 'gateways',
      explanation: html`<p>
        ${found.gateway.title} is asked which callback URLs it has, and which events it sends there.
        Nothing is changed. The answer is shown for 10 minutes.
      </p>`,
      button: 'Ask the provider',
    }
  },
  act: async (visit) => {
    const name = gatewayOf(visit)?.gateway.name ?? visit.params['name'] ?? ''
    const { answer } = await askRegistration(visit.console, name)
    return {
      notice: 'registration_read',
      to: `/gateways/${name}?registration=shown`,
      outcome: answer.kind === 'read' ? 'done' : 'failed',
    }
  },
}
