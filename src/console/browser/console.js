// What pages of the console do where scripts run; each of them works without. A module,
// loaded after idiomorph; the tsconfig.json beside it checks it.

/**
 * @param {string} selector
 * @param {ParentNode} [within]
 * @returns {HTMLElement[]}
 */
const all = (selector, within = document) =>
  [...within.querySelectorAll(selector)].filter((one) => one instanceof HTMLElement)

// --- Pages as documents: the one place where text becomes nodes, and only text of our own pages.

const policy = globalThis.trustedTypes?.createPolicy('quittance', { createHTML: (text) => text })

/** @param {string} address */
async function pageAt(address) {
  const headers = { 'x-quittance-refresh': '1' }
  const answer = await fetch(address, { headers, cache: 'no-store', redirect: 'error' })
  if (!answer.ok) throw new Error(`answered ${answer.status}`)
  const text = await answer.text()
  const trusted = /** @type {string} */ (policy?.createHTML(text) ?? text)
  return new DOMParser().parseFromString(trusted, 'text/html')
}

// --- Times, in the reader's own zone as their title.

function titleTimes() {
  for (const one of all('time[datetime]')) {
    one.title = new Date(one.getAttribute('datetime') ?? '').toLocaleString()
  }
}

// --- Ids and addresses are for copying.

function addCopyButtons() {
  // Not on plain http, but for the reader's own machine.
  if (!('clipboard' in navigator)) return
  for (const one of all('[data-copy]')) {
    if (one.nextElementSibling?.classList.contains('copy')) continue
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'copy'
    button.textContent = 'Copy'
    button.setAttribute('aria-label', `Copy ${one.textContent?.trim() ?? ''}`)
    button.addEventListener('click', () => {
      void navigator.clipboard.writeText(one.textContent?.trim() ?? '').then(() => {
        button.textContent = 'Copied'
        setTimeout(() => (button.textContent = 'Copy'), 2_000)
      })
    })
    one.after(button)
  }
}

// --- What asks before it does something opens above the page.

/** @param {string} address */
async function ask(address) {
  const question = (await pageAt(address)).querySelector('main')
  if (question === null) throw new Error('no question')
  // A second press may have come before the answer to the first.
  if (document.querySelector('dialog[open]') !== null) return
  const dialog = document.createElement('dialog')
  dialog.append(...question.childNodes)
  const title = dialog.querySelector('h1')
  if (title !== null) title.id = 'question-title'
  dialog.setAttribute('aria-labelledby', 'question-title')
  for (const back of all('a[data-back]', dialog)) {
    back.addEventListener('click', (event) => {
      event.preventDefault()
      dialog.close()
    })
  }
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

document.addEventListener('click', (event) => {
  const link = event.target instanceof Element ? event.target.closest('a[data-ask]') : null
  const isPlain = event instanceof MouseEvent && !(event.ctrlKey || event.metaKey || event.shiftKey)
  if (!(link instanceof HTMLAnchorElement) || !isPlain || event.button !== 0) return
  event.preventDefault()
  ask(link.href).catch(() => location.assign(link.href))
})

// --- Live: the page asks for itself again while somebody looks at it.

const live = document.querySelector('main[data-refresh]')
const following = document.querySelector('#follow')

const isFollowing = () => !(following instanceof HTMLInputElement) || following.checked

/** What somebody has opened, closed or marked stays so. @param {string} name */
const isOurs = (name) => name !== 'open' && name !== 'checked'

/** @param {Document} fresh */
function refresh(fresh) {
  for (const region of all('[data-live]')) {
    const now = fresh.getElementById(region.id)
    const callbacks = { beforeAttributeUpdated: isOurs }
    if (now !== null) Idiomorph.morph(region, now, { restoreFocus: true, callbacks })
  }
  titleTimes()
  addCopyButtons()
}

/** The newest page that nobody has wanted to see yet. @type {Document | undefined} */
let waiting

/** Rows that are new stay out until somebody wants them. @param {Document} fresh */
function countNew(fresh) {
  const button = document.querySelector('#new-rows')
  if (!(button instanceof HTMLButtonElement)) return
  const known = new Set(all('[data-row]').map((row) => row.dataset['row']))
  const rows = all('[data-row]', fresh)
  const at = rows.findIndex((row) => known.has(row.dataset['row']))
  const count = at === -1 ? rows.length : at
  button.hidden = count === 0
  button.textContent = at === -1 ? `${count} or more new: show` : `${count} new: show`
  waiting = fresh
}

document.querySelector('#new-rows')?.addEventListener('click', ({ currentTarget }) => {
  if (waiting !== undefined) refresh(waiting)
  if (currentTarget instanceof HTMLButtonElement) currentTarget.hidden = true
})

async function look() {
  if (document.visibilityState !== 'visible' || document.querySelector('dialog[open]') !== null)
    return
  const fresh = await pageAt(location.href)
  if (isFollowing()) refresh(fresh)
  else countNew(fresh)
}

const follow = following?.closest('label')
if (follow instanceof HTMLElement) follow.hidden = false

if (live instanceof HTMLElement) {
  const state = document.querySelector('#live')
  const every = Number(live.dataset['refresh']) * 1_000
  const round = () => {
    look()
      .then(() => state?.replaceChildren('live'))
      .catch(() => state?.replaceChildren('not refreshed: open the page again'))
      .finally(() => setTimeout(round, every))
  }
  setTimeout(round, every)
}

// --- Keys: for whoever works here all day; one of them switches them off.

const keysOff = 'quittance-keys-off'
const pages = { o: '', p: '/payments', c: '/calls', r: '/refused', f: '/failed', v: '/reviews' }
let isGoing = false

/** @param {1 | -1} step */
function move(step) {
  const links = all('[data-row] a:first-of-type, tbody th a')
  const at = links.findIndex((link) => link === document.activeElement)
  const next = links[at === -1 ? 0 : Math.min(Math.max(at + step, 0), links.length - 1)]
  next?.focus()
}

function toggleFollow() {
  if (following instanceof HTMLInputElement) following.checked = !following.checked
}

function showHelp() {
  const help = document.querySelector('#keys')
  if (help instanceof HTMLDialogElement && !help.open) help.showModal()
}

/** @type {Readonly<Record<string, () => void>>} */
const keys = {
  '/': () => all('#search')[0]?.focus(),
  g: () => {
    isGoing = true
    setTimeout(() => (isGoing = false), 1_000)
  },
  j: () => move(1),
  k: () => move(-1),
  l: toggleFollow,
  '?': showHelp,
}

/** @param {EventTarget | null} target */
const isTyping = (target) =>
  target instanceof Element && target.closest('input, select, textarea') !== null

document.addEventListener('keydown', (event) => {
  const isOff = localStorage.getItem(keysOff) !== null && event.key !== '?'
  if (isOff || isTyping(event.target) || event.ctrlKey || event.metaKey || event.altKey) return
  const root = document.documentElement.dataset['console'] ?? ''
  const page = isGoing ? Object.entries(pages).find(([key]) => key === event.key)?.[1] : undefined
  if (page !== undefined) return location.assign(root + page)
  const act = Object.hasOwn(keys, event.key) ? keys[event.key] : undefined
  if (act === undefined) return
  event.preventDefault()
  act()
})

const off = document.querySelector('#keys-off')
if (off instanceof HTMLInputElement) {
  off.checked = localStorage.getItem(keysOff) !== null
  off.addEventListener('change', () => {
    if (off.checked) localStorage.setItem(keysOff, '1')
    else localStorage.removeItem(keysOff)
  })
}

titleTimes()
addCopyButtons()
