import { script } from './assets.ts'

/** Posts the form of a checkout. Not if the payer came back: they would never get out of it. */
export const submitForm = script(
  'submit-form',
  `'use strict'
const visit = performance.getEntriesByType('navigation')[0]
if (visit?.type !== 'back_forward') {
  // A field may be called "submit" and hide the form's own.
  HTMLFormElement.prototype.submit.call(document.querySelector('form'))
}
`,
)

/**
 * Updates the page when the payment's status changes: the server sends an event, and the parts that
 * changed are taken from the current page. If there is no stream of events, the page reloads.
 */
export const followStatus = script(
  'follow-status',
  `'use strict'
{
  const main = document.querySelector('main')
  const mostStreams = 10
  let streams = 0

  function reloadIn(seconds) {
    setTimeout(() => location.reload(), seconds * 1000)
  }

  async function turn() {
    const answer = await fetch(location.pathname + location.search, { cache: 'no-store' })
    if (!answer.ok) throw new Error('no page')
    const now = new DOMParser().parseFromString(await answer.text(), 'text/html')
    const fresh = now.querySelector('main')
    const held = document.activeElement
    for (const id of ['next', 'news']) {
      const part = document.getElementById(id)
      const wasHeld = part.contains(held)
      part.replaceChildren(...now.getElementById(id).childNodes)
      if (wasHeld) part.querySelector('a')?.focus()
    }
    main.className = fresh.className
    main.dataset.status = fresh.dataset.status
    document.title = now.title
  }

  function follow() {
    const source = new EventSource(main.dataset.stream)
    source.addEventListener('open', () => {
      streams += 1
      if (streams <= mostStreams) return
      // A forgotten tab: it checks again when somebody looks at it.
      source.close()
      document.addEventListener('visibilitychange', () => location.reload())
    })
    source.addEventListener('status', ({ data }) => {
      if (data === 'paid') source.close()
      if (data !== main.dataset.status) turn().catch(() => reloadIn(5))
    })
    source.addEventListener('error', () => {
      if (source.readyState === EventSource.CLOSED) reloadIn(10)
    })
  }

  if (typeof EventSource === 'function') follow()
  else reloadIn(5)
}
`,
)
