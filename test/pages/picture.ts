import { createHash } from 'node:crypto'
import type { Page } from 'playwright-core'
import { openBrowser, pagesOrigin, visit } from './browser.ts'
import { createPayment, startPayerService, workUntil } from './payer-service.ts'

/** Where the README shows it. */
export const pictureFile = 'docs/checkout.svg'

const phone = { width: 360, height: 600 }
const gap = 28

interface Scene {
  /** What happens there. */
  readonly title: string
  /** The page as it is sent, without what differs from payment to payment. */
  readonly markup: string
  readonly png: Buffer
}

/** A payer pays: the real pages of a service, one after the other. */
export async function playScenes(): Promise<readonly Scene[]> {
  await using service = await startPayerService({
    url: pagesOrigin,
    brand: { name: 'Linden Tickets', color: '#0b6b3a' },
  })
  const browser = await openBrowser(service.listening.port)
  try {
    const { id } = await createPayment(service, { amount: 4_800, currency: 'EUR' })
    await using payer = await visit(browser, {
      locale: 'en',
      viewport: phone,
      deviceScaleFactor: 1.5,
      colorScheme: 'light',
      // The bar that moves while the page waits stands still.
      reducedMotion: 'reduce',
    })
    const { page } = payer
    await page.goto(`${pagesOrigin}/billing/pay/${id}`)
    const checkout = await shoot(page, 'The payer pays')
    await page.getByRole('button', { name: 'Pay' }).click()
    await page.getByRole('heading', { name: 'Waiting for confirmation' }).waitFor()
    const waiting = await shoot(page, 'The callback is on its way')
    await workUntil(service, id, 'paid')
    await page.getByRole('heading', { name: 'Paid', exact: true }).waitFor()
    return [checkout, waiting, await shoot(page, 'The page turns by itself')]
  } finally {
    await browser.close()
  }
}

async function shoot(page: Page, title: string): Promise<Scene> {
  const png = await page.screenshot()
  const markup = (await page.content())
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}/g, 'ID')
    .replaceAll(/<time .*?<\/time>/g, 'TIME')
  return { title, markup, png }
}

/** Changes with what the pages say and how they look, not with the machine that draws them. */
export function fingerprint(scenes: readonly Scene[]): string {
  const hash = createHash('sha256')
  for (const { title, markup } of scenes) hash.update(`${title}\n${markup}\n`)
  return hash.digest('hex')
}

export function drawPicture(scenes: readonly Scene[]): string {
  const width = scenes.length * (phone.width + gap) + gap
  const height = phone.height + 2 * gap + 20
  const title = scenes.map((scene) => scene.title).join(', ')
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="${title}">`,
    `<metadata>${fingerprint(scenes)}</metadata>`,
    `<rect width="${width}" height="${height}" rx="16" fill="#dfe5ec"/>`,
    '<clipPath id="phone" clipPathUnits="objectBoundingBox"><rect width="1" height="1" rx=".04" ry=".026"/></clipPath>',
    ...scenes.map(drawScene),
    '</svg>\n',
  ].join('\n')
}

function drawScene({ title, png }: Scene, index: number): string {
  const left = gap + index * (phone.width + gap)
  const place = `x="${left}" y="${gap + 20}" width="${phone.width}" height="${phone.height}"`
  const middle = left + phone.width / 2
  const text = `${index + 1}. ${title}`
  return [
    `<text x="${middle}" y="${gap + 6}" text-anchor="middle" font-family="system-ui, sans-serif" font-size="17" font-weight="600" fill="#1b212a">${text}</text>`,
    `<image ${place} clip-path="url(#phone)" href="data:image/png;base64,${png.toString('base64')}"/>`,
  ].join('\n')
}
