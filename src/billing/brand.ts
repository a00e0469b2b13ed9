import { QuittanceError } from '../kernel/errors.ts'

/** Whose pages payers see; each of it is optional. */
export interface Brand {
  readonly name?: string | undefined
  readonly logo?: string | undefined
  readonly color?: string | undefined
  readonly support?: string | undefined
}

/** Longer ones slow every page down: they are part of it. */
const longestLogo = 64 * 1024

const imageData = /^data:image\/(?:png|jpeg|gif|webp|avif|svg\+xml)[;,]/

/**
 * An image by https, of a host whose name can stand in a content security policy, or the image
 * itself. No script in it ever runs: it is shown by `<img>` alone.
 */
export function isLogo(text: string): boolean {
  if (text.length > longestLogo) return false
  const url = URL.parse(text)
  if (url?.protocol !== 'https:') return imageData.test(text)
  return /^[a-z\d.-]+$/.test(url.hostname) && url.username === '' && url.password === ''
}

/** An opaque colour; in `.env`, where `#` begins a comment, it may be left out. */
export function isColor(text: string): boolean {
  return /^#?(?:[\da-f]{3}|[\da-f]{6})$/i.test(text)
}

/** What a payer who needs help can open, and how it reads. */
export interface SupportLink {
  readonly href: string
  readonly text: string
}

/** Undefined for anything but an e-mail address, a phone number and an https URL. */
export function supportLink(support: string): SupportLink | undefined {
  const [, email] = /^(?:mailto:)?([\w.+-]+@[\w-]+(?:\.[\w-]+)+)$/.exec(support) ?? []
  if (email !== undefined) return { href: `mailto:${email}`, text: email }
  const [, phone = ''] = /^(?:tel:)?(\+?\d[\d ()-]{2,22})$/.exec(support) ?? []
  if (phone !== '') return { href: `tel:${phone.replaceAll(/[ ()-]/g, '')}`, text: phone }
  const url = URL.parse(support)
  if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') return undefined
  return { href: url.href, text: url.host + url.pathname.replace(/\/$/, '') }
}

/** Error: `setting_invalid`. */
export function refuseNamelessLogo({ name, logo }: Brand): void {
  if (logo === undefined || name !== undefined) return
  throw new QuittanceError('setting_invalid', 'brand.logo is set without brand.name', {
    fix: 'Set the name as well: it is shown beside the logo, and read out where nobody sees it.',
  })
}
