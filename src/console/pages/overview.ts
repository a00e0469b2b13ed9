import { html } from 'hono/html'
import { overviewSpans, type Overview, type OverviewSpan } from '../../health/overview.ts'
import type { Html } from '../../http/pages/layout.ts'
import { actionLink } from '../action.ts'
import type { Visit } from '../context.ts'
import type { ConsolePage } from '../page.ts'
import { chart, type ChartColumn, type Series } from '../parts/chart.ts'
import { chosenOf, withQuery } from '../parts/filters.ts'
import { shown } from '../parts/shown.ts'
import { count, duration, number } from '../../kernel/figures.ts'
import { agoBy, badge, nothing } from '../parts/values.ts'

const spanNames: Readonly<Record<OverviewSpan, string>> = {
  '1h': '1 h',
  '24h': '24 h',
  '7d': '7 d',
  '30d': '30 d',
}

/** How the service is doing: what is wrong first. */
export async function overviewPage(visit: Visit): Promise<ConsolePage> {
  const { console, url } = visit
  const span = chosenOf(url, 'span', overviewSpans) ?? '24h'
  const overview = await console.core.inspect.overview({ span })
  const newest = await console.core.calls.list({ limit: 1 })
  const isNew = console.development !== undefined && newest.data.length === 0
  return {
    title: 'Overview',
    section: '',
    refreshSeconds: 10,
    beside: html`<span class="badge plain" id="live" aria-hidden="true"></span>`,
    body: html`<div id="overview" data-live>
      ${isNew && firstSteps(visit)} ${!isNew && problemsOf(visit, overview)} ${spansOf(url, span)}
      <div class="grid">
        ${acceptedPanel(overview)} ${refusedPanel(visit, overview)} ${processedPanel(overview)}
        ${speedPanel(overview)} ${waitingPanel(overview)} ${gatewaysPanel(visit, overview)}
      </div>
      <p class="soft">What is counted is up to a minute old.</p>
    </div>`,
  }
}

function problemsOf({ console: { path } }: Visit, { problems }: Overview): Html {
  if (problems.length === 0) return html`<p class="notice">Nothing needs attention.</p>`
  const lines = problems.map(
    ({ severity, text, fix, page }) =>
      html`<li class="${severity === 'info' ? 'warned' : ''}">
        <span>${shown(text)}</span> <a href="${path}${page.path}">${page.title}</a>
        <span class="soft">${shown(fix)}</span>
      </li>`,
  )
  return html`<h2>Needs attention</h2>
    <ul class="problems">
      ${lines}
    </ul>`
}

function firstSteps(visit: Visit): Html {
  const { path, core, development } = visit.console
  const names = Object.values(core.gateways())
    .filter(({ name, configured }) => configured && development?.scenarios(name).length !== 0)
    .map(({ name }) => name)
  const [name] = names
  return html`<div class="panel">
    <p>
      No callback yet. Create a test payment, and send a callback for
      it${name !== undefined && html`; or from a terminal: <code>quittance send ${name}</code>`}
    </p>
    <div class="actions">
      ${actionLink(visit, `${path}/payments/new`, 'Create a test payment')}
      ${name !== undefined && actionLink(visit, `${path}/gateways/${name}/test`, 'Send a test callback')}
    </div>
  </div>`
}

function spansOf(url: URL, chosen: OverviewSpan): Html {
  return html`<nav class="tabs" aria-label="How far back">
    ${overviewSpans.map(
      (span) =>
        html`<a href="${withQuery(url, { span })}" ${span === chosen && html`aria-current="true"`}
          >${spanNames[span]}</a
        >`,
    )}
  </nav>`
}

function columnsOf(
  { buckets, span }: Overview,
  valuesOf: (bucket: Overview['buckets'][number]) => readonly number[],
): readonly ChartColumn[] {
  const from = span === '1h' || span === '24h' ? 11 : 0
  return buckets.map((bucket) => ({
    title: bucket.at.toISOString().slice(from, 16).replace('T', ' '),
    values: valuesOf(bucket),
  }))
}

function panel(title: string, figure: string, content: Html): Html {
  return html`<section class="panel">
    <h2>${title}</h2>
    <p class="figure">${figure}</p>
    ${content}
  </section>`
}

