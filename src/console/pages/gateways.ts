import { html } from 'hono/html'
import type { GatewaySetup } from '../../billing/gateway-setup.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { GatewayDescription } from '../../wire/gateway.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { table } from '../parts/table.ts'
import { badge } from '../parts/values.ts'

/** Every gateway, and whether its callbacks are taken. */
export async function gatewaysPage({ console }: Visit): Promise<ConsolePage> {
  const { core, path } = console
  return {
    title: 'Gateways',
    section: 'gateways',
    body: table({
      caption: 'Gateways',
      columns: ['Gateway', 'Callbacks', 'Callback URL', 'To register'],
      rows: Object.values(core.gateways()).map((gateway) => [
        html`<a href="${path}/gateways/${gateway.name}">${gateway.name}</a>
          <span class="soft">${gateway.title}</span>`,
        stateOf(gateway, core.inspect.gatewaySetup(gateway.name)),
        html`<code>${gateway.webhook_url}</code>`,
        gateway.webhook_requires_dashboard_setup ? 'yes' : 'no',
      ]),
      empty: 'No gateway is registered: this service takes no callbacks.',
    }),
  }
}

/** Whether its callbacks are taken, and if not, which variables change that. */
export function stateOf({ configured }: GatewayDescription, { lacks }: GatewaySetup): Html {
  if (configured) return badge('taken', 'good')
  const names = lacks.map((one, at) => html`${at === 0 ? '' : ', '}<code>${one}</code>`)
  return html`${badge('refused', 'warn')} set ${names}`
}
