import { Option, type Command } from 'commander'
import type { InvoiceSnapshot } from '../../events/invoice-snapshot.ts'
import { invoiceFilters, invoiceFormats, type InvoiceFormat } from '../../invoices/invoice.ts'
import { QuittanceError } from '../../kernel/errors.ts'
import type { IssueInvoiceInput } from '../../money/invoice-input.ts'
import type { BillingCore } from '../../billing/types.ts'
import { addExamples } from '../examples.ts'
import { addList, printOne, printPage, queryOf } from '../noun.ts'
import { readJson } from '../read-json.ts'

const exampleId = '0190163d-8694-739b-aea5-966c26f8ad90'

interface IssueOptions {
  readonly id?: string
  readonly lines?: IssueInvoiceInput['lines']
  readonly buyer?: IssueInvoiceInput['buyer']
}

export function addInvoices(program: Command): void {
  const invoices = program
    .command('invoices')
    .description('documents: issue, list, show, void, export a month')
  const issueCommand = invoices
    .command('issue')
    .description('a document for a charge, paid or not; again, it is the same one')
    .argument('<payment>')
    .option('--id <uuid>', 'an id of your own')
    .option('--lines <json>', 'a list of {"description", "quantity", "amount"}', readJson)
    .option('--buyer <json>', '{"name", "address": [], "taxId", ...}', readJson)
    .action(issue)
  addExamples(issueCommand, [
    [`invoices issue ${exampleId}`],
    [`invoices issue ${exampleId} --buyer '{"name":"Olena Koval"}'`],
  ])
  addReading(invoices)
  const voidCommand = invoices
    .command('void')
    .description('one that is owed; it keeps its number')
    .argument('<id>')
    .action(voidOne)
  addExamples(voidCommand, [[`invoices void ${exampleId}`]])
  const exportCommand = invoices
    .command('export')
    .description('all documents of a month but those of test money, to standard output')
    .requiredOption('--month <month>', 'such as 2026-11')
    .addOption(new Option('--format <format>', 'csv if left out').choices(invoiceFormats))
    .option('--test', 'those of test money in their place')
    .action(exportMonth)
  addExamples(exportCommand, [['invoices export --month 2026-11']])
}

function addReading(invoices: Command): void {
  const listCommand = addList(invoices, invoiceFilters).action(list)
  addExamples(listCommand, [['invoices list --status issued'], ['invoices list --month 2026-11']])
  const showCommand = invoices
    .command('show')
    .description('one document: who, what, how much, and where it can be read')
    .argument('<id>')
    .action(show)
  addExamples(showCommand, [[`invoices show ${exampleId}`]])
}

function issue(payment: string, options: IssueOptions, command: Command): Promise<void> {
  const { id, lines, buyer } = options
  return showing(command, (core) => core.invoices.issue(payment, { id, lines, buyer }))
}

function voidOne(id: string, _options: unknown, command: Command): Promise<void> {
  return showing(command, (core) => core.invoices.void(id))
}

function show(id: string, _options: unknown, command: Command): Promise<void> {
  return showing(command, async (core) => {
    const invoice = await core.invoices.get(id)
    if (invoice !== undefined) return invoice
    const text = `there is no document ${JSON.stringify(id)}`
    throw new QuittanceError('invoice_not_found', text)
  })
}

async function showing(
  command: Command,
  get: (core: BillingCore) => Promise<InvoiceSnapshot>,
): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const invoice = await withCore((core) => get(core))
  const { invoiceNoun } = await import('../../wire/invoice.ts')
  await printOne(invoice, command, invoiceNoun)
}

async function list(_options: unknown, command: Command): Promise<void> {
  const { withCore } = await import('../open-core.ts')
  const page = await withCore(async (core) =>
    core.invoices.list(await queryOf(core, command, invoiceFilters)),
  )
  const { invoiceNoun } = await import('../../wire/invoice.ts')
  await printPage(page, command, invoiceNoun)
}

/** As it comes: a month may be larger than memory. */
async function exportMonth({
  month,
  format,
  test,
}: {
  readonly month: string
  readonly format?: InvoiceFormat
  readonly test?: boolean
}): Promise<void> {
  const { once } = await import('node:events')
  const { withCore } = await import('../open-core.ts')
  await withCore(async (core) => {
    for await (const line of core.invoices.export({ month, format, test })) {
      if (!process.stdout.write(line)) await once(process.stdout, 'drain')
    }
  })
}
