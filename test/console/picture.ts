import { sql } from 'kysely'
import type { Page } from 'playwright-core'
import { hash } from 'node:crypto'
import { idle, newPayment, openBilling, sendFake } from '../support/billing.ts'
import { embedded } from '../support/databases.ts'
import { openBrowser, visit } from '../pages/browser.ts'
import { consolePath, listenTo, ofSettings, serveConsole, shortToken } from './console-service.ts'

/** Where the README shows it. */
export const consolePictureFile = 'docs/console.svg'

const size = { width: 1100, height: 840 }

interface Scene {
  /** The page as it is sent, without what differs from run to run. */
  readonly markup: string
  readonly png: Buffer
}

/** The page of a payment that was declined at first, as an operator sees it. */
export async function lookAtPayment(): Promise<Scene> {
  await using billing = await openBilling(embedded, {
    listeners: { grantAccess: { on: 'PaymentSucceeded', queued: true, run: () => {} } },
  })
  const served = serveConsole(billing, { settings: [ofSettings(shortToken)] })
  const server = await listenTo(billing, served)
  const browser = await openBrowser(server.port)
  try {
    const id = await paidAtLast(billing)
    await using visited = await visit(browser, { viewport: size, colorScheme: 'light' })
    const { page } = visited
    await page.goto(`${server.url}${consolePath}/payments/${id}`)
    await page.getByLabel('Token').fill(shortToken)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { name: 'What happened' }).waitFor()
    return await shoot(page)
  } finally {
    await browser.close()
    await server.close(0)
  }
}

async function paidAtLast(billing: Awaited<ReturnType<typeof openBilling>>): Promise<string> {
  const { core, database } = billing
  const { id } = await newPayment(core, {
    amount: 199_900,
    currency: 'UAH',
    payable: { type: 'order', id: '42' },
    customer: { email: 'payer@example.com' },
    description: 'Order 42',
  })
  const worker = await core.work()
  for (const result of ['failure', 'success', 'success'] as const) {
    await sendFake(core, id, result)
    await idle(core)
  }
  await worker.stop()
  // Days pass in a picture.
  await sql`update billing.payments set created_at = created_at - interval '7 minutes'
    where id = ${id}::uuid`.execute(database.db)
  return id
}

async function shoot(page: Page): Promise<Scene> {
  const png = await page.screenshot()
  const markup = (await page.content())
    .replaceAll(/[\da-f]{8}-[\da-f-]{27}|…[\da-f]{8}/g, 'ID')
    .replaceAll(/<time .*?<\/time>/g, 'TIME')
    .replaceAll(/\d+(?:\.\d)? (?:ms|s|min)\b/g, 'LENGTH')
    .replaceAll(/name="form_token" value="[^"]*"/g, 'TOKEN')
  return { markup, png }
}

/** Changes with what the page says and how it looks, not with the machine that draws it. */
export function consoleFingerprint({ markup }: Scene): string {
  return hash('sha256', markup)
}

export function drawConsole(scene: Scene): string {
  const { width, height } = size
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="The page of a payment in the console">`,
    `<metadata>${consoleFingerprint(scene)}</metadata>`,
    `<image width="${width}" height="${height}" href="data:image/png;base64,${scene.png.toString('base64')}"/>`,
    `<rect width="${width}" height="${height}" fill="none" stroke="#d5dbe3" stroke-width="2"/>`,
    '</svg>\n',
  ].join('\n')
}