const refusedOf = (counts: Pick<Overview['counts'], 'refused'>) =>
  counts.refused.reduce((all, { count: one }) => all + one, 0)

function acceptedPanel(overview: Overview): Html {
  const series: readonly Series[] = [{ title: 'accepted', tone: 'a' }]
  const columns = columnsOf(overview, ({ accepted }) => [accepted])
  const drawn = chart({ title: 'Accepted callbacks', series, columns })
  return panel('Accepted', number(overview.counts.accepted), drawn)
}

function refusedPanel({ console }: Visit, overview: Overview): Html {
  const series: readonly Series[] = [{ title: 'refused', tone: 'b' }]
  const columns = columnsOf(overview, (bucket) => [refusedOf(bucket)])
  const reasons = overview.counts.refused.slice(0, 4)
  const content = html`${chart({ title: 'Refused callbacks', series, columns })}
    <ul class="plain-list">
      ${reasons.map((one) => html`<li>${shown(one.reason)}: ${number(one.count)}</li>`)}
    </ul>
    <p><a href="${console.path}/refused">Why</a></p>`
  return panel('Refused', number(refusedOf(overview.counts)), content)
}

function processedPanel(overview: Overview): Html {
  const series: readonly Series[] = [
    { title: 'processed', tone: 'a' },
    { title: 'failed', tone: 'b' },
    { title: 'ignored', tone: 'c' },
  ]
  const columns = columnsOf(overview, ({ processed, failed, ignored }) => [
    processed,
    failed,
    ignored,
  ])
  const { processed, ignored, failed } = overview.counts
  const content = html`${chart({ title: 'Processed calls', series, columns })}
    <p>
      ${number(ignored)} changed nothing,
      <span class="${failed > 0 ? 'bad' : ''}">${number(failed)} failed</span>
    </p>`
  return panel('Processed', number(processed), content)
}

function speedPanel({ counts: { delaySeconds, callbackSeconds } }: Overview): Html {
  const said = (value: typeof delaySeconds) =>
    value === null
      ? nothing
      : html`p50 ${duration(value.p50 * 1_000)}, p99 ${duration(value.p99 * 1_000)}`
  return html`<section class="panel">
    <h2>How fast</h2>
    <dl>
      <dt>A callback to its answer</dt>
      <dd>${said(callbackSeconds)}</dd>
      <dt>Its receipt to the end of its processing</dt>
      <dd>${said(delaySeconds)}</dd>
    </dl>
  </section>`
}

function waitingPanel({ backlog }: Overview): Html {
  const { pendingCalls, processingCalls, oldestSeconds, workers } = backlog
  const { pendingDeliveries, processingDeliveries } = backlog
  return html`<section class="panel">
    <h2>Waiting</h2>
    <p class="figure">${count(pendingCalls)}</p>
    <p>
      calls${pendingCalls > 0 && html`, the oldest for ${duration(oldestSeconds * 1_000)}`};
      ${count(processingCalls)} under way
    </p>
    <p>
      ${count(pendingDeliveries)} deliveries to listeners; ${count(processingDeliveries)} under way
    </p>
    <p>
      ${workers === 0 ? badge('no worker runs', 'bad') : `${workers} worker${workers === 1 ? '' : 's'}`}
    </p>
  </section>`
}

function gatewaysPanel({ console }: Visit, { lastAccepted }: Overview): Html {
  const { path } = console
  const rows = lastAccepted.map(
    ({ gateway, seconds }) =>
      html`<li>
        <a href="${path}/gateways/${encodeURIComponent(gateway)}">${gateway}</a>: last accepted
        ${agoBy(seconds * 1_000)}
      </li>`,
  )
  const configured = Object.values(console.core.gateways()).filter((one) => one.configured)
  const silent = configured.filter(({ name }) => lastAccepted.every((one) => one.gateway !== name))
  return html`<section class="panel">
    <h2>Gateways</h2>
    <ul class="plain-list">
      ${rows}
      ${silent.map(
        ({ name }) =>
          html`<li>
            <a href="${path}/gateways/${encodeURIComponent(name)}">${name}</a>: none in 8 days
          </li>`,
      )}
    </ul>
  </section>`
}
