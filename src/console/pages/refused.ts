import { html } from 'hono/html'
import type { Refusals } from '../../billing/inspect-types.ts'
import type { Html } from '../../http/pages/layout.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { gatewayChoice } from '../parts/choices.ts'
import { chosen, filters } from '../parts/filters.ts'
import { given } from '../parts/given.ts'
import { shown } from '../parts/shown.ts'
import { table } from '../parts/table.ts'
import { number } from '../../kernel/figures.ts'
import { nothing, time } from '../parts/values.ts'
import { refusalInWords } from '../words/refusals.ts'

type Sample = Refusals['samples'][number]
type Count = Refusals['counts'][number]

/** Callbacks that were not accepted, by why: what it means, and what to do about it. */
export async function refusedPage({ console, url }: Visit): Promise<ConsolePage> {
  const name = chosen(url, 'gateway')
  const gateway = name === undefined ? undefined : console.core.gatewayName(name)
  if (name !== undefined && gateway === undefined) {
    const fault = html`<p class="fault" role="alert">There is no gateway ${shown(name)}.</p>`
    return asPage(html`${filters(url, [gatewayChoice(console.core)])} ${fault}`)
  }
  const { counts, samples } = await console.core.inspect.refusals(given({ gateway }))
  const now = console.now()
  const reasons = counts.map((count) => {
    const own = samples.filter(
      (one) => one.gateway === count.gateway && one.reason === count.reason,
    )
    return reasonPanel(count, own, now)
  })
  const others = samples.filter(({ gateway: whose, reason }) =>
    counts.every((one) => one.gateway !== whose || one.reason !== reason),
  )
  return asPage(
    html`${filters(url, [gatewayChoice(console.core)])}
      <p>
        Callbacks of the last 24 hours that were not answered 200. Nothing of their bodies is kept:
        the provider sends a genuine one again.
      </p>
      ${reasons}
      ${
        reasons.length + others.length === 0 &&
        html`<p class="panel">Nothing was refused in 24 h.</p>`
      }
      <p class="soft">What is counted is up to a minute old.</p>
      ${
        others.length > 0 &&
        html`<h2>Others of the last 7 days</h2>
          ${samplesOf(others, now)}`
      }`,
  )
}

function asPage(body: Html): ConsolePage {
  return { title: 'Refused', section: 'refused', body }
}

function reasonPanel(
  { gateway, reason, count }: Count,
  samples: readonly Sample[],
  now: Date,
): Html {
  const { meaning, cause, fix } = refusalInWords(reason)
  const whose = gateway === '' ? 'no gateway that there is' : gateway
  return html`<section class="panel">
    <h2>${shown(whose)}: ${shown(reason)}, ${number(count)} times</h2>
    <p>${meaning}</p>
    <p><b>Most likely:</b> ${cause}</p>
    <p><b>To do:</b> ${fix}</p>
    ${samples.length > 0 && samplesOf(samples, now)}
  </section>`
}

function samplesOf(samples: readonly Sample[], now: Date): Html {
  return html`<details>
    <summary>
      What ${samples.length === 1 ? 'one' : `${samples.length}`} of them looked like
    </summary>
    ${table({
      caption: 'Some of the refused callbacks, newest first',
      columns: [
        'At',
        'From',
        'Named',
        'Body',
        'Content type',
        'Signature header',
        'Clock',
        'Headers',
      ],
      rows: samples.map((sample) => [
        time(sample.at, now),
        sample.network ?? nothing,
        sample.name === null ? nothing : shown(sample.name),
        sample.bodyBytes === null ? nothing : `${number(sample.bodyBytes)} bytes`,
        sample.contentType === null ? nothing : shown(sample.contentType),
        signatureText(sample),
        clockText(sample),
        shown(sample.headerNames.join(', ')),
      ]),
      empty: '',
    })}
  </details>`
}

function signatureText({ hasSignature }: Sample): string {
  if (hasSignature === null) return 'none is used'
  return hasSignature ? 'there' : 'missing'
}

function clockText({ clockSkewSeconds }: Sample): Html | string {
  if (clockSkewSeconds === null) return nothing
  const length = `${number(Math.abs(clockSkewSeconds))} s`
  return clockSkewSeconds > 0 ? `${length} ahead of ours` : `${length} behind ours`
}
