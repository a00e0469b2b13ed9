import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie, setCookie, deleteCookie } from 'hono/cookie'
import type { ConsoleContext } from './context.ts'
import { hostOf } from './hosts.ts'

/** 32 bytes in base64url. */
const keyPattern = /^[A-Za-z0-9_-]{43}$/

/** The secret of this browser, if it has one: the id of its session, or what its forms are bound to. */
export function browserKey(c: Context, context: ConsoleContext): string | undefined {
  return keyIn(c, cookieOf(c, context))
}

/** Ends with the browser; only pages of our own get it back. */
export function setBrowserKey(c: Context, context: ConsoleContext, key: string): void {
  setKey(c, cookieOf(c, context), key)
}

export function forgetBrowserKey(c: Context, context: ConsoleContext): void {
  const { name, ...where } = cookieOf(c, context)
  deleteCookie(c, name, where)
}

/**
 * What the form that asks for a token is bound to. It is another cookie: whoever leads a browser to
 * that page, without its session, must not end the session by it.
 */
export function signInKey(c: Context, context: ConsoleContext): string | undefined {
  return keyIn(c, cookieOf(c, context, '-sign-in'))
}

export function setSignInKey(c: Context, context: ConsoleContext, key: string): void {
  setKey(c, cookieOf(c, context, '-sign-in'), key)
}

export function newBrowserKey(): string {
  return randomBytes(32).toString('base64url')
}

type Cookie = ReturnType<typeof cookieOf>

function keyIn(c: Context, { name }: Cookie): string | undefined {
  const key = getCookie(c, name)
  return key !== undefined && keyPattern.test(key) ? key : undefined
}

function setKey(c: Context, { name, ...where }: Cookie, key: string): void {
  setCookie(c, name, key, { ...where, httpOnly: true, sameSite: 'Strict' })
}

/** Over TLS by a name that no other site, nor plain HTTP, can set; else of one port of a machine. */
function cookieOf(c: Context, context: ConsoleContext, use: '' | '-sign-in' = '') {
  if (isOverTls(c, context)) return { name: `__Host-quittance${use}`, path: '/', secure: true }
  const [, port = '80'] = /:(\d+)$/.exec(hostOf(c)) ?? []
  return { name: `quittance-console${use}-${port}`, path: context.path }
}

/** What is known of where the console is served. */
export interface Served {
  readonly core: Pick<ConsoleContext['core'], 'origin'>
}

/**
 * Behind a proxy we hear plain HTTP. Whoever says something else of a request of their own keeps a
 * cookie for themselves; no other site can make a browser say so.
 */
export function isOverTls(c: Context, { core }: Served): boolean {
  const { protocol, host } = new URL(core.origin)
  if (protocol === 'https:' && hostOf(c) === host) return true
  if (new URL(c.req.url).protocol === 'https:') return true
  return c.req.header('x-forwarded-proto')?.split(',').at(-1)?.trim().toLowerCase() === 'https'
}

/** What a form carries: nobody can make it who has not the browser's cookie. */
export function formToken(key: string): string {
  return createHmac('sha256', key).update('form').digest('base64url')
}

export function isFormToken(sent: string, key: string): boolean {
  const expected = Buffer.from(formToken(key))
  const given = Buffer.from(sent)
  return given.byteLength === expected.byteLength && timingSafeEqual(given, expected)
}
