import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import type { GatewayDescription } from '../../wire/gateway.ts'
import type { Visit } from '../context.ts'

const narrowing = ['gateway', 'state', 'review', 'payment', 'cursor']

/** Why there may be no callback. */
export function whyNoCalls({ console, url }: Visit): Html {
  const { core, path } = console
  const { retentionDays } = core.inspect.settings()
  const all = Object.values(core.gateways())
  const named = all.find(({ name }) => name === url.searchParams.get('gateway'))
  const looked = named === undefined ? all : [named]
  const isNarrowed = narrowing.some((name) => (url.searchParams.get(name) ?? '') !== '')
  const reasons = [
    ...(isNarrowed ? [html`None fits what is chosen above.`] : []),
    ...setUpReasons(looked, path),
    html`None came in the last ${retentionDays} days: after that, they are deleted.`,
    html`What came was refused: see <a href="${path}/refused">Refused</a>.`,
  ]
  return html`There is no such call. Why that may be:
    <ul>
      ${reasons.map((reason) => html`<li>${reason}</li>`)}
    </ul>`
}

function setUpReasons(gateways: readonly GatewayDescription[], path: string): readonly Html[] {
  const lacking = gateways.filter(({ configured }) => !configured)
  const toRegister = gateways.filter(
    (one) => one.configured && one.webhook_requires_dashboard_setup,
  )
  const links = (some: readonly GatewayDescription[]) =>
    some.map(({ name }, at) => {
      const comma = at === 0 ? '' : ', '
      return html`${comma}<a href="${path}/gateways/${name}">${name}</a>`
    })
  return [
    ...(lacking.length === 0 ? [] : [html`No secret is set for: ${links(lacking)}.`]),
    ...(toRegister.length === 0
      ? []
      : [html`The callback URL is not registered at the provider of: ${links(toRegister)}.`]),
  ]
}
