import { html } from 'hono/html'
import { Hono, type Context } from 'hono'
import { nodeRequest } from '../http/read-body.ts'
import { senderAddress } from '../http/sender-address.ts'
import { excessOver } from '../http/throttle.ts'
import { backTo } from './action.ts'
import {
  browserKey,
  forgetBrowserKey,
  formToken,
  isFormToken,
  newBrowserKey,
  setBrowserKey,
} from './browser-key.ts'
import type { Access, ConsoleContext } from './context.ts'
import { readForm, visitorOf } from './guard.ts'
import { noticeOf, pageHeaders, plainPage } from './page.ts'
import { refuse } from './refusals.ts'

type Sessions = Extract<Access, { kind: 'sessions' }>

/** The page that asks for a token, the link that signs in once, and the way out. */
export function signInRoutes(context: ConsoleContext, access: Sessions): Hono {
  const app = new Hono()
  const limit = signInLimit()
  app.get('/sign-in', async (c) => {
    if ((await visitorOf(c, context)) !== undefined) return to(c, nextOf(c, context))
    return signInPage(c, context)
  })
  app.post('/sign-in', (c) => takeToken(c, context, { access, limit }))
  app.get('/sign-in/once', (c) => takeLink(c, context, access))
  app.post('/sign-out', (c) => signOut(c, context, access))
  return app
}

/** Whether a sender has tried too often, or all of them. */
type Limit = (sender: string) => Promise<boolean>

function signInLimit(): Limit {
  const [ofSender, ofAll] = [excessOver('5 per minute'), excessOver('30 per minute')]
  return async (sender) => ((await ofSender(sender)) ?? (await ofAll(''))) !== undefined
}

interface SignInPage {
  readonly status?: number
  readonly fault?: string
}

async function signInPage(
  c: Context,
  context: ConsoleContext,
  { status = 200, fault }: SignInPage = {},
) {
  const key = browserKey(c, context) ?? newBrowserKey()
  setBrowserKey(c, context, key)
  const page = await plainPage(context, {
    status,
    title: 'Sign in',
    body: html`${noticeOf(new URL(c.req.url))}
      ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
      <form class="panel" method="post" action="${context.path}/sign-in">
        <input type="hidden" name="form_token" value="${formToken(key)}" />
        <input type="hidden" name="next" value="${nextOf(c, context)}" />
        <label
          >Token
          <input
            type="password"
            name="token"
            autocomplete="current-password"
            spellcheck="false"
            required
            autofocus
        /></label>
        <p class="soft">
          Yours, as <code>quittance operators add</code> printed it, or that of the management API.
        </p>
        <button class="go">Sign in</button>
      </form>`,
  })
  return withCookie(c, page)
}

/** Which page is shown once somebody is signed in. */
function nextOf(c: Context, context: ConsoleContext, wanted = c.req.query('next') ?? null): string {
  const url = new URL(c.req.url)
  const next = backTo({ console: context, url }, wanted, context.path)
  // Otherwise whoever signs in would be shown the way in, or out, again.
  return /\/sign-(?:in|out)\b/.test(next) ? context.path : next
}

async function takeToken(
  c: Context,
  context: ConsoleContext,
  { access, limit }: { readonly access: Sessions; readonly limit: Limit },
): Promise<Response> {
  const read = await readForm(c)
  if (read.kind === 'refused') return refuse(context, read.refusal)
  const key = browserKey(c, context)
  if (key === undefined || !isFormToken(read.form.get('form_token') ?? '', key)) {
    return signInPage(c, context, { status: 403, fault: 'The page was outdated: try again.' })
  }
  const token = (read.form.get('token') ?? '').trim()
  const signedIn = await access.sessions.signIn(token, () => limit(senderAddress(c)))
  if (signedIn.kind === 'limited') {
    const fault = 'Too many tries: wait a minute, and try again.'
    return signInPage(c, context, { status: 429, fault })
  }
  if (signedIn.kind === 'refused') {
    const fault = 'This token does not sign in: it is not known here, or has expired.'
    return signInPage(c, context, { status: 403, fault })
  }
  await recordSignIn(context, { id: context.newId(), operator: signedIn.operator, by: 'token' })
  // What this browser had before has ended: nobody else may know the new one.
  await access.sessions.end(key)
  setBrowserKey(c, context, signedIn.id)
  return to(c, nextOf(c, context, read.form.get('next')))
}

interface SignInRecord {
  readonly id: string
  readonly operator: string
  readonly by: 'token' | 'link'
}

async function recordSignIn({ core }: ConsoleContext, { id, operator, by }: SignInRecord) {
  const action = { id, operator, via: 'console', action: 'signIn', detail: { by } } as const
  const recorded = await core.operators.recordAction(action)
  if (recorded === 'recorded') await core.operators.endAction(id, 'done')
  return recorded
}

/** The link that the start of the service prints: for this machine alone, and once. */
async function takeLink(c: Context, context: ConsoleContext, { link, sessions }: Sessions) {
  const id = isOnThisMachine(c) ? link?.idOf(c.req.query('key') ?? '') : undefined
  const spent = 'This link no longer signs in: it does so once, within 10 minutes, on this machine.'
  if (link === undefined || id === undefined) {
    return signInPage(c, context, { status: 403, fault: spent })
  }
  const operator = link.operator.name
  if ((await recordSignIn(context, { id, operator, by: 'link' })) === 'known') {
    return signInPage(c, context, { status: 403, fault: spent })
  }
  const begun = await sessions.begin(link.operator)
  if (begun.kind === 'gone') return signInPage(c, context, { status: 403, fault: spent })
  setBrowserKey(c, context, begun.id)
  return to(c, context.path)
}

function isOnThisMachine(c: Context): boolean {
  const address = nodeRequest(c)?.socket.remoteAddress
  return address !== undefined && /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
}

async function signOut(c: Context, context: ConsoleContext, { sessions }: Sessions) {
  const read = await readForm(c)
  if (read.kind === 'refused') return refuse(context, read.refusal)
  const key = browserKey(c, context)
  if (key === undefined || !isFormToken(read.form.get('form_token') ?? '', key)) {
    return refuse(context, 'form_outdated')
  }
  await sessions.end(key)
  forgetBrowserKey(c, context)
  return to(c, `${context.path}/sign-in?done=signed_out`)
}

/** Hono adds the cookies that were set meanwhile to what it redirects with. */
function to(c: Context, path: string): Response {
  for (const [name, value] of Object.entries(pageHeaders)) c.header(name, value)
  return c.redirect(path, 303)
}

function withCookie(c: Context, page: Response): Response {
  const headers = Object.fromEntries(page.headers)
  return c.newResponse(page.body, page.status as 200, headers)
}
