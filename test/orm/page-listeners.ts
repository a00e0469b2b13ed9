import assert from 'node:assert/strict'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BillingCore } from '../../src/billing/types.ts'
import type { Database } from '../../src/database/connect.ts'
import type { Listener } from '../../src/listeners/listener.ts'
import { codeBlocks, section } from '../docs/markdown.ts'
import { allCalls, idle, newPayment, sendFake, until } from '../support/billing.ts'
import { read } from '../tidy/source-files.ts'

const page = 'docs/orm.md'

/** The listener that a section of the page shows. */
export function listenerOf(heading: string): string {
  const [block, ...others] = codeBlocks({ path: page, text: section(read(page), heading) })
  assert.ok(block !== undefined && others.length === 0, heading)
  return block.code
}

const quittance = new URL('../../src/index.ts', import.meta.url).href

/** Loads a module as the page shows it, in a folder of its own below the given one. */
export async function loadListener(
  folder: string,
  code: string,
): Promise<Listener<'PaymentSucceeded'>> {
  const own = mkdtempSync(join(folder, 'page-'))
  writeFileSync(join(own, 'package.json'), '{ "type": "module" }')
  const here = code
    .replace("from 'quittance'", `from '${quittance}'`)
    .replace("'./generated/", "'../generated/")
  writeFileSync(join(own, 'listeners.ts'), here)
  const { listeners } = (await import(join(own, 'listeners.ts'))) as {
    readonly listeners: { readonly payOrder: { readonly run: Listener<'PaymentSucceeded'> } }
  }
  return listeners.payOrder.run
}

/** The tables of the page's examples, with one order. */
export const shop = `
  create table orders (id text primary key, paid boolean not null default false);
  create table order_notes (
    id serial primary key, order_id text not null references orders, text text not null unique);
  insert into orders values ('42')`

export interface ShopState {
  readonly paid: boolean
  readonly notes: readonly string[]
}

export async function shopState({ pool }: Database): Promise<ShopState> {
  const [order] = (await pool.query<{ paid: boolean }>('select paid from orders')).rows
  const notes = await pool.query<{ text: string }>('select text from order_notes order by id')
  return { paid: order?.paid ?? false, notes: notes.rows.map(({ text }) => text) }
}

/** Pays order 42 and waits for what the listeners make of it. */
export async function payOrder(core: BillingCore): Promise<string> {
  await core.work()
  const payment = await newPayment(core)
  await sendFake(core, payment.id, 'success')
  await idle(core)
  return payment.id
}

/** The same where they fail: waits for the first attempt, and returns its exception. */
export async function failOrder(core: BillingCore): Promise<string> {
  await core.work()
  const payment = await newPayment(core)
  await sendFake(core, payment.id, 'success')
  const attempted = async () => (await core.calls.list()).data[0]?.attempts === 1
  await until(attempted, { what: 'the first attempt has failed' })
  const call = (await allCalls(core)).at(-1)
  return (await core.calls.get(call?.id ?? ''))?.exception ?? ''
}
