import { html } from 'hono/html'
import type { Html } from '../../http/pages/layout.ts'
import type { Timeline } from '../../inspect/timeline.ts'
import type { TimelineEntry, TimelineGroup } from '../../inspect/timeline-entry.ts'
import { minutes } from '../../kernel/duration.ts'
import type { Visit } from '../context.ts'
import { entryInWords } from '../words/timeline.ts'
import { chosenOf, withQuery } from './filters.ts'
import { shown } from './shown.ts'
import { duration, time } from './values.ts'

const groups = [
  'money',
  'callbacks',
  'listeners',
  'problems',
] as const satisfies readonly TimelineGroup[]

const groupNames: Readonly<Record<TimelineGroup, string>> = {
  money: 'Money',
  callbacks: 'Callbacks',
  listeners: 'Listeners',
  problems: 'Problems',
}

/** Longer pauses than this are said, so that nobody takes two days for two seconds. */
const longPause = minutes(1)

/** What happened, in order; one kind of it alone if the address says so. */
export function timeline({ console, url }: Visit, { entries, truncated }: Timeline): Html {
  const group = chosenOf(url, 'show', groups)
  const some = entries.filter((entry) => group === undefined || entry.groups.includes(group))
  const now = console.now()
  return html`<h2>What happened</h2>
    <nav class="tabs" aria-label="Which entries">${tabs(url, group)}</nav>
    ${truncated && html`<p class="banner">There is more: the newest 200 of each kind are here.</p>`}
    <div id="timeline" data-live>
      ${
        some.length === 0
          ? html`<p class="panel">Nothing of this kind has happened.</p>`
          : html`<table class="rows timeline">
              <caption class="unseen">
                What happened, oldest first
              </caption>
              <thead>
                <tr>
                  <th scope="col">At</th>
                  <th scope="col">What</th>
                  <th scope="col">How</th>
                </tr>
              </thead>
              <tbody>
                ${some.map((entry, at) => [pause(some[at - 1], entry), row(console.path, entry, now)])}
              </tbody>
            </table>`
      }
    </div>`
}

function tabs(url: URL, current: TimelineGroup | undefined): readonly Html[] {
  const all = [[undefined, 'All'], ...groups.map((one) => [one, groupNames[one]] as const)] as const
  return all.map(([group, name]) => {
    const mark = group === current && html`aria-current="true"`
    return html`<a href="${withQuery(url, { show: group })}" ${mark}>${name}</a>`
  })
}

function pause(before: TimelineEntry | undefined, entry: TimelineEntry): Html | false {
  if (before === undefined) return false
  const length = entry.at.getTime() - before.at.getTime()
  return (
    length > longPause &&
    html`<tr class="gap">
      <td colspan="3">${duration(length)}</td>
    </tr>`
  )
}

function row(path: string, entry: TimelineEntry, now: Date): Html {
  const { mark, what, text, to, isProblem = false } = entryInWords(entry)
  const name = shown(what)
  return html`<tr>
    <td data-label="At"><span>${time(entry.at, now)}</span></td>
    <td data-label="What">
      <span>
        <span class="mark" aria-hidden="true">${mark}</span>
        ${to === undefined ? name : html`<a href="${path}${to}">${name}</a>`}
      </span>
    </td>
    <td data-label="How"><span class="${isProblem ? 'bad' : ''}">${shown(text)}</span></td>
  </tr>`
}
