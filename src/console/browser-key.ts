import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import type { Context } from 'hono'
import { getCookie, setCookie, deleteCookie } from 'hono/cookie'
import type { ConsoleContext } from './context.ts'

/** 32 bytes in base64url. */
const keyPattern = /^[A-Za-z0-9_-]{43}$/

/** The secret of this browser, if it has one: the id of its session, or what its forms are bound to. */
export function browserKey(c: Context, context: ConsoleContext): string | undefined {
  const key = getCookie(c, cookieOf(c, context).name)
  return key !== undefined && keyPattern.test(key) ? key : undefined
}

/** Ends with the browser; only pages of our own get it back. */
export function setBrowserKey(c: Context, context: ConsoleContext, key: string): void {
  const { name, ...where } = cookieOf(c, context)
  setCookie(c, name, key, { ...where, httpOnly: true, sameSite: 'Strict' })
}

export function forgetBrowserKey(c: Context, context: ConsoleContext): void {
  const { name, ...where } = cookieOf(c, context)
  deleteCookie(c, name, where)
}

export function newBrowserKey(): string {
  return randomBytes(32).toString('base64url')
}

/** Over TLS by a name that no other site, nor plain HTTP, can set; else of one port of a machine. */
function cookieOf(c: Context, { core, path }: ConsoleContext) {
  const { protocol, host } = new URL(core.origin)
  const asked = c.req.header('host')?.toLowerCase() ?? ''
  if (protocol === 'https:' && asked === host) {
    return { name: '__Host-quittance', path: '/', secure: true }
  }
  return { name: `quittance-console-${/:(\d+)$/.exec(asked)?.[1] ?? '80'}`, path }
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
