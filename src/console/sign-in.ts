import { html } from 'hono/html'
import { Hono, type Context } from 'hono'
import { nodeRequest } from '../http/read-body.ts'
import { onlyAllow } from '../http/respond.ts'
import { senderAddress } from '../http/sender-address.ts'
import { backTo } from './action.ts'
import {
  browserKey,
  forgetBrowserKey,
  formToken,
  isFormToken,
  newBrowserKey,
  setBrowserKey,
  setSignInKey,
  signInKey,
} from './browser-key.ts'
import type { Access, ConsoleContext } from './context.ts'
import type { Gate } from './gate.ts'
import { readForm, visitorOf } from './guard.ts'
import { hostOf, hostsOf, ownMachine } from './hosts.ts'
import { noticeOf, pageHeaders, plainPage } from './page.ts'
import { refuse } from './refusals.ts'

type Sessions = Extract<Access, { kind: 'sessions' }>

/** The page that asks for a token, the link that signs in once, and the way out. */
export function signInRoutes(
  context: ConsoleContext,
  access: Sessions,
  gate: Gate<Response>,
): Hono {
  const app = new Hono()
  app.get('/sign-in', async (c) => {
    const visitor = await gate(() => visitorOf(c, context))
    if (visitor instanceof Response) return visitor
    if (visitor !== undefined) return to(c, nextOf(c, context, c.req.query('next')))
    return signInPage(c, context)
  })
  app.get('/sign-in/once', (c) => gate(() => takeLink(c, context, access)))
  for (const [path, take] of [
    ['/sign-in', takeToken],
    ['/sign-out', signOut],
  ] as const) {
    app.post(path, async (c) => {
      const read = await readForm(c, context)
      if (read.kind === 'refused') return refuse(context, read.refusal)
      return gate(() => take({ c, context, access, form: read.form }))
    })
  }
  app.all('/sign-in', onlyAllow('GET, HEAD, POST'))
  app.all('/sign-in/once', onlyAllow('GET'))
  app.all('/sign-out', onlyAllow('POST'))
  return app
}

interface SignInPage {
  readonly status?: number
  readonly fault?: string
  readonly next?: string | null
}

async function signInPage(
  c: Context,
  context: ConsoleContext,
  { status = 200, fault, next = c.req.query('next') ?? null }: SignInPage = {},
) {
  const key = signInKey(c, context) ?? newBrowserKey()
  setSignInKey(c, context, key)
  const page = await plainPage(context, {
    status,
    title: 'Sign in',
    body: html`${noticeOf(new URL(c.req.url))}
      ${fault !== undefined && html`<p class="fault" role="alert">${fault}</p>`}
      <form class="panel" method="post" action="${context.path}/sign-in">
        <input type="hidden" name="form_token" value="${formToken(key)}" />
        <input type="hidden" name="next" value="${nextOf(c, context, next)}" />
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
function nextOf(c: Context, context: ConsoleContext, wanted: string | null | undefined): string {
  const url = new URL(c.req.url)
  const next = backTo({ console: context, url }, wanted ?? null, context.path)
  // Otherwise whoever signs in would be shown the way in, or out, again.
  return /\/sign-(?:in|out)\b/.test(next) ? context.path : next
}

interface Posted {
  readonly c: Context
  readonly context: ConsoleContext
  readonly access: Sessions
  readonly form: URLSearchParams
}

async function takeToken({ c, context, access, form }: Posted): Promise<Response> {
  const again = (status: number, fault: string) =>
    signInPage(c, context, { status, fault, next: form.get('next') })
  const key = signInKey(c, context)
  if (key === undefined || !isFormToken(form.get('form_token') ?? '', key)) {
    return again(403, 'The page was outdated: try again.')
  }
  const { sessions, limits } = access
  const token = (form.get('token') ?? '').trim()
  const sender = senderAddress(c)
  const signedIn = await sessions.signIn(token, () => limits.signIn(sender))
  if (signedIn.kind !== 'signed_in') limits.refused.signIn.add(sender)
  if (signedIn.kind === 'limited') {
    return again(429, 'Too many tries: wait a minute, and try again.')
  }
  if (signedIn.kind === 'refused') {
    return again(403, 'This token does not sign in: it is not known here, or has expired.')
  }
  await recordSignIn(context, { id: context.newId(), operator: signedIn.operator, by: 'token' })
  await handOver({ c, context, access }, signedIn.id)
  return to(c, nextOf(c, context, form.get('next')))
}

/** What this browser had before has ended: nobody else may know the new session. */
async function handOver({ c, context, access }: Omit<Posted, 'form'>, id: string): Promise<void> {
  const before = browserKey(c, context)
  if (before !== undefined) await access.sessions.end(before)
  setBrowserKey(c, context, id)
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
async function takeLink(c: Context, context: ConsoleContext, access: Sessions) {
  // Programs that look where a link leads must not use it up.
  if (c.req.method !== 'GET') return onlyAllow('GET')()
  const { link, sessions } = access
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
  await handOver({ c, context, access }, begun.id)
  return to(c, context.path)
}

const isOwnMachine = hostsOf(ownMachine)
/** What proxies and tunnels add. */
const forwarding = /^(?:forwarded|via|x-forwarded-.*|x-real-ip|cf-connecting-ip)$/

/** A proxy on this machine connects from it for anybody: it has another name, or says for whom. */
function isOnThisMachine(c: Context): boolean {
  const request = nodeRequest(c)
  const address = request?.socket.remoteAddress
  if (request === undefined || address === undefined) return false
  const isLoopback = /^(?:::1|(?:::ffff:)?127\.\d+\.\d+\.\d+)$/.test(address)
  const isForwarded = Object.keys(request.headers).some((name) => forwarding.test(name))
  return isLoopback && !isForwarded && isOwnMachine(hostOf(c))
}

async function signOut({ c, context, access, form }: Posted): Promise<Response> {
  const key = browserKey(c, context)
  if (key === undefined || !isFormToken(form.get('form_token') ?? '', key)) {
    return refuse(context, 'form_outdated')
  }
  await access.sessions.end(key)
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
